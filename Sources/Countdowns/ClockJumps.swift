/// What the clocks passed over without running: the sleeps and the forward steps that were reported, each
/// as an interval of the clock that jumped.
///
/// They tell why what is handed out is late. Boot time jumps over each sleep, the wall clock over each
/// sleep and each forward step, monotonic time over nothing. When in between two turns it happened is not
/// known: it is taken to be the last thing, and of a step and a sleep the step. A wall clock that is set
/// back comes once more to what it had passed: that is forgotten, and told by what happens then.
///
/// Nothing is dropped when it has done its work: an old jump ends before every deadline that is still to
/// come. Memory is bounded, see ``capacity``.
///
/// Invariant: on each clock the jumps come in order, none of them empty, and do not overlap.
struct ClockJumps: Sendable {
  /// What was passed over at once: what is after `start` and not after `end`; µs.
  struct Jump: Equatable, Sendable {
    var start: Int64
    var end: Int64
    /// `suspend` or `clockStep`.
    var reason: LateReason
    /// What the clock showed when this was reported, the first moment at which anybody could know.
    var knownAt: Int64
  }

  private(set) var boottime: [Jump] = []
  private(set) var realtime: [Jump] = []

  /// So many are kept of each clock; then the two oldest are taken as one. More of them matter only to
  /// what was due before the clocks jumped so often, and was not handed out since.
  static let capacity = 64

  /// Takes in what was reported. O(1), but for what a backward step takes back.
  mutating func note(_ one: Discontinuity) {
    let slept = one.sleptUSec ?? 0
    let stepped = one.steppedUSec ?? 0
    let now = one.at
    if slept > 0 {
      ClockJumps.append(
        Jump(
          start: now.boottime - slept, end: now.boottime, reason: .suspend, knownAt: now.boottime),
        to: &boottime)
    }
    // Before it was set back, the wall clock had come further than it shows.
    let woke = now.realtime - stepped
    if slept > 0 {
      ClockJumps.append(
        Jump(start: woke - slept, end: woke, reason: .suspend, knownAt: now.realtime), to: &realtime
      )
    }
    if stepped > 0 {
      ClockJumps.append(
        Jump(start: woke, end: now.realtime, reason: .clockStep, knownAt: now.realtime),
        to: &realtime)
    } else if stepped < 0 {
      ClockJumps.takeBack(to: now.realtime, from: &realtime)
    }
  }

  private static func append(_ new: Jump, to list: inout [Jump]) {
    var new = new
    // Coarse readings may claim a little more than there was.
    new.start = max(new.start, list.last?.end ?? .min)
    guard new.start < new.end else { return }
    list.append(new)
    guard list.count > capacity else { return }
    // Told by the longer one. What came between counts as passed over as well, but nobody is taken to
    // have known of it later.
    if list[1].end - list[1].start > list[0].end - list[0].start {
      list[0].reason = list[1].reason
    }
    list[0].end = list[1].end
    list.remove(at: 1)
  }

  private static func takeBack(to now: Int64, from list: inout [Jump]) {
    while let last = list.last, last.start >= now { list.removeLast() }
    for place in list.indices.reversed() {
      guard list[place].end > now || list[place].knownAt > now else { break }
      list[place].end = min(list[place].end, now)
      list[place].knownAt = min(list[place].knownAt, now)
    }
  }

  /// The jumps of a clock, from the oldest.
  func jumps(of clock: CountdownClock) -> [Jump] {
    switch clock {
    case .boottime: boottime
    case .monotonic: []
    case .realtime: realtime
    }
  }

  /// What passed over a deadline: was not at it before, and is at it or beyond since; `nil` if the clock
  /// ran over it, or is not there yet. O(jumps since then).
  func jump(over deadline: Int64, on clock: CountdownClock) -> Jump? {
    for jump in jumps(of: clock).reversed() {
      guard jump.end >= deadline else { return nil }
      if jump.start < deadline { return jump }
    }
    return nil
  }

  /// How much of the time from a deadline on was slept, and how much the wall clock was set over; µs.
  /// O(jumps since then).
  func parts(since deadline: Int64, on clock: CountdownClock) -> (suspend: Int64, clockStep: Int64)
  {
    var parts: (suspend: Int64, clockStep: Int64) = (0, 0)
    for jump in jumps(of: clock).reversed() {
      guard jump.end > deadline else { break }
      let length = jump.end - max(jump.start, deadline)
      if jump.reason == .suspend { parts.suspend += length } else { parts.clockStep += length }
    }
    return parts
  }
}
