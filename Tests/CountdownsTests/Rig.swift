import Countdowns
import TimingWheel

let second: Int64 = 1_000_000
let hour: Int64 = 3_600_000_000
let year: Int64 = 365 * 24 * 3_600_000_000

/// A scheduler with virtual clocks and a ledger that answers at once, used as the service uses it:
/// what is due is handed out before a call acts on it, and every change takes the next number.
final class Rig {
  var scheduler: Scheduler
  /// The clocks; the scheduler learns of them by ``advance(limit:)``.
  var reading: Reading
  /// What has been told, in order.
  var events: [Event] = []
  var nextRevision: Int64 = 100
  /// How long it has slept in all, and how far its wall clock was set.
  private(set) var slept: Int64 = 0
  private(set) var stepped: Int64 = 0
  /// What happened to the clocks, as the service finds it.
  private var clocks: ClockJudge

  /// No two clocks show the same, or anything round in ticks of 64 µs.
  static let morning = Reading(
    monotonic: 1_000_000_007, boottime: 2_000_000_021, realtime: 1_700_000_000_000_033)

  init(at reading: Reading = Rig.morning, limits: Limits = Limits()) {
    self.reading = reading
    clocks = ClockJudge(at: reading)
    scheduler = Scheduler(
      at: reading, limits: limits, terms: Rig.terms, reserving: 1_024)
  }

  /// Both durabilities are taken.
  static let terms = LedgerTerms(
    memory: .atOnce, synced: .byVerdict, standard: .synced, firstNumber: 100)

  // MARK: Time

  func run(_ usec: Int64) {
    reading.monotonic += usec
    reading.boottime += usec
    reading.realtime += usec
  }

  func suspend(_ usec: Int64) {
    slept += usec
    reading.boottime += usec
    reading.realtime += usec
  }

  func step(_ usec: Int64) {
    stepped += usec
    reading.realtime += usec
  }

  func advance(limit: Int = 1_000_000) {
    scheduler.advance(to: reading, limit: limit)
    if let one = clocks.judge(scheduler.now, awayUSec: 0) { scheduler.note(one) }
  }

  /// One turn's expiries at the reading, all of them unless a limit stops the wheel.
  @discardableResult
  func turn(limit: Int = 1_000_000) -> [Event] {
    advance(limit: limit)
    var told: [Event] = []
    while let event = scheduler.takeDue() { told.append(event) }
    events += told
    return told
  }

  /// Lets so much time pass, and handles what is due then.
  @discardableResult
  func pass(_ usec: Int64) -> [Event] {
    run(usec)
    return turn()
  }

  // MARK: Calls

  func find(_ name: String, uid: UInt32 = 1_000) -> EntryID? {
    scheduler.find(user: scheduler.users.index(of: uid), name: Array(name.utf8).span)
  }

  func view(_ name: String, uid: UInt32 = 1_000) -> CountdownView? {
    find(name, uid: uid).map { scheduler.view(of: $0) }
  }

  func usage(uid: UInt32 = 1_000) -> UserTable.Usage {
    scheduler.users[scheduler.users.index(of: uid)]
  }

  /// Names in bytewise order, ended ones included.
  func names(uid: UInt32 = 1_000) -> [String] {
    var page: [EntryID] = []
    let none: [UInt8] = []
    scheduler.collect(
      user: scheduler.users.index(of: uid), prefix: none.span, after: nil, limit: .max, into: &page)
    return page.map { name(of: $0) }
  }

  func name(of id: EntryID) -> String { Rig.name(of: id, in: scheduler) }

  /// Static, because the bytes are lent by the scheduler.
  private static func name(of id: EntryID, in scheduler: borrowing Scheduler) -> String {
    let name = scheduler.name(of: id)
    return String(decoding: name.indices.map { name[$0] }, as: UTF8.self)
  }

  private func handOut(_ id: EntryID?) {
    if let id, let event = scheduler.expireIfDue(id) { events.append(event) }
  }

  /// A `Start` is decided.
  func decide(
    _ request: StartRequest, _ name: String, uid: UInt32 = 1_000
  ) throws(Refusal) -> StartDecision {
    let user = scheduler.users.index(of: uid)
    let existing = find(name, uid: uid)
    handOut(existing)
    return try scheduler.decideStart(request, user: user, existing: existing)
  }

