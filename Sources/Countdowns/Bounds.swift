/// The ranges of lengths and instants, in microseconds.
///
/// 2^53 − 1 is the largest integer that every JSON reader keeps exactly.
package enum Bounds {
  package static let longest: Int64 = (1 << 53) - 1
  /// Of a countdown, and of what `Extend` leaves: any length, none included.
  package static let length: ClosedRange<Int64> = 0...longest
  /// Of a wall-clock instant.
  package static let instant: ClosedRange<Int64> = -longest...longest
  /// Of `byUSec`, before what remains is looked at.
  package static let change: ClosedRange<Int64> = -longest...longest
  /// Of `graceUSec` and `repeatUSec`.
  package static let interval: ClosedRange<Int64> = 1_000_000...longest
  /// Of `heartbeatUSec`.
  package static let heartbeat: ClosedRange<Int64> = 1_000_000...longest
  /// Of `intervalUSec` of a watch.
  package static let watchInterval: ClosedRange<Int64> = 50_000...longest
  /// `graceUSec` where `skip` comes without one.
  package static let defaultGrace: Int64 = 60_000_000
}
