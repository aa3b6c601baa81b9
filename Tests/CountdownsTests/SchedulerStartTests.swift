import Countdowns
import Testing

/// `Start` on every state with every `onConflict`, as rows.
@Suite struct SchedulerStartTests {
  typealias Before = SchedulerDecidingTests.Before
  typealias Table = SchedulerDecidingTests

  enum After: Equatable {
    case refused(Refusal)
    /// Nothing was done.
    case stood
    /// It runs as new: 90 s left, revision and what was told.
    case new(revision: Int64, told: [EventKind])
    /// Only its deadline moved: seconds left.
    case extended(CountdownState, left: Int64, revision: Int64)
  }

  static let runs = Refusal.countdownExists(
    remainingUSec: 35 * second, revision: 100, state: .running)
  static let rests = Refusal.countdownExists(
    remainingUSec: 40 * second, revision: 101, state: .paused)
  static let other = Refusal.wrongClock(.boottime)

  /// On a countdown on boot time: with a call of the same clock, and of monotonic.
  static let rows: [(Before, OnConflict, same: After, other: After)] = [
    (.running, .fail, .refused(runs), .refused(runs)),
    (.running, .keep, .stood, .refused(other)),
    (.running, .once, .stood, .refused(other)),
    (
      .running, .replace, .new(revision: 101, told: [.cancelled, .started]),
      .new(revision: 101, told: [.cancelled, .started])
    ),
    (.running, .extendOnly, .extended(.running, left: 90, revision: 101), .refused(other)),
    (.paused, .fail, .refused(rests), .refused(rests)),
    (.paused, .keep, .stood, .refused(other)),
    (.paused, .once, .stood, .refused(other)),
    (
      .paused, .replace, .new(revision: 102, told: [.cancelled, .started]),
      .new(revision: 102, told: [.cancelled, .started])
    ),
    (.paused, .extendOnly, .extended(.paused, left: 90, revision: 102), .refused(other)),
    (.expired, .fail, .new(revision: 101, told: [.started]), .new(revision: 101, told: [.started])),
    (.expired, .keep, .new(revision: 101, told: [.started]), .new(revision: 101, told: [.started])),
    (.expired, .once, .stood, .refused(other)),
    (
      .expired, .replace, .new(revision: 101, told: [.started]),
      .new(revision: 101, told: [.started])
    ),
    (
      .expired, .extendOnly, .new(revision: 101, told: [.started]),
      .new(revision: 101, told: [.started])
    ),
    (
      .cancelled, .fail, .new(revision: 101, told: [.started]),
      .new(revision: 101, told: [.started])
    ),
    (
      .cancelled, .keep, .new(revision: 101, told: [.started]),
      .new(revision: 101, told: [.started])
    ),
    (.cancelled, .once, .stood, .refused(other)),
    (
      .cancelled, .replace, .new(revision: 101, told: [.started]),
      .new(revision: 101, told: [.started])
    ),
    (
      .cancelled, .extendOnly, .new(revision: 101, told: [.started]),
      .new(revision: 101, told: [.started])
    ),
  ]

  static func after(
    _ rig: Rig, _ onConflict: OnConflict, _ clock: CountdownClock, revision: Int64?
  ) throws -> After {
    var request = StartRequest(end: .length(90 * second), clock: clock, durability: .memory)
    request.onConflict = onConflict
    request.revision = revision
    var isDone = false
    if let refusal = rig.refusal(of: { () throws(Refusal) in
      isDone = try rig.start("a", request)
    }) {
      return .refused(refusal)
    }
    guard isDone else { return .stood }
    let view = try #require(rig.view("a"))
    if rig.events.map(\.kind) == [.changed] {
      #expect(view.lengthUSec == 60 * second && view.clock == .boottime)
      return .extended(view.state, left: view.remainingUSec / second, revision: view.revision)
    }
    #expect(view.state == .running && view.clock == clock && view.lengthUSec == 90 * second)
    #expect(view.remainingUSec == 90 * second && view.startedAt == rig.reading.realtime)
    #expect(view.endedAt == nil && view.lateUSec == nil)
    return .new(revision: view.revision, told: rig.events.map(\.kind))
  }

