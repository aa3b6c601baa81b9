import Countdowns
import Testing

/// When a late one is missed.
@Suite struct MissedTests {
  private func request(
    _ end: StartRequest.End, _ clock: CountdownClock, graceUSec: Int64? = nil
  ) -> StartRequest {
    var request = StartRequest(end: end, clock: clock, durability: .memory)
    request.catchUp = .skip
    request.graceUSec = graceUSec
    return request
  }

  /// What becomes of one that is due in 10 s by its clock and has a grace of 2 s; `nil` if nothing.
  private func told(
    _ clock: CountdownClock, after history: (Rig) throws -> Void
  ) throws -> String? {
    let rig = Rig()
    let end: StartRequest.End =
      clock == .realtime ? .instant(rig.reading.realtime + 10 * second) : .length(10 * second)
    try rig.start("a", request(end, clock, graceUSec: 2 * second))
    try history(rig)
    rig.turn()
    rig.turn()
    #expect(rig.scheduler.brokenInvariant() == nil)
    guard let event = rig.events.last, event.kind != .started else { return nil }
    let view = try #require(rig.view("a"))
    #expect(view.state == (event.kind == .missed ? .missed : .expired))
    #expect(view.lateUSec == event.lateUSec && view.lateReason == event.lateReason)
    #expect(view.remainingUSec == 0 && view.endedAt == rig.reading.realtime)
    return "\(event.kind) \(event.lateUSec ?? -1)"
  }

  private func told(_ history: (Rig) throws -> Void) throws -> [String?] {
    try [.boottime, .monotonic, .realtime].map { try told($0, after: history) }
  }

