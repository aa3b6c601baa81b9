import Testing
import TimingWheel

@Suite struct InstantTests {
  @Test func `an instant lies below 2^54 microseconds`() async {
    #expect(Instant(rawValue: 0).rawValue == 0)
    #expect(Instant(rawValue: 1 << 54 - 1) == .last)
    await #expect(processExitsWith: .failure) { _ = Instant(rawValue: 1 << 54) }
  }

  @Test func `clamping and advancing end at the last instant instead of trapping`() {
    #expect(Instant(clamping: 1 << 54 - 1) == .last)
    #expect(Instant(clamping: 1 << 54) == .last)
    #expect(Instant(clamping: .max) == .last)
    #expect(Instant(rawValue: 5).advanced(byUSec: 7) == Instant(rawValue: 12))
    #expect(Instant(rawValue: 5).advanced(byUSec: 0) == Instant(rawValue: 5))
    #expect(Instant(rawValue: 1).advanced(byUSec: 1 << 54 - 2) == .last)
    #expect(Instant(rawValue: 1).advanced(byUSec: 1 << 54 - 1) == .last)
    #expect(Instant(rawValue: 1).advanced(byUSec: .max) == .last)
    #expect(Instant.last.advanced(byUSec: .max) == .last)
  }

  @Test func `what has come already is 0 microseconds away`() {
    #expect(Instant(rawValue: 5).microseconds(until: Instant(rawValue: 12)) == 7)
    #expect(Instant(rawValue: 5).microseconds(until: Instant(rawValue: 5)) == 0)
    #expect(Instant(rawValue: 5).microseconds(until: Instant(rawValue: 4)) == 0)
    #expect(Instant(rawValue: 0).microseconds(until: .last) == 1 << 54 - 1)
  }

  @Test func `instants are ordered as their microseconds are`() {
    #expect(Instant(rawValue: 4) < Instant(rawValue: 5))
    #expect(!(Instant(rawValue: 5) < Instant(rawValue: 5)))
    #expect(Instant(rawValue: 1 << 53) > Instant(rawValue: 1 << 53 - 1))
  }
}
