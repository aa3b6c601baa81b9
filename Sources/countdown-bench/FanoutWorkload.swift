internal import ControlClient
internal import JSON
internal import LinuxIO

/// `fanout`: many events of 1 KiB to one subscriber who reads, while another one does not: how late they
/// come, and by how much the daemon grows. The reference is a bare socket through which the same bytes
/// go.
enum FanoutWorkload {
  /// Events a second: they come due one after the other.
  private static let rate = 20_000

  static func run(_ options: Options) throws {
    let size = options.size ?? 200_000
    print(
      "fanout: \(size) events of 1 KiB, \(rate) a second, to one who reads and one who does not")
    var daemon = try PrivateDaemon.start(in: CurrentProcess.folder, log: .null)
    do {
      try measure(size, daemon.socketPath, daemon.pid)
    } catch {
      _ = try daemon.stop()
      throw error
    }
    _ = try daemon.stop()
  }

  private static func measure(_ size: Int, _ path: String, _ pid: Int32) throws {
    let never = try Reader.subscribed(at: path)
    var reader = try Reader.subscribed(at: path)
    let payload = Array(("{\"x\":\"" + String(repeating: "y", count: 600) + "\"}").utf8)
    let lead = try Load.lead(for: size, at: path) { $0.member("payload", json: payload) }
    let base = Clocks.read()
    let first = base.realtimeNSec / 1_000 + lead
    let spacing = 1_000_000 / Int64(rate)
    let text = String(repeating: "n", count: 200) + "/"
    try Load.start(size, at: path) { index, writer in
      writer.member("name", Load.name(text, index))
      writer.member("deadlineUSec", first + Int64(index) * spacing)
      writer.member("payload", json: payload)
    }
    let firstAt = base.boottimeNSec + lead * 1_000
    guard Clocks.boottimeNSec() < firstAt else {
      throw ClientError.silent(seconds: lead / 1_000_000)
    }
    let before = try Load.memory("VmRSS", of: pid)
    let kind = Array("\"expired\"".utf8)
    var lags: [Double] = []
    var bytes = 0
    let epoll = try Epoll()
    try epoll.add(reader.rawValue, .readable, token: 0)
    var events: [Epoll.Event] = []
    while lags.count < size {
      try epoll.wait(timeoutMSec: 20_000, into: &events)
      // Missed by more than the daemon keeps for it: this machine has no time to read.
      guard !events.isEmpty else {
        throw ClientError.garbled("only \(lags.count) of \(size) events: the reader fell behind")
      }
      let start = try reader.receive()
      let arrival = Clocks.boottimeNSec()
      bytes += reader.bytes.count - start
      // What is cut in two counts with the piece that ends it.
      let told = reader.bytes.span.count(of: kind, from: max(start - kind.count + 1, 0))
      for _ in 0..<told {
        // They come in the order of their deadlines.
        let dueAt = firstAt + Int64(lags.count) * spacing * 1_000
        lags.append(Double(arrival - dueAt) / 1_000)
      }
      if reader.bytes.count > 8 << 20 { reader.drop(keeping: kind.count - 1) }
    }
    let peak = try Load.memory("VmHWM", of: pid)
    let bare = try Load.sendBare(bytes)
    let (p50, p99) = (percentile(lags, 50), percentile(lags, 99))
    print("bytes an event          \(right("\(bytes / size)", 12))")
    print("lag p50, µs             \(right(tenths(p50), 12))")
    print("lag p99, µs             \(right(tenths(p99), 12))")
    print("lag max, µs             \(right(tenths(lags.max() ?? 0), 12))")
    print("early                   \(right("\(lags.count { $0 < 0 })", 12))")
    print("memory before, MiB      \(right(tenths(before), 12))")
    print("memory at most, MiB     \(right(tenths(peak), 12))")
    print("growth, MiB             \(right(tenths(peak - before), 12))")
    print("the same bytes, bare, s \(right(hundredths(bare / 1_000_000_000), 12))")
    withExtendedLifetime(never) {}
  }
}
