import LinuxIO
import Testing

@Suite("TimerDescriptor")
struct TimerDescriptorTests {
  /// Whether `timer` goes off within `timeoutMSec`.
  private func goesOff(_ timer: borrowing TimerDescriptor, within timeoutMSec: Int32) throws -> Bool
  {
    let epoll = try Epoll()
    try epoll.add(timer.rawValue, .readable, token: 1)
    var events: [Epoll.Event] = []
    try epoll.wait(timeoutMSec: timeoutMSec, into: &events)
    return !events.isEmpty
  }

  @Test func `a new timer is disarmed, non-blocking and close-on-exec`() throws {
    let timer = try TimerDescriptor()
    #expect(try !timer.drain())
    #expect(isNonBlocking(timer.rawValue))
    #expect(isCloseOnExec(timer.rawValue))
  }

  @Test(arguments: [.min, -1, 0, 1, 999_999_999, 1_000_000_000] as [Int64])
  func `an instant in the past goes off at once, zero among them`(instant: Int64) throws {
    let timer = try TimerDescriptor()
    try timer.arm(atNSec: instant)
    #expect(try goesOff(timer, within: 2_000))
    #expect(try timer.drain())
    #expect(try !timer.drain())
  }

  @Test(
    arguments: [
      .max, .max - 1, .max / 1_000_000_000 * 1_000_000_000, .max / 1_000 * 1_000, 1 << 53,
      (1 << 53) * 1_000,
    ] as [Int64])
  func `an instant however far is accepted and not due`(instant: Int64) throws {
    let timer = try TimerDescriptor()
    try timer.arm(atNSec: instant)
    #expect(try !goesOff(timer, within: 0))
    #expect(try !timer.drain())
  }

  @Test(arguments: [1, 1_000, 999_999, 1_000_000, 20_000_000] as [Int64])
  func `it never goes off early`(delay: Int64) throws {
    let timer = try TimerDescriptor()
    for _ in 0..<5 {
      let instant = Clocks.boottimeNSec() + delay
      try timer.arm(atNSec: instant)
      #expect(try goesOff(timer, within: 5_000))
      #expect(Clocks.boottimeNSec() >= instant)
      #expect(try timer.drain())
    }
  }

  @Test func `arming again forgets what was armed, and what had gone off`() throws {
    let timer = try TimerDescriptor()
    try timer.arm(atNSec: 1)
    #expect(try goesOff(timer, within: 2_000))
    try timer.arm(atNSec: .max)
    #expect(try !timer.drain())
    #expect(try !goesOff(timer, within: 0))
  }

  @Test func `a disarmed timer does not go off`() throws {
    let timer = try TimerDescriptor()
    let instant = Clocks.boottimeNSec() + 5_000_000
    try timer.arm(atNSec: instant)
    try timer.disarm()
    Clocks.sleep(untilBoottimeNSec: instant + 1_000_000)
    #expect(try !timer.drain())
  }
}
