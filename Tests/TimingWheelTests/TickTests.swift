import Testing
import TimingWheel

@Suite struct TickTests {
  @Test func `a tick is 64 microseconds, counted from boot`() {
    #expect(Instant(rawValue: 0).tick.rawValue == 0)
    #expect(Instant(rawValue: 63).tick.rawValue == 0)
    #expect(Instant(rawValue: 64).tick.rawValue == 1)
    #expect(Instant(rawValue: 4095).tick.rawValue == 63)
    #expect(Instant.last.tick.rawValue == 1 << 48 - 1)
  }

  @Test func `a tick starts and ends at its first and last microsecond`() {
    let tick = Instant(rawValue: 100).tick
    #expect(tick.start == Instant(rawValue: 64))
    #expect(tick.end == Instant(rawValue: 127))
    #expect(Instant.last.tick.end == .last)
    #expect(tick < Instant(rawValue: 128).tick)
    #expect(!(tick < tick.end.tick))
  }
}
