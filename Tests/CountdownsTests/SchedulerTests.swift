import Countdowns
import TestSupport
import Testing
import TimingWheel

/// Time: what is due, when and in which order.
@Suite struct SchedulerTests {
  /// Every one of a crowd can be expired by a call before its turn comes.
  @Test(arguments: [false, true])
  func `what waits no more is dropped a bounded number a turn, and then the next is told`(
    byAsking: Bool
  ) throws {
    let rig = Rig()
    for number in 0..<1_000 { try rig.start("n\(number)", second) }
    try rig.start("last", 2 * second)
    rig.run(3 * second)
    rig.advance()
    for number in 0..<1_000 {
      let id = try #require(rig.find("n\(number)"))
      #expect((rig.scheduler.expireIfDue(id) == nil) == false)
    }
    for turn in 1...9 {
      rig.advance(limit: 100)
      if byAsking {
        #expect(rig.scheduler.oldestOverdueUSec() == nil)
      } else {
        #expect((rig.scheduler.takeDue() == nil) == true, "turn \(turn)")
      }
      #expect((rig.scheduler.nextWake == .now) == true)
      #expect(rig.scheduler.brokenInvariant() == nil)
    }
    rig.advance(limit: 100)
    if byAsking { #expect(rig.scheduler.oldestOverdueUSec() == second) }
    let event = rig.scheduler.takeDue()
    #expect(event?.id == rig.find("last"))
    #expect((rig.scheduler.nextWake == .now) == false)
  }

  @Test func `B01: sleep since boot is no part of a length`() throws {
    let asleep = 45 * hour + 57 * 60 * second
    let rig = Rig(
      at: Reading(monotonic: hour, boottime: hour + asleep, realtime: Rig.morning.realtime))
    for clock in [CountdownClock.boottime, .monotonic] {
      try rig.start("\(clock)", 10 * second, clock: clock)
      #expect(rig.view("\(clock)")?.remainingUSec == 10 * second)
      #expect(rig.view("\(clock)")?.deadline == rig.reading.value(of: clock) + 10 * second)
    }
    #expect(rig.pass(10 * second - 1).isEmpty)
    #expect(rig.pass(1).map(\.lateUSec) == [0, 0])
    #expect(rig.pass(100 * hour).isEmpty)
  }

  @Test func `suspend counts on boot time and moves monotonic ones later`() throws {
    let rig = Rig()
    try rig.start("boottime", 600 * second)
    try rig.start("monotonic", 600 * second, clock: .monotonic)
    rig.pass(60 * second)
    rig.suspend(480 * second)
    rig.turn()
    #expect(rig.view("boottime")?.remainingUSec == 60 * second)
    #expect(rig.view("monotonic")?.remainingUSec == 540 * second)
    #expect(rig.pass(60 * second).map(\.clock) == [.boottime])
    #expect(rig.pass(480 * second - 1).isEmpty)
    #expect(rig.pass(1).map(\.clock) == [.monotonic])
  }

  @Test func `a wake that suspend made too early files anew and tells nothing`() throws {
    let rig = Rig()
    try rig.start("a", 10 * second, clock: .monotonic)
    rig.run(second)
    rig.suspend(20 * second)
    #expect(rig.turn().isEmpty)
    #expect(rig.scheduler.brokenInvariant() == nil)
    #expect(rig.pass(9 * second - 1).isEmpty)
    #expect(rig.pass(1).count == 1)
  }

  @Test func `a step of the wall clock moves realtime ones, and no others`() throws {
    let rig = Rig()
    let start = rig.reading.realtime
    try rig.start("boottime", hour)
    try rig.start("monotonic", hour, clock: .monotonic)
    try rig.start("realtime", until: start + hour)
    rig.step(-18 * year)
    rig.turn()
    #expect(rig.view("realtime")?.remainingUSec == 18 * year + hour)
    rig.step(18 * year + hour - 1)
    #expect(rig.turn().isEmpty)
    rig.step(24 * hour)
    #expect(rig.turn().map(\.lateUSec) == [24 * hour - 1])
    rig.step(-48 * hour)
    #expect(rig.turn().isEmpty)
    #expect(rig.view("realtime")?.state == .expired)
    #expect(rig.view("boottime")?.remainingUSec == hour)
    #expect(rig.view("monotonic")?.remainingUSec == hour)
    #expect(rig.pass(hour).map(\.clock) == [.boottime, .monotonic])
  }

  @Test func `a step back before the hand-out takes due ones back`() throws {
    let rig = Rig()
    try rig.start("a", until: rig.reading.realtime + second)
    rig.run(second)
    rig.advance()
    rig.step(-second)
    #expect(rig.turn().isEmpty)
    #expect(rig.view("a")?.remainingUSec == second)
    #expect(rig.pass(second).count == 1)
  }

  /// The keys of realtime ones are let be too late by less than 1 ms, whatever the steps were.
  @Test func `small steps never add up to a millisecond of lateness`() throws {
    var random = SplitMix64(seed: 1)
    for _ in 0..<200 {
      let rig = Rig()
      for place in 0..<20 {
        rig.step(.random(in: -999...999, using: &random))
        rig.turn()
        try rig.start("\(place)", until: rig.reading.realtime + 50_000)
      }
      while case .at(let wake) = rig.scheduler.nextWake, rig.usage().running > 0 {
        rig.run(Int64(wake.rawValue) - rig.reading.boottime)
        for event in rig.turn() { #expect((0..<1_000).contains(event.lateUSec ?? -1)) }
        #expect(rig.scheduler.brokenInvariant() == nil)
      }
      #expect(rig.usage().running == 0)
    }
  }

  @Test func `time that seems to go back stands still`() throws {
    let rig = Rig()
    try rig.start("boottime", second)
    try rig.start("monotonic", second, clock: .monotonic)
    rig.pass(second / 2)
    let reading = rig.reading
    rig.reading = Reading(monotonic: 5, boottime: 7, realtime: reading.realtime)
    #expect(rig.turn().isEmpty)
    #expect(rig.view("boottime")?.remainingUSec == second / 2)
    #expect(rig.view("monotonic")?.remainingUSec == second / 2)
    rig.reading = reading
    #expect(rig.pass(second / 2).count == 2)
  }

  @Test func `B27: what remains is 1 ms, then 0, and never negative`() throws {
    let rig = Rig()
    try rig.start("a", 10 * second)
    rig.run(10 * second - 1_000)
    rig.advance()
    #expect(rig.view("a")?.remainingUSec == 1_000)
    for passed in [1_000, 1_000, 16 * hour] {
      rig.run(passed)
      rig.advance()  // The sweep is held: nothing is taken.
      #expect(rig.view("a")?.remainingUSec == 0)
      #expect(rig.view("a")?.state == .running)
    }
    rig.turn()
    #expect(rig.view("a")?.remainingUSec == 0 && rig.view("a")?.state == .expired)
    #expect(rig.view("a")?.lateUSec == 16 * hour + 1_000)
  }

  @Test func `B18: of eleven due in one tick each is either cancelled or expired`() throws {
    var limits = Limits()
    limits.countdownsPerUser = 11
    let rig = Rig(limits: limits)
    for place in 0..<11 { try rig.start("\(place)", 100 + Int64(place)) }
    rig.run(200)
    rig.advance()
    let taken = rig.scheduler.takeDue()
    let first = try #require(taken)
    #expect(rig.name(of: first.id) == "0")
    for place in 1..<11 {
      #expect(
        rig.refusal { () throws(Refusal) in try rig.call(.cancel, "\(place)") }
          == .alreadyExpired(state: .expired, revision: 100 + Int64(place)))
      #expect(rig.usage().running == 10 - place)
    }
    #expect(rig.scheduler.takeDue() == nil)
    #expect(rig.events.filter { $0.kind == .expired }.map(\.revision) == Array(101...110))
    #expect(rig.usage().live == 0 && rig.usage().ended == 11)
    for place in 20..<31 { try rig.start("\(place)", hour) }
    #expect(
      rig.refusal { () throws(Refusal) in try rig.start("31", hour) }
        == .quotaExceeded(resource: .countdownsPerUser, limit: 11, used: 11))
    #expect(rig.scheduler.brokenInvariant() == nil)
  }

