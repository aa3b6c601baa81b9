import CLinux
import Glibc

/// A timer on CLOCK_BOOTTIME that becomes readable when it goes off: the one wake of a loop.
package struct TimerDescriptor: ~Copyable, Sendable {
  private let descriptor: FileDescriptor

  /// Creates it disarmed.
  package init() throws(SystemCallError) {
    descriptor = FileDescriptor(
      owning: try check("timerfd_create") {
        timerfd_create(CLOCK_BOOTTIME, CInt(TFD_NONBLOCK) | CInt(TFD_CLOEXEC))
      })
  }

  /// For ``Epoll``.
  package var rawValue: Int32 { descriptor.rawValue }

  /// Arms it to go off once, when CLOCK_BOOTTIME reads `instantNSec`; at once if it does already.
  ///
  /// What was armed before, and what went off but was not drained, is forgotten. Every value is
  /// good: one below 1 means at once, and the largest comes after some 292 years.
  package borrowing func arm(atNSec instantNSec: Int64) throws(SystemCallError) {
    try set(timespec(nanoseconds: max(instantNSec, 1)))  // All zero would disarm instead.
  }

  /// Disarms it, and forgets what went off but was not drained.
  package borrowing func disarm() throws(SystemCallError) { try set(timespec()) }

  private borrowing func set(_ value: timespec) throws(SystemCallError) {
    let fd = descriptor.rawValue
    var spec = itimerspec(it_interval: timespec(), it_value: value)
    _ = try check("timerfd_settime") {
      // SAFETY: the kernel copies `spec` before returning and keeps no pointer to it.
      unsafe timerfd_settime(fd, CInt(TFD_TIMER_ABSTIME), &spec, nil)
    }
  }

  /// Makes it unreadable again; whether it had gone off.
  package borrowing func drain() throws(SystemCallError) -> Bool {
    let (count, code) = readCount(ofTimer: descriptor.rawValue)
    guard code == 0 || code == EAGAIN else { throw SystemCallError(call: "read", code: code) }
    return count > 0
  }
}

/// Reads how often a timerfd went off since the last read; code EAGAIN if it did not.
func readCount(ofTimer fd: CInt) -> (count: UInt64, code: CInt) {
  var count: UInt64 = 0
  // SAFETY: a timerfd hands out exactly eight bytes, the size of `count`, which outlives the call.
  let (_, code) = uninterrupted { unsafe read(fd, &count, MemoryLayout<UInt64>.size) }
  return (code == 0 ? count : 0, code)
}
