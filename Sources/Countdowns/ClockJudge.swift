/// Tells from readings what happened to the clocks between them.
///
/// B − M grows only while the machine sleeps, and R − B changes only when somebody sets the wall clock;
/// slewing moves all three alike. Each difference is compared with what it was when it was last
/// reported, not with the reading before: what is too small to report cannot creep by. A leap second is
/// a step of −1 s.
///
/// A coarse reading knows its differences only to within its ``Reading/uncertaintyUSec``, and only what
/// goes beyond that counts. What it does report may be wrong by as much; then the next better reading
/// takes its place in silence.
package struct ClockJudge: Sendable {
  /// B − M and R − B, as last reported.
  private var asleep: Difference
  private var offset: Difference

  /// Less is the noise of reading one clock after the other, µs.
  private static let leastChange: Int64 = 1_000
  /// A loop that is away for less is only busy, µs.
  package static let leastAway: Int64 = 100_000

  /// A difference of two clocks, and how far from the truth it may be; µs.
  struct Difference {
    var value: Int64
    var doubt: Int64

    /// By how much the true one has changed; `nil` if it may be the same. What has changed is known from
    /// here on, and so is what is better known.
    mutating func change(to new: Difference) -> Int64? {
      let change = new.value - value
      guard abs(change) >= ClockJudge.leastChange + doubt + new.doubt else {
        if new.doubt < doubt { self = new }
        return nil
      }
      self = new
      return change
    }
  }

  /// - Parameter reading: Where its knowledge begins.
  package init(at reading: Reading) {
    (asleep, offset) = ClockJudge.differences(of: reading)
  }

  private static func differences(of reading: Reading) -> (Difference, Difference) {
    (
      Difference(value: reading.boottime - reading.monotonic, doubt: reading.uncertaintyUSec),
      Difference(value: reading.realtime - reading.boottime, doubt: reading.uncertaintyUSec)
    )
  }

  /// What happened since it was last asked; `nil` if nothing that counts. O(1).
  ///
  /// - Parameters:
  ///   - reading: Boot time and monotonic time never go back.
  ///   - awayUSec: How long the loop was away, see ``LoopWatch``. It counts only where the clocks have
  ///     not moved against each other, for else that is why.
  package mutating func judge(_ reading: Reading, awayUSec: Int64) -> Discontinuity? {
    let (nowAsleep, nowOffset) = ClockJudge.differences(of: reading)
    let slept = asleep.change(to: nowAsleep).flatMap { $0 > 0 ? $0 : nil }  // Nothing wakes twice.
    let stepped = offset.change(to: nowOffset)
    switch (slept, stepped) {
    case (let slept?, nil): return .slept(slept, at: reading)
    case (nil, let stepped?): return .stepped(stepped, at: reading)
    case (let slept?, let stepped?): return .slept(slept, stepped: stepped, at: reading)
    case (nil, nil):
      return awayUSec >= ClockJudge.leastAway ? .stalled(awayUSec, at: reading) : nil
    }
  }
}
