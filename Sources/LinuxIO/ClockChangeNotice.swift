import CLinux
import Glibc

/// Becomes readable when somebody sets the wall clock, and when the machine resumes.
///
/// A realtime timer that is never due: the kernel cancels it when CLOCK_REALTIME jumps
/// (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET). It says that something moved, not what.
package struct ClockChangeNotice: ~Copyable, Sendable {
  private let descriptor: FileDescriptor

  /// Creates it, armed.
  package init() throws(SystemCallError) {
    let descriptor = FileDescriptor(
      owning: try check("timerfd_create") {
        timerfd_create(CLOCK_REALTIME, CInt(TFD_NONBLOCK) | CInt(TFD_CLOEXEC))
      })
    _ = try Self.arm(descriptor.rawValue)
    self.descriptor = descriptor
  }

  /// For ``Epoll``.
  package var rawValue: Int32 { descriptor.rawValue }

  /// Makes it unreadable again and watches on; whether the clock was set since the last time.
  package borrowing func drain() throws(SystemCallError) -> Bool {
    let (_, code) = readCount(ofTimer: descriptor.rawValue)
    switch code {
    case EAGAIN: return false
    case 0, ECANCELED:  // 0: the wall clock was set past the far end itself.
      _ = try Self.arm(descriptor.rawValue)
      return true
    default: throw SystemCallError(call: "read", code: code)
    }
  }

  /// Arms it for the far end of time; whether the clock was set since it was last armed.
  ///
  /// ECANCELED is the kernel's way to say so, and it has armed the timer nevertheless
  /// (timerfd_create(2), NOTES).
  private static func arm(_ fd: CInt) throws(SystemCallError) -> Bool {
    let flags = CInt(TFD_TIMER_ABSTIME) | CInt(TFD_TIMER_CANCEL_ON_SET)
    var spec = itimerspec(it_interval: timespec(), it_value: timespec(nanoseconds: .max))
    let (_, code) = uninterrupted {
      // SAFETY: the kernel copies `spec` before returning and keeps no pointer to it.
      unsafe timerfd_settime(fd, flags, &spec, nil)
    }
    guard code == 0 || code == ECANCELED else {
      throw SystemCallError(call: "timerfd_settime", code: code)
    }
    return code == ECANCELED
  }
}
