internal import ControlInterface
internal import Countdowns
internal import JSON
internal import TimingWheel
internal import Varlink

/// Watchers: told where the countdowns of some names stand, from their call on.
///
/// What happens to a name only marks it, in every stream that watches it; what is marked is told at the
/// end of the turn as it then stands, to those whose output has left. All that is told goes through the
/// same hand-out as `Get`.
extension Service {
  /// Names that a turn tells to watchers, about; the rest waits for the next.
  private static let namesToldPerTurn = 1_024
  /// What of watchers that have gone a turn clears away, in names and their watchers: more than one turn
  /// can take in, so that those who come and go do not heap up.
  private static let watchersClearedPerTurn = 8_192

  mutating func watch(
    _ request: WatchRequest, of owners: Owners, in message: Span<UInt8>, from index: Int
  ) throws {
    guard case .one(var user) = owners else { throw ServiceError.invalidParameter("allOwners") }
    guard request.names.count <= limits.namesPerWatch else {
      throw Refusal.quotaExceeded(
        resource: .namesPerCall, limit: limits.namesPerWatch, used: request.names.count)
    }
    if let interval = request.intervalUSec, !Bounds.watchInterval.contains(interval) {
      throw Refusal.outOfRange(parameter: "intervalUSec", bounds: Bounds.watchInterval)
    }
    guard Bounds.heartbeat.contains(request.heartbeatUSec) else {
      throw Refusal.outOfRange(parameter: "heartbeatUSec", bounds: Bounds.heartbeat)
    }
    callBudget -= request.names.count
    var names: [[UInt8]] = []
    var seen: Set<[UInt8]> = []
    for (place, text) in request.names.enumerated() {
      let name = try name(text, in: message, "names[\(place)]")
      if seen.insert(name).inserted { names.append(name) }
    }
    try checkRoomForStream(of: connections[index].user)
    user = try known(user, uid: owner)
    let id = connections[index].id
    let timer = scheduler.startTimer(token: id.token, inUSec: request.heartbeatUSec)
    connections[index].activity = .watching
    connections[index].watch = Watching(
      names, of: user, intervalUSec: request.intervalUSec, heartbeatUSec: request.heartbeatUSec,
      timer: timer, at: scheduler.now.boottime)
    watchStreams.append(id)
    for (place, name) in names.enumerated() {
      watchTable.add(.init(connection: id, place: place), to: OwnedName(user: user, name: name))
    }
    scheduler.users[connections[index].user].streams += 1
    scheduler.users[user].watched += names.count
    queueWatch(index)
  }

  /// Ends a watch, and leaves nothing of it.
  mutating func endWatch(_ index: Int) {
    guard let watch = connections[index].watch else { return }
    connections[index].watch = nil
    connections[index].activity = .calling
    scheduler.cancelTimer(watch.timer)
    let id = connections[index].id
    watchStreams.removeAll { $0 == id }
    watchTable.leave(watch.user, names: watch.items.map(\.name))
    scheduler.users[connections[index].user].streams -= 1
    scheduler.users[watch.user].watched -= watch.items.count
  }

  // MARK: What happens

  /// Something happened to a countdown: those who watch its name are to be told. Costs one look where
  /// nothing of its owner's is watched.
  mutating func noteChange(_ event: Event) {
    guard scheduler.users[event.user].watched > 0 else { return }
    let name = scheduler.nameBytes(of: event.id)
    noteChange(of: OwnedName(user: event.user, name: name), isGone: false)
  }

  private mutating func noteChange(of name: OwnedName, isGone: Bool) {
    for watcher in watchTable[name] {
      guard let index = place(of: watcher.connection) else { continue }
      connections[index].watch?.noteChange(of: watcher.place, isGone: isGone)
      queueWatch(index)
    }
  }

  /// What time alone did to what is watched: removed what had ended, or moved the clocks.
  mutating func noteTime() {
    for gone in scheduler.takeRemoved() {
      noteChange(of: OwnedName(user: gone.user, name: gone.name), isGone: true)
    }
    guard scheduler.anchor != watchedAnchor else { return }
    watchedAnchor = scheduler.anchor
    for id in watchStreams {
      connections[id.place].watch?.noteShift()
      queueWatch(id.place)
    }
  }

