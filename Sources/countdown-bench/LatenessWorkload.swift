internal import ControlClient
internal import LinuxIO

/// `lateness`: how late a single countdown expires while others wait, beside the least that a program
/// on this machine can do: a bare timerfd and epoll loop. The two take turns, round by round.
///
/// Three figures: the daemon's own (`lateUSec`: from the deadline to its being handed out), what the
/// subscriber sees (from the deadline to the notice's arrival), and the bare loop's (from the deadline
/// to its return from epoll).
enum LatenessWorkload {
  private struct Samples {
    var bare: [Double] = []
    var handedOut: [Double] = []
    var noticed: [Double] = []
  }

  static func run(_ options: Options) throws {
    let sizes = options.size.map { [$0] } ?? [0, 100_000]
    let countdowns = options.operations ?? 200
    let rounds = options.rounds ?? 5
    print(
      "lateness: µs after the deadline; \(rounds) rounds of \(countdowns) in turn, 2 … 12 ms each")
    print(row("pending", "what", "p50", "p90", "p99", "max", "early"))
    for size in sizes {
      var daemon = try PrivateDaemon.start(in: CurrentProcess.folder, log: .null)
      do {
        let samples = try measure(daemon.socketPath, size, countdowns, rounds, seed: options.seed)
        write(samples, size)
      } catch {
        _ = try daemon.stop()
        throw error
      }
      _ = try daemon.stop()
    }
  }

  private static func write(_ samples: Samples, _ size: Int) {
    let figures = [
      ("bare timerfd loop", samples.bare), ("daemon, handed out", samples.handedOut),
      ("daemon, notice read", samples.noticed),
    ]
    for (name, values) in figures {
      print(
        row(
          "\(size)", name, tenths(percentile(values, 50)), tenths(percentile(values, 90)),
          tenths(percentile(values, 99)), tenths(values.max() ?? 0),
          "\(values.filter { $0 < 0 }.count)"))
    }
    let ratio = { (percent: Double) in
      hundredths(percentile(samples.handedOut, percent) / percentile(samples.bare, percent))
    }
    print(left("", 11) + "handed out / bare: p50 \(ratio(50)), p99 \(ratio(99))")
  }

  private static func measure(
    _ path: String, _ size: Int, _ countdowns: Int, _ rounds: Int, seed: UInt64
  ) throws -> Samples {
    var random = SplitMix64(seed: seed)
    var caller = try Connection(to: path)
    for index in 0..<size {
      // Far ahead: in nobody's way but the wheel's and the index's.
      _ = try caller.call(
        "Start",
        parameters: encodeParameters {
          $0.member("name", "others/\(index)")
          $0.member("durationUSec", 3_600_000_000 + Int64(random.next() % 3_600_000_000))
        })
    }
    var subscriber = try Connection(to: path)
    try subscriber.begin("Subscribe", parameters: encodeParameters { $0.member("prefix", "one/") })
    _ = try subscriber.nextReply(timeoutMSec: 5_000)  // Ready.
    var samples = Samples()
    for round in 0..<rounds {
      try measureBare(countdowns, &random, &samples)
      for index in 0..<countdowns {
        let started = try StartReply(
          caller.call(
            "Start",
            parameters: encodeParameters {
              $0.member("name", "one/\(round)/\(index)")
              $0.member("durationUSec", length(&random))
            }))
        guard let reply = try subscriber.nextReply(timeoutMSec: 5_000) else {
          throw ClientError.silent(seconds: 5)
        }
        let arrival = Clocks.boottimeNSec()
        let events = try SubscriptionReply(Members(parsing: reply.parameters)).events
        guard let late = events.first?.lateUSec, let deadline = started.deadline?.boottimeUSec
        else {
          throw ClientError.garbled("an expiry without its lateness")
        }
        samples.handedOut.append(Double(late))
        samples.noticed.append(Double(arrival) / 1_000 - Double(deadline))
      }
    }
    return samples
  }

  private static func measureBare(
    _ countdowns: Int, _ random: inout SplitMix64, _ samples: inout Samples
  ) throws {
    let epoll = try Epoll()
    let timer = try TimerDescriptor()
    try epoll.add(timer.rawValue, .readable, token: 0)
    var events: [Epoll.Event] = []
    for _ in 0..<countdowns {
      let deadline = Clocks.boottimeNSec() + length(&random) * 1_000
      try timer.arm(atNSec: deadline)
      try epoll.wait(timeoutMSec: nil, into: &events)
      samples.bare.append(Double(Clocks.boottimeNSec() - deadline) / 1_000)
      _ = try timer.drain()
    }
  }

  /// 2 … 12 ms.
  private static func length(_ random: inout SplitMix64) -> Int64 {
    2_000 + Int64(random.next() % 10_000)
  }

  private static func row(
    _ size: String, _ name: String, _ p50: String, _ p90: String, _ p99: String, _ max: String,
    _ early: String
  ) -> String {
    right(size, 9) + "  " + left(name, 20) + right(p50, 9) + right(p90, 9) + right(p99, 9)
      + right(max, 10) + right(early, 7)
  }
}
