package import Countdowns

/// The way each clock has come, from what it was made to do: by that it is known why something is late,
/// and whether it is missed.
///
/// It walks back from now. Each moment after a deadline was come to last by running, in sleep or by a step,
/// and what a clock that was set back comes to again counts as it came then.
package struct ClockPath {
  package enum Cause {
    case run, sleep, step
  }

  /// A stretch of the way, of a clock and in a turn.
  private struct Leg {
    let from: Int64
    let to: Int64
    let cause: Cause
    /// What the clock showed when the turn had looked.
    let seenAs: Int64
    let wasSetBack: Bool
  }

  /// What lies between a deadline and now.
  package struct Lateness {
    package fileprivate(set) var slept: Int64 = 0
    package fileprivate(set) var stepped: Int64 = 0
    /// How the clock came to the deadline.
    var cause = Cause.run
    /// How far it was, at most, when that could first be known.
    var firstSeen = Int64.min

    /// Whether the clock passed over the deadline, and was then further beyond it than that.
    package func isMissed(_ deadline: Int64, graceUSec: Int64) -> Bool {
      graceUSec > 0 && cause != .run && firstSeen - deadline > graceUSec
    }
  }

  private var legs: [CountdownClock: [Leg]] = [:]
  private var last: Reading
  private var toldSlept: Int64 = 0
  private var toldStepped: Int64 = 0

  package init(from reading: Reading) { last = reading }

  /// A turn has looked at the clocks.
  ///
  /// - Parameters:
  ///   - allSlept: How long the machine has slept in all, and how far the wall clock was set.
  /// - Returns: What is to be told of it: `slept 5000`, `clockStepped -1000`.
  @discardableResult
  package mutating func note(
    _ now: Reading, slept allSlept: Int64, stepped allStepped: Int64
  ) -> [String] {
    var slept = allSlept - toldSlept
    var stepped = allStepped - toldStepped
    if slept < 1_000 { slept = 0 }
    if abs(stepped) < 1_000 { stepped = 0 }
    toldSlept += slept
    toldStepped += stepped
    for (clock, slept, stepped) in [
      (CountdownClock.boottime, slept, 0), (.monotonic, 0, 0), (.realtime, slept, stepped),
    ] {
      var place = last.value(of: clock)
      let end = now.value(of: clock)
      for (length, cause) in [
        (end - place - slept - stepped, Cause.run), (slept, .sleep), (stepped, .step),
      ] where length != 0 {
        legs[clock, default: []].append(
          Leg(
            from: place, to: place + length, cause: cause, seenAs: end, wasSetBack: stepped < 0))
        place += length
      }
    }
    last = now
    return (slept > 0 ? ["slept \(slept)"] : [])
      + (stepped != 0 ? ["clockStepped \(stepped)"] : [])
  }

  /// What lies between a deadline that has come and now.
  package func lateness(of deadline: Int64, on clock: CountdownClock) -> Lateness {
    var result = Lateness()
    guard let legs = legs[clock], var top = legs.last?.seenAs else { return result }
    var lowest = Int64.max
    for leg in legs.reversed() {
      if leg.wasSetBack { lowest = min(lowest, leg.seenAs) }
      guard leg.from < leg.to else { continue }
      let length = max(min(leg.to, top) - max(leg.from, deadline), 0)
      switch leg.cause {
      case .run: break
      case .sleep: result.slept += length
      case .step: result.stepped += length
      }
      if leg.from < deadline, deadline <= min(leg.to, top) {
        result.cause = leg.cause
        result.firstSeen = min(leg.seenAs, lowest)
        break
      }
      top = min(top, leg.from)
      if top < deadline { break }
    }
    return result
  }
}
