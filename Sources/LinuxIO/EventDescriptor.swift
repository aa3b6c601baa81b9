import CLinux
import Glibc

/// Something that one thread tells another: readable from its being signalled until it is drained.
package struct EventDescriptor: ~Copyable, Sendable {
  private let descriptor: FileDescriptor

  package init() throws(SystemCallError) {
    descriptor = FileDescriptor(
      owning: try check("eventfd") { eventfd(0, CInt(EFD_CLOEXEC) | CInt(EFD_NONBLOCK)) })
  }

  /// For ``Epoll``.
  package var rawValue: Int32 { descriptor.rawValue }

  /// Makes it readable, if it is not yet. Never waits; any thread may call it.
  package borrowing func signal() {
    let fd = descriptor.rawValue
    var one: UInt64 = 1
    // SAFETY: the kernel reads `one`, which outlives the call. It fails only where the count would
    // overflow, and then it is readable anyway.
    _ = uninterrupted { unsafe write(fd, &one, MemoryLayout<UInt64>.size) }
  }

  /// Makes it unreadable again; whether it had been signalled.
  package borrowing func drain() -> Bool {
    let fd = descriptor.rawValue
    var count: UInt64 = 0
    // SAFETY: the kernel writes eight bytes into `count`, which outlives the call.
    let (result, _) = uninterrupted { unsafe read(fd, &count, MemoryLayout<UInt64>.size) }
    return result > 0
  }

  /// Waits until it is signalled, and drains it; false if the time passed before.
  ///
  /// - Parameter timeoutMSec: 0 only looks; `nil` is for ever.
  package borrowing func wait(timeoutMSec: Int32?) -> Bool {
    var entry = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
    // SAFETY: the kernel reads and writes the one entry, which outlives the call.
    _ = uninterrupted { unsafe poll(&entry, 1, timeoutMSec ?? -1) }
    return drain()
  }
}
