internal import ControlInterface
internal import Countdowns
internal import JSON
internal import TimingWheel
internal import Varlink

/// Subscribers: told what happens, from rings that they share.
extension Service {
  mutating func subscribe(
    _ request: SubscribeRequest, of owners: Owners, in message: Span<UInt8>, from index: Int
  ) throws {
    let user = connections[index].user
    guard Bounds.heartbeat.contains(request.heartbeatUSec) else {
      throw Refusal.outOfRange(parameter: "heartbeatUSec", bounds: Bounds.heartbeat)
    }
    try checkRoomForStream(of: user)
    let prefix = try nameOrNone(request.prefix, in: message, "prefix")
    var owners = owners
    if case .one(let listenedTo) = owners { owners = .one(try known(listenedTo, uid: owner)) }
    let timer = scheduler.startTimer(
      token: connections[index].id.token, inUSec: request.heartbeatUSec)
    let (seat, position) = recent.join(
      connections[index].id, to: owners, prefix: prefix, kinds: request.kinds)
    var subscription = Subscription(
      owners: owners, prefix: prefix, kinds: request.kinds, heartbeatUSec: request.heartbeatUSec,
      timer: timer, seat: seat, position: position, lastTold: scheduler.now.boottime)
    if request.includesState {
      subscription.state = beginning(of: owners, prefix: prefix, state: nil)
    }
    connections[index].activity = .subscribed(subscription)
    scheduler.users[user].streams += 1
    serveStream(index)
  }

  /// Whether a user may have one more stream.
  func checkRoomForStream(of user: UInt32) throws(Refusal) {
    let used = scheduler.users[user].streams
    if used >= limits.streamsPerUser, scheduler.users[user].uid != 0 {
      throw .quotaExceeded(resource: .streamsPerUser, limit: limits.streamsPerUser, used: used)
    }
    if streamCount >= limits.streams {
      throw .quotaExceeded(resource: .streams, limit: limits.streams, used: streamCount)
    }
  }

  /// Subscriptions and watches of everybody.
  var streamCount: Int { recent.count + watchStreams.count }

  /// Ends a subscription or a watch, if there is one.
  mutating func endStream(_ index: Int) {
    if case .watching = connections[index].activity { endWatch(index) }
    guard case .subscribed(let subscription) = connections[index].activity else { return }
    connections[index].activity = .calling
    scheduler.cancelTimer(subscription.timer)
    scheduler.users[connections[index].user].streams -= 1
    recent.leave(connections[index].id, from: subscription.seat, of: subscription.owners)
  }

  /// Counts an event, lets watchers know, and puts it where the subscribers will find it, if any wants
  /// it.
  mutating func publish(_ event: Event) {
    count(event)
    noteChange(event)
    guard recent.mayBeWanted(event.kind, of: event.user) else { return }
    // The storage is moved out and used again: a name cannot be lent while the rest changes.
    var name: [UInt8] = []
    swap(&name, &eventName)
    name.removeAll(keepingCapacity: true)
    scheduler.name(of: event.id).append(to: &name)
    let (now, anchor) = (scheduler.now, scheduler.anchor)
    let owner = scheduler.users[event.user].uid
    recent.append(event.kind, of: event.user, name: name) { [name] in
      $0.event(event, name: name.span, owner: owner, at: now, by: anchor)
    }
    swap(&name, &eventName)
  }

  /// Tells everybody who wants to know what happened to the machine.
  mutating func publish(_ one: Discontinuity) {
    if let slept = one.sleptUSec {
      recent.appendForAll(.slept) { $0.event(.slept, byUSec: slept, at: one.at) }
    }
    if let stepped = one.steppedUSec {
      recent.appendForAll(.clockStepped) { $0.event(.clockStepped, byUSec: stepped, at: one.at) }
    }
  }

  private mutating func count(_ event: Event) {
    switch event.kind {
    case .started: tallies.note(.started, of: event.user)
    case .expired:
      tallies.note(.expired, of: event.user)
      tallies.note(latenessUSec: scheduler.lateness(of: event), of: event.user)
      noteCause(of: event)
    case .missed:
      tallies.note(.missed, of: event.user)
      noteCause(of: event)
    case .cancelled: tallies.note(.cancelled, of: event.user)
    case .changed, .paused, .resumed, .clockStepped, .slept: break
    }
  }

  private mutating func noteCause(of event: Event) {
    guard let reason = event.lateReason, reason != .none else { return }
    clocks.noteEffect(of: reason, isMissed: event.kind == .missed, on: event.user)
  }

