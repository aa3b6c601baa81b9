import ControlClient
import TestSupport
import Testing

@Suite struct RemainingTests {
  private static func text(
    _ usec: Int64, hasEnded: Bool = false, _ unit: Remaining.Unit = .seconds
  ) -> String {
    Remaining(usec: usec, hasEnded: hasEnded).text(in: unit)
  }

  @Test(arguments: [
    (1, "0:01"), (1_000_000, "0:01"), (1_000_001, "0:02"), (59_000_001, "1:00"),
    (60_000_000, "1:00"), (60_000_001, "1:01"), (3_599_000_000, "59:59"),
    (3_599_000_001, "1:00:00"), (3_600_000_000, "1:00:00"), (86_399_000_000, "23:59:59"),
    (86_399_000_001, "1d 00:00:00"), (183_845_000_000, "2d 03:04:05"),
    (9_007_199_254_740_991, "104249d 23:47:35"),
  ])
  func `it is rounded up to seconds and then split`(usec: Int64, text: String) {
    #expect(Self.text(usec) == text)
  }

  @Test(arguments: [
    (1, "0:00.1"), (100_000, "0:00.1"), (100_001, "0:00.2"), (3_350_000, "0:03.4"),
    (59_900_001, "1:00.0"), (3_599_900_001, "1:00:00.0"), (86_400_000_000, "1d 00:00:00.0"),
  ])
  func `with tenths it is rounded up to those`(usec: Int64, text: String) {
    #expect(Self.text(usec, .tenths) == text)
  }

  @Test func `tenths are for what is refreshed more often than once a second`() {
    #expect(Remaining.Unit(refreshedEveryUSec: 999_999) == .tenths)
    #expect(Remaining.Unit(refreshedEveryUSec: 1_000_000) == .seconds)
  }

  @Test func `B27: the text is never negative or huge, and 0:00 only once it has ended`() {
    #expect(Self.text(1_000) == "0:01")  // Due - 1 ms.
    #expect(Self.text(0, hasEnded: true) == "0:00")  // Due: handed out by the call that asks.
    #expect(Self.text(-1_000, hasEnded: true) == "0:00")  // Due + 1 ms.
    #expect(Self.text(-57_600_000_000, hasEnded: true) == "0:00")  // Due + 16 h.
    #expect(Self.text(57_600_000_000, hasEnded: true, .tenths) == "0:00.0")
    // The same while the sweep is held and the state still says that it runs.
    for usec: Int64 in [0, -1, -1_000, -57_600_000_000, .min] {
      #expect(Self.text(usec) == "0:01")
      #expect(Self.text(usec, .tenths) == "0:00.1")
      #expect(Remaining(usec: usec, hasEnded: false).untilTextChanges(in: .seconds) == nil)
    }
    #expect(Self.text(.max) == "106751991d 04:00:55")
  }

  @Test func `a text is right until the next smaller one is`() {
    let remaining = Remaining(usec: 9_300_000, hasEnded: false)
    #expect(remaining.untilTextChanges(in: .seconds) == 300_000)
    #expect(remaining.untilTextChanges(in: .tenths) == 100_000)
    #expect(Self.text(9_300_000 - 299_999) == "0:10")
    #expect(Self.text(9_300_000 - 300_000) == "0:09")
    #expect(Remaining(usec: 1_000_000, hasEnded: false).untilTextChanges(in: .seconds) == nil)
    #expect(Remaining(usec: 5, hasEnded: true).untilTextChanges(in: .seconds) == nil)
  }

  @Test(arguments: 0..<100 as Range<UInt64>)
  func `B34: ten seconds show 0:10 to 0:01 and then 0:00, each exactly once`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let start = Int64.random(in: 0...1_000_000_000_000, using: &random)
    let due = start + 10_000_000
    var display = RunningDisplay(remainingUSec: 10_000_000, at: start, in: .seconds)
    var now = start
    var shown: [String] = []
    var steps = 0
    while true {
      steps += 1
      if let text = display.text(at: now) { shown.append(text) }
      // The display wakes up to 40 ms too early or too late; the expiry comes a little late.
      guard let change = display.nextChange(after: now), change <= due, steps < 1_000 else { break }
      now = max(now + 1, change + Int64.random(in: -40_000...40_000, using: &random))
    }
    now = max(now, due + Int64.random(in: 0...2_000, using: &random))
    if let text = display.text(at: now) { shown.append(text) }  // Asked again just before the news.
    shown.append(display.endText)
    let expected = (1...10).reversed().map { $0 == 10 ? "0:10" : "0:0\($0)" } + ["0:00"]
    #expect(shown == expected, "seed \(seed)")
  }

  @Test func `a display that is asked late passes over nothing it could have shown in time`() {
    var display = RunningDisplay(remainingUSec: 3_000_000, at: 0, in: .seconds)
    #expect(display.text(at: 0) == "0:03")
    #expect(display.text(at: 999_999) == nil)
    #expect(display.nextChange(after: 999_999) == 1_000_000)
    #expect(display.text(at: 1_000_000) == "0:02")
    #expect(display.text(at: 5_000_000) == "0:01")  // Due long ago, but nobody has said so.
    #expect(display.nextChange(after: 5_000_000) == nil)
    #expect(display.endText == "0:00")
  }

  @Test func `a remainder that no clock can reach is no trap`() {
    var display = RunningDisplay(remainingUSec: .max, at: .max - 1, in: .tenths)
    #expect(display.text(at: .max - 1) == "0:00.1")
    var negative = RunningDisplay(remainingUSec: .min, at: 5, in: .seconds)
    #expect(negative.text(at: 5) == "0:01")
  }
}
