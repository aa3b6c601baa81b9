/// What remains of a countdown, as people read it.
///
/// It is rounded up to the unit shown and only then split: 59.2 s is `1:00`, never `0:60`. So one of
/// 10 s shows 0:10, 0:09 … 0:01, each for one second. `0:00` means that it has ended: one that has not
/// shows at least one unit, though nothing may be left of it.
package struct Remaining: Equatable, Sendable {
  /// The smallest step of what is shown.
  package enum Unit: Int64, Sendable {
    case seconds = 1_000_000
    case tenths = 100_000

    /// Tenths where the display is refreshed more often than once a second.
    package init(refreshedEveryUSec intervalUSec: Int64) {
      self = intervalUSec < 1_000_000 ? .tenths : .seconds
    }
  }

  /// At least 0.
  private let usec: Int64
  private let hasEnded: Bool

  /// - Parameters:
  ///   - usec: Anything; below 0 counts as 0.
  ///   - hasEnded: Whether it has expired, was missed or cancelled. One that has expired shows 0
  ///     whatever `usec` is.
  package init(usec: Int64, hasEnded: Bool) {
    self.usec = hasEnded ? 0 : max(usec, 0)
    self.hasEnded = hasEnded
  }

  /// Units still to go, rounded up.
  private func units(_ unit: Unit) -> Int64 {
    if hasEnded { return 0 }
    let (quotient, remainder) = usec.quotientAndRemainder(dividingBy: unit.rawValue)
    return max(1, remainder > 0 ? quotient + 1 : quotient)
  }

  /// `M:SS`; from an hour on `H:MM:SS`; from a day on `2d 03:04:05`. With tenths `0:03.4`.
  package func text(in unit: Unit) -> String {
    let units = units(unit)
    let (total, tenths) =
      switch unit {
      case .seconds: (units, "")
      case .tenths: (units / 10, ".\(units % 10)")
      }
    let (days, hours, minutes) = (total / 86_400, total / 3_600 % 24, total / 60 % 60)
    let seconds = "\((total % 60).padded(to: 2))\(tenths)"
    if days > 0 {
      return "\(days)d \(hours.padded(to: 2)):\(minutes.padded(to: 2)):\(seconds)"
    }
    return hours > 0 ? "\(hours):\(minutes.padded(to: 2)):\(seconds)" : "\(minutes):\(seconds)"
  }

  /// How long this text is right for a running one, in microseconds; `nil` if only its end changes it.
  package func untilTextChanges(in unit: Unit) -> Int64? {
    let units = units(unit)
    return units > 1 ? usec - (units - 1) * unit.rawValue : nil
  }
}

/// A display of one running countdown: what to show, and when to look again.
///
/// It works from one reading, so that nothing it shows depends on how evenly it is asked: a clock read a
/// little early or late only delays a line, and none is shown twice or passed over.
package struct RunningDisplay: Sendable {
  /// When it is due, in microseconds of any clock that goes on evenly.
  private let deadlineUSec: Int64
  private let unit: Remaining.Unit
  private var shown: String?

  /// - Parameters:
  ///   - remainingUSec: What remained at `nowUSec`.
  ///   - nowUSec: Microseconds of the clock that the display will be asked by.
  package init(remainingUSec: Int64, at nowUSec: Int64, in unit: Remaining.Unit) {
    let (sum, overflow) = nowUSec.addingReportingOverflow(max(remainingUSec, 0))
    deadlineUSec = overflow ? .max : sum
    self.unit = unit
  }

  private func remaining(at nowUSec: Int64) -> Remaining {
    Remaining(usec: deadlineUSec.subtractingSaturated(nowUSec), hasEnded: false)
  }

  /// The new text; `nil` if what was shown last is still right.
  package mutating func text(at nowUSec: Int64) -> String? {
    let text = remaining(at: nowUSec).text(in: unit)
    guard text != shown else { return nil }
    shown = text
    return text
  }

  /// When to ask next; `nil` when only the news that it has ended can change anything.
  package func nextChange(after nowUSec: Int64) -> Int64? {
    remaining(at: nowUSec).untilTextChanges(in: unit).map { nowUSec + $0 }
  }

  /// The text once it has expired.
  package var endText: String { Remaining(usec: 0, hasEnded: true).text(in: unit) }
}
