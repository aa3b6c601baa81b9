import Countdowns
import Testing

/// Every verb on every state, as rows.
@Suite struct SchedulerDecidingTests {
  /// What a verb is called on: a countdown of 60 s, 25 s after its start (the expired one 65 s).
  enum Before: CaseIterable {
    /// 35 s remain; revision 100.
    case running
    /// For 5 s, with 40 s left; revision 101.
    case paused
    /// For 5 s; revision 100.
    case expired
    /// For 5 s, with 40 s left; revision 100.
    case cancelled

    var revision: Int64 { self == .paused ? 101 : 100 }
  }

  enum After: Equatable {
    case refused(Refusal)
    /// What stands then: seconds left, seconds from the start to the deadline on its own clock.
    case stands(CountdownState, left: Int64, due: Int64?, revision: Int64, told: EventKind)
  }

  struct Row: CustomStringConvertible {
    let verb: Rig.Verb
    let before: Before
    let after: After
    var description: String { "\(verb) of one that is \(before)" }
  }

  static func rig(_ before: Before, _ clock: CountdownClock) throws -> Rig {
    let rig = Rig()
    if clock == .realtime {
      try rig.start("a", until: Rig.morning.realtime + 60 * second)
    } else {
      try rig.start("a", 60 * second, clock: clock)
    }
    switch before {
    case .running: rig.pass(20 * second)
    case .paused:
      rig.pass(20 * second)
      try rig.call(.pause, "a")
    case .expired: rig.pass(60 * second)
    case .cancelled:
      rig.pass(20 * second)
      try rig.call(.cancel, "a")
    }
    rig.pass(5 * second)
    rig.events = []
    return rig
  }