  /// Tells those for whom something came, in the order of its coming.
  mutating func serveStreams() {
    // Telling a state can hand out what is due, which is then told as well.
    while let seat = recent.nextSeat {
      let members = recent.members(of: seat)
      for member in members { skipToNews(Int(member.id.index)) }
      recent.take(seat)
      for member in members { serveStream(Int(member.id.index)) }
    }
  }

  /// A subscriber who had heard everything passes over what was for others only.
  private mutating func skipToNews(_ index: Int) {
    guard case .subscribed(var subscription) = connections[index].activity else { return }
    subscription.position = recent.position(in: subscription.seat, from: subscription.position)
    connections[index].activity = .subscribed(subscription)
  }

  /// Tells a subscriber what it has not heard, as far as it reads.
  mutating func serveStream(_ index: Int) {
    skipToNews(index)
    guard case .subscribed(var subscription) = connections[index].activity else { return }
    let before = connections[index].output.count
    while hasRoom(index, below: aheadOfReader) {
      guard tellNext(&subscription, index) else { break }
    }
    if connections[index].output.count != before {
      subscription.lastTold = scheduler.now.boottime
      touch(index)
    }
    connections[index].activity = .subscribed(subscription)
  }

  /// Writes the next reply of a stream; false when there is nothing to tell.
  private mutating func tellNext(_ subscription: inout Subscription, _ index: Int) -> Bool {
    if var state = subscription.state {
      let isEnd = writeReply(to: index) { service, writer in
        service.writeCountdowns(&state, limit: service.limits.pageLength, to: &writer)
      }
      subscription.state = isEnd ? nil : state
      return true
    }
    if !subscription.isReady {
      subscription.isReady = true
      writeReply(to: index) { _, writer in
        writer.key(.ready)
        writer.boolean(true)
      }
      return true
    }
    return tellEvents(&subscription, index)
  }

  private mutating func tellEvents(_ subscription: inout Subscription, _ index: Int) -> Bool {
    let (seat, kinds, prefix) = (subscription.seat, subscription.kinds, subscription.prefix)
    guard recent.hasNews(in: seat, at: subscription.position) else { return false }
    let first = recent.ring(of: seat).first
    let hasGap = subscription.position < first
    if hasGap { subscription.position = first }
    subscription.position = recent.ring(of: seat).firstWanted(
      from: subscription.position, kinds, prefix)
    guard hasGap || recent.hasNews(in: seat, at: subscription.position) else { return false }
    let position = subscription.position
    subscription.position = writeReply(to: index) { service, writer in
      writer.key(.events)
      writer.beginArray()
      let full = writer.count + service.limits.listBytes
      let next = service.recent.ring(of: seat).write(
        from: position, kinds, prefix, until: full, to: &writer)
      writer.endArray()
      if hasGap {
        writer.key(.gap)
        writer.boolean(true)
      }
      return next
    }
    return true
  }

  /// A heartbeat is due: told after a silence, put off after anything else.
  mutating func handleTimer(_ id: EntryID, token: UInt64) {
    let place = place(of: ConnectionID(token: token))
    if let place, case .watching = connections[place].activity { return handleWatchTimer(place) }
    guard let index = place, case .subscribed(var subscription) = connections[index].activity
    else {
      scheduler.cancelTimer(id)
      return
    }
    let silence = scheduler.now.boottime - subscription.lastTold
    if silence < subscription.heartbeatUSec {
      scheduler.restartTimer(id, inUSec: subscription.heartbeatUSec - silence)
      return
    }
    scheduler.restartTimer(id, inUSec: subscription.heartbeatUSec)
    // Who has not read what was told before learns nothing from one more.
    guard connections[index].pendingBytes == 0, subscription.isReady else { return }
    subscription.lastTold = scheduler.now.boottime
    connections[index].activity = .subscribed(subscription)
    let now = scheduler.now
    writeReply(to: index) { _, writer in
      writer.key(.events)
      writer.beginArray()
      writer.heartbeat(at: now)
      writer.endArray()
    }
  }

  /// Writes one reply of a stream.
  @discardableResult
  private mutating func writeReply<Result>(
    to index: Int, _ body: (inout Service, inout JSONWriter) -> Result
  ) -> Result {
    write(to: index) { service, writer in
      writer.beginReply()
      let result = body(&service, &writer)
      writer.endReply(continues: true)
      return result
    }
  }
}
