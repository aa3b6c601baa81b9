internal import ControlClient
internal import JSON
internal import LinuxIO

/// `list`: how long calls take while somebody lists all countdowns, beside how long they take while
/// nobody does.
enum ListWorkload {
  static func run(_ options: Options) throws {
    let size = options.size ?? 1_000_000
    let rounds = options.rounds ?? 3
    print("list: calls answered while \(size) countdowns are listed, \(rounds) times; µs a call")
    print(row("meanwhile", "calls", "p50", "p99", "max", "list"))
    var daemon = try PrivateDaemon.start(in: CurrentProcess.folder, log: .null)
    do {
      try measure(size, rounds, daemon.socketPath)
    } catch {
      _ = try daemon.stop()
      throw error
    }
    _ = try daemon.stop()
  }

  private static func measure(_ size: Int, _ rounds: Int, _ path: String) throws {
    try Load.start(size, at: path) { index, writer in
      writer.member("name", Load.name("list/", index))
      writer.member("durationUSec", 36_000_000_000 + Int64(index))
    }
    var alone: [Double] = []
    var beside: [Double] = []
    var lengths: [Double] = []
    for _ in 0..<rounds {
      var clock = Stopwatch()
      let (latencies, bytes) = try probe(path, listing: size, atLeast: 0)
      let length = clock.lap()
      beside += latencies
      lengths.append(length / 1_000_000)
      guard bytes > 100 * size else { throw ClientError.garbled("\(bytes) bytes of a list") }
      alone += try probe(path, listing: nil, atLeast: length).latencies
    }
    for (name, latencies, list) in [
      ("nothing", alone, ""), ("a list", beside, tenths(median(lengths)) + " ms"),
    ] {
      print(
        row(
          name, "\(latencies.count)", tenths(percentile(latencies, 50)),
          tenths(percentile(latencies, 99)), tenths(latencies.max() ?? 0), list))
    }
  }

  /// Calls again and again while a list goes on, or for so many nanoseconds.
  private static func probe(
    _ path: String, listing size: Int?, atLeast length: Double
  ) throws -> (latencies: [Double], bytes: Int) {
    var prober = try Prober(at: path)
    let epoll = try Epoll()
    try epoll.add(prober.rawValue, .readable, token: 0)
    try prober.send()
    var events: [Epoll.Event] = []
    guard let size else {
      let end = Clocks.boottimeNSec() + Int64(length)
      while Clocks.boottimeNSec() < end {
        try epoll.wait(timeoutMSec: 10_000, into: &events)
        if !events.isEmpty { try prober.receive() }
      }
      return (prober.latencies, 0)
    }
    var reader = try Reader("List", at: path)
    try epoll.add(reader.rawValue, .readable, token: 1)
    let last = Array("\"\(Load.name("list/", size - 1))\"".utf8)
    var bytes = 0
    // The last reply does not say that it continues.
    while bytes == 0 || reader.bytes.last != 0 || !reader.ends(near: last, within: 1_000) {
      try epoll.wait(timeoutMSec: 10_000, into: &events)
      guard !events.isEmpty else { throw ClientError.silent(seconds: 10) }
      for event in events {
        if event.token == 0 {
          try prober.receive()
        } else {
          if reader.bytes.count > 8 << 20 { reader.drop(keeping: 1_000) }
          let start = try reader.receive()
          bytes += reader.bytes.count - start
        }
      }
    }
    return (prober.latencies, bytes)
  }

  private static func row(
    _ name: String, _ calls: String, _ p50: String, _ p99: String, _ max: String, _ list: String
  ) -> String {
    left(name, 12) + right(calls, 10) + right(p50, 10) + right(p99, 10) + right(max, 10)
      + right(list, 14)
  }
}