  static func after(
    _ verb: Rig.Verb, _ rig: Rig, _ clock: CountdownClock, revision: Int64?
  ) throws -> After {
    if let refusal = rig.refusal(of: { () throws(Refusal) in
      try rig.call(verb, "a", revision: revision)
    }) {
      return .refused(refusal)
    }
    let view = try #require(rig.view("a"))
    #expect(view.remainingUSec % second == 0 && view.lengthUSec == 60 * second)
    return .stands(
      view.state, left: view.remainingUSec / second,
      due: view.deadline.map { ($0 - Rig.morning.value(of: clock)) / second },
      revision: view.revision, told: try #require(rig.events.last).kind)
  }

  static let expired = Refusal.alreadyExpired(state: .expired, revision: 100)
  static let cancelled = Refusal.wrongState(state: .cancelled, revision: 100)

  static let extending: [Row] = [
    Row(
      verb: .extend(.by(10 * second)), before: .running,
      after: .stands(.running, left: 45, due: 70, revision: 101, told: .changed)),
    Row(
      verb: .extend(.by(-10 * second)), before: .running,
      after: .stands(.running, left: 25, due: 50, revision: 101, told: .changed)),
    Row(
      verb: .extend(.by(-35 * second)), before: .running,
      after: .stands(.running, left: 0, due: 25, revision: 101, told: .changed)),
    Row(
      verb: .extend(.by(-50 * second)), before: .running,
      after: .stands(.running, left: 0, due: 25, revision: 101, told: .changed)),
    Row(
      verb: .extend(.toRemaining(7 * second)), before: .running,
      after: .stands(.running, left: 7, due: 32, revision: 101, told: .changed)),
    Row(verb: .extend(.by(second)), before: .expired, after: .refused(expired)),
    Row(verb: .extend(.toRemaining(second)), before: .expired, after: .refused(expired)),
    Row(verb: .extend(.by(second)), before: .cancelled, after: .refused(cancelled)),
    Row(verb: .extend(.toRemaining(second)), before: .cancelled, after: .refused(cancelled)),
  ]

  static let cancelling: [Row] = [
    Row(
      verb: .cancel, before: .running,
      after: .stands(.cancelled, left: 0, due: nil, revision: 100, told: .cancelled)),
    Row(verb: .cancel, before: .expired, after: .refused(expired)),
    Row(verb: .cancel, before: .cancelled, after: .refused(cancelled)),
  ]

  static let payloads: [Row] =
    [nil, [123, 125]].flatMap { payload in
      [
        Row(
          verb: .setPayload(payload), before: .running,
          after: .stands(.running, left: 35, due: 60, revision: 101, told: .changed)),
        Row(verb: .setPayload(payload), before: .expired, after: .refused(expired)),
        Row(verb: .setPayload(payload), before: .cancelled, after: .refused(cancelled)),
      ]
    }

  static let lengths: [Row] =
    extending + cancelling + payloads + [
      Row(
        verb: .setPayload([123, 125]), before: .paused,
        after: .stands(.paused, left: 40, due: nil, revision: 102, told: .changed)),
      Row(
        verb: .pause, before: .running,
        after: .stands(.paused, left: 35, due: nil, revision: 101, told: .paused)),
      Row(
        verb: .pause, before: .paused,
        after: .refused(.wrongState(state: .paused, revision: 101))),
      Row(verb: .pause, before: .expired, after: .refused(expired)),
      Row(verb: .pause, before: .cancelled, after: .refused(cancelled)),
      Row(
        verb: .resume, before: .running,
        after: .refused(.wrongState(state: .running, revision: 100))),
      Row(
        verb: .resume, before: .paused,
        after: .stands(.running, left: 40, due: 65, revision: 102, told: .resumed)),
      Row(verb: .resume, before: .expired, after: .refused(expired)),
      Row(verb: .resume, before: .cancelled, after: .refused(cancelled)),
      Row(
        verb: .restart, before: .running,
        after: .stands(.running, left: 60, due: 85, revision: 101, told: .started)),
      Row(
        verb: .restart, before: .paused,
        after: .stands(.running, left: 60, due: 85, revision: 102, told: .started)),
      Row(
        verb: .restart, before: .expired,
        after: .stands(.running, left: 60, due: 125, revision: 101, told: .started)),
      Row(
        verb: .restart, before: .cancelled,
        after: .stands(.running, left: 60, due: 85, revision: 101, told: .started)),
      Row(
        verb: .extend(.by(10 * second)), before: .paused,
        after: .stands(.paused, left: 50, due: nil, revision: 102, told: .changed)),
      Row(
        verb: .extend(.by(-41 * second)), before: .paused,
        after: .stands(.paused, left: 0, due: nil, revision: 102, told: .changed)),
      Row(
        verb: .extend(.toRemaining(0)), before: .paused,
        after: .stands(.paused, left: 0, due: nil, revision: 102, told: .changed)),
      Row(
        verb: .cancel, before: .paused,
        after: .stands(.cancelled, left: 0, due: nil, revision: 101, told: .cancelled)),
    ]

  static let instants: [Row] =
    extending + cancelling + payloads + [
      Row(verb: .pause, before: .running, after: .refused(.wrongClock(.realtime))),
      Row(verb: .pause, before: .expired, after: .refused(expired)),
      Row(verb: .pause, before: .cancelled, after: .refused(cancelled)),
      Row(
        verb: .resume, before: .running,
        after: .refused(.wrongState(state: .running, revision: 100))),
      Row(verb: .resume, before: .expired, after: .refused(expired)),
      Row(verb: .resume, before: .cancelled, after: .refused(cancelled)),
      Row(verb: .restart, before: .running, after: .refused(.wrongClock(.realtime))),
      Row(verb: .restart, before: .expired, after: .refused(.wrongClock(.realtime))),
      Row(verb: .restart, before: .cancelled, after: .refused(.wrongClock(.realtime))),
    ]

  static let all: [(CountdownClock, Row)] =
    lengths.flatMap { [(.boottime, $0), (.monotonic, $0)] } + instants.map { (.realtime, $0) }

  @Test(arguments: all)
  func `each verb does what its row says, and a refused one nothing`(
    clock: CountdownClock, row: Row
  ) throws {
    let rig = try Self.rig(row.before, clock)
    let before = rig.view("a").map { String(describing: $0) }
    #expect(try Self.after(row.verb, rig, clock, revision: nil) == row.after)
    if case .refused = row.after {
      #expect(rig.events.isEmpty)
      #expect(rig.view("a").map { String(describing: $0) } == before)
    }
    #expect(rig.scheduler.brokenInvariant() == nil)
  }

  @Test(arguments: all)
  func `the revision that stands changes nothing of what a verb does`(
    clock: CountdownClock, row: Row
  ) throws {
    let rig = try Self.rig(row.before, clock)
    #expect(try Self.after(row.verb, rig, clock, revision: row.before.revision) == row.after)
  }

  @Test(arguments: all)
  func `any other revision is refused before anything else is looked at`(
    clock: CountdownClock, row: Row
  ) throws {
    for revision in [row.before.revision - 1, row.before.revision + 1, 0, .min, .max] {
      let rig = try Self.rig(row.before, clock)
      #expect(
        try Self.after(row.verb, rig, clock, revision: revision)
          == .refused(.revisionMismatch(revision: row.before.revision)))
      #expect(rig.events.isEmpty)
    }
  }

