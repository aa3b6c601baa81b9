internal import Countdowns
internal import Varlink

extension Service {
  /// The first invariant that does not hold, in words; `nil` when all hold. O(everything there is).
  ///
  /// Reports instead of trapping, so that a simulation can add its seed and step.
  package borrowing func brokenInvariant() -> String? {
    brokenConnection() ?? brokenChange() ?? brokenStream() ?? brokenWatch()
      ?? recent.brokenInvariant() ?? scheduler.brokenInvariant()
  }

  private borrowing func brokenConnection() -> String? {
    var open = 0
    var openOfUser: [Int] = Array(repeating: 0, count: scheduler.users.count)
    var unreadOfUser = openOfUser
    for (place, connection) in connections.enumerated() {
      guard connection.id.index == place else { return "connection \(place) has another's name" }
      guard connection.isOpen else { continue }
      open += 1
      openOfUser[Int(connection.user)] += 1
      unreadOfUser[Int(connection.user)] += connection.pendingBytes
      if let broken = brokenMemory(connection) { return broken }
      guard connection.sent <= connection.output.count else {
        return "connection \(place) has sent more than there was"
      }
      guard connection.sent <= max(64 << 10, connection.output.count / 2) else {
        return "connection \(place) keeps \(connection.sent) bytes that have left"
      }
      if connection.isClosing, connection.input.count > 0 {
        return "connection \(place) is closing and keeps its input"
      }
      let waits = lockedNames.values.reduce(0) { sum, waiting in
        sum + waiting.count { $0 == connection.id }
      }
      let undecided = underway.values.count { $0.connection == connection.id }
      if let broken = brokenMany(connection, waits, undecided) { return broken }
      switch connection.activity {
      case .blocked where waits != 1: return "connection \(place) is blocked by \(waits) names"
      case .awaitingVerdict where undecided != 1:
        return "connection \(place) awaits \(undecided) verdicts"
      case .awaitingHost where requests.count(where: { $0.connection == connection.id }) != 1:
        return "connection \(place) awaits a host that knows of nothing"
      case .calling where waits + undecided > 0, .listing where waits + undecided > 0,
        .subscribed where waits + undecided > 0, .watching where waits + undecided > 0:
        return "connection \(place) is free, and waits for \(waits) names, \(undecided) verdicts"
      case .calling, .listing, .subscribed, .watching, .blocked, .awaitingVerdict, .awaitingHost,
        .changingMany:
        break
      }
    }
    guard open == connectionCount else { return "\(open) connections count as \(connectionCount)" }
    for user in openOfUser.indices {
      let usage = scheduler.users[UInt32(user)]
      guard usage.connections == openOfUser[user] else {
        return "user \(usage.uid) has \(openOfUser[user]) connections, not \(usage.connections)"
      }
      guard usage.unreadBytes == unreadOfUser[user] else {
        return "user \(usage.uid) has \(unreadOfUser[user]) bytes unread, not \(usage.unreadBytes)"
      }
    }
    guard unreadBytes == unreadOfUser.reduce(0, +) else {
      return "\(unreadOfUser.reduce(0, +)) bytes are unread, not \(unreadBytes)"
    }
    return spare.brokenInvariant() ?? brokenLongCalls()
  }

  private borrowing func brokenLongCalls() -> String? {
    var longOfUser: [Int] = Array(repeating: 0, count: scheduler.users.count)
    var waiting: Set<ConnectionID> = []
    for (place, connection) in connections.enumerated() where connection.isOpen {
      if connection.isLong { longOfUser[Int(connection.user)] += 1 }
      if connection.isLong, connection.waitsToBeLong { return "a long call waits for what it has" }
      guard connection.waitsToBeLong else { continue }
      waiting.insert(connection.id)
      if mayBeLong(place) { return "a long call waits, and could go on" }
    }
    for user in longOfUser.indices
    where scheduler.users[UInt32(user)].longCalls != longOfUser[user] {
      return "of user \(user) \(longOfUser[user]) calls are long, not as many as counted"
    }
    guard longCalls == longOfUser.reduce(0, +) else {
      return "\(longOfUser.reduce(0, +)) calls are long, not \(longCalls)"
    }
    return waiting.isSubset(of: longWaiting) ? nil : "a long call waits, and nobody knows"
  }

  private borrowing func brokenMemory(_ connection: Connection) -> String? {
    if connection.pendingBytes == 0, connection.output.capacity > 0 {
      return "connection \(connection.id.place) keeps memory for replies that have left"
    }
    if connection.input.count == 0, !connection.isQueued, connection.input.hasMemory {
      return "connection \(connection.id.place) keeps memory for calls that were handled"
    }
    return nil
  }

