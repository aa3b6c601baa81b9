import Countdowns
import Testing

/// Why what is handed out is late.
@Suite struct LateReasonTests {
  /// A countdown that is due in 10 s by its clock, and what it is told with after a history; `nil` if
  /// it is not due then.
  private func told(
    _ clock: CountdownClock, after history: (Rig) throws -> Void
  ) throws -> String? {
    let rig = Rig()
    if clock == .realtime {
      try rig.start("a", until: rig.reading.realtime + 10 * second)
    } else {
      try rig.start("a", 10 * second, clock: clock)
    }
    try history(rig)
    rig.turn()
    #expect(rig.scheduler.brokenInvariant() == nil)
    guard let event = rig.events.last, event.kind == .expired else { return nil }
    #expect(rig.view("a")?.lateReason == event.lateReason)
    #expect(rig.view("a")?.lateUSec == event.lateUSec)
    return "\(event.lateUSec ?? -1) \(event.lateReason.map { "\($0)" } ?? "")"
  }

  /// On boot time, monotonic time and the wall clock.
  private func told(_ history: (Rig) throws -> Void) throws -> [String?] {
    try [.boottime, .monotonic, .realtime].map { try told($0, after: history) }
  }

  @Test(arguments: [
    (0, "none"), (9_999, "none"), (10_000, "overload"), (year, "overload"),
  ])
  func `less than 10 ms needs no reason`(lateUSec: Int64, reason: String) throws {
    let expected = "\(lateUSec) \(reason)"
    #expect(try told { $0.run(10 * second + lateUSec) } == [expected, expected, expected])
  }

