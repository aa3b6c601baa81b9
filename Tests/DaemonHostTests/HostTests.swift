import DaemonHost
import Testing
import TimingWheel

@Suite("Host")
struct HostTests {
  @Test(
    arguments: [
      (0, 0), (1, 1_000), (9_223_372_036_854_775, 9_223_372_036_854_775_000),
      (9_223_372_036_854_776, .max), (18_014_398_509_481_983, .max),
    ] as [(UInt64, Int64)])
  func `the timer can be armed for every instant of the wheel`(usec: UInt64, nsec: Int64) {
    #expect(Instant(rawValue: usec).nanoseconds == nsec)
  }
}
