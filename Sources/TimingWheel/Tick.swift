/// The wheel's grain: 64 µs of the boot-time clock, counted from boot, 0 ..< 2^48.
package struct Tick: Comparable, Hashable, Sendable {
  /// Ticks since boot, below 2^48.
  package let rawValue: UInt64

  /// A value known to be in range: cut out of an instant.
  init(inRange rawValue: UInt64) {
    assert(rawValue < 1 << 48)
    self.rawValue = rawValue
  }

  /// The first instant in this tick.
  package var start: Instant { Instant(inRange: rawValue << 6) }

  /// The last instant in this tick, 63 µs after the first.
  package var end: Instant { Instant(inRange: rawValue << 6 | 63) }

  package static func < (lhs: Tick, rhs: Tick) -> Bool { lhs.rawValue < rhs.rawValue }
}
