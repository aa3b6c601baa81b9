internal import CountdownService
internal import Countdowns

/// `step`: many countdowns on all three clocks, and what the service does when the machine slept and when
/// its wall clock was set; its clocks are numbers here, and nobody listens.
///
/// Beside it, in the same run: a binary heap of the same deadlines, built anew, as an event loop does that
/// keeps its timers by the wall clock.
enum StepWorkload {
  static func run(_ options: Options) {
    let size = max(1, options.size ?? 1_000_000)
    let rounds = max(1, options.rounds ?? 3)
    var random = SplitMix64(seed: options.seed)
    // All fall due within a month, but none in the first two days.
    let lengths = (0..<size).map { _ in
      2 * day + Int64(random.next() % UInt64(28 * day))
    }
    var bench = Bench(size: size)
    bench.fill(lengths)
    print("step: \(size) countdowns, a third on each clock; medians of \(rounds)")
    print(row("what happens", "turns", "ms in all", "longest turn, ms"))
    for (what, change) in [
      ("nothing", { _ in }),
      ("a sleep of 8 h, none due", { $0.suspend(day / 3) }),
      ("a step of 1 h back", { $0.step(-day / 24) }),
      ("a step of 1 h forward", { $0.step(day / 24) }),
    ] as [(String, (inout Bench) -> Void)] {
      let costs = (0..<rounds).map { _ in bench.cost(of: change) }
      print(
        row(
          what, "\(costs[0].turns)", hundredths(median(costs.map(\.all)) / 1_000_000),
          hundredths(median(costs.map(\.longest)) / 1_000_000)))
    }
    let heap = (0..<rounds).map { _ in heapCost(lengths) }
    print(row("the heap, built anew", "", hundredths(median(heap) / 1_000_000), ""))
    print("\(bench.running) of \(size) still run")
  }

  fileprivate static let day: Int64 = 86_400_000_000

  private static func row(
    _ what: String, _ turns: String, _ all: String, _ longest: String
  ) -> String {
    left(what, 26) + right(turns, 7) + right(all, 12) + right(longest, 18)
  }

  private static func heapCost(_ lengths: [Int64]) -> Double {
    var watch = Stopwatch()
    var heap = BinaryHeap(reserving: lengths.count)
    for length in lengths { _ = heap.start(at: UInt64(length)) }
    let cost = watch.lap()
    precondition(heap.count == lengths.count)
    return cost
  }
}

/// The service and its clocks.
private struct Bench: ~Copyable {
  private var service: Service
  private var now = Reading(
    monotonic: 1_000_000_000, boottime: 2_000_000_000, realtime: 1_796_000_000_000_000)
  private let client: ConnectionID

  init(size: Int) {
    var limits = Limits()
    limits.countdowns = max(size, limits.countdowns)
    service = Service(
      at: now, limits: limits, terms: .inMemory(wallClock: now.realtime, notSupported: 95),
      identity: Service.Identity(version: "bench", uid: 0, bootID: ""), reserving: size)
    client = service.open(uid: 0, isAdmin: true)
  }

  var running: Int { service.scheduler.users.counts.running }

  mutating func suspend(_ usec: Int64) {
    now.boottime += usec
    now.realtime += usec
  }

  mutating func step(_ usec: Int64) { now.realtime += usec }

  /// Starts as many, by a call for each 1000.
  mutating func fill(_ lengths: [Int64]) {
    var next = 0
    while next < lengths.count {
      let end = min(next + 1_000, lengths.count)
      let items = (next..<end).map { index in
        let what =
          switch index % 3 {
          case 0: "\"durationUSec\":\(lengths[index])"
          case 1: "\"durationUSec\":\(lengths[index]),\"clock\":\"monotonic\""
          default: "\"deadlineUSec\":\(now.realtime + lengths[index])"
          }
        return "{\"name\":\"n\(index)\",\(what)}"
      }
      let call =
        "{\"method\":\"io.countdownd.Countdown.StartMany\",\"parameters\":{\"countdowns\":["
        + items.joined(separator: ",") + "]}}\0"
      service.receive(Array(call.utf8).span, from: client)
      _ = settle()
      next = end
    }
  }

  /// Lets something happen to the clocks, and turns until all is done that follows from it; ns.
  mutating func cost(
    of change: (inout Bench) -> Void
  ) -> (turns: Int, all: Double, longest: Double) {
    change(&self)
    return settle()
  }

  private mutating func settle() -> (turns: Int, all: Double, longest: Double) {
    var result = (turns: 0, all: 0.0, longest: 0.0)
    repeat {
      var watch = Stopwatch()
      service.turn(at: now)
      let cost = watch.lap()
      result.turns += 1
      result.all += cost
      result.longest = max(result.longest, cost)
      _ = service.takeTouched()
      let bytes = service.withOutput(of: client) { $0.count }
      service.sent(bytes, to: client)
    } while service.nextWake == .now
    return result
  }
}
