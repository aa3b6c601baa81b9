import CLinux
import Glibc

/// One end of a connected Unix stream socket.
///
/// A peer that went away is an ordinary answer here, never an error and never a signal.
package struct StreamSocket: ~Copyable, Sendable {
  /// How a transfer went.
  package enum Transfer: Equatable, Sendable {
    /// So many bytes, at least one.
    case moved(Int)
    /// None for now; ``Epoll`` tells when to try again.
    case wouldBlock
    /// None any more: the peer closed the connection, or this direction of it.
    case closed
  }

  /// Who is at the other end, as the kernel noted when it connected or began to listen.
  package struct Credentials: Equatable, Sendable {
    package let pid: Int32
    package let uid: UInt32
    package let gid: UInt32
  }

  private let descriptor: FileDescriptor

  /// Takes over a connected socket.
  package init(owning descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

  /// Connects to the socket at `path`. What is sent and received then blocks.
  ///
  /// - Throws: ENOENT and ECONNREFUSED if nobody listens there, EACCES if one may not,
  ///   ENAMETOOLONG past ``SocketAddress/maximumPathBytes``.
  package init(connectingTo path: String) throws(SystemCallError) {
    let address = try SocketAddress(path: path, for: "connect")
    let descriptor = try Self.makeDescriptor(flags: 0)
    let fd = descriptor.rawValue
    _ = try check("connect", path: path) {
      // SAFETY: the kernel copies the address, which is lent for the call.
      unsafe address.withPointer { unsafe connect(fd, $0, $1) }
    }
    self.descriptor = descriptor
  }

  /// Creates an unconnected socket, close-on-exec.
  static func makeDescriptor(flags: CInt) throws(SystemCallError) -> FileDescriptor {
    let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | flags
    return FileDescriptor(owning: try check("socket") { socket(AF_UNIX, type, 0) })
  }

  /// For ``Epoll``.
  package var rawValue: Int32 { descriptor.rawValue }

  /// Appends what has arrived to `bytes`, at most `limit` bytes in one system call.
  ///
  /// The kernel writes straight into the array's spare storage: nothing is copied again. One array
  /// serves all connections of a loop; empty it with `removeAll(keepingCapacity: true)`, receive,
  /// and read its `span`. Only the beginning of a message whose rest has not come needs a place of
  /// its own.
  ///
  /// - Parameter limit: 1 or more.
  package borrowing func receive(
    appendingTo bytes: inout [UInt8], atMost limit: Int
  ) throws(SystemCallError) -> Transfer {
    precondition(limit > 0)
    let fd = descriptor.rawValue
    var outcome = (result: 0, code: CInt(0))
    bytes.append(addingCapacity: limit) { output in
      // SAFETY: `buffer` is the spare storage, alive and ours during this closure. The kernel fills
      // its first `result` bytes, never more than `limit`, and only those count as initialized.
      unsafe output.withUnsafeMutableBufferPointer { buffer, initializedCount in
        outcome = uninterrupted { unsafe recv(fd, buffer.baseAddress, limit, 0) }
        initializedCount = max(outcome.result, 0)
      }
    }
    switch outcome.code {
    case 0: return outcome.result == 0 ? .closed : .moved(outcome.result)
    case EAGAIN: return .wouldBlock
    case ECONNRESET: return .closed
    default: throw SystemCallError(call: "recv", code: outcome.code)
    }
  }

  /// Sends as much of `bytes` as fits now, from its beginning, in one system call.
  ///
  /// - Parameter bytes: At least one. Send the rest by `extracting(_:)`.
  package borrowing func send(_ bytes: Span<UInt8>) throws(SystemCallError) -> Transfer {
    precondition(!bytes.isEmpty)
    let fd = descriptor.rawValue
    // SAFETY: the kernel reads the buffer, alive during this closure, and keeps no pointer to it.
    let (count, code) = unsafe bytes.withUnsafeBufferPointer { buffer in
      uninterrupted {
        unsafe Glibc.send(fd, buffer.baseAddress, buffer.count, CInt(MSG_NOSIGNAL))
      }
    }
    switch code {
    case 0: return .moved(count)
    case EAGAIN: return .wouldBlock
    case EPIPE, ECONNRESET: return .closed
    default: throw SystemCallError(call: "send", code: code)
    }
  }

  /// Sends all of `bytes`, waiting as needed: for a client's blocking socket.
  ///
  /// - Returns: False if the peer closed the connection.
  package borrowing func sendAll(_ bytes: Span<UInt8>) throws(SystemCallError) -> Bool {
    var sent = 0
    while sent < bytes.count {
      switch try send(bytes.extracting(sent..<bytes.count)) {
      case .moved(let count): sent += count
      case .wouldBlock: _ = try wait(for: CInt(POLLOUT), timeoutMSec: nil)
      case .closed: return false
      }
    }
    return true
  }

  /// Waits until something can be received, the end included; false if the time passed before.
  ///
  /// - Parameter timeoutMSec: 0 only looks; `nil` is for ever.
  package borrowing func waitReadable(timeoutMSec: Int32?) throws(SystemCallError) -> Bool {
    try wait(for: CInt(POLLIN), timeoutMSec: timeoutMSec)
  }

  private borrowing func wait(
    for events: CInt, timeoutMSec: CInt?
  ) throws(SystemCallError) -> Bool {
    var request = pollfd(fd: descriptor.rawValue, events: Int16(events), revents: 0)
    let count = try check("poll") {
      // SAFETY: the kernel reads and writes the one element, which outlives the call.
      unsafe poll(&request, 1, timeoutMSec ?? -1)
    }
    return count > 0
  }

  /// Ends both directions; a peer reads the end after what was sent before. Repeating is harmless.
  package borrowing func shutDown() {
    _ = shutdown(descriptor.rawValue, CInt(SHUT_RDWR))  // ENOTCONN: it is down already.
  }

  /// Tells the peer that nothing more will be sent; what it sends can still be received.
  package borrowing func shutDownSending() {
    _ = shutdown(descriptor.rawValue, CInt(SHUT_WR))  // ENOTCONN: it is down already.
  }

  /// Asks the kernel who the peer is.
  package borrowing func peerCredentials() throws(SystemCallError) -> Credentials {
    let fd = descriptor.rawValue
    var pid: Int32 = 0
    var uid: UInt32 = 0
    var gid: UInt32 = 0
    _ = try check("getsockopt") {
      // SAFETY: the three are written before the call returns and outlive it.
      unsafe cl_peer_credentials(fd, &pid, &uid, &gid)
    }
    return Credentials(pid: pid, uid: uid, gid: gid)
  }

  /// Asks the kernel for the peer's supplementary groups, as they were when it connected or began to
  /// listen.
  ///
  /// - Throws: ENOPROTOOPT before Linux 4.13.
  package borrowing func peerGroups() throws(SystemCallError) -> [UInt32] {
    let fd = descriptor.rawValue
    var groups = [UInt32](repeating: 0, count: 64)
    while true {
      var count = UInt32(groups.count)
      let (_, code) = uninterrupted {
        // SAFETY: the kernel writes at most `count` numbers into the array before it returns.
        unsafe groups.withUnsafeMutableBufferPointer { groups in
          unsafe cl_peer_groups(fd, groups.baseAddress, &count)
        }
      }
      if code == 0 { return Array(groups.prefix(Int(count))) }
      // What a process belongs to does not change any more once it is noted.
      guard code == ERANGE, Int(count) > groups.count else {
        throw SystemCallError(call: "getsockopt", code: code)
      }
      groups = [UInt32](repeating: 0, count: Int(count))
    }
  }
}
