internal import ControlClient
internal import JSON
internal import LinuxIO

/// `watch`: many names watched over few streams, each told at every tenth of a second of what remains:
/// how late those ticks are, and what they cost the daemon.
///
/// Beside it, on the same machine in the same run: how late a bare timerfd and epoll loop is at the same
/// interval, and what it costs to send and receive just those bytes over a socket.
enum WatchWorkload {
  private static let intervalUSec: Int64 = 100_000
  private static let namesPerStream = 1_000

  static func run(_ options: Options) throws {
    let size = max(1, options.size ?? 10_000)
    let seconds = Int64(max(1, options.rounds ?? 10))
    var daemon = try PrivateDaemon.start(in: CurrentProcess.folder, log: .null)
    do {
      try measure(daemon.socketPath, daemon.pid, size, seconds, seed: options.seed)
    } catch {
      _ = try daemon.stop()
      throw error
    }
    _ = try daemon.stop()
  }

  private static func measure(
    _ path: String, _ pid: Int32, _ size: Int, _ seconds: Int64, seed: UInt64
  ) throws {
    try start(size, path, seed: seed)
    let streams = try stride(from: 0, to: size, by: namesPerStream).map { first in
      try Watcher(path, names: first..<min(first + namesPerStream, size), intervalUSec)
    }
    let epoll = try Epoll()
    for (index, stream) in streams.enumerated() {
      try epoll.add(stream.socket.rawValue, .readable, token: UInt64(index))
    }
    // What is told first is where all of them stand; a second later they tick evenly.
    try read(streams, epoll, untilUSec: nowUSec + 1_000_000)
    for stream in streams { stream.tally = Watcher.Tally() }
    let cpuBefore = try processorMSec(of: pid)
    let begin = nowUSec
    try read(streams, epoll, untilUSec: begin + seconds * 1_000_000)
    let passed = Double(nowUSec - begin)
    let cpu = Double(try processorMSec(of: pid) - cpuBefore) * 1_000
    try report(streams.map(\.tally), size, passed: passed, cpu: cpu)
  }

  private static func report(
    _ tallies: [Watcher.Tally], _ size: Int, passed: Double, cpu: Double
  ) throws {
    let ticks = tallies.reduce(0) { $0 + $1.latenesses.count }
    let replies = tallies.reduce(0) { $0 + $1.replies }
    let bytes = tallies.reduce(0) { $0 + $1.bytes }
    let late = tallies.flatMap(\.latenesses)
    let bare = try bareLateness(count: 50)
    print("watch: \(size) names over \(tallies.count) streams, told at each 100 ms of what remains")
    print("µs after the crossing, until it was read; crossings within 10 ms are told together")
    print(row("what", "p50", "p99", "max", "early"))
    for (name, values) in [("daemon", late), ("bare timerfd loop", bare)] {
      print(
        row(
          name, tenths(percentile(values, 50)), tenths(percentile(values, 99)),
          tenths(values.max() ?? 0), "\(values.filter { $0 < 0 }.count)"))
    }
    let sending = try sendingCost(bytes: bytes, replies: max(replies, 1))
    let perSecond = { (count: Int) in tenths(Double(count) / passed * 1_000_000) }
    print(
      "\(perSecond(ticks)) ticks/s in \(perSecond(replies)) replies/s, \(bytes / max(ticks, 1)) B each"
    )
    print(
      "daemon: \(tenths(cpu / passed * 100)) % of a core, \(tenths(cpu / Double(max(ticks, 1)))) µs a tick; "
        + "sending and receiving those bytes alone: \(tenths(sending / passed * 100)) %")
  }

  private static func row(
    _ name: String, _ p50: String, _ p99: String, _ max: String, _ early: String
  ) -> String {
    left(name, 20) + right(p50, 9) + right(p99, 9) + right(max, 10) + right(early, 7)
  }

  static var nowUSec: Int64 { Clocks.boottimeNSec() / 1_000 }

  private static func start(_ size: Int, _ path: String, seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var caller = try Connection(to: path)
    for index in 0..<size {
      _ = try caller.call(
        "Start",
        parameters: encodeParameters {
          $0.member("name", "sale/\(index)")
          $0.member("durationUSec", 3_600_000_000 + Int64(random.next() % 1_000_000))
        })
    }
  }

  private static func read(
    _ streams: [Watcher], _ epoll: borrowing Epoll, untilUSec end: Int64
  ) throws {
    var events: [Epoll.Event] = []
    while nowUSec < end {
      try epoll.wait(timeoutMSec: 100, into: &events)
      for event in events where event.isReadable { try streams[Int(event.token)].read() }
    }
  }

  /// How late a bare loop wakes, so many times at the same interval.
  private static func bareLateness(count: Int) throws -> [Double] {
    let epoll = try Epoll()
    let timer = try TimerDescriptor()
    try epoll.add(timer.rawValue, .readable, token: 0)
    var events: [Epoll.Event] = []
    var late: [Double] = []
    var deadline = Clocks.boottimeNSec()
    for _ in 0..<count {
      deadline += intervalUSec * 1_000
      try timer.arm(atNSec: deadline)
      try epoll.wait(timeoutMSec: nil, into: &events)
      late.append(Double(Clocks.boottimeNSec() - deadline) / 1_000)
      _ = try timer.drain()
    }
    return late
  }

  /// Processor time of this process to move so many bytes through a socket in so many pieces, µs.
  private static func sendingCost(bytes: Int, replies: Int) throws -> Double {
    let directory = try TemporaryDirectory(prefix: "bench-")
    let listener = try ListeningSocket(bindingTo: "\(directory.path)/s", mode: 0o600)
    let sender = try StreamSocket(connectingTo: "\(directory.path)/s")
    guard let receiver = try listener.accept() else { return 0 }
    let piece = [UInt8](repeating: 0x20, count: max(1, bytes / replies))
    var received: [UInt8] = []
    let before = try processorMSec(of: CurrentProcess.pid)
    for _ in 0..<replies {
      var sent = 0
      while sent < piece.count {
        if case .moved(let count) = try sender.send(piece.span.extracting(droppingFirst: sent)) {
          sent += count
        }
        received.removeAll(keepingCapacity: true)
        _ = try receiver.receive(appendingTo: &received, atMost: 64 << 10)
      }
    }
    return Double(try processorMSec(of: CurrentProcess.pid) - before) * 1_000
  }
}

/// Processor time that a process has used, in milliseconds, to the kernel's tick of 10.
func processorMSec(of pid: Int32) throws -> Int64 {
  let contents = try [UInt8](contentsOfFile: "/proc/\(pid)/stat", atMost: 4_096)
  // Its name, in parentheses, may contain anything.
  let rest = contents[(contents.lastIndex(of: UInt8(ascii: ")")) ?? 0)...]
  let fields = String(decoding: rest, as: UTF8.self).split(separator: " ")
  guard fields.count > 13, let user = Int64(fields[12]), let system = Int64(fields[13])
  else { return 0 }
  return 10 * (user + system)
}