  @Test func `one is missed from a microsecond past its grace on, where sleep counts`() throws {
    #expect(try told { $0.suspend(12 * second) } == ["expired 2000000", nil, "expired 2000000"])
    #expect(
      try told { $0.suspend(12 * second + 1) } == ["missed 2000001", nil, "missed 2000001"])
    #expect(
      try told { $0.suspend(year) }[0] == "missed \(year - 10 * second)")
  }

  @Test func `a forward step makes those of the wall clock missed, and no others`() throws {
    #expect(try told { $0.step(12 * second) } == [nil, nil, "expired 2000000"])
    #expect(try told { $0.step(12 * second + 1) } == [nil, nil, "missed 2000001"])
  }

  @Test func `sleep and step count together where they come together`() throws {
    let history: (Rig) -> Void = {
      $0.suspend(6 * second)
      $0.step(6 * second + 1)
    }
    #expect(try told(history) == [nil, nil, "missed 2000001"])
    // The step alone passed over it, the sleep came after.
    #expect(
      try told(.realtime) {
        $0.step(11 * second)
        $0.advance()
        $0.suspend(5 * second)
        $0.advance()
      } == "expired 6000000")
  }

  @Test func `without skip nothing is missed`() throws {
    let rig = Rig()
    try rig.start("a", 10 * second)
    rig.suspend(year)
    #expect(rig.turn().map(\.kind) == [.expired])
  }

  @Test func `the default grace is a minute`() throws {
    for (slept, kind) in [(60 * second, EventKind.expired), (60 * second + 1, .missed)] {
      let rig = Rig()
      try rig.start("a", request(.length(second), .boottime))
      rig.suspend(second + slept)
      #expect(rig.turn().map(\.kind) == [kind])
    }
  }

  @Test func `overload makes none missed, before, beside or after a sleep`() throws {
    #expect(try told { $0.run(hour) }[0] == "expired 3590000000")
    // Due before it slept.
    #expect(
      try told(.boottime) {
        $0.run(10 * second)
        $0.suspend(hour)
      } == "expired \(hour)")
    #expect(
      try told(.boottime) {
        $0.run(10 * second - 1)
        $0.suspend(hour)
      } == "missed \(hour - 1)")
    // Known in time, and busy then.
    #expect(
      try told(.boottime) {
        $0.suspend(11 * second)
        $0.advance()
        $0.run(hour)
      } == "expired \(hour + second)")
    // Known too late, and busy then as well.
    #expect(
      try told(.boottime) {
        $0.suspend(20 * second)
        $0.advance()
        $0.run(hour)
      } == "missed \(hour + 10 * second)")
    // Slept again meanwhile.
    #expect(
      try told(.boottime) {
        $0.suspend(11 * second)
        $0.advance()
        $0.suspend(hour)
        $0.advance()
      } == "expired \(hour + second)")
  }

  @Test func `storage makes none missed, and a sleep does so whatever is stored`() throws {
    #expect(
      try told(.boottime) {
        let id = try #require($0.find("a"))
        $0.scheduler.lock(id)
        $0.pass(hour)
        $0.scheduler.unlock(id)
      } == "expired 3590000000")
    #expect(
      try told(.boottime) {
        let id = try #require($0.find("a"))
        $0.scheduler.lock(id)
        $0.suspend(hour)
        $0.advance()
        $0.run(second)
        $0.scheduler.unlock(id)
      } == "missed 3591000000")
  }

  @Test func `a wall clock that is set back in time makes it neither missed nor expired`() throws {
    #expect(
      try told(.realtime) {
        $0.step(hour)
        $0.advance()
        $0.step(-hour)
      } == nil)
    #expect(
      try told(.realtime) {
        $0.step(hour)
        $0.advance()
        $0.step(-hour)
        $0.turn()
        $0.run(hour)
      } == "expired 3590000000")
    // Set right before it was handed out, it is within its grace.
    #expect(
      try told(.realtime) {
        $0.step(hour)
        $0.advance()
        $0.step(12 * second - hour)
      } == "expired 2000000")
    #expect(
      try told(.realtime) {
        $0.step(hour)
        $0.advance()
        $0.step(12 * second + 1 - hour)
      } == "missed 2000001")
  }

  @Test func `an instant that was past when it was given expires at once`() throws {
    let rig = Rig()
    rig.step(24 * hour)
    rig.turn()
    try rig.start("a", request(.instant(rig.reading.realtime - hour), .realtime))
    #expect(rig.turn().map(\.kind) == [.expired])
    // Of the very reading that tells of the step.
    rig.step(hour)
    rig.advance()
    try rig.start("b", request(.instant(rig.reading.realtime - 1), .realtime))
    rig.advance()
    #expect(rig.turn().map(\.kind) == [.expired])
  }

  @Test func `of one that repeats the newest occurrence decides, and it goes on`() throws {
    let rig = Rig()
    var request = request(.length(10 * second), .boottime, graceUSec: 2 * second)
    request.repeatUSec = 10 * second
    try rig.start("a", request)
    rig.suspend(32 * second)
    var event = try #require(rig.turn().first)
    #expect(event.kind == .expired && event.lateUSec == 2 * second)
    #expect(event.occurrence == 3 && event.missedOccurrences == 2)
    rig.suspend(20 * second + 1)
    event = try #require(rig.turn().first)
    #expect(event.kind == .missed && event.lateUSec == 2 * second + 1)
    #expect(event.occurrence == 5 && event.missedOccurrences == 1)
    #expect(rig.view("a")?.state == .running)
    event = try #require(rig.pass(8 * second - 1).first)
    #expect(event.kind == .expired && event.lateUSec == 0 && event.occurrence == 6)
    // Known in time, handed out when the next is due as well.
    rig.suspend(19 * second)
    rig.advance()
    rig.run(second)
    event = try #require(rig.turn().first)
    #expect(event.kind == .expired && event.occurrence == 8 && event.missedOccurrences == 1)
  }

  @Test func `a missed one is over, and its name is free`() throws {
    let rig = Rig()
    try rig.start("a", request(.length(second), .boottime))
    rig.suspend(hour)
    rig.turn()
    for verb in [.pause, .resume, .extend(.by(1)), .cancel] as [Rig.Verb] {
      #expect(
        rig.refusal { () throws(Refusal) in _ = try rig.call(verb, "a") }
          == .alreadyExpired(state: .missed, revision: 100))
    }
    #expect(rig.usage().ended == 1 && rig.usage().running == 0)
    try rig.call(.restart, "a")
    #expect(rig.pass(second).map(\.kind) == [.expired])
    try rig.start("a", second)
    #expect(rig.view("a")?.catchUp == .fire)
  }

  @Test func `one that a call finds due is missed as well`() throws {
    let rig = Rig()
    try rig.start("a", request(.length(second), .boottime))
    rig.suspend(hour)
    rig.advance(limit: 1)
    #expect(
      rig.refusal { () throws(Refusal) in _ = try rig.call(.cancel, "a") }
        == .alreadyExpired(state: .missed, revision: 100))
    #expect(rig.events.map(\.kind) == [.started, .missed])
  }
}