  /// A `Start`, carried out at once: whether something was done.
  @discardableResult
  func start(
    _ name: String, _ request: StartRequest, uid: UInt32 = 1_000, payload: [UInt8]? = nil
  ) throws(Refusal) -> Bool {
    var request = request
    if let payload { request.payloadBytes = payload.count }
    guard case .change(let plan) = try decide(request, name, uid: uid) else { return false }
    try apply(plan, name, uid: uid, payload: payload)
    return true
  }

  @discardableResult
  func start(
    _ name: String, _ lengthUSec: Int64, clock: CountdownClock = .boottime, uid: UInt32 = 1_000,
    payload: [UInt8]? = nil
  ) throws(Refusal) -> Bool {
    try start(
      name, StartRequest(end: .length(lengthUSec), clock: clock, durability: .memory), uid: uid,
      payload: payload)
  }

  /// A `Start` until an instant of the wall clock.
  @discardableResult
  func start(_ name: String, until realtime: Int64, uid: UInt32 = 1_000) throws(Refusal) -> Bool {
    try start(
      name, StartRequest(end: .instant(realtime), clock: .realtime, durability: .memory), uid: uid)
  }

  enum Verb: Sendable {
    case pause
    case resume
    case restart
    case extend(Scheduler.Extension)
    case cancel
    case setPayload([UInt8]?)
  }

  /// A verb is decided.
  func decide(
    _ verb: Verb, _ name: String, uid: UInt32 = 1_000, revision: Int64? = nil
  ) throws(Refusal) -> Plan {
    guard let id = find(name, uid: uid) else { throw .noSuchCountdown }
    handOut(id)
    return switch verb {
    case .pause: try scheduler.decidePause(id, revision: revision)
    case .resume: try scheduler.decideResume(id, revision: revision)
    case .restart: try scheduler.decideRestart(id, revision: revision)
    case .extend(let extent): try scheduler.decideExtend(id, extent, revision: revision)
    case .cancel: try scheduler.decideCancel(id, revision: revision)
    case .setPayload(let payload):
      try scheduler.decideSetPayload(id, payloadBytes: payload?.count, revision: revision)
    }
  }

  /// A verb, carried out at once.
  @discardableResult
  func call(
    _ verb: Verb, _ name: String, uid: UInt32 = 1_000, revision: Int64? = nil
  ) throws(Refusal) -> Outcome {
    let plan = try decide(verb, name, uid: uid, revision: revision)
    guard case .setPayload(let payload) = verb else { return try apply(plan, name, uid: uid) }
    return try apply(plan, name, uid: uid, payload: payload)
  }

  @discardableResult
  func apply(
    _ plan: Plan, _ name: String, uid: UInt32 = 1_000, payload: [UInt8]? = nil
  ) throws(Refusal) -> Outcome {
    let outcome = try scheduler.apply(
      plan, to: find(name, uid: uid), name: Array(name.utf8).span, payload: payload,
      revision: nextRevision)
    if plan.action != .cancel { nextRevision += 1 }
    if let ended = outcome.ended { events.append(ended) }
    events.append(outcome.event)
    return outcome
  }

  /// What a call throws; `nil` where it succeeds.
  func refusal(of call: () throws(Refusal) -> Void) -> Refusal? {
    do throws(Refusal) {
      try call()
      return nil
    } catch {
      return error
    }
  }
}

extension Event {
  /// What two tellings of it have in common, and what is told, without its id.
  var told: Told {
    Told(
      kind: kind, revision: revision, occurrence: occurrence, deadline: deadline,
      lateUSec: lateUSec, remainingUSec: remainingUSec, payload: payload,
      missedOccurrences: missedOccurrences, replacedBy: replacedBy)
  }
}

struct Told: Equatable {
  var kind: EventKind
  var revision: Int64
  var occurrence: Int64?
  var deadline: Int64?
  var lateUSec: Int64?
  var remainingUSec: Int64?
  var payload: [UInt8]?
  var missedOccurrences: Int64 = 0
  var replacedBy: Int64?
}
