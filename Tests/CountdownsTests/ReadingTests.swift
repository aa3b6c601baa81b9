import Countdowns
import Testing

@Suite struct ReadingTests {
  private let before = Reading(monotonic: 1_000_000, boottime: 5_000_000, realtime: 9_000_000_000)

  /// All three an hour on, and then each a little more.
  private func later(monotonic: Int64 = 0, boottime: Int64 = 0, realtime: Int64 = 0) -> Reading {
    Reading(
      monotonic: before.monotonic + 3_600_000_000 + monotonic,
      boottime: before.boottime + 3_600_000_000 + boottime,
      realtime: before.realtime + 3_600_000_000 + realtime)
  }

  @Test func `clocks that go on together have not moved against each other`() {
    #expect(!later().hasMoved(from: before))
    #expect(!later(realtime: 999).hasMoved(from: before))
    #expect(!later(realtime: -999).hasMoved(from: before))
    #expect(!later(boottime: 999, realtime: 999).hasMoved(from: before))
  }

  @Test func `a step and a sleep of a millisecond count`() {
    #expect(later(realtime: 1_000).hasMoved(from: before))
    #expect(later(realtime: -1_000).hasMoved(from: before))
    #expect(later(boottime: 1_000, realtime: 1_000).hasMoved(from: before))
  }
  @Test func `what a coarse reading does not know has not moved`() {
    var coarse = later(realtime: 5_999)
    coarse.uncertaintyUSec = 5_000
    #expect(!coarse.hasMoved(from: before))
    #expect(!before.hasMoved(from: coarse))
    coarse.realtime += 1
    #expect(coarse.hasMoved(from: before))
    #expect(before.hasMoved(from: coarse))
  }
}
