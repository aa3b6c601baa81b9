package import LinuxIO

/// A connection to the daemon, for one call after the other or for one stream of replies.
///
/// After anything it throws but `refused` the connection is of no more use.
package struct Connection: ~Copyable, Sendable {
  /// The interface whose methods are called by their last name alone.
  package static let interface = "io.countdownd.Countdown"

  /// The longest message in either direction, without its NUL.
  package static let maximumMessageBytes = 1 << 20

  /// How long ``call(_:parameters:)`` waits. A durable call waits for a disk, which can be slow.
  package static let patienceSeconds: Int64 = 30

  private let socket: StreamSocket
  private var incoming = MessageCutter(maximumBytes: maximumMessageBytes)

  /// Takes over a connected, blocking socket.
  package init(owning socket: consuming StreamSocket) { self.socket = socket }

  /// Connects to the daemon that listens at `path`. Throws `unreachable`.
  package init(to path: String) throws(ClientError) {
    do throws(SystemCallError) {
      socket = try StreamSocket(connectingTo: path)
    } catch {
      throw .unreachable(path: path, error)
    }
  }

  /// Connects to the first of `paths` where there is a socket at all, or fails as the last of them does.
  ///
  /// - Parameter paths: At least one.
  package init(toFirstOf paths: [String]) throws(ClientError) {
    for path in paths.dropLast() {
      do throws(ClientError) {
        self = try Connection(to: path)
        return
      } catch {
        guard case .unreachable(_, let cause) = error, cause.name == "ENOENT" else { throw error }
      }
    }
    try self.init(to: paths[paths.count - 1])
  }

  /// For an event loop: readable when ``nextReply(timeoutMSec:)`` may have something to say.
  package var rawValue: Int32 { socket.rawValue }

  /// Calls `method` and waits for its one reply.
  ///
  /// - Parameters:
  ///   - method: Without the interface, or whole if it is of another one.
  ///   - parameters: A JSON object.
  /// - Returns: The reply's parameters, a JSON object as it was sent.
  /// - Throws: `refused` if the daemon answered with an error.
  package mutating func call(
    _ method: String, parameters: [UInt8] = Array("{}".utf8)
  ) throws(ClientError) -> Members {
    try send(method, parameters, wantsMore: false)
    let timeout = Int32(Self.patienceSeconds * 1_000)
    guard let reply = try nextReply(timeoutMSec: timeout) else {
      throw .silent(seconds: Self.patienceSeconds)
    }
    guard !reply.continues else { throw .garbled("more replies than were asked for") }
    return try Members(parsing: reply.parameters)
  }

  /// Calls `method` so that it may reply many times; then ask for ``nextReply(timeoutMSec:)``.
  package mutating func begin(_ method: String, parameters: [UInt8]) throws(ClientError) {
    try send(method, parameters, wantsMore: true)
  }

  /// The next reply; `nil` if none has come whole within the time.
  ///
  /// - Parameter timeoutMSec: 0 only looks; `nil` is for ever.
  /// - Throws: `refused` if it is an error: the last reply to its call.
  package mutating func nextReply(timeoutMSec: Int32?) throws(ClientError) -> ReplyMessage? {
    let end = timeoutMSec.map { Clocks.boottimeNSec() / 1_000_000 + Int64($0) }
    while true {
      if let message = try incoming.next() { return try ReplyMessage(parsing: message) }
      // A server that sends a byte now and then gains no time by it.
      let left = end.map { Int32(max(0, $0 - Clocks.boottimeNSec() / 1_000_000)) }
      guard try receive(timeoutMSec: left) else { return nil }
    }
  }

  private mutating func send(
    _ method: String, _ parameters: [UInt8], wantsMore: Bool
  ) throws(ClientError) {
    let name = method.contains(".") ? method : "\(Self.interface).\(method)"
    let message = encodeCall(name, parameters: parameters, wantsMore: wantsMore)
    guard message.count - 1 <= Self.maximumMessageBytes else { throw .oversized }
    do throws(SystemCallError) {
      // One that was closed may have been sent a last word before, which is worth reading.
      _ = try socket.sendAll(message.span)
    } catch {
      throw .failed(error)
    }
  }

  /// Takes in what has come; false if nothing has within the time.
  private mutating func receive(timeoutMSec: Int32?) throws(ClientError) -> Bool {
    do throws(SystemCallError) {
      guard try socket.waitReadable(timeoutMSec: timeoutMSec) else { return false }
      switch try socket.receive(appendingTo: &incoming.bytes, atMost: 64 << 10) {
      case .moved, .wouldBlock: return true
      case .closed: break
      }
    } catch {
      throw .failed(error)
    }
    throw .closed
  }
}

/// Where the daemon's socket may be.
package enum SocketPath {
  /// Where to look, the best first: what was named, else `$COUNTDOWND_SOCKET`, else the user's own
  /// daemon and, where there is none, the system's.
  ///
  /// - Parameters:
  ///   - named: By `--socket`.
  ///   - userID: The caller's; 0 has no daemon of its own besides the system's.
  ///   - environment: The value of a variable.
  /// - Returns: One, or the user's and the system's.
  package static func candidates(
    named: String?, userID: UInt32, environment: (String) -> String?
  ) -> [String] {
    if let named { return [named] }
    if let path = environment("COUNTDOWND_SOCKET"), !path.isEmpty { return [path] }
    let name = "countdownd/\(Connection.interface)"
    let system = "/run/\(name)"
    guard userID != 0, let directory = environment("XDG_RUNTIME_DIR"), !directory.isEmpty else {
      return [system]
    }
    return ["\(directory)/\(name)", system]
  }
}
