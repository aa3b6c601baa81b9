internal import ControlInterface
internal import Countdowns
internal import JSON
internal import TimingWheel
internal import Varlink

/// Subscribers: told what happens, from a ring that all of them share.
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
    let timer = scheduler.startTimer(
      token: connections[index].id.token, inUSec: request.heartbeatUSec)
    var subscription = Subscription(
      owners: owners, prefix: prefix, kinds: request.kinds, heartbeatUSec: request.heartbeatUSec,
      timer: timer, position: ring.end, lastTold: scheduler.now.boottime)
    if request.includesState {
      subscription.state = beginning(of: owners, prefix: prefix, state: nil)
    }
    connections[index].activity = .subscribed(subscription)
    streams.append(connections[index].id)
    scheduler.users[user].streams += 1
    countListener(to: owners, 1)
    interest.formUnion(request.kinds)
    serveStream(index)
  }

  /// Whether a user may have one more stream.
  func checkRoomForStream(of user: UInt32) throws(Refusal) {
    let used = scheduler.users[user].streams
    if used >= limits.streamsPerUser, scheduler.users[user].uid != 0 {
      throw .quotaExceeded(resource: .streamsPerUser, limit: limits.streamsPerUser, used: used)
    }
    let all = streams.count + watchStreams.count
    if all >= limits.streams {
      throw .quotaExceeded(resource: .streams, limit: limits.streams, used: all)
    }
  }

  /// Ends a subscription or a watch, if there is one.
  mutating func endStream(_ index: Int) {
    if case .watching = connections[index].activity { endWatch(index) }
    guard case .subscribed(let subscription) = connections[index].activity else { return }
    connections[index].activity = .calling
    scheduler.cancelTimer(subscription.timer)
    scheduler.users[connections[index].user].streams -= 1
    countListener(to: subscription.owners, -1)
    let id = connections[index].id
    streams.removeAll { $0 == id }
    interest = []
    for id in streams {
      if case .subscribed(let other) = connections[Int(id.index)].activity {
        interest.formUnion(other.kinds)
      }
    }
    if streams.isEmpty { ring.removeAll() }
  }

  private mutating func countListener(to owners: Owners, _ change: Int) {
    switch owners {
    case .one(let user): scheduler.users[user].listeners += change
    case .all: listenersToAll += change
    }
  }

  /// Counts an event, lets watchers know, and puts it where the subscribers will find it, if any can
  /// want it.
  mutating func publish(_ event: Event) {
    count(event)
    noteChange(event)
    guard interest.contains(event.kind),
      scheduler.users[event.user].listeners > 0 || listenersToAll > 0
    else { return }
    ring.append(entry(for: event))
  }

  private mutating func count(_ event: Event) {
    switch event.kind {
    case .started: tallies.note(.started, of: event.user)
    case .expired:
      tallies.note(.expired, of: event.user)
      tallies.note(latenessUSec: scheduler.lateness(of: event), of: event.user)
    case .missed: tallies.note(.missed, of: event.user)
    case .cancelled: tallies.note(.cancelled, of: event.user)
    case .changed, .paused, .resumed: break
    }
  }

  private func entry(for event: Event) -> EventRing.Entry {
    let name = scheduler.name(of: event.id)
    let nameBytes = name.count
    let bytes = [UInt8](capacity: nameBytes + 400) { output in
      for index in name.indices { output.append(name[index]) }
    }
    var writer = JSONWriter(reusing: bytes)
    writer.event(
      event, name: name, owner: scheduler.users[event.user].uid, at: scheduler.now,
      by: scheduler.anchor)
    return EventRing.Entry(
      kind: event.kind, user: event.user, bytes: writer.take(), nameBytes: nameBytes)
  }

  /// Tells a subscriber what it has not heard, as far as it reads.
  mutating func serveStream(_ index: Int) {
    guard case .subscribed(var subscription) = connections[index].activity else { return }
    let before = connections[index].output.count
    while connections[index].pendingBytes <= aheadOfReader {
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
    let hasGap = subscription.position < ring.first
    if hasGap { subscription.position = ring.first }
    while subscription.position < ring.end, !isFor(subscription, subscription.position) {
      subscription.position += 1
    }
    guard hasGap || subscription.position < ring.end else { return false }
    var position = subscription.position
    let heard = subscription
    writeReply(to: index) { service, writer in
      let start = writer.count
      writer.key(.events)
      writer.beginArray()
      while position < service.ring.end, writer.count - start < service.limits.listBytes {
        if service.isFor(heard, position) {
          let entry = service.ring[position]
          writer.raw(entry.bytes.span.extracting(entry.json))
        }
        position += 1
      }
      writer.endArray()
      if hasGap {
        writer.key(.gap)
        writer.boolean(true)
      }
    }
    subscription.position = position
    return true
  }

  private func isFor(_ subscription: Subscription, _ position: UInt64) -> Bool {
    let entry = ring[position]
    return subscription.owners.contains(entry.user) && subscription.kinds.contains(entry.kind)
      && entry.hasPrefix(subscription.prefix)
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
