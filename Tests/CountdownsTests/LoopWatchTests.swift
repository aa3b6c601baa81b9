import Countdowns
import Testing

@Suite struct LoopWatchTests {
  /// A turn at 1 s that took so long, then a wait, then a turn.
  private func away(work: Int64, until wakeAt: Int64?, turn: Int64) -> Int64 {
    var watch = LoopWatch(at: 0)
    let first = watch.beginTurn(at: 1_000_000)
    #expect(first == 0)
    watch.beginWait(at: 1_000_000 + work, until: wakeAt)
    return watch.beginTurn(at: turn)
  }

  @Test func `a wake in time is none, and one that is late is late by what was planned`() {
    #expect(away(work: 50, until: 9_000_000, turn: 9_000_000) == 50)
    #expect(away(work: 50, until: 9_000_000, turn: 9_000_049) == 50)
    #expect(away(work: 50, until: 9_000_000, turn: 9_100_000) == 100_000)
  }

  @Test func `input before the planned wake is no lateness`() {
    #expect(away(work: 0, until: 9_000_000, turn: 5_000_000) == 0)
  }

  @Test func `while nothing is planned nobody is missed`() {
    #expect(away(work: 0, until: nil, turn: 3_600_000_000) == 0)
  }

  @Test func `a turn's own work counts, whatever comes after it`() {
    #expect(away(work: 100_000, until: nil, turn: 5_000_000) == 100_000)
    #expect(away(work: 100_000, until: 9_000_000, turn: 9_000_000) == 100_000)
  }

  @Test func `what is due at once is missed since the turn before`() {
    #expect(away(work: 60_000, until: 1_060_000, turn: 1_120_000) == 120_000)
    #expect(away(work: 60_000, until: 1_030_000, turn: 1_120_000) == 120_000)
    // The wake was still to come when the work was done.
    #expect(away(work: 60_000, until: 1_060_001, turn: 1_120_000) == 60_000)
  }

  @Test func `a turn of which no wait was told is not judged`() {
    var watch = LoopWatch(at: 0)
    let before = watch.beginTurn(at: 5_000_000)
    watch.beginWait(at: 5_000_000, until: 6_000_000)
    let first = watch.beginTurn(at: 6_000_010)
    let second = watch.beginTurn(at: 60_000_000)
    #expect([before, first, second] == [0, 10, 0])
  }

  @Test func `time that goes back is nothing`() {
    #expect(away(work: -500_000, until: 400_000, turn: 300_000) == 0)
    #expect(away(work: -500_000, until: nil, turn: 300_000) == 0)
  }
}