  @Test(arguments: rows)
  func `onConflict does what its row says, and a refused call nothing`(
    before: Before, onConflict: OnConflict, same: After, other: After
  ) throws {
    for (clock, after) in [(CountdownClock.boottime, same), (.monotonic, other)] {
      let rig = try Table.rig(before, .boottime)
      let stood = rig.view("a").map { String(describing: $0) }
      #expect(try Self.after(rig, onConflict, clock, revision: nil) == after)
      switch after {
      case .refused, .stood:
        #expect(rig.events.isEmpty)
        #expect(rig.view("a").map { String(describing: $0) } == stood)
      case .new, .extended: break
      }
      #expect(rig.scheduler.brokenInvariant() == nil)

      let given = try Table.rig(before, .boottime)
      #expect(try Self.after(given, onConflict, clock, revision: before.revision) == after)
      let stale = try Table.rig(before, .boottime)
      #expect(
        try Self.after(stale, onConflict, clock, revision: 99)
          == .refused(.revisionMismatch(revision: before.revision)))
      #expect(stale.events.isEmpty)
    }
  }

  @Test(arguments: OnConflict.allCases)
  func `a free name is started whatever onConflict, unless a revision is asked for`(
    onConflict: OnConflict
  ) throws {
    #expect(
      try Self.after(Rig(), onConflict, .boottime, revision: nil)
        == .new(revision: 100, told: [.started]))
    let rig = Rig()
    #expect(
      try Self.after(rig, onConflict, .boottime, revision: 100) == .refused(.noSuchCountdown))
    #expect(rig.names().isEmpty && rig.usage().live == 0)
  }

  @Test(arguments: [
    (35 * second, false), (35 * second + 1, true), (0, false), (10 * second, false),
  ])
  func `extendOnly moves a deadline only later`(lengthUSec: Int64, moves: Bool) throws {
    let rig = try Table.rig(.running, .boottime)
    var request = StartRequest(end: .length(lengthUSec), clock: .boottime, durability: .memory)
    request.onConflict = .extendOnly
    #expect(try rig.start("a", request) == moves)
    #expect(rig.view("a")?.remainingUSec == max(lengthUSec, 35 * second))
  }

  @Test func `extendOnly gives a paused one more to keep, and leaves all else alone`() throws {
    let rig = Rig()
    var request = StartRequest(end: .length(10 * second), clock: .boottime, durability: .memory)
    request.repeatUSec = 5 * second
    try rig.start("a", request, payload: [123, 125])
    try rig.call(.pause, "a")
    request.onConflict = .extendOnly
    #expect(try rig.start("a", request, payload: [123, 32, 125]) == false)
    request.end = .length(12 * second)
    request.repeatUSec = nil
    #expect(try rig.start("a", request, payload: [123, 32, 125]))
    let view = try #require(rig.view("a"))
    #expect(view.state == .paused && view.remainingUSec == 12 * second)
    #expect(view.repeatUSec == 5 * second && view.payload == [123, 125])
    #expect(view.lengthUSec == 10 * second && view.revision == 102)
  }

  @Test func `extendOnly until an instant moves the instant`() throws {
    let rig = Rig()
    let noon = rig.reading.realtime + hour
    try rig.start("a", until: noon)
    var request = StartRequest(end: .instant(noon), clock: .realtime, durability: .memory)
    request.onConflict = .extendOnly
    #expect(try rig.start("a", request) == false)
    request.end = .instant(noon + 1)
    #expect(try rig.start("a", request))
    #expect(rig.view("a")?.deadline == noon + 1)
  }

  @Test func `replace is at least as durable as what it ends, and verbs as their countdown`() throws
  {
    let rig = Rig()
    try rig.start("a", StartRequest(end: .length(second), clock: .boottime, durability: .synced))
    var request = StartRequest(end: .length(second), clock: .boottime, durability: .memory)
    request.onConflict = .replace
    guard case .change(let plan) = try rig.decide(request, "a") else {
      throw Refusal.noSuchCountdown
    }
    #expect(plan.durability == .synced)
    #expect(try rig.decide(.cancel, "a").durability == .synced)
    #expect(try rig.decide(.pause, "a").durability == .synced)
    try rig.apply(plan, "a")
    #expect(rig.view("a")?.durability == .memory)
    #expect(try rig.decide(.cancel, "a").durability == .memory)
  }

  @Test func `a ledger that stores nothing refuses what must be stored`() throws {
    var scheduler = Scheduler(
      at: Rig.morning, limits: Limits(),
      terms: .inMemory(wallClock: Rig.morning.realtime, notSupported: 95), reserving: 16)
    let user = scheduler.users.index(of: 1_000)
    #expect(throws: Refusal.storageFailed(errno: 95, outcomeUnknown: false)) {
      _ = try scheduler.decideStart(
        StartRequest(end: .length(1), clock: .boottime, durability: .synced), user: user,
        existing: nil)
    }
  }

  @Test func `two users may use one name`() throws {
    let rig = Rig()
    try rig.start("a", 10 * second, uid: 1_000)
    try rig.start("a", 20 * second, uid: 1_001)
    try rig.call(.cancel, "a", uid: 1_001)
    #expect(rig.view("a", uid: 1_000)?.state == .running)
    #expect(rig.pass(10 * second).map(\.revision) == [100])
  }
}
