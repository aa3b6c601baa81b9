import CLinux
import Glibc

/// Waits for any of many descriptors, level-triggered. Each is known by a token of the caller's.
package struct Epoll: ~Copyable, Sendable {
  /// What is wanted of a descriptor. Hang-ups and errors are reported whatever is wanted.
  package struct Interest: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let readable = Interest(rawValue: EPOLLIN.rawValue)
    package static let writable = Interest(rawValue: EPOLLOUT.rawValue)
  }

  /// What came of a descriptor.
  package struct Event: Equatable, Sendable {
    /// As given when it was added.
    package let token: UInt64
    private let flags: UInt32

    fileprivate init(_ event: epoll_event) {
      // SAFETY: of the union's members only this one is ever written, by ``control``.
      token = unsafe event.data.u64
      flags = unsafe event.events
    }

    package var isReadable: Bool { flags & EPOLLIN.rawValue != 0 }
    package var isWritable: Bool { flags & EPOLLOUT.rawValue != 0 }
    /// The peer is gone in both directions. What it sent before may still be there to read.
    package var isHangup: Bool { flags & EPOLLHUP.rawValue != 0 }
    package var isError: Bool { flags & EPOLLERR.rawValue != 0 }
  }

  /// The most events one ``wait(timeoutMSec:into:)`` returns; the rest come with the next.
  package static let eventsPerWait = 256

  private let descriptor: FileDescriptor

  package init() throws(SystemCallError) {
    descriptor = FileDescriptor(
      owning: try check("epoll_create1") { epoll_create1(CInt(EPOLL_CLOEXEC)) })
  }

  /// Begins to watch `fd`. It is forgotten by itself when its last duplicate is closed.
  ///
  /// - Throws: EEXIST if it is watched already; EPERM for a plain file.
  package borrowing func add(
    _ fd: Int32, _ interest: Interest, token: UInt64
  ) throws(SystemCallError) {
    try control(EPOLL_CTL_ADD, fd, interest, token)
  }

  /// Changes what is wanted of `fd`, and its token. Throws ENOENT if it is not watched.
  package borrowing func modify(
    _ fd: Int32, _ interest: Interest, token: UInt64
  ) throws(SystemCallError) {
    try control(EPOLL_CTL_MOD, fd, interest, token)
  }

  /// Ceases to watch `fd`. Throws ENOENT if it is not watched.
  package borrowing func remove(_ fd: Int32) throws(SystemCallError) {
    try control(EPOLL_CTL_DEL, fd, [], 0)
  }

  private borrowing func control(
    _ operation: CInt, _ fd: CInt, _ interest: Interest, _ token: UInt64
  ) throws(SystemCallError) {
    let epoll = descriptor.rawValue
    // SAFETY: the kernel copies `event` before returning and keeps no pointer to it; the union in it
    // holds a number, never a pointer.
    var event = unsafe epoll_event(events: interest.rawValue, data: epoll_data_t(u64: token))
    _ = try check("epoll_ctl") {
      unsafe epoll_ctl(epoll, operation, fd, &event)
    }
  }

  /// Waits until something happens and replaces `events` with it.
  ///
  /// - Parameters:
  ///   - timeoutMSec: How long at most; 0 only looks; `nil` is for ever. A signal or a stop in
  ///     between makes it begin anew.
  ///   - events: Its content is dropped, its storage kept: use the same one every time.
  package borrowing func wait(
    timeoutMSec: Int32?, into events: inout [Event]
  ) throws(SystemCallError) {
    events.removeAll(keepingCapacity: true)
    let epoll = descriptor.rawValue
    let capacity = Self.eventsPerWait
    // SAFETY: the buffer lives for this call; the kernel fills the first `count` elements, and
    // only those are read.
    let code = unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: capacity) {
      buffer in
      let (count, code) = uninterrupted {
        unsafe epoll_wait(epoll, buffer.baseAddress, CInt(capacity), timeoutMSec ?? -1)
      }
      for index in 0..<max(Int(count), 0) { unsafe events.append(Event(buffer[index])) }
      return code
    }
    guard code == 0 else { throw SystemCallError(call: "epoll_wait", code: code) }
  }
}
