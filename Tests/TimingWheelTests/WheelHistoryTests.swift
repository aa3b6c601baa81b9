import TestSupport
import Testing
import TimingWheel

/// What a wheel should do, by a dictionary and comparison alone: too slow to ship, too simple to be
/// wrong.
private struct Model {
  var now: UInt64
  var waiting: [EntryID: UInt64] = [:]
  var live: [EntryID] = []
  /// Filed when it was due already: reported out of the order of ticks.
  var overdue: Set<EntryID> = []
  /// Ticks that an entry left without being reported, so that a minimum may be stale.
  var disturbed: Set<UInt64> = []
  var latestTick: UInt64 = 0

  mutating func file(_ id: EntryID, at deadline: UInt64) {
    unfile(id)
    waiting[id] = deadline
    if deadline <= now { overdue.insert(id) }
  }

  mutating func unfile(_ id: EntryID) {
    if let deadline = waiting.removeValue(forKey: id) { disturbed.insert(deadline / 64) }
    overdue.remove(id)
  }

  var earliest: UInt64? { waiting.values.min() }
}

/// A wheel and its model, taken through one seeded history.
private struct History: ~Copyable {
  let seed: UInt64
  var random: SplitMix64
  var wheel: Wheel
  var model: Model
  var isWhole = true  // The last advance reached its target.
  let limits: [Int]

  init(seed: UInt64) {
    self.seed = seed
    random = SplitMix64(seed: seed)
    // From boot, from a border of each level, from anywhere, and from near the end of time.
    let start: UInt64
    switch seed % 4 {
    case 0: start = 0
    case 1: start = 1 << (6 * .random(in: 1...8, using: &random))
    case 2: start = .random(in: 0..<1 << 53, using: &random)
    default: start = Instant.last.rawValue - .random(in: 0..<1 << 30, using: &random)
    }
    limits = [[1], [7], [.max], [1, 7, .max]][Int(seed / 4 % 4)]
    wheel = Wheel(now: Instant(rawValue: start), reserving: Int(seed % 3) * 8)
    model = Model(now: start)
  }

  mutating func anyDeadline() -> UInt64 {
    if .random(in: 0..<8, using: &random) == 0 {
      return model.now - min(model.now, .random(in: 0..<1 << 20, using: &random))
    }
    if .random(in: 0..<4, using: &random) == 0,
      let other = model.live.randomElement(using: &random),
      let deadline = model.waiting[other]
    {
      return min(deadline ^ .random(in: 0..<64, using: &random), Instant.last.rawValue)
    }
    let reach = UInt64.random(in: 0...53, using: &random)
    var deadline = model.now + .random(in: 0...(1 << reach), using: &random)
    if .random(in: 0..<4, using: &random) == 0 {  // A border of some level, or one beside it.
      deadline = ((deadline >> reach) << reach) + .random(in: 0...2, using: &random)
      deadline = max(deadline, 1) - 1
    }
    return min(deadline, Instant.last.rawValue)
  }

  mutating func step() -> String? {
    switch Int.random(in: 0..<16, using: &random) {
    case 0..<5:
      let deadline = anyDeadline()
      let id = wheel.start(at: Instant(rawValue: deadline))
      model.live.append(id)
      model.file(id, at: deadline)
    case 5:
      model.live.append(wheel.allocate())
    case 6, 7:
      guard let id = model.live.randomElement(using: &random) else { break }
      let deadline = anyDeadline()
      wheel.schedule(id, at: Instant(rawValue: deadline))
      model.file(id, at: deadline)
    case 8:
      guard let id = model.live.randomElement(using: &random) else { break }
      wheel.park(id)
      model.unfile(id)
    case 9, 10:
      guard !model.live.isEmpty else { break }
      let id = model.live.remove(at: .random(in: 0..<model.live.count, using: &random))
      wheel.release(id)
      model.unfile(id)
      if wheel.isLive(id) || wheel.deadline(of: id) != nil { return "a stale id is live" }
    case 11, 12:
      let target = wheel.nextWake ?? wheel.now
      return advance(to: target.rawValue)
    case 13:
      return advance(to: model.now - min(model.now, .random(in: 0..<1000, using: &random)))
    default:
      let reach = UInt64.random(in: 0...50, using: &random)
      return advance(to: model.now + .random(in: 0...(1 << reach), using: &random))
    }
    return nil
  }