  @Test func `a countdown that is due is handed out before a verb acts on it`() throws {
    let rig = Rig()
    try rig.start("a", 10 * second)
    rig.run(10 * second)
    rig.advance()
    #expect(
      rig.refusal { () throws(Refusal) in try rig.call(.cancel, "a") }
        == .alreadyExpired(state: .expired, revision: 100))
    #expect(rig.events.map(\.kind) == [.started, .expired])
    #expect(rig.turn().isEmpty)
  }

  @Test func `a verb decided before the deadline wins though it takes effect after it`() throws {
    let rig = Rig()
    try rig.start("a", 10 * second)
    rig.pass(10 * second - 1)
    let plan = try rig.decide(.cancel, "a")
    rig.scheduler.lock(rig.find("a")!)
    #expect(rig.pass(second).isEmpty)
    let outcome = try rig.apply(plan, "a")
    rig.scheduler.unlock(outcome.id)
    #expect(outcome.event.remainingUSec == 1)
    #expect(rig.pass(second).isEmpty)
    #expect(rig.view("a")?.state == .cancelled)
  }

  /// It waits to be handed out as the revision it was.
  @Test func `a payload set while a step back keeps one from being handed out does not lose it`()
    throws
  {
    let rig = Rig()
    try rig.start("a", until: Rig.morning.realtime + 10 * second)
    rig.step(11 * second)
    rig.advance()
    rig.step(-5 * second)
    rig.advance()
    try rig.call(.setPayload([1]), "a")
    #expect(rig.scheduler.brokenInvariant() == nil)
    #expect(rig.pass(4 * second - 1).isEmpty)
    #expect(rig.pass(1).map(\.payload) == [[1]])
  }

  @Test func `restart ends what ran, told with what takes its place`() throws {
    let rig = Rig()
    try rig.start("a", 10 * second, payload: Array("{}".utf8))
    rig.pass(4 * second)
    let plan = try rig.decide(.restart, "a")
    rig.scheduler.lock(rig.find("a")!)
    rig.pass(second)  // What was left is told as it was when the call was decided.
    let outcome = try rig.apply(plan, "a")
    rig.scheduler.unlock(outcome.id)
    #expect(
      outcome.ended?.told
        == Told(
          kind: .cancelled, revision: 100, deadline: Rig.morning.boottime + 10 * second,
          remainingUSec: 6 * second, payload: Array("{}".utf8), replacedBy: 101))
    #expect(rig.view("a")?.remainingUSec == 9 * second)
    #expect(rig.view("a")?.startedAt == Rig.morning.realtime + 4 * second)
  }

  @Test func `what is paused never expires, and at 0 does so on Resume`() throws {
    let rig = Rig()
    try rig.start("a", 10 * second)
    try rig.call(.pause, "a")
    try rig.call(.extend(.by(-20 * second)), "a")
    #expect(rig.pass(year).isEmpty)
    #expect(rig.scheduler.nextWake == .never)
    try rig.call(.resume, "a")
    #expect(rig.scheduler.nextWake == .now)
    #expect(rig.turn().map(\.lateUSec) == [0])
  }

  @Test func `B35: a second start, verbs on nothing and on what has ended do nothing`() throws {
    let rig = Rig()
    try rig.start("a", 60 * second)
    let exists = Refusal.countdownExists(
      remainingUSec: 60 * second, revision: 100, state: .running)
    #expect(rig.refusal { () throws(Refusal) in try rig.start("a", 60 * second) } == exists)
    #expect(
      rig.refusal { () throws(Refusal) in try rig.call(.resume, "a") }
        == .wrongState(state: .running, revision: 100))
    rig.pass(second)
    #expect(rig.view("a")?.remainingUSec == 59 * second)
    try rig.call(.cancel, "a")
    #expect(
      rig.refusal { () throws(Refusal) in try rig.call(.cancel, "a") }
        == .wrongState(state: .cancelled, revision: 100))
    #expect(
      rig.refusal { () throws(Refusal) in try rig.call(.cancel, "nope") } == .noSuchCountdown)
    try rig.start("b", second)
    rig.pass(second)
    #expect(
      rig.refusal { () throws(Refusal) in try rig.call(.pause, "b") }
        == .alreadyExpired(state: .expired, revision: 101))
    #expect(rig.pass(100 * second).isEmpty)
    #expect(rig.events.map(\.kind) == [.started, .cancelled, .started, .expired])
  }
}
