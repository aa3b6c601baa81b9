internal import ControlClient
internal import JSON
internal import LinuxIO

/// `crowd`: many countdowns due at the same instant, told to one subscriber, with calls meanwhile: alone,
/// and beside subscribers of other prefixes and of other users. The reference is a bare socket through
/// which the same bytes go.
enum CrowdWorkload {
  private struct Round {
    var toldMSec: Double
    var bareMSec: Double
    var latencies: [Double]
  }

  static func run(_ options: Options) throws {
    let size = options.size ?? 100_000
    let others = options.operations ?? 900
    let rounds = options.rounds ?? 3
    print("crowd: \(size) due at one instant; median of \(rounds) rounds; calls are answered in µs")
    print(row("subscribers", "all told", "bare socket", "ratio", "call p50", "p99", "max"))
    for count in [0, others] {
      var all: [Round] = []
      for _ in 0..<rounds { all.append(try measure(size, count)) }
      let told = median(all.map(\.toldMSec))
      let bare = median(all.map(\.bareMSec))
      let latencies = all.flatMap(\.latencies)
      print(
        row(
          count == 0 ? "one" : "one beside \(count)", tenths(told) + " ms", tenths(bare) + " ms",
          tenths(told / bare), tenths(percentile(latencies, 50)),
          tenths(percentile(latencies, 99)), tenths(latencies.max() ?? 0)))
    }
  }

  private static func measure(_ size: Int, _ others: Int) throws -> Round {
    var daemon = try PrivateDaemon.start(in: CurrentProcess.folder, log: .null)
    do {
      let round = try measure(size, others, at: daemon.socketPath)
      _ = try daemon.stop()
      return round
    } catch {
      _ = try daemon.stop()
      throw error
    }
  }

  private static func measure(_ size: Int, _ others: Int, at path: String) throws -> Round {
    try CurrentProcess.raiseDescriptorLimit()
    // Only root may have as many, and of other users; one of another user is half of them then.
    let isRoot = CurrentProcess.effectiveUserID == 0
    var bystanders: [Bystander] = []
    for index in 0..<(isRoot ? others : min(others, 60)) {
      let isOfUser = isRoot && index % 2 == 1
      bystanders.append(
        try Bystander(
          at: path, prefix: "other/\(index)/", owner: isOfUser ? 10_000 + Int64(index) : nil))
    }
    var reader = try Reader.subscribed(at: path, prefix: "crowd/")
    reader.reserve(400 * size)
    let lead = try Load.lead(for: size, at: path) { _ in }
    let clocks = Clocks.read()
    let deadline = clocks.realtimeNSec / 1_000 + lead
    try Load.start(size, at: path) { index, writer in
      writer.member("name", Load.name("crowd/", index))
      writer.member("deadlineUSec", deadline)
    }
    let dueAt = clocks.boottimeNSec + lead * 1_000
    guard Clocks.boottimeNSec() < dueAt else { throw ClientError.silent(seconds: lead / 1_000_000) }
    var prober = try Prober(at: path)
    Clocks.sleep(untilBoottimeNSec: dueAt - 5_000_000)
    let epoll = try Epoll()
    try epoll.add(prober.rawValue, .readable, token: 0)
    try epoll.add(reader.rawValue, .readable, token: 1)
    try prober.send()
    let last = Array("\"\(Load.name("crowd/", size - 1))\"".utf8)
    var events: [Epoll.Event] = []
    var toldAt: Int64?
    while toldAt == nil {
      try epoll.wait(timeoutMSec: 10_000, into: &events)
      guard !events.isEmpty else { throw ClientError.silent(seconds: 10) }
      for event in events {
        if event.token == 0 {
          try prober.receive()
        } else {
          _ = try reader.receive()
          if reader.ends(near: last, within: 600) { toldAt = Clocks.boottimeNSec() }
        }
      }
    }
    let told = reader.bytes.span.count(of: Array("\"expired\"".utf8))
    guard told == size else { throw ClientError.garbled("\(told) expiries of \(size)") }
    let bare = try Load.sendBare(reader.bytes.count)
    withExtendedLifetime(bystanders) {}
    return Round(
      toldMSec: Double((toldAt ?? 0) - dueAt) / 1_000_000, bareMSec: bare / 1_000_000,
      latencies: prober.latencies)
  }

  /// A subscriber of something else, that only holds its place.
  private final class Bystander {
    private let reader: Reader

    init(at path: String, prefix: String, owner: Int64?) throws {
      reader = try Reader.subscribed(at: path, prefix: prefix, owner: owner)
    }
  }

  private static func row(
    _ name: String, _ told: String, _ bare: String, _ ratio: String, _ p50: String, _ p99: String,
    _ max: String
  ) -> String {
    left(name, 18) + right(told, 12) + right(bare, 13) + right(ratio, 7) + right(p50, 10)
      + right(p99, 10) + right(max, 10)
  }
}
