import Countdowns
import TestSupport
import Testing

@Suite struct ClockHistoryTests {
  @Test func `the latest sixteen sleeps and steps are kept, and one more drives out the first`() {
    var clock = VirtualClock()
    var history = ClockHistory(at: clock.reading)
    for count in 1...17 as ClosedRange<Int64> {
      clock.run(1_000_000)
      clock.step(count * 1_000)
      _ = history.note(clock.reading, awayUSec: 0)
      let kept = history.latest.map { $0.what.steppedUSec ?? 0 }
      #expect(kept == (max(1, count - 15)...count).map { $0 * 1_000 })
    }
  }

  @Test func `an overloaded machine's stalls do not drive out the night it slept`() {
    var clock = VirtualClock()
    var history = ClockHistory(at: clock.reading)
    for _ in 0..<20 {
      clock.run(1_000_000)
      _ = history.note(clock.reading, awayUSec: 200_000)
    }
    clock.suspend(.hours(8))
    #expect(history.note(clock.reading, awayUSec: 0)?.kind == .slept)
    for _ in 0..<5 {
      clock.run(1_000_000)
      _ = history.note(clock.reading, awayUSec: 300_000)
    }
    let latest = history.latest.map(\.what)
    #expect(
      latest.map(\.kind)
        == Array(repeating: .stalled, count: 11) + [.slept]
        + Array(repeating: .stalled, count: 5))
    #expect(latest.map(\.at.boottime) == latest.map(\.at.boottime).sorted())
  }

  @Test func `without anything to tell there is nothing`() {
    var clock = VirtualClock()
    var history = ClockHistory(at: clock.reading)
    clock.run(.days(3))
    let found = history.note(clock.reading, awayUSec: 99_999)
    #expect(found == nil && history.latest.isEmpty)
  }
}
