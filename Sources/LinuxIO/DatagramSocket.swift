import Glibc

/// Single messages to a Unix datagram socket, such as a service manager's.
package enum DatagramSocket {
  /// Sends `text` as one message.
  ///
  /// - Parameters:
  ///   - address: A path, or "@" and a name in the abstract namespace.
  ///   - timeoutMSec: How long to wait where the receiver's queue is full; 0 does not wait.
  /// - Throws: EAGAIN if the queue is still full then; ENOENT and ECONNREFUSED if nobody listens.
  package static func send(
    _ text: String, to address: String, timeoutMSec: Int32
  ) throws(SystemCallError) {
    let name =
      address.hasPrefix("@")
      ? try SocketAddress(abstractName: String(address.dropFirst()), for: "connect")
      : try SocketAddress(path: address, for: "connect")
    let flags = CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
    let descriptor = FileDescriptor(
      owning: try check("socket") { socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | flags, 0) })
    let fd = descriptor.rawValue
    // Connected, so that poll(2) knows whose queue it is about.
    _ = try check("connect", path: address) {
      // SAFETY: the kernel reads the address, alive during the call, and keeps no pointer to it.
      unsafe name.withPointer { unsafe connect(fd, $0, $1) }
    }
    if try !attempt(text, on: fd) {
      var entry = pollfd(fd: fd, events: Int16(POLLOUT), revents: 0)
      // SAFETY: the kernel reads and writes the one entry, which outlives the call.
      _ = uninterrupted { unsafe poll(&entry, 1, timeoutMSec) }
      if try !attempt(text, on: fd) {
        throw SystemCallError(call: "send", code: EAGAIN, path: address)
      }
    }
  }

  /// Whether the message was taken; false if the queue is full.
  private static func attempt(_ text: String, on fd: CInt) throws(SystemCallError) -> Bool {
    let bytes = Array(text.utf8)
    let (_, code) = uninterrupted {
      // SAFETY: the kernel reads the array, alive during the call, and keeps no pointer to it.
      unsafe Glibc.send(fd, bytes, bytes.count, CInt(MSG_NOSIGNAL))
    }
    if code == EAGAIN { return false }
    guard code == 0 else { throw SystemCallError(call: "send", code: code) }
    return true
  }
}
