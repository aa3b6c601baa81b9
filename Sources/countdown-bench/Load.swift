internal import ControlClient
internal import JSON
internal import LinuxIO

/// What the workloads with a whole daemon have in common: many countdowns, one who reads a stream as
/// fast as it comes, one who calls again and again meanwhile, and a bare socket to compare with.
enum Load {
  /// Countdowns in one call that starts many.
  private static let countdownsPerCall = 500

  /// Starts `count` countdowns by as few calls as it takes; `write` writes the members of each.
  static func start(
    _ count: Int, at path: String, _ write: (Int, inout JSONWriter) -> Void
  ) throws {
    var caller = try Connection(to: path)
    for first in stride(from: 0, to: count, by: countdownsPerCall) {
      let reply = try caller.call(
        "StartMany",
        parameters: encodeParameters { writer in
          writer.key("countdowns")
          writer.beginArray()
          for index in first..<min(first + countdownsPerCall, count) {
            writer.beginObject()
            write(index, &writer)
            writer.endObject()
          }
          writer.endArray()
        })
      let refused = try reply.objects("results")?.first { try $0.string("error") != nil }
      if let refused { throw ClientError.garbled(try refused.string("error") ?? "") }
    }
  }

  /// How long ahead deadlines have to be so that all of `size` are started by then, µs: three times as
  /// long as it took for a twentieth of them, which stay far ahead.
  static func lead(
    for size: Int, at path: String, _ write: (inout JSONWriter) -> Void
  ) throws -> Int64 {
    var clock = Stopwatch()
    try start(max(size / 20, 1), at: path) { index, writer in
      writer.member("name", name("ahead/", index))
      writer.member("durationUSec", 36_000_000_000)
      write(&writer)
    }
    return 500_000 + Int64(60 * clock.lap() / 1_000)
  }

  /// `text` with as many zeros before the number as it takes to be equally long each time.
  static func name(_ text: String, _ number: Int) -> String {
    let digits = String(number)
    return text + String(repeating: "0", count: max(7 - digits.count, 0)) + digits
  }

  /// A figure from `/proc/PID/status` in MiB, such as `VmRSS` and `VmHWM`.
  static func memory(_ key: String, of pid: Int32) throws -> Double {
    let bytes = try [UInt8](contentsOfFile: "/proc/\(pid)/status", atMost: 64 << 10)
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    where line.hasPrefix("\(key):") {
      return (Double(line.split { !$0.isNumber }.first ?? "") ?? 0) / 1_024
    }
    return 0
  }

  /// Sends as many bytes from one thread to another through a bare socket; says how long that took, in
  /// nanoseconds.
  static func sendBare(_ bytes: Int) throws -> Double {
    let directory = try TemporaryDirectory(prefix: "bare-")
    let listener = try ListeningSocket(bindingTo: "\(directory.path)/socket", mode: 0o600)
    let reader = try StreamSocket(connectingTo: "\(directory.path)/socket")
    guard let accepted = try listener.accept() else { throw ClientError.closed }
    let writer = Writer(accepted)
    var clock = Stopwatch()
    try Thread.start { writer.send(bytes) }
    var received = 0
    var piece: [UInt8] = []
    while received < bytes {
      piece.removeAll(keepingCapacity: true)
      guard try reader.waitReadable(timeoutMSec: 10_000),
        case .moved(let count) = try reader.receive(appendingTo: &piece, atMost: 64 << 10)
      else { throw ClientError.closed }
      received += count
    }
    return clock.lap()
  }

  private final class Writer: Sendable {
    private let socket: StreamSocket

    init(_ socket: consuming StreamSocket) { self.socket = socket }

    func send(_ bytes: Int) {
      let piece = [UInt8](repeating: 0x78, count: 128 << 10)
      var left = bytes
      while left > 0 {
        let count = min(left, piece.count)
        guard (try? socket.sendAll(piece.span.extracting(0..<count))) == true else { return }
        left -= count
      }
    }
  }
}

/// One who calls `Count` again as soon as it was answered, and notes how long each took.
struct Prober: ~Copyable {
  private let socket: StreamSocket
  private let call = encodeCall(
    "\(Connection.interface).Count", parameters: Array("{}".utf8), wantsMore: false)
  private var input: [UInt8] = []
  private var sentAt: Int64 = 0
  /// How long each call took, µs.
  private(set) var latencies: [Double] = []

  init(at path: String) throws { socket = try StreamSocket(connectingTo: path) }

  /// For an event loop.
  var rawValue: Int32 { socket.rawValue }

  mutating func send() throws {
    sentAt = Clocks.boottimeNSec()
    guard try socket.sendAll(call.span) else { throw ClientError.closed }
  }

  /// The socket is readable: where the reply has come it is noted, and the next call is sent.
  mutating func receive() throws {
    guard case .moved = try socket.receive(appendingTo: &input, atMost: 4_096) else {
      throw ClientError.closed
    }
    guard input.last == 0 else { return }
    latencies.append(Double(Clocks.boottimeNSec() - sentAt) / 1_000)
    input.removeAll(keepingCapacity: true)
    try send()
  }
}

/// One who reads a stream as fast as it comes, and looks at it later.
struct Reader: ~Copyable {
  private let socket: StreamSocket
  /// All that was read, but for what was dropped.
  private(set) var bytes: [UInt8] = []

  /// Calls a method of the daemon with `more`.
  init(_ method: String, parameters: [UInt8] = Array("{}".utf8), at path: String) throws {
    let socket = try StreamSocket(connectingTo: path)
    let call = encodeCall(
      "\(Connection.interface).\(method)", parameters: parameters, wantsMore: true)
    let isSent = try socket.sendAll(call.span)
    guard isSent else { throw ClientError.closed }
    self.socket = socket
  }

  /// A subscriber, once it has heard that it is one.
  static func subscribed(
    at path: String, prefix: String? = nil, owner: Int64? = nil
  ) throws -> Reader {
    var reader = try Reader(
      "Subscribe",
      parameters: encodeParameters {
        $0.member("prefix", prefix)
        $0.member("owner", owner)
      }, at: path)
    repeat {
      guard try reader.socket.waitReadable(timeoutMSec: 10_000) else {
        throw ClientError.silent(seconds: 10)
      }
      _ = try reader.receive()
    } while reader.bytes.last != 0
    reader.bytes.removeAll()
    return reader
  }

  /// For an event loop.
  var rawValue: Int32 { socket.rawValue }

  /// Room for so many bytes, so that reading them moves nothing.
  mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

  /// The socket is readable: takes in what has come.
  ///
  /// - Returns: Where it begins in ``bytes``.
  mutating func receive() throws -> Int {
    let start = bytes.count
    guard case .moved = try socket.receive(appendingTo: &bytes, atMost: 64 << 10) else {
      throw ClientError.closed
    }
    return start
  }

  /// Drops what was read but for the last `count` bytes of it.
  mutating func drop(keeping count: Int) { bytes.removeSubrange(..<max(bytes.count - count, 0)) }

  /// Whether `text` stands in the last bytes that have come.
  func ends(near text: [UInt8], within length: Int) -> Bool {
    bytes.span.count(of: text, from: max(bytes.count - length, 0)) > 0
  }
}

extension Span<UInt8> {
  /// How often `text` stands at or after `start`.
  func count(of text: [UInt8], from start: Int = 0) -> Int {
    var found = 0
    var index = start
    while index <= count - text.count {
      if self[index] == text[0] {
        var length = 1
        while length < text.count, self[index + length] == text[length] { length += 1 }
        if length == text.count { found += 1 }
      }
      index += 1
    }
    return found
  }
}
