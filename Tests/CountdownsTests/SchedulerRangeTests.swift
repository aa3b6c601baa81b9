import Countdowns
import Testing
import TimingWheel

/// The ranges of every parameter, from end to end of 64 bits.
@Suite struct SchedulerRangeTests {
  static let longest: Int64 = 9_007_199_254_740_991
  static let lengths: ClosedRange<Int64> = 0...longest
  static let values: [Int64] = [
    .min, .min + 1, -longest - 2, -longest - 1, -longest, -46_000, -1, 0, 1, 999_999, 1_000_000,
    longest - 1, longest, longest + 1, longest + 2, .max - 1, .max,
  ]

  /// One countdown stands, with 600 s left; whatever is refused leaves everything as it was.
  struct Stage {
    let rig = Rig()
    let before: String

    init() throws {
      try rig.start("a", 600 * second)
      before = String(describing: rig.view("a"))
    }

    func expect(_ refusal: Refusal, _ call: () throws(Refusal) -> Void) {
      #expect(rig.refusal(of: call) == refusal)
      #expect(String(describing: rig.view("a")) == before)
      #expect(rig.names() == ["a"] && rig.events.count == 1 && rig.usage().live == 1)
      #expect(rig.scheduler.brokenInvariant() == nil)
    }
  }

  @Test(arguments: values, [CountdownClock.boottime, .monotonic])
  func `B24: a length is 0 to 2^53 - 1, exact, and any other is refused`(
    length: Int64, clock: CountdownClock
  ) throws {
    let stage = try Stage()
    guard Self.lengths.contains(length) else {
      return stage.expect(.outOfRange(parameter: "durationUSec", bounds: Self.lengths)) {
        () throws(Refusal) in try stage.rig.start("b", length, clock: clock)
      }
    }
    try stage.rig.start("b", length, clock: clock)
    #expect(stage.rig.view("b")?.remainingUSec == length)
    #expect(stage.rig.view("b")?.lengthUSec == length)
    #expect(stage.rig.turn().count == (length == 0 ? 1 : 0))
    #expect(stage.rig.scheduler.brokenInvariant() == nil)
  }

