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
  var freeConnections: [UInt32] = []
  package internal(set) var connectionCount = 0

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
  var unreadBytes = 0
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
