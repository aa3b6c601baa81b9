import Countdowns
import TestSupport
import Testing

@Suite struct ClockJudgeTests {
  /// What became of the clocks, and what is to be said of it; all µs.
  struct Row: CustomTestStringConvertible, Sendable {
    let slept: Int64
    let stepped: Int64
    let away: Int64
    let expected: [Int64?]
    let kind: Discontinuity.Kind?
    var testDescription: String { "slept \(slept), stepped \(stepped), away \(away)" }

    init(
      _ slept: Int64, _ stepped: Int64, _ away: Int64, _ kind: Discontinuity.Kind?,
      _ expected: [Int64?] = [nil, nil, nil]
    ) {
      (self.slept, self.stepped, self.away) = (slept, stepped, away)
      (self.kind, self.expected) = (kind, expected)
    }
  }

  /// DESIGN, section 2: each column below its threshold, and at it, in every combination.
  static let table = [
    Row(0, 0, 0, nil),
    Row(999, 0, 0, nil), Row(1_000, 0, 0, .slept, [1_000, nil, nil]),
    Row(0, 999, 0, nil), Row(0, 1_000, 0, .stepped, [nil, 1_000, nil]),
    Row(0, -999, 0, nil), Row(0, -1_000, 0, .stepped, [nil, -1_000, nil]),
    Row(0, 0, 99_999, nil), Row(0, 0, 100_000, .stalled, [nil, nil, 100_000]),
    Row(999, 999, 99_999, nil),
    Row(999, 1_000, 0, .stepped, [nil, 1_000, nil]),
    Row(1_000, 999, 0, .slept, [1_000, nil, nil]),
    Row(1_000, 1_000, 0, .sleptAndStepped, [1_000, 1_000, nil]),
    Row(1_000, -1_000, 0, .sleptAndStepped, [1_000, -1_000, nil]),
    Row(999, 999, 100_000, .stalled, [nil, nil, 100_000]),
    Row(999, -999, 100_000, .stalled, [nil, nil, 100_000]),
    Row(1_000, 0, 100_000, .slept, [1_000, nil, nil]),
    Row(0, 1_000, 100_000, .stepped, [nil, 1_000, nil]),
    Row(1_000, -1_000, 100_000, .sleptAndStepped, [1_000, -1_000, nil]),
    Row(.hours(8), 0, .hours(8), .slept, [.hours(8), nil, nil]),
    Row(.hours(8), -.hours(1), 0, .sleptAndStepped, [.hours(8), -.hours(1), nil]),
    // A machine without an RTC finds the time; and loses it.
    Row(0, .days(20_000), 0, .stepped, [nil, .days(20_000), nil]),
    Row(0, -.days(6_574), 0, .stepped, [nil, -.days(6_574), nil]),
    // A leap second that the kernel puts in.
    Row(0, -1_000_000, 0, .stepped, [nil, -1_000_000, nil]),
  ]

  @Test(arguments: table) func `each combination has one name`(row: Row) {
    var clock = VirtualClock()
    var judge = ClockJudge(at: clock.reading)
    clock.run(50_000)
    clock.suspend(row.slept)
    clock.step(row.stepped)
    let found = judge.judge(clock.reading, awayUSec: row.away)
    #expect(found?.kind == row.kind)
    #expect([found?.sleptUSec, found?.steppedUSec, found?.awayUSec] == row.expected)
    #expect(found == nil || found?.at == clock.reading)
    clock.run(50_000)
    let again = judge.judge(clock.reading, awayUSec: 0)
    #expect(again == nil, "it was told already")
  }

  @Test func `what is too small to tell adds up until it is not`() {
    var clock = VirtualClock()
    var judge = ClockJudge(at: clock.reading)
    var told: [Int64] = []
    for _ in 0..<1_000 {
      clock.run(1_000_000)
      clock.step(3)
      if let found = judge.judge(clock.reading, awayUSec: 0) { told.append(found.steppedUSec ?? 0) }
    }
    #expect(told == [1_002, 1_002])
    told = []
    for _ in 0..<1_000 {
      clock.run(1_000_000)
      clock.suspend(999)
      if let found = judge.judge(clock.reading, awayUSec: 0) { told.append(found.sleptUSec ?? 0) }
    }
    #expect(told.count == 500 && told.allSatisfy { $0 == 1_998 })
  }

  @Test func `a sleep that is told hides no step that grows`() {
    var clock = VirtualClock()
    var judge = ClockJudge(at: clock.reading)
    clock.step(600)
    clock.suspend(.minutes(1))
    #expect(judge.judge(clock.reading, awayUSec: 0)?.kind == .slept)
    clock.step(400)
    let found = judge.judge(clock.reading, awayUSec: 0)
    #expect(found?.kind == .stepped && found?.steppedUSec == 1_000)
  }