  mutating func advance(to target: UInt64) -> String? {
    let target = min(target, Instant.last.rawValue)
    let limit = limits.randomElement(using: &random)!
    var due: [EntryID] = []
    let before = wheel.now
    isWhole = wheel.advance(to: Instant(rawValue: target), limit: limit, into: &due)
    let reached = max(target, before.rawValue)
    if wheel.now < before { return "now went back" }
    if wheel.now.rawValue > reached { return "now went beyond the target" }
    if isWhole && wheel.now.rawValue != reached { return "the target was not reached" }
    if !isWhole && wheel.nextWake != wheel.now { return "a turn that stopped does not go on" }
    if due.count > limit { return "\(due.count) reported, above the limit" }
    for id in due {
      guard let deadline = model.waiting.removeValue(forKey: id) else { return "reported twice" }
      if deadline > reached { return "\(deadline) was reported by \(reached)" }
      if model.overdue.remove(id) == nil {
        if deadline / 64 < model.latestTick { return "\(deadline) came out of order" }
        model.latestTick = deadline / 64
      }
      if !wheel.isLive(id) || wheel.deadline(of: id) != nil { return "what is due is not parked" }
    }
    model.now = wheel.now.rawValue
    if isWhole, let earliest = model.earliest, earliest <= reached {
      return "\(earliest) was not reported by \(reached)"
    }
    return nil
  }

  /// Everything that can be asked of a wheel at any time.
  borrowing func difference() -> String? {
    if let broken = wheel.brokenInvariant() { return broken }
    if wheel.count != model.waiting.count { return "count is \(wheel.count)" }
    if wheel.liveCount != model.live.count { return "liveCount is \(wheel.liveCount)" }
    if wheel.now.rawValue != model.now { return "now is \(wheel.now)" }
    for id in model.live {
      if !wheel.isLive(id) { return "\(id) is not live" }
      if wheel.deadline(of: id)?.rawValue != model.waiting[id] {
        return "\(id) has a wrong deadline"
      }
      if id.index >= wheel.capacityInUse { return "\(id) is beyond \(wheel.capacityInUse)" }
    }
    guard let earliest = model.earliest else {
      return wheel.nextWake == nil ? nil : "something wakes an empty wheel"
    }
    guard let wake = wheel.nextWake?.rawValue else { return "nothing wakes for \(earliest)" }
    if wake > max(earliest, model.now) { return "wakes at \(wake), after \(earliest)" }
    if isWhole && earliest > model.now {
      if wake <= model.now { return "wakes at \(wake) for nothing" }
      let isOnLowestLevel = earliest / 4096 == model.now / 4096
      if isOnLowestLevel && wake / 64 != earliest / 64 { return "wakes a tick early" }
      // Exact, unless an entry left its slot unreported.
      let isDisturbed =
        isOnLowestLevel ? model.disturbed.contains(earliest / 64) : !model.disturbed.isEmpty
      if !isDisturbed && wake != earliest {
        return "wakes at \(wake), not at \(earliest)"
      }
    }
    return nil
  }
}

@Suite struct WheelHistoryTests {
  @Test(arguments: 0..<20 as Range<UInt64>)
  func `the wheel and a plain dictionary agree on every history`(hundred: UInt64) {
    for seed in hundred * 100..<(hundred + 1) * 100 {
      var history = History(seed: seed)
      for step in 0..<40 {
        let wrong = history.step() ?? history.difference()
        #expect(wrong == nil, "seed \(seed), step \(step)")
        if wrong != nil { return }
      }
    }
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func `the wheel and a plain dictionary agree on long histories`(seed: UInt64) {
    var history = History(seed: 1 << 32 + seed)
    for step in 0..<1000 {
      let wrong = history.step() ?? history.difference()
      #expect(wrong == nil, "seed \(seed), step \(step)")
      if wrong != nil { return }
    }
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func `following its wakes reports each entry at its microsecond, with few wakes`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var wheel = Wheel(
      now: Instant(rawValue: .random(in: 0..<1 << 50, using: &random)), reserving: 0)
    var deadlines: [EntryID: Instant] = [:]
    for _ in 0..<100 {
      let reach = UInt64.random(in: 0...50, using: &random)
      let deadline = wheel.now.advanced(byUSec: .random(in: 1...(1 << reach), using: &random))
      deadlines[wheel.start(at: deadline)] = deadline
    }
    var due: [EntryID] = []
    var wakes = 0
    while let wake = wheel.nextWake {
      wakes += 1
      #expect(wheel.advance(to: wake, limit: .max, into: &due) == true)
      for id in due { #expect(deadlines.removeValue(forKey: id) == wake, "seed \(seed)") }
      due.removeAll()
    }
    #expect(deadlines.isEmpty)
    #expect(wakes <= 100 * 8, "one for each level that an entry passes, at most")
  }
}
