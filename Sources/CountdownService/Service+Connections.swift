internal import Countdowns
internal import ControlInterface
internal import Varlink

/// Connections as the host sees them: opened, read from, written to, closed.
extension Service {
  /// A client has connected.
  ///
  /// - Parameter isAdmin: It may name other owners than itself, as root may.
  /// - Returns: Its connection; where a limit is reached, one that only tells so and closes.
  package mutating func open(uid: UInt32, isAdmin: Bool) -> ConnectionID {
    let known = scheduler.users.known(uid)
    let isStranger = known == UserTable.nobody && uid != 0
    let isOneTooMany = isStranger && scheduler.users.count >= limits.users
    // Who is turned away has no need to be known.
    let isTurnedAway = isOneTooMany || isStranger && connectionCount >= limits.connections
    let user = scheduler.users.index(of: isTurnedAway ? UserTable.strangers : uid)
    let id: ConnectionID
    if let index = freeConnections.popLast() {
      // Wraps after 2^32 connections in one place: no event is left over that long.
      let generation = connections[Int(index)].id.generation &+ 1
      id = ConnectionID(index: index, generation: generation)
      connections[Int(index)] = Connection(id: id, user: user, isAdmin: isAdmin)
    } else {
      id = ConnectionID(index: UInt32(connections.count), generation: 1)
      connections.append(Connection(id: id, user: user, isAdmin: isAdmin))
    }
    connectionCount += 1
    scheduler.users[user].connections += 1
    let used = scheduler.users[user].connections
    if isOneTooMany {
      turnAway(id, .users, limit: limits.users, used: limits.users)
    } else if uid != 0, !isTurnedAway, used > limits.connectionsPerUser {
      turnAway(id, .connectionsPerUser, limit: limits.connectionsPerUser, used: used - 1)
    } else if connectionCount > limits.connections {
      turnAway(id, .connections, limit: limits.connections, used: connectionCount - 1)
    }
    return id
  }

  mutating func turnAway(
    _ id: ConnectionID, _ resource: Refusal.Resource, limit: Int, used: Int
  ) {
    write(to: Int(id.index)) {
      $0.refusal(.quotaExceeded(resource: resource, limit: limit, used: used), name: [])
    }
    close(Int(id.index))
  }

  /// Bytes have arrived. They are kept until the turn handles them.
  package mutating func receive(_ bytes: Span<UInt8>, from id: ConnectionID) {
    guard let index = place(of: id), !connections[index].isClosing else { return }
    if !bytes.isEmpty, !connections[index].input.hasMemory {
      connections[index].input.use(spare.take())
    }
    connections[index].input.append(bytes)
    noteInput(index)
    enqueue(index)
  }

  /// The peer sends no more. What it sent is still handled and answered.
  package mutating func peerEnded(_ id: ConnectionID) {
    guard let index = place(of: id) else { return }
    connections[index].hasEnded = true
    enqueue(index)
    touch(index)
  }

  /// The peer is gone altogether. What it sent is still handled; nothing is answered any more.
  package mutating func peerVanished(_ id: ConnectionID) {
    guard let index = place(of: id) else { return }
    connections[index].hasEnded = true
    connections[index].isDeaf = true
    noteOutput(index)
    abandonStream(index)
    enqueue(index)
    touch(index)
  }

  /// Nobody reads the stream: it ends. The calls after a list are still handled; none come after a
  /// subscription.
  mutating func abandonStream(_ index: Int) {
    switch connections[index].activity {
    case .subscribed, .watching: close(index)
    case .listing: connections[index].activity = .calling
    case .calling, .awaitingVerdict, .awaitingHost, .blocked, .changingMany: break
    }
  }

  /// The host has closed the connection's descriptor, or never wants to hear of it again.
  package mutating func forget(_ id: ConnectionID) {
    guard let index = place(of: id) else { return }
    endStream(index)
    scheduler.users[connections[index].user].connections -= 1
    connectionCount -= 1
    connections[index].isOpen = false
    connections[index].input.removeAll()
    noteInput(index)
    connections[index].isDeaf = true
    noteOutput(index)
    connections[index].many = nil
    freeConnections.append(id.index)
  }

  /// What a connection wants of the host.
  package struct Wish: Equatable, Sendable {
    /// Bytes of output wait to be sent.
    package var hasOutput: Bool
    /// More input is welcome.
    package var wantsInput: Bool
    /// All is said: close it and call ``Service/forget(_:)``.
    package var isDone: Bool
  }

  /// What a connection wants now; `nil` if there is none of that name.
  package func wish(of id: ConnectionID) -> Wish? {
    guard let index = place(of: id) else { return nil }
    let isFinished = connections[index].isClosing || connections[index].hasEnded && isIdle(index)
    return Wish(
      hasOutput: connections[index].pendingBytes > 0,
      wantsInput: !connections[index].hasEnded && !connections[index].isClosing && hasRoom(index),
      isDone: isFinished && connections[index].pendingBytes == 0)
  }

  /// Whether it has nothing more to handle.
  func isIdle(_ index: Int) -> Bool {
    if case .calling = connections[index].activity { !connections[index].isQueued } else { false }
  }

  /// A connection is read from while what it sent is being handled: up to one message of the largest
  /// size while that has not come whole, and only a little ahead while one waits for its turn, the
  /// connection is busy, or does not read its replies.
  func hasRoom(_ index: Int) -> Bool {
    let bytes = connections[index].input.count
    if awaitsMore(index) {
      let isWithin = bytes < Service.aheadBytes || connections[index].isLong
      return isWithin && bytes <= limits.messageBytes
    }
    return bytes < Service.aheadBytes
  }

  /// Whether the rest of its next call is all that it waits for.
  func awaitsMore(_ index: Int) -> Bool {
    guard case .calling = connections[index].activity else { return false }
    return !connections[index].input.holdsMessage && mayBeAnswered(index)
  }

  /// So much is read ahead of a connection.
  static let aheadBytes = 64 << 10

  /// Lends the output of a connection that has not left yet, to be sent from its beginning.
  package borrowing func withOutput<Result, Failure: Error>(
    of id: ConnectionID, _ send: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let output = place(of: id).map { connections[$0].output } ?? []
    let sent = place(of: id).map { connections[$0].sent } ?? 0
    return try send(output.span.extracting(droppingFirst: sent))
  }

  /// So many bytes of the output have left.
  package mutating func sent(_ bytes: Int, to id: ConnectionID) {
    guard let index = place(of: id) else { return }
    connections[index].consume(bytes)
    noteOutput(index)
    if waitsForRoom(index) { enqueue(index) }
  }

  /// Whether room in its output may let it go on.
  func waitsForRoom(_ index: Int) -> Bool {
    switch connections[index].activity {
    case .calling: connections[index].input.count > 0
    case .awaitingVerdict, .awaitingHost, .blocked, .changingMany: false
    case .listing: true
    case .watching:
      connections[index].pendingBytes == 0 && connections[index].watch?.firstDirty != nil
    case .subscribed(let subscription):
      subscription.state != nil || !subscription.isReady
        || recent.hasNews(in: subscription.seat, at: subscription.position)
    }
  }
}