  @Test func `what was slept over is late for the sleep, where sleep counts`() throws {
    #expect(
      try told {
        $0.run(4 * second)
        $0.suspend(8 * hour)
      } == ["28794000000 suspend", nil, "28794000000 suspend"])
    #expect(
      try told {
        $0.suspend(8 * hour)
        $0.turn()
        $0.run(11 * second)
      }[1] == "1000000 overload")
  }

  @Test func `what was stepped over is late for the step, on the wall clock alone`() throws {
    #expect(
      try told {
        $0.step(hour)
        $0.advance()
        $0.advance()
      } == [nil, nil, "3590000000 clockStep"])
  }

  @Test func `the largest part decides; of equal ones sleep, step, storage, overload`() throws {
    // Slept for 5 s after the deadline and busy for as long, before or after, and a microsecond more.
    for extra: Int64 in [0, 1] {
      let reason = extra == 0 ? "suspend" : "overload"
      #expect(
        try told(.boottime) {
          $0.run(15 * second + extra)
          $0.suspend(5 * second)
        } == "\(10 * second + extra) \(reason)")
      #expect(
        try told(.boottime) {
          $0.run(10 * second)
          $0.suspend(5 * second)
          $0.advance()
          $0.run(5 * second + extra)
        } == "\(10 * second + extra) \(reason)")
      #expect(
        try told(.realtime) {
          $0.run(15 * second + extra)
          $0.step(5 * second)
          $0.advance()
        } == "\(10 * second + extra) \(extra == 0 ? "clockStep" : "overload")")
      // Slept and stepped, at the same moment and one after the other.
      #expect(
        try told(.realtime) {
          $0.run(10 * second)
          $0.suspend(5 * second)
          $0.step(5 * second + extra)
        } == "\(10 * second + extra) \(extra == 0 ? "suspend" : "clockStep")")
      #expect(
        try told(.realtime) {
          $0.run(10 * second)
          $0.step(5 * second + extra)
          $0.advance()
          $0.suspend(5 * second)
        } == "\(10 * second + extra) \(extra == 0 ? "suspend" : "clockStep")")
      // Held up by a verdict.
      #expect(
        try told(.boottime) {
          let id = try #require($0.find("a"))
          $0.scheduler.lock(id)
          $0.run(15 * second + extra)
          $0.suspend(5 * second)
          $0.advance()
          $0.scheduler.unlock(id)
        } == "\(10 * second + extra) \(extra == 0 ? "suspend" : "storage")")
    }
  }

  @Test func `of two sleeps each counts from the deadline on`() throws {
    let history: (Rig) -> Void = {
      $0.suspend(9 * second)
      $0.advance()
      $0.run(2 * second)  // Due in the middle, and not handed out.
      $0.advance()
      $0.suspend(second - 1)
      $0.advance()
    }
    #expect(try told(.boottime, after: history) == "1999999 overload")
    #expect(
      try told(.boottime) {
        history($0)
        $0.suspend(1)  // Too little to be reported alone.
      } == "2000000 overload")
    #expect(
      try told(.boottime) {
        history($0)
        $0.suspend(1_000)
      } == "2000999 suspend")
  }

  @Test func `a sleep with a backward step has moved the wall clock by the difference`() throws {
    #expect(
      try told(.realtime) {
        $0.run(second)
        $0.suspend(20 * second)
        $0.step(-5 * second)
      } == "6000000 suspend")
    #expect(
      try told(.realtime) {
        $0.run(second)
        $0.suspend(20 * second)
        $0.step(-12 * second)
      } == nil)
    // Due before it slept, and after the step it is as if it had slept for 4 s.
    #expect(
      try told(.realtime) {
        $0.run(15 * second)
        $0.suspend(20 * second)
        $0.step(-16 * second)
      } == "9000000 overload")
  }

  @Test func `what a backward step took back is not told of when time comes there again`() throws {
    #expect(
      try told(.realtime) {
        $0.step(9 * second)  // Not over it.
        $0.advance()
        $0.step(hour)
        $0.step(-hour - 9 * second)
        $0.turn()
        $0.run(10 * second + 20_000)
      } == "20000 overload")
    #expect(
      try told(.realtime) {
        $0.step(hour)
        $0.advance()
        $0.step(-hour)
        $0.turn()
        $0.run(12 * second)
      } == "2000000 overload")
    // Half of it is taken back, and it is still due.
    #expect(
      try told(.realtime) {
        $0.step(hour)
        $0.advance()
        $0.step(-hour / 2)
        $0.advance()
        $0.run(hour / 2 - 10 * second)
      } == "\(hour - 20 * second) clockStep")
  }

  @Test func `storage is for who waited for a verdict when it came due`() throws {
    // Locked, but unlocked in time.
    #expect(
      try told(.boottime) {
        let id = try #require($0.find("a"))
        $0.scheduler.lock(id)
        $0.scheduler.unlock(id)
        $0.run(11 * second)
      } == "1000000 overload")
    #expect(
      try told(.boottime) {
        let id = try #require($0.find("a"))
        $0.scheduler.lock(id)
        $0.pass(11 * second)
        $0.scheduler.unlock(id)
      } == "1000000 storage")
    // The wall clock was set back before it was handed out.
    #expect(
      try told(.realtime) {
        let id = try #require($0.find("a"))
        $0.scheduler.lock(id)
        $0.pass(11 * second)
        $0.scheduler.unlock(id)
        $0.step(-5 * second)
        $0.turn()
        $0.run(5 * second)
      } == "1000000 overload")
  }

  @Test func `an instant that was past when it was given is late from then on`() throws {
    let rig = Rig()
    rig.step(hour)
    rig.turn()
    try rig.start("at once", until: rig.reading.realtime - hour / 2)
    #expect(rig.turn().map(\.lateReason) == [LateReason.none])
    #expect(rig.view("at once")?.lateUSec == hour / 2)
    try rig.start("busy", until: rig.reading.realtime - hour / 2)
    rig.run(10_000)
    #expect(rig.turn().map(\.lateReason) == [.overload])
    // Only where it was past at its start: a later one may lie before that when the clock is set back.
    try rig.start("moved", until: rig.reading.realtime + hour)
    rig.step(-10 * hour)
    rig.turn()
    try rig.call(.extend(.toRemaining(second)), "moved")
    rig.run(2 * second)
    let event = try #require(rig.turn().first)
    #expect(event.lateReason == .overload && rig.scheduler.lateness(of: event) == second)
  }

  @Test func `one that repeats is late by its newest occurrence`() throws {
    let rig = Rig()
    var request = StartRequest(end: .length(second), clock: .boottime, durability: .memory)
    request.repeatUSec = 10 * second
    try rig.start("a", request)
    rig.suspend(35 * second)
    // Due 34 s ago, and last 4 s ago.
    var event = try #require(rig.turn().first)
    #expect(event.lateUSec == 4 * second && event.lateReason == .suspend)
    #expect(event.missedOccurrences == 3)
    event = try #require(rig.pass(6 * second).first)
    #expect(event.lateUSec == 0 && event.lateReason == LateReason.none)
    #expect(rig.view("a")?.lateReason == nil)
  }

  @Test func `a restarted one is not late any more`() throws {
    let rig = Rig()
    try rig.start("a", second)
    rig.suspend(hour)
    rig.turn()
    #expect(rig.view("a")?.lateReason == .suspend)
    try rig.call(.restart, "a")
    #expect(rig.view("a")?.lateReason == nil)
    rig.pass(second)
    #expect(rig.view("a")?.lateReason == LateReason.none)
    try rig.call(.restart, "a")
    try rig.call(.cancel, "a")
    #expect(rig.view("a")?.lateReason == nil)
  }

  /// Asleep for a second and busy for a little more, so many times, while nothing is handed out.
  private func storm(of sleeps: Int) throws -> String? {
    try told(.boottime) { rig in
      rig.pass(10 * second - 1)
      rig.run(1)
      for _ in 0..<sleeps {
        rig.suspend(second)
        rig.run(second + 1)
        rig.advance()
      }
    }
  }

  @Test func `of more jumps than are kept the oldest count as one`() throws {
    #expect(try storm(of: 64) == "128000064 overload")
    // The two oldest and the second between them are taken for one sleep.
    #expect(try storm(of: 65) == "130000065 suspend")
    #expect(try storm(of: 1_000) == "2000001000 suspend")
  }
}