  @Test(arguments: values)
  func `B24: an instant lies within 2^53 - 1 of 1970, and a past one expires at once`(
    instant: Int64
  ) throws {
    let stage = try Stage()
    guard (-Self.longest...Self.longest).contains(instant) else {
      let bounds = -Self.longest...Self.longest
      return stage.expect(.outOfRange(parameter: "deadlineUSec", bounds: bounds)) {
        () throws(Refusal) in try stage.rig.start("b", until: instant)
      }
    }
    try stage.rig.start("b", until: instant)
    let left = max(instant - stage.rig.reading.realtime, 0)
    #expect(stage.rig.view("b")?.remainingUSec == left)
    #expect(stage.rig.view("b")?.lengthUSec == left)
    #expect(
      stage.rig.turn().map(\.lateUSec)
        == (left == 0 ? [min(stage.rig.reading.realtime - instant, Self.longest)] : []))
  }

  @Test(arguments: values)
  func `a grace and a repetition are 1 s to 2^53 - 1`(length: Int64) throws {
    let bounds: ClosedRange<Int64> = 1_000_000...Self.longest
    var grace = StartRequest(end: .length(5), clock: .boottime, durability: .memory)
    grace.catchUp = .skip
    grace.graceUSec = length
    var repetition = StartRequest(end: .length(5), clock: .boottime, durability: .memory)
    repetition.repeatUSec = length
    for (request, parameter) in [(grace, "graceUSec"), (repetition, "repeatUSec")] {
      let stage = try Stage()
      guard bounds.contains(length) else {
        stage.expect(.outOfRange(parameter: parameter, bounds: bounds)) {
          () throws(Refusal) in try stage.rig.start("b", request)
        }
        continue
      }
      try stage.rig.start("b", request)
      let view = try #require(stage.rig.view("b"))
      #expect((parameter == "graceUSec" ? view.graceUSec : view.repeatUSec) == length)
    }
  }

  @Test(arguments: values)
  func `B24: Extend leaves 0 to 2^53 - 1`(value: Int64) throws {
    let by = try Stage()
    let byBounds = -Self.longest...Self.longest - 600 * second
    if byBounds.contains(value) {
      try by.rig.call(.extend(.by(value)), "a")
      #expect(by.rig.view("a")?.remainingUSec == max(600 * second + value, 0))
      #expect(by.rig.view("a")?.lengthUSec == 600 * second)
    } else {
      by.expect(.outOfRange(parameter: "byUSec", bounds: byBounds)) {
        () throws(Refusal) in try by.rig.call(.extend(.by(value)), "a")
      }
    }
    let to = try Stage()
    if Self.lengths.contains(value) {
      try to.rig.call(.extend(.toRemaining(value)), "a")
      #expect(to.rig.view("a")?.remainingUSec == value)
    } else {
      to.expect(.outOfRange(parameter: "toRemainingUSec", bounds: Self.lengths)) {
        () throws(Refusal) in try to.rig.call(.extend(.toRemaining(value)), "a")
      }
    }
  }

  @Test func `Extend moves an instant no further than Start would take it`() throws {
    let rig = Rig()
    try rig.start("a", until: rig.reading.realtime + 600 * second)
    let latest = Self.longest - rig.reading.realtime
    #expect(
      rig.refusal { () throws(Refusal) in
        try rig.call(.extend(.by(latest - 600 * second + 1)), "a")
      } == .outOfRange(parameter: "byUSec", bounds: -Self.longest...latest - 600 * second))
    #expect(
      rig.refusal { () throws(Refusal) in try rig.call(.extend(.toRemaining(latest + 1)), "a") }
        == .outOfRange(parameter: "toRemainingUSec", bounds: 0...latest))
    try rig.call(.extend(.by(latest - 600 * second)), "a")
    #expect(rig.view("a")?.deadline == Self.longest)
    try rig.call(.extend(.toRemaining(1)), "a")
    try rig.call(.extend(.toRemaining(latest)), "a")
    #expect(rig.view("a")?.deadline == Self.longest)
  }

  @Test func `a wall clock past every instant makes none but the past expressible`() throws {
    let rig = Rig(at: Reading(monotonic: 1, boottime: 1, realtime: Self.longest + hour))
    try rig.start("a", until: Self.longest)
    rig.turn()
    let plan = Reading(monotonic: 1, boottime: 1, realtime: Self.longest - hour)
    let far = Rig(at: plan)
    try far.start("a", until: Self.longest)
    far.step(-hour)
    far.turn()
    far.reading.realtime = Self.longest + hour
    far.scheduler.lock(far.find("a")!)  // So that it does not expire first.
    far.advance()
    #expect(
      far.refusal { () throws(Refusal) in
        _ = try far.scheduler.decideExtend(far.find("a")!, .toRemaining(1), revision: nil)
      } == .outOfRange(parameter: "toRemainingUSec", bounds: 0...0))
    #expect(
      far.refusal { () throws(Refusal) in
        _ = try far.scheduler.decideExtend(far.find("a")!, .by(1), revision: nil)
      } == .outOfRange(parameter: "byUSec", bounds: -Self.longest...0))
  }

  @Test func `B11: very long lengths are exact and none of them expires early`() throws {
    let rig = Rig()
    let milliseconds: [Int64] = [1 << 31 - 1, 1 << 31, 1 << 32 + 5_000, 1 << 42]
    let lengths = milliseconds.map { $0 * 1_000 } + [Self.longest]
    for (place, length) in lengths.enumerated() {
      for clock in [CountdownClock.boottime, .monotonic] {
        try rig.start("\(place) \(clock)", length, clock: clock)
        #expect(rig.view("\(place) \(clock)")?.remainingUSec == length)
      }
    }
    #expect(
      rig.refusal { () throws(Refusal) in try rig.start("x", Self.longest + 1) }
        == .outOfRange(parameter: "durationUSec", bounds: Self.lengths))
    #expect(rig.pass(60 * second).isEmpty)
    for (place, length) in lengths.enumerated() {
      #expect(rig.view("\(place) boottime")?.remainingUSec == length - 60 * second)
    }
    rig.run(lengths[3] - 60 * second - 1)
    while rig.scheduler.nextWake != .never {
      if case .at(let wake) = rig.scheduler.nextWake, wake.rawValue > rig.reading.boottime { break }
      rig.turn()
    }
    #expect(rig.events.filter { $0.kind == .expired }.count == 6)
    #expect(rig.pass(1).count == 2)
    #expect(rig.scheduler.brokenInvariant() == nil)
  }

  @Test func `a quarter of a thousand years passes without a trap`() throws {
    let rig = Rig(at: Reading(monotonic: 0, boottime: 0, realtime: 0))
    try rig.start("a", Self.longest)
    try rig.start("b", until: Self.longest)
    rig.run(Self.longest)
    #expect(rig.turn().map(\.lateUSec) == [0, 0])
    try rig.start("c", Self.longest)
    rig.run(Self.longest)
    #expect(rig.turn().map(\.lateUSec) == [0])
    #expect(rig.scheduler.brokenInvariant() == nil)
  }
}