  @Test func `hours of slewing and drift move all clocks alike, and are no step`() {
    var clock = VirtualClock()
    var judge = ClockJudge(at: clock.reading)
    var told: [Discontinuity] = []
    for second in 0..<20_000 as Range<Int64> {
      // 500 parts in a million, the most the kernel slews by, this way and that.
      clock.run(1_000_000 + (second < 10_000 ? 500 : -500))
      if let found = judge.judge(clock.reading, awayUSec: 0) { told.append(found) }
    }
    #expect(told == [])
  }

  @Test func `the noise of reading one clock after the other is nothing`() {
    var random = SplitMix64(seed: 1)
    var clock = VirtualClock()
    var judge = ClockJudge(at: clock.reading)
    var told: [Discontinuity] = []
    for _ in 0..<20_000 {
      clock.run(20_000)
      var reading = clock.reading
      reading.boottime += .random(in: 0...21, using: &random)
      reading.realtime += .random(in: 0...21, using: &random)
      if let found = judge.judge(reading, awayUSec: 0) { told.append(found) }
    }
    #expect(told == [])
  }

  /// Something came between the looks at the clocks: the later ones show more.
  private func torn(_ reading: Reading, by usec: Int64) -> Reading {
    Reading(
      monotonic: reading.monotonic, boottime: reading.boottime,
      realtime: reading.realtime + usec, uncertaintyUSec: usec)
  }

  @Test func `of a coarse reading only what it is sure of counts`() {
    for (stepped, isTold) in [(50_999, false), (51_000, true)] as [(Int64, Bool)] {
      var clock = VirtualClock()
      var judge = ClockJudge(at: clock.reading)
      clock.step(stepped)
      var reading = clock.reading
      reading.uncertaintyUSec = 50_000
      #expect((judge.judge(reading, awayUSec: 0)?.kind == .stepped) == isTold)
    }
  }

  @Test func `a storm of coarse readings tells of nothing that did not happen`() {
    var random = SplitMix64(seed: 2)
    var clock = VirtualClock()
    var judge = ClockJudge(at: torn(clock.reading, by: 80_000))
    var told: [Discontinuity] = []
    for _ in 0..<10_000 {
      clock.run(20_000)
      let spread = Int64.random(in: 0...100_000, using: &random)
      let reading = spread <= 20 ? clock.reading : torn(clock.reading, by: spread)
      if let found = judge.judge(reading, awayUSec: 0) { told.append(found) }
    }
    #expect(told == [])
    // And what did happen is not lost in it.
    clock.step(.hours(1))
    let found = judge.judge(torn(clock.reading, by: 70_000), awayUSec: 0)
    #expect(abs((found?.steppedUSec ?? 0) - .hours(1)) <= 170_000)
    var after: [Discontinuity] = []
    for _ in 0..<100 {
      clock.run(20_000)
      if let found = judge.judge(clock.reading, awayUSec: 0) { after.append(found) }
    }
    #expect(after == [], "the first was told too early or too late, which is not a step back")
    clock.step(1_000)
    #expect(judge.judge(clock.reading, awayUSec: 0)?.steppedUSec == 1_000)
  }

  @Test func `small steps do not creep by under coarse readings either`() {
    var clock = VirtualClock()
    var judge = ClockJudge(at: clock.reading)
    var sum: Int64 = 0
    for _ in 0..<1_000 {
      clock.step(100)
      var reading = clock.reading
      reading.uncertaintyUSec = 5_000
      sum += judge.judge(reading, awayUSec: 0)?.steppedUSec ?? 0
    }
    sum += judge.judge(clock.reading, awayUSec: 0)?.steppedUSec ?? 0
    #expect(abs(sum - 100_000) < 12_000)
  }

  @Test func `a machine does not wake twice: monotonic time that catches up is nothing`() {
    var clock = VirtualClock()
    var judge = ClockJudge(at: clock.reading)
    var reading = clock.reading
    reading.monotonic += 5_000_000
    #expect(judge.judge(reading, awayUSec: 0) == nil)
    clock.suspend(1_000)
    reading.boottime = clock.reading.boottime
    reading.realtime = clock.reading.realtime
    #expect(judge.judge(reading, awayUSec: 0)?.sleptUSec == 1_000)
  }

  @Test func `a step beyond what every reader keeps exactly is told as the longest`() {
    let start = Reading(monotonic: 1, boottime: 1, realtime: 0)
    var judge = ClockJudge(at: start)
    let far: Int64 = 9_223_372_036_000_000  // The last second that Linux can set.
    var end = start
    end.realtime = far
    #expect(judge.judge(end, awayUSec: 0)?.steppedUSec == (1 << 53) - 1)
    #expect(judge.judge(start, awayUSec: 0)?.steppedUSec == 1 - (1 << 53))
  }
}
