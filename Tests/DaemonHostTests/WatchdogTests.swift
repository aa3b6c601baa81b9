import DaemonHost
import Testing

@Suite struct WatchdogTests {
  @Test func `it is due at once, then after half of the interval`() {
    var watchdog = Watchdog(intervalUSec: 3_000_000, at: 70)
    #expect(watchdog.isDue(at: 70))
    watchdog.noteTold(at: 100, isDelivered: true)
    #expect(watchdog.dueAt == 1_500_000_100)
    #expect(!watchdog.isDue(at: 1_500_000_099))
    #expect(watchdog.isDue(at: 1_500_000_100))
  }

  @Test func `told late, it counts from then`() {
    var watchdog = Watchdog(intervalUSec: 3_000_000, at: 0)
    watchdog.noteTold(at: 3_600_000_000_000, isDelivered: true)
    #expect(watchdog.dueAt == 3_601_500_000_000)
  }

  @Test func `what the manager did not take is told again long before it is too late`() {
    var watchdog = Watchdog(intervalUSec: 16_000_000, at: 0)
    watchdog.noteTold(at: 0, isDelivered: false)
    #expect(watchdog.dueAt == 1_000_000_000)
  }

  @Test func `the longest interval overflows nothing`() {
    var watchdog = Watchdog(intervalUSec: .max, at: 1 << 62)
    watchdog.noteTold(at: 1 << 62, isDelivered: true)
    #expect(watchdog.dueAt == 1 << 62 + 15_768_000_000_000_000)
  }
}
