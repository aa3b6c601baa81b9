/// A point on the boot-time clock, in microseconds since boot: 0 ..< 2^54, which is 571 years.
///
/// Every value is in range, so that nothing that takes an `Instant` has to check it again.
package struct Instant: Comparable, Hashable, Sendable {
  /// Microseconds since boot, below 2^54.
  package let rawValue: UInt64

  /// The last instant there is, 2^54 − 1 µs.
  package static var last: Instant { Instant(inRange: 1 << 54 - 1) }

  /// - Parameter rawValue: Microseconds since boot; 2^54 or more is a programmer error.
  package init(rawValue: UInt64) {
    precondition(rawValue < 1 << 54, "an instant lies below 2^54 µs")
    self.rawValue = rawValue
  }

  /// Microseconds since boot, where what lies beyond the last instant becomes the last one.
  package init(clamping rawValue: UInt64) {
    self.init(inRange: min(rawValue, Instant.last.rawValue))
  }

  /// A value known to be in range: cut out of an instant, or clamped.
  init(inRange rawValue: UInt64) {
    assert(rawValue < 1 << 54)
    self.rawValue = rawValue
  }

  /// The tick that this instant lies in.
  package var tick: Tick { Tick(inRange: rawValue >> 6) }

  /// The instant `lengthUSec` later, or the last instant where that would lie beyond it.
  package func advanced(byUSec lengthUSec: UInt64) -> Instant {
    let (sum, overflow) = rawValue.addingReportingOverflow(lengthUSec)
    return overflow ? .last : Instant(clamping: sum)
  }

  /// How long it is until `later`, in µs; 0 where `later` has come already.
  package func microseconds(until later: Instant) -> UInt64 {
    later > self ? later.rawValue - rawValue : 0
  }

  package static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.rawValue < rhs.rawValue }
}