  private borrowing func brokenMany(
    _ connection: Connection, _ waits: Int, _ undecided: Int
  ) -> String? {
    guard case .changingMany = connection.activity else {
      return connection.many == nil ? nil : "many changes are left of a call that has ended"
    }
    guard let many = connection.many else { return "nothing is left of a call that goes on" }
    guard many.underway == undecided, waits == (many.isWaiting ? 1 : 0) else {
      return
        "of many changes \(many.underway) are under way, not \(undecided); \(waits) names block"
    }
    return undecided + waits > 0 || connection.isQueued ? nil : "many changes wait for nothing"
  }

  private borrowing func brokenChange() -> String? {
    let names = underway.values.map(\.name)
    guard names.count == lockedNames.count, names.allSatisfy({ lockedNames[$0] != nil }) else {
      return "\(names.count) changes are under way and \(lockedNames.count) names are locked"
    }
    for user in 0..<UInt32(scheduler.users.count) {
      let starting = underway.values.count { $0.plan.user == user && $0.plan.addsOne }
      guard scheduler.users[user].starting == starting else {
        return "\(starting) countdowns are starting, not \(scheduler.users[user].starting)"
      }
    }
    return nil
  }

  private borrowing func brokenStream() -> String? {
    var subscribed = 0
    var streamsOfUser: [Int] = Array(repeating: 0, count: scheduler.users.count)
    for connection in connections where connection.isOpen {
      if case .watching = connection.activity { streamsOfUser[Int(connection.user)] += 1 }
      guard case .subscribed(let subscription) = connection.activity else { continue }
      subscribed += 1
      streamsOfUser[Int(connection.user)] += 1
      let members = recent.members(of: subscription.seat)
      guard members.count(where: { $0.id == connection.id && $0.kinds == subscription.kinds }) == 1
      else { return "a subscriber sits elsewhere" }
      if subscription.position > recent.ring(of: subscription.seat).end {
        return "a subscriber has heard what has not happened"
      }
      if connection.isDeaf { return "a subscriber that is gone is still subscribed" }
    }
    guard subscribed == recent.count else {
      return "\(subscribed) are subscribed and \(recent.count) listen"
    }
    for user in streamsOfUser.indices {
      let usage = scheduler.users[UInt32(user)]
      guard usage.streams == streamsOfUser[user] else {
        return "user \(usage.uid) has \(streamsOfUser[user]) streams, not \(usage.streams)"
      }
    }
    return nil
  }

  private borrowing func brokenWatch() -> String? {
    var watching: [ConnectionID] = []
    var watchedOfUser: [Int] = Array(repeating: 0, count: scheduler.users.count)
    for connection in connections {
      guard connection.isOpen, case .watching = connection.activity else {
        if connection.watch != nil { return "a watch is left of one that has ended" }
        continue
      }
      guard let watch = connection.watch else { return "nothing is watched by one that watches" }
      if connection.isDeaf { return "a watcher that is gone still watches" }
      watching.append(connection.id)
      watchedOfUser[Int(watch.user)] += watch.items.count
      if let broken = watch.brokenInvariant() { return broken }
      if let broken = brokenNames(of: watch, connection) { return broken }
      let isQueued = watchQueue.contains(connection.id)
      guard isQueued == watch.isQueued else { return "a watcher is queued, or is not, unnoticed" }
      if watch.firstDirty != nil, connection.pendingBytes == 0, !isQueued, !connection.isQueued {
        return "a watcher is not told what it reads for"
      }
    }
    guard
      watching.sorted(by: { $0.token < $1.token })
        == watchStreams.sorted(by: { $0.token < $1.token })
    else { return "\(watching.count) watch and \(watchStreams.count) are streams" }
    let known = watchTable.watcherCount { hasGone($0) }
    guard known == watchedOfUser.reduce(0, +) else {
      return "the table has \(known) watchers of names"
    }
    let forgotten = watchTable.forgottenCount { hasGone($0) }
    guard forgotten == 0 else { return "\(forgotten) names keep watchers that have gone" }
    for user in watchedOfUser.indices
    where scheduler.users[UInt32(user)].watched != watchedOfUser[user] {
      return "of user \(user) \(watchedOfUser[user]) names are watched, not as many as counted"
    }
    return nil
  }

  private borrowing func brokenNames(of watch: Watching, _ connection: Connection) -> String? {
    for (place, item) in watch.items.enumerated() {
      let known = watchTable[OwnedName(user: watch.user, name: item.name)].filter { !hasGone($0) }
      guard known.filter({ $0.connection == connection.id }).map(\.place) == [place] else {
        return "a name that is watched is not found in the table once"
      }
      let id = scheduler.find(user: watch.user, name: item.name.span)
      if let known = item.id, known != id { return "a watcher takes another for its name" }
      if !item.isDirty, item.id != id { return "a watcher was not told of a new one" }
      if !item.isDirty, let id, (scheduler.state(of: id) == .running) != item.isRunning {
        return "a watcher was told another state"
      }
    }
    return nil
  }
}