  /// The timer of a watch: crossings have come, or nothing for long.
  mutating func handleWatchTimer(_ index: Int) {
    // Moved out, so that it changes in place.
    guard var watch = connections[index].watch.take() else { return }
    let now = scheduler.now
    // It may have been woken for what is no longer so; those that wait for another then still do.
    if watch.nextTelling <= now.boottime {
      for place in watch.crossings.indices where watch.crossings[place] <= now.boottime {
        guard let id = watch.items[place].id else { continue }
        let remaining = scheduler.remainingUSec(of: id)
        if watch.noteCrossing(of: place, remainingUSec: remaining, at: now.boottime) {
          hasCrossed = true
        }
      }
    }
    let isSilent = now.boottime - watch.lastTold >= watch.heartbeatUSec
    if isSilent { watch.lastTold = now.boottime }
    let hasNews = watch.firstDirty != nil
    watch.timerAt = .max
    connections[index].watch = watch
    setWatchTimer(index)
    queueWatch(index)
    // Who has not read what was told before learns nothing from one more.
    guard isSilent, !hasNews, connections[index].pendingBytes == 0 else { return }
    write(to: index) {
      $0.beginReply()
      $0.timestamp(.now, now)
      $0.key(.countdowns)
      $0.beginArray()
      $0.endArray()
      $0.endReply(continues: true)
    }
  }

  /// Lets the timer wait for what comes next. One that wakes too early does no harm.
  private mutating func setWatchTimer(_ index: Int) {
    guard let timer = connections[index].watch?.earlierTimer() else { return }
    scheduler.restartTimer(timer.id, inUSec: max(timer.at - scheduler.now.boottime, 0))
  }

  // MARK: Telling

  /// It may have something to tell: told at the end of the turn, if it has and is read.
  mutating func queueWatch(_ index: Int) {
    guard connections[index].pendingBytes == 0, connections[index].watch?.enqueue() == true
    else { return }
    watchQueue.append(connections[index].id)
  }

  /// Clears away some of what is left of watchers that have gone.
  mutating func tidyWatches() {
    guard !watchTable.isTidy else { return }
    var table = WatchTable()
    swap(&table, &watchTable)  // Moved out: it changes while those it knows are looked at.
    table.tidy(limit: Service.watchersClearedPerTurn) { hasGone($0) }
    swap(&table, &watchTable)
  }

  /// Whether a watcher watches no more.
  func hasGone(_ watcher: WatchTable.Watcher) -> Bool {
    place(of: watcher.connection).map { connections[$0].watch == nil } ?? true
  }

  /// Tells as many watchers as one turn has room for, in the order in which they came to it, and shared
  /// evenly by users.
  mutating func serveWatches() {
    guard !watchQueue.isEmpty else { return }
    var queue: [ConnectionID] = []
    swap(&queue, &watchQueue)
    let users = queue.compactMap { id in place(of: id).map { connections[$0].user } }
    var shares = TurnShares(of: Service.namesToldPerTurn, among: users)
    var budget = Service.namesToldPerTurn
    var rest: [ConnectionID] = []
    for (position, id) in queue.enumerated() {
      guard budget > 0 else {
        rest += queue[position...]
        break
      }
      guard let index = place(of: id), case .watching = connections[index].activity else {
        continue
      }
      let user = connections[index].user
      guard shares.hasRoom(for: user) else {
        rest.append(id)
        continue
      }
      let told = tellWatch(index)
      budget -= told
      shares.take(told, by: user)
    }
    watchQueue = rest + watchQueue  // Before those that have something to tell since.
  }

  /// Writes one reply with the newest of what a watcher was not told.
  ///
  /// - Returns: How many names it tells.
  private mutating func tellWatch(_ index: Int) -> Int {
    var told = 0
    write(to: index) { service, writer in
      writer.beginReply()
      writer.timestamp(.now, service.scheduler.now)
      let fullAt = writer.count + service.limits.listBytes - Service.besidesPayload
      writer.key(.countdowns)
      writer.beginArray()
      while let place = service.connections[index].watch?.firstDirty {
        service.writeWatched(place, of: index, to: &writer)
        told += 1
        if writer.count >= fullAt { break }
      }
      writer.endArray()
      writer.endReply(continues: true)
    }
    // Only now: what handing out has noted meanwhile was told.
    connections[index].watch?.isQueued = false
    connections[index].watch?.lastTold = scheduler.now.boottime
    setWatchTimer(index)
    return told
  }

  private mutating func writeWatched(_ place: Int, of index: Int, to writer: inout JSONWriter) {
    // No copy of the whole is held, so that it changes in place.
    guard let user = connections[index].watch?.user,
      let item = connections[index].watch?.items[place]
    else { return }
    let id = item.id ?? scheduler.find(user: user, name: item.name.span)
    handOut(id)
    let view = id.map { scheduler.view(of: $0) }
    writer.watched(view, name: item.name.span, by: scheduler.anchor)
    let remaining = view.flatMap { $0.state == .running ? $0.remainingUSec : nil }
    connections[index].watch?.noteTold(
      id, remainingUSec: remaining, at: scheduler.now.boottime)
  }
}
