package import Countdowns
internal import ControlInterface
internal import TimingWheel
internal import Varlink

/// The daemon as a state machine: bytes, readings and verdicts in; bytes, changes and a wake out.
///
/// It has no clock and no descriptors: the host feeds it and carries out what it asks for, the
/// simulation does the same with virtual ones. One turn: ``receive(_:from:)`` what came in, then
/// ``turn(at:verdicts:)`` with one reading of the clocks; then send the output of every connection in
/// ``takeTouched()``, hand ``takeBatch()`` to the ledger, and tell ``beginWait(at:)``. What callers ask
/// of the host itself, ``takeRequests()``, it carries out before it sends.
///
/// Within a turn: what is due is told; verdicts take effect; calls are handled, a bounded number for
/// each connection and in all; those who stream get what there is room for. Read next:
/// Service+Calls.swift.
///
/// Invariants, tested by ``brokenInvariant()``:
/// - Every connection that is blocked waits for a name with a change under way, and every connection
///   that awaits a verdict has exactly one change under way.
/// - Every connection that awaits the host has exactly one request that was not taken.
/// - A call of many changes has as many under way as it says, or waits for a name with another's change
///   under way, or is queued.
/// - Who watches is in the table of watchers with each of its names, and nobody else is; one with
///   something to tell whose output has left is queued.
/// - Calls of which much has come, and the end has not, are counted, of each user and in all; who waits
///   to send such a one could not have a place.
/// - Unread replies are counted, of each user and in all; who has none, and nothing to be handled, keeps
///   no memory for either.
/// - Every subscriber has a seat, and has heard no more than has happened.
/// - Those of the scheduler and of the recent events.
package struct Service: ~Copyable {
  package var scheduler: Scheduler
  package var limits: Limits { scheduler.limits }
  /// Who it is, as far as its host knows better.
  let identity: Identity

  var connections: [Connection] = []
  private var freeConnections: [UInt32] = []
  package private(set) var connectionCount = 0

  private var ready: [ConnectionID] = []
  /// Connections whose name has become free in this turn, in the order in which they came to it.
  var woken: [ConnectionID] = []
  private var touched: [ConnectionID] = []
  /// What calls may still cost in this turn: one each, one for each 512 bytes of it, and one for each
  /// countdown that it looks at or starts in a call of many. The last one may overdraw it.
  var callBudget = 0
  /// Calls that this turn handles for each connection.
  var callShare = 0

  var recent: RecentEvents
  /// Unread replies of everybody, in bytes.
  private(set) var unreadBytes = 0
  var spare = SpareBuffers()
  /// Calls of which much has come and the end has not, of everybody; and who waits to send one, in the
  /// order in which they came to it.
  var longCalls = 0
  var longWaiting: [ConnectionID] = []

  /// The streams of those who watch, in the order of their calls, and which names they watch.
  var watchStreams: [ConnectionID] = []
  var watchTable = WatchTable()
  /// Those of them with something to tell, in the order in which they came to it.
  var watchQueue: [ConnectionID] = []
  /// Whether a crossing has come in this turn.
  var hasCrossed = false
  /// How the clocks stood to each other when the watchers were last told of it.
  var watchedAnchor: Reading

  /// Changes that the ledger has not answered yet, by ticket.
  var underway: [UInt64: PendingChange] = [:]
  /// The names of those changes, each with the connections whose next call waits for it.
  var lockedNames: [OwnedName: [ConnectionID]] = [:]
  var batch: [Change] = []
  var nextTicket: UInt64 = 1
  var nextNumber: Int64

  /// What happened to the clocks, and whether the loop was away.
  var clocks: ClockHistory
  private var loop: LoopWatch
  /// What happened to them up to this turn; `nil` if nothing did.
  package private(set) var discontinuity: Discontinuity?
  /// What the host saw of the machine.
  package var machine = Machine()
  var tallies = TallyTable()
  /// Boot time when it began, µs.
  let startedAt: Int64
  /// What callers ask of the daemon itself, for the host.
  var requests: [ControlRequest] = []

  /// The name of the call that is being handled, and the uid of him whom it is about.
  var name: [UInt8] = []
  var owner: UInt32 = 0
  /// The name of the event that is being told.
  var eventName: [UInt8] = []
  /// Reused by lists.
  var page: [EntryID] = []

  /// What the host sees of the machine from time to time.
  package struct Machine: Sendable {
    /// The kernel says that something keeps the wall clock right.
    package var isSynchronized: Bool
    /// Memory of the whole process; `nil` where that is not known.
    package var residentBytes: Int?

    /// Nothing is known unless it is said.
    package init(isSynchronized: Bool = false, residentBytes: Int? = nil) {
      self.isSynchronized = isSynchronized
      self.residentBytes = residentBytes
    }
  }

  /// What the host knows of the daemon, and the service does not.
  package struct Identity: Sendable {
    let version: String
    /// The user it runs as, who may control it.
    let uid: UInt32
    /// Which boot of the machine this is, as 32 hexadecimal digits.
    let bootID: String

    package init(version: String, uid: UInt32, bootID: String) {
      self.version = version
      self.uid = uid
      self.bootID = bootID
    }
  }

  /// - Parameters:
  ///   - reading: The clocks as it begins.
  ///   - reservation: For how many countdowns to reserve address space.
  package init(
    at reading: Reading, limits: Limits, terms: LedgerTerms, identity: Identity,
    reserving reservation: Int
  ) {
    scheduler = Scheduler(at: reading, limits: limits, terms: terms, reserving: reservation)
    self.identity = identity
    recent = RecentEvents(limits: limits)
    watchedAnchor = reading
    nextNumber = terms.firstNumber
    clocks = ClockHistory(at: reading)
    loop = LoopWatch(at: reading.boottime)
    startedAt = reading.boottime
  }

  /// Other limits hold from here on, for what is new: what exceeds them already stays as it is.
  ///
  /// Everybody is looked at again, since who had reached a limit may go on. O(connections).
  package mutating func adopt(_ limits: Limits) {
    scheduler.limits = limits
    recent.adopt(limits)
    for index in connections.indices where connections[index].isOpen {
      enqueue(index)
      touch(index)
    }
    serveLongWaiting()
  }

  // MARK: Connections

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

  private mutating func turnAway(
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
  private func isIdle(_ index: Int) -> Bool {
    if case .calling = connections[index].activity { !connections[index].isQueued } else { false }
  }

  /// A connection is read from while what it sent is being handled: up to one message of the largest
  /// size while that has not come whole, and only a little ahead while one waits for its turn, the
  /// connection is busy, or does not read its replies.
  private func hasRoom(_ index: Int) -> Bool {
    let bytes = connections[index].input.count
    if awaitsMore(index) {
      let isWithin = bytes < Service.aheadBytes || connections[index].isLong
      return isWithin && bytes <= limits.messageBytes
    }
    return bytes < Service.aheadBytes
  }

  /// Whether the rest of its next call is all that it waits for.
  private func awaitsMore(_ index: Int) -> Bool {
    guard case .calling = connections[index].activity else { return false }
    return !connections[index].input.holdsMessage && mayBeAnswered(index)
  }

  /// Whether its unread replies leave room for one more.
  func mayBeAnswered(_ index: Int) -> Bool {
    hasRoom(index, below: max(limits.queuedReplyBytes - limits.messageBytes, 0))
  }

  /// Whether a connection has not more than `bytes` unread, and may have so many: beyond a share that is
  /// everyone's, only while its user and all together have not too much.
  ///
  /// Nobody has to be woken when others have read: who has more than the share goes on at the latest when
  /// it has read its own.
  func hasRoom(_ index: Int, below bytes: Int) -> Bool {
    let pending = connections[index].pendingBytes
    guard pending <= bytes else { return false }
    return pending <= Service.unreadShare || reachedBound(of: index) == nil
  }

  /// Which bound on unread replies is reached, that of all or that of a connection's user: the longest
  /// reply would go beyond it. `nil` while neither is.
  ///
  /// Until it is not, nobody is answered with more than a list has at once: what would be longer is
  /// refused. So a connection has no more unread than its share and that, however many there are.
  func reachedBound(of index: Int) -> Refusal? {
    if unreadBytes > max(limits.queuedReplyBytesTotal - limits.messageBytes, 0) {
      return .quotaExceeded(
        resource: .queuedReplyBytesTotal, limit: limits.queuedReplyBytesTotal, used: unreadBytes)
    }
    let user = scheduler.users[connections[index].user]
    if user.uid != 0,
      user.unreadBytes > max(limits.queuedReplyBytesPerUser - limits.messageBytes, 0)
    {
      return .quotaExceeded(
        resource: .queuedReplyBytesPerUser, limit: limits.queuedReplyBytesPerUser,
        used: user.unreadBytes)
    }
    return nil
  }

  /// Some dozens of short replies: who reads is not slowed down much by those who do not.
  private static let unreadShare = 16 << 10

  /// A connection's output has changed: it is counted, and gives back the memory it does not need.
  mutating func noteOutput(_ index: Int) {
    if connections[index].pendingBytes == 0 || connections[index].isDeaf {
      spare.put(connections[index].takeOutput())
    }
    let added = connections[index].pendingBytes - connections[index].countedBytes
    connections[index].countedBytes += added
    scheduler.users.addUnread(added, of: connections[index].user)
    unreadBytes += added
  }

  // MARK: Long calls

  /// A connection's input has changed. A call of which much has come takes a place for such, or waits for
  /// one; it gives it back when it was handled, or never will be.
  ///
  /// What has come of calls is bounded so: with a place by the longest message, without by little more
  /// than what is read ahead.
  mutating func noteInput(_ index: Int) {
    let holdsMuch =
      connections[index].isOpen && connections[index].input.count >= Service.aheadBytes
    guard connections[index].isLong else {
      if holdsMuch, !connections[index].waitsToBeLong, awaitsMore(index) { becomeLong(index) }
      return
    }
    switch connections[index].activity {
    case .calling where holdsMuch, .blocked where holdsMuch: return
    default: break
    }
    connections[index].isLong = false
    longCalls -= 1
    scheduler.users[connections[index].user].longCalls -= 1
    serveLongWaiting()
  }

  private mutating func becomeLong(_ index: Int) {
    guard mayBeLong(index) else {
      connections[index].waitsToBeLong = true
      longWaiting.append(connections[index].id)
      return
    }
    connections[index].isLong = true
    longCalls += 1
    scheduler.users[connections[index].user].longCalls += 1
  }

  /// Whether there is a place for a long call of a connection's user. For his first there always is:
  /// others cannot keep him waiting, and of those who wait for each other one goes on.
  func mayBeLong(_ index: Int) -> Bool {
    let user = scheduler.users[connections[index].user]
    if user.longCalls == 0 { return true }
    return longCalls < limits.longCalls
      && (user.uid == 0 || user.longCalls < limits.longCallsPerUser)
  }

  /// A place may have become free: those who wait take it in their order. O(those who wait).
  private mutating func serveLongWaiting() {
    guard !longWaiting.isEmpty else { return }
    let waiting = longWaiting
    longWaiting.removeAll(keepingCapacity: true)
    for id in waiting {
      guard let index = place(of: id) else { continue }
      connections[index].waitsToBeLong = false
      // One that cannot use it now comes again when it can.
      guard awaitsMore(index), connections[index].input.count >= Service.aheadBytes else {
        continue
      }
      becomeLong(index)
      // The host is to hear that more is wanted, in a turn.
      if connections[index].isLong { enqueue(index) }
    }
  }

  /// So much is read ahead of a connection.
  private static let aheadBytes = 64 << 10

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
  private func waitsForRoom(_ index: Int) -> Bool {
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

  // MARK: The turn

  /// Handles what there is to do at a reading: what is due, verdicts, calls, streams.
  package mutating func turn(at reading: Reading, verdicts: [Verdict] = []) {
    hasCrossed = false
    scheduler.advance(to: reading, limit: Service.entriesPerTurn)
    let now = scheduler.now
    discontinuity = clocks.note(now, awayUSec: loop.beginTurn(at: now.boottime))
    if let discontinuity {
      scheduler.note(discontinuity)
      publish(discontinuity)
    }
    tallies.begin(at: now.boottime)
    noteTime()
    var told = 0
    let enough = recent.appendedBytes + Service.expiryBytesPerTurn
    while told < Service.expiriesPerTurn, recent.appendedBytes < enough,
      let event = scheduler.takeDue()
    {
      publish(event)
      told += 1
    }
    serveStreams()
    while let timer = scheduler.takeDueTimer() { handleTimer(timer.id, token: timer.token) }
    for verdict in verdicts { settle(verdict) }
    // Who waited for a verdict comes before everybody else: a connection that changes the same name
    // again and again would keep the others waiting for ever.
    let queue = woken + ready
    woken.removeAll(keepingCapacity: true)
    ready.removeAll(keepingCapacity: true)
    handleCalls(of: queue)
    serveWatches()
    serveStreams()
    tidyWatches()
  }

  /// Whether this turn tells something because its time has come: nothing of it may leave before the
  /// turn's reading has really passed.
  package var hasToldByTime: Bool { scheduler.hasExpired || hasCrossed }

  /// When the next turn has something to do, if nothing comes in before.
  package var nextWake: Scheduler.Wake {
    ready.isEmpty && watchQueue.isEmpty && watchTable.isTidy ? scheduler.nextWake : .now
  }

  /// All that the turn asked for is done: the host begins to wait, until ``nextWake`` or for input. By
  /// that it is known in the next turn whether the loop was away.
  ///
  /// - Parameter boottime: µs, read now.
  package mutating func beginWait(at boottime: Int64) {
    switch nextWake {
    case .now: loop.beginWait(at: boottime, until: boottime)
    case .at(let instant): loop.beginWait(at: boottime, until: Int64(instant.rawValue))
    case .never: loop.beginWait(at: boottime, until: nil)
    }
  }

  /// Whether every call that was read has been answered and every answer has left: a good moment to
  /// stop. O(connections).
  package var isQuiet: Bool {
    guard ready.isEmpty, underway.isEmpty, requests.isEmpty else { return false }
    return !connections.contains { $0.isOpen && $0.pendingBytes > 0 }
  }

  /// Handles the calls of these, as far as the turn has room; the rest come first in the next.
  ///
  /// The turn is shared evenly, by users and then by the connections of each: who sends little waits for a
  /// share of each of the others, not for all they sent, nor for all the connections one of them has. What
  /// is left then is for whoever comes next.
  private mutating func handleCalls(of queue: [ConnectionID]) {
    callBudget = Service.callCostPerTurn
    let users = queue.compactMap { id in place(of: id).map { connections[$0].user } }
    var shares = TurnShares(of: callBudget, among: users)
    var rest: [ConnectionID] = []
    for id in queue {
      guard let index = place(of: id) else { continue }
      let user = connections[index].user
      guard callBudget > 0, shares.hasRoom(for: user) else {
        rest.append(id)
        continue
      }
      let before = callBudget
      handleCalls(index, share: shares.perConnection(of: user))
      shares.take(before - callBudget, by: user)
    }
    let share = max(1, callBudget / max(rest.count, 1))
    for (position, id) in rest.enumerated() {
      guard callBudget > 0 else {
        postpone(rest[position...])
        break
      }
      if let index = place(of: id) { handleCalls(index, share: share) }
    }
  }

  private mutating func handleCalls(_ index: Int, share: Int) {
    callShare = min(Service.callsPerTurn, share)
    connections[index].isQueued = false
    handle(index)
    touch(index)
  }

  /// Those whose calls this turn had no room for: the next begins with them, in the same order.
  private mutating func postpone(_ rest: ArraySlice<ConnectionID>) {
    for id in rest {
      if let index = place(of: id) { connections[index].isQueued = true }
    }
    ready = rest + ready
  }

  /// What the calls of one turn may cost: however many clients send however much, what is due waits
  /// for no more. Less than the ended countdowns that a turn can remove, so that those who make some
  /// with every call do not outrun the limit on them.
  private static let callCostPerTurn = 2_048

  /// Entries of the wheel that one turn looks at, and expiries that it tells.
  private static let entriesPerTurn = 4_096
  private static let expiriesPerTurn = 1_024
  /// A turn tells no more bytes of expiries than a socket takes at once: who reads keeps up with a
  /// crowd of any size.
  private static let expiryBytesPerTurn = 128 << 10

  /// The connections to look at: send their output, adjust what is waited for, close what is done.
  package mutating func takeTouched() -> [ConnectionID] {
    let list = touched
    touched.removeAll(keepingCapacity: true)
    for id in list {
      if let index = place(of: id) { connections[index].isTouched = false }
    }
    return list
  }

  /// The changes decided in this turn, for the ledger.
  package mutating func takeBatch() -> [Change] {
    defer { batch.removeAll(keepingCapacity: true) }
    return batch
  }

  // MARK: Bookkeeping

  func place(of id: ConnectionID) -> Int? {
    let index = Int(id.index)
    guard index < connections.count, connections[index].id == id, connections[index].isOpen
    else { return nil }
    return index
  }

  /// The host is to look at it.
  mutating func touch(_ index: Int) {
    guard !connections[index].isTouched else { return }
    connections[index].isTouched = true
    touched.append(connections[index].id)
  }

  /// It may have something to handle: looked at in this turn or the next.
  mutating func enqueue(_ index: Int) {
    guard !connections[index].isQueued else { return }
    connections[index].isQueued = true
    ready.append(connections[index].id)
  }

  /// Nothing more is handled for it; it goes once its output has left.
  mutating func close(_ index: Int) {
    connections[index].isClosing = true
    connections[index].input.removeAll()
    noteInput(index)
    endStream(index)
    touch(index)
  }
}