  @Test func `B18: those cancelled with the ledger while due are never announced`() throws {
    let rig = Rig()
    for place in 0..<11 { try rig.start("\(place)", 100) }
    rig.pass(99)
    let plans = try (1..<11).map { try rig.decide(.cancel, "\($0)") }
    for place in 1..<11 { rig.scheduler.lock(try #require(rig.find("\(place)"))) }
    #expect(rig.pass(1).map(\.revision) == [100])
    for (place, plan) in zip(1..<11, plans) {
      rig.scheduler.unlock(try rig.apply(plan, "\(place)").id)
    }
    #expect(rig.pass(hour).isEmpty)
    #expect(rig.usage().live == 0)
  }

  // MARK: Order

  @Test(arguments: [(200, 1), (1_000, 1_000), (1_001, 1_000), (100_000, 1_000), (5_000, 10_000)])
  func `a crowd due at one instant comes in order of revisions, whatever the limit`(
    crowd: Int, limit: Int
  ) throws {
    let rig = Rig()
    for place in 0..<crowd { try rig.start("\(place)", second) }
    rig.events.removeAll()
    rig.run(second)
    var turns = 0
    repeat {
      rig.turn(limit: limit)
      turns += 1
    } while rig.scheduler.nextWake == .now && turns < 10 * crowd
    #expect(rig.events.count == crowd)
    #expect(rig.events.map(\.revision) == Array(100..<100 + Int64(crowd)))
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func `deadline, then revision is the order over turns that stop in the middle`(
    seed: UInt64
  ) throws {
    var random = SplitMix64(seed: seed)
    let rig = Rig()
    let reach = Int64.random(in: 1...5_000, using: &random)
    for place in 0..<200 {
      let length = 1_000 + Int64.random(in: 0..<reach, using: &random)
      switch Int.random(in: 0..<3, using: &random) {
      case 0: try rig.start("\(place)", length)
      case 1: try rig.start("\(place)", length, clock: .monotonic)
      default: try rig.start("\(place)", until: rig.reading.realtime + length)
      }
    }
    rig.events.removeAll()
    rig.run(.random(in: 0...2_000, using: &random))
    if Bool.random(using: &random) { rig.suspend(.random(in: 0...3_000, using: &random)) }
    let limit = Int.random(in: 1...20, using: &random)
    rig.turn(limit: limit)
    rig.run(10_000)
    repeat { rig.turn(limit: limit) } while rig.scheduler.nextWake == .now
    #expect(rig.events.count == 200)
    for clock in CountdownClock.allCases {
      let told = rig.events.filter { $0.clock == clock }
      for (one, next) in zip(told, told.dropFirst()) {
        #expect(
          (one.deadline!, one.revision) < (next.deadline!, next.revision),
          "seed \(seed): \(one.told) before \(next.told)")
      }
    }
  }

  @Test func `what was locked past its deadline comes before what was due later`() throws {
    let rig = Rig()
    try rig.start("locked", 1_000)
    rig.scheduler.lock(try #require(rig.find("locked")))
    for place in 0..<100 { try rig.start("\(place)", 2_000 + Int64(place) * 100) }
    rig.events.removeAll()
    rig.run(20_000)
    rig.advance(limit: 1)
    rig.scheduler.unlock(try #require(rig.find("locked")))
    while rig.scheduler.nextWake == .now { rig.turn(limit: 1) }
    #expect(rig.events.map(\.revision) == Array(100...200))
  }

  @Test func `a replaced one comes in its own place, not in that of what it replaced`() throws {
    let rig = Rig()
    let noon = rig.reading.realtime + second
    for name in ["a", "b"] { try rig.start(name, until: noon) }
    rig.run(second)
    rig.advance()  // Both are due, but not handed out.
    rig.step(-second)
    rig.advance()
    var request = StartRequest(end: .instant(noon), clock: .realtime, durability: .memory)
    request.onConflict = .replace
    try rig.start("a", request)
    rig.step(second)
    #expect(rig.turn().map(\.revision) == [101, 102])
  }

  @Test func `after a forward step all realtime ones are refiled before one is handed out`() throws
  {
    let rig = Rig()
    let start = rig.reading.realtime
    for place in 0..<100 { try rig.start("\(place)", until: start + hour - Int64(place)) }
    for place in 0..<10 { try rig.start("b\(place)", 1_000) }
    rig.events.removeAll()
    rig.step(hour)
    rig.run(1_000)
    rig.turn(limit: 20)
    #expect(rig.events.map(\.clock) == Array(repeating: .boottime, count: 10))
    #expect(rig.scheduler.brokenInvariant() == nil)
    #expect(rig.scheduler.nextWake == .now)
    #expect(rig.usage().running == 100)
    while rig.scheduler.nextWake == .now {
      rig.turn(limit: 20)
      #expect(rig.scheduler.brokenInvariant() == nil)
    }
    #expect(rig.events.dropFirst(10).map(\.revision) == (100..<200).reversed())
  }

  @Test func `a realtime one that a call asks for is handed out during the refiling`() throws {
    let rig = Rig()
    for place in 0..<100 { try rig.start("\(place)", until: rig.reading.realtime + hour) }
    rig.step(2 * hour)
    rig.turn(limit: 1)
    #expect(
      rig.refusal { () throws(Refusal) in try rig.call(.cancel, "99") }
        == .alreadyExpired(state: .expired, revision: 199))
    while rig.scheduler.nextWake == .now { rig.turn(limit: 10) }
    #expect(rig.events.filter { $0.kind == .expired }.count == 100)
  }

  // MARK: Repetition

  static func repeating(_ rig: Rig, _ length: Int64, every interval: Int64) throws {
    var request = StartRequest(end: .length(length), clock: .boottime, durability: .memory)
    request.repeatUSec = interval
    try rig.start("r", request, payload: [123, 125])
    rig.events.removeAll()
  }

  @Test func `occurrences come at the first deadline and every interval after it`() throws {
    let rig = Rig()
    try Self.repeating(rig, 3 * second, every: 10 * second)
    for (place, wait) in [3, 10, 10].enumerated() {
      #expect(rig.pass(Int64(wait) * second - 1).isEmpty)
      let told = rig.pass(1).map(\.told)
      #expect(
        told == [
          Told(
            kind: .expired, revision: 100, occurrence: Int64(place) + 1,
            deadline: Rig.morning.boottime + (3 + 10 * Int64(place)) * second, lateUSec: 0,
            payload: [123, 125])
        ])
      #expect(rig.view("r")?.state == .running && rig.view("r")?.remainingUSec == 10 * second)
    }
    let ended = try rig.call(.cancel, "r").event
    #expect(ended.occurrence == 4 && ended.remainingUSec == 10 * second)
    #expect(rig.pass(hour).isEmpty)
    #expect(rig.scheduler.brokenInvariant() == nil)
  }

  @Test func `what was overrun is one event for the newest occurrence, and the grid stays`() throws
  {
    let rig = Rig()
    try Self.repeating(rig, 10 * second, every: 10 * second)
    rig.pass(10 * second)
    let late = rig.pass(35 * second)
    #expect(
      late.map(\.told) == [
        Told(
          kind: .expired, revision: 100, occurrence: 4,
          deadline: Rig.morning.boottime + 40 * second, lateUSec: 5 * second,
          payload: [123, 125], missedOccurrences: 2)
      ])
    #expect(rig.view("r")?.remainingUSec == 5 * second)
    #expect(rig.pass(5 * second).map(\.told.occurrence) == [5])
    rig.run(10 * second)
    rig.advance()
    // A call finds it due: the occurrence is told first, then it is acted on.
    try rig.call(.pause, "r")
    #expect(rig.events.suffix(2).map(\.kind) == [.expired, .paused])
    #expect(rig.events.suffix(2).map(\.occurrence) == [6, 7])
  }

  @Test func `Pause and Extend shift the grid, Restart begins it anew`() throws {
    let rig = Rig()
    try Self.repeating(rig, 10 * second, every: 10 * second)
    rig.pass(10 * second)
    rig.pass(4 * second)
    try rig.call(.pause, "r")
    rig.pass(100 * second)
    try rig.call(.resume, "r")
    #expect(rig.pass(6 * second - 1).isEmpty)
    #expect(rig.pass(1).map(\.occurrence) == [2])
    try rig.call(.extend(.by(5 * second)), "r")
    #expect(rig.pass(15 * second).map(\.occurrence) == [3])
    #expect(rig.pass(10 * second).map(\.occurrence) == [4])
    try rig.call(.extend(.by(-20 * second)), "r")
    #expect(rig.turn().map(\.told.occurrence) == [5])
    #expect(rig.view("r")?.remainingUSec == 10 * second)
    rig.pass(3 * second)
    try rig.call(.restart, "r")
    #expect(rig.pass(10 * second).map(\.occurrence) == [1])
    #expect(rig.pass(10 * second).map(\.occurrence) == [2])
  }

  // MARK: Wakes and timers

  @Test func `with nothing to wait for there is no wake`() throws {
    let rig = Rig()
    #expect(rig.scheduler.nextWake == .never)
    try rig.start("a", hour)
    guard case .at(let wake) = rig.scheduler.nextWake else { throw Refusal.noSuchCountdown }
    #expect(Int64(wake.rawValue) <= rig.reading.boottime + hour)
    try rig.call(.pause, "a")
    #expect(rig.scheduler.nextWake == .never)
    try rig.start("b", 0)
    #expect(rig.scheduler.nextWake == .now)
  }

  @Test func `timers of the service come once, when they are due`() throws {
    let rig = Rig()
    let first = rig.scheduler.startTimer(token: .max, inUSec: second)
    let second = rig.scheduler.startTimer(token: 7, inUSec: 2 * 1_000_000)
    rig.pass(1_000_000 - 1)
    #expect(rig.scheduler.takeDueTimer() == nil)
    rig.pass(1)
    #expect(rig.scheduler.nextWake == .now)
    let due = rig.scheduler.takeDueTimer()
    #expect(due?.id == first && due?.token == .max)
    #expect(rig.scheduler.takeDueTimer() == nil)
    rig.scheduler.restartTimer(first, inUSec: 1_000_000)
    rig.pass(1_000_000)
    rig.scheduler.restartTimer(first, inUSec: 1_000_000)  // Due, but not taken yet: it waits again.
    #expect(rig.scheduler.takeDueTimer()?.id == second)
    #expect(rig.scheduler.takeDueTimer() == nil)
    #expect(rig.scheduler.brokenInvariant() == nil)
    rig.pass(1_000_000)
    rig.scheduler.cancelTimer(first)
    #expect(rig.scheduler.takeDueTimer() == nil)
    rig.scheduler.cancelTimer(second)
    #expect(rig.scheduler.brokenInvariant() == nil)
    #expect(rig.scheduler.nextWake == .never)
  }
}
