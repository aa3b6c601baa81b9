import CountdownService
import Countdowns
import TestSupport
import TimingWheel

/// Says after each turn what must have been found to have happened to the clocks: it knows what the
/// clocks were made to do, and looks at no reading.
struct ClockOracle {
  private(set) var problems: [String] = []
  /// How many of each kind there were.
  private(set) var counts: [Discontinuity.Kind: Int] = [:]
  private var toldSlept: Int64 = 0
  private var toldStepped: Int64 = 0
  /// How far the clocks had gone at the turn before, and its reading.
  private var gone: Int64 = 0
  /// What the service wanted after it.
  private var wake = Scheduler.Wake.never
  private var hasTurned = false
  /// Those that are to be told, of the clocks and of the loop.
  private var clocks: [String] = []
  private var stalls: [String] = []

  /// A turn is over.
  mutating func judge(_ world: World) {
    let clock = world.clock
    defer {
      gone = clock.ran + clock.slept
      wake = world.service.nextWake
      hasTurned = true
    }
    let slept = clock.slept - toldSlept
    let stepped = clock.stepped - toldStepped
    let hasSlept = slept >= 1_000
    let hasStepped = abs(stepped) >= 1_000
    if hasSlept { toldSlept = clock.slept }
    if hasStepped { toldStepped = clock.stepped }
    var expected: String?
    if hasSlept || hasStepped {
      expected = "\(hasSlept ? slept : 0) \(hasStepped ? stepped : 0)"
    }
    let away = awayUSec(clock)
    if expected == nil, away >= 100_000 { expected = "away \(away)" }
    let found = world.service.discontinuity
    let told = found.map { text($0) }
    if told != expected {
      problems.append(
        "turn \(world.readings.count): \(told ?? "nothing") happened, not \(expected ?? "nothing")")
    }
    guard let found, let told else { return }
    counts[found.kind, default: 0] += 1
    if found.kind == .stalled { stalls.append(told) } else { clocks.append(told) }
  }

  /// How much later than wanted the turn has come.
  private func awayUSec(_ clock: VirtualClock) -> Int64 {
    guard hasTurned else { return 0 }
    let passed = clock.ran + clock.slept - gone
    switch wake {
    case .never: return 0
    case .now: return passed
    case .at(let instant):
      return clock.reading.boottime - Int64(instant.rawValue)
    }
  }

  private func text(_ one: Discontinuity) -> String {
    one.awayUSec.map { "away \($0)" } ?? "\(one.sleptUSec ?? 0) \(one.steppedUSec ?? 0)"
  }

  /// What `GetClocks` answers at the end: the latest of both, each in their order.
  mutating func judgeEnd(_ reply: VirtualClient.Reply) {
    var told: (clocks: [String], stalls: [String]) = ([], [])
    var last: Int64 = .min
    for one in reply["discontinuities"]?.array ?? [] {
      if let away = one["awayUSec"]?.integer {
        told.stalls.append("away \(away)")
      } else {
        let slept = one["sleptUSec"]?.integer ?? 0
        told.clocks.append("\(slept) \(one["steppedUSec"]?.integer ?? 0)")
      }
      let at = one["at"]?["boottimeUSec"]?.integer ?? .min
      if at < last { problems.append("GetClocks tells what happened out of order") }
      last = at
    }
    if told.clocks != Array(clocks.suffix(16)) || told.stalls != Array(stalls.suffix(16)) {
      problems.append("GetClocks tells \(told), not \(clocks) and \(stalls)")
    }
  }
}
