/// Something that happened to the clocks, or to the loop that reads them, between two turns.
package struct Discontinuity: Equatable, Sendable {
  /// What it was, by what there is to tell of it.
  package enum Kind: UInt8, CaseIterable, Sendable {
    /// The machine slept.
    case slept
    /// The wall clock was set.
    case stepped
    /// The machine slept, and the wall clock was set meanwhile.
    case sleptAndStepped
    /// The clocks went on together, and the loop was away: overload, a stopped process, or a paused
    /// virtual machine.
    case stalled
  }

  package let kind: Kind
  /// The reading that showed it.
  package let at: Reading
  /// How long the machine slept, µs, 1 to 2^53 − 1; `nil` if it did not.
  package let sleptUSec: Int64?
  /// By how much the wall clock was set, µs, forward or, negative, back, within ±(2^53 − 1); `nil` if it
  /// was not.
  package let steppedUSec: Int64?
  /// How long the loop was away, µs; of `stalled` alone.
  package let awayUSec: Int64?

  private init(kind: Kind, at: Reading, sleptUSec: Int64?, steppedUSec: Int64?, awayUSec: Int64?) {
    self.kind = kind
    self.at = at
    self.sleptUSec = sleptUSec.map { min($0, Bounds.longest) }
    self.steppedUSec = steppedUSec.map { min(max($0, -Bounds.longest), Bounds.longest) }
    self.awayUSec = awayUSec
  }

  /// The machine slept for so long.
  package static func slept(_ usec: Int64, at reading: Reading) -> Discontinuity {
    Discontinuity(kind: .slept, at: reading, sleptUSec: usec, steppedUSec: nil, awayUSec: nil)
  }

  /// The wall clock was set by so much.
  package static func stepped(_ usec: Int64, at reading: Reading) -> Discontinuity {
    Discontinuity(kind: .stepped, at: reading, sleptUSec: nil, steppedUSec: usec, awayUSec: nil)
  }

  /// Both.
  package static func slept(
    _ sleptUSec: Int64, stepped steppedUSec: Int64, at reading: Reading
  ) -> Discontinuity {
    Discontinuity(
      kind: .sleptAndStepped, at: reading, sleptUSec: sleptUSec, steppedUSec: steppedUSec,
      awayUSec: nil)
  }

  /// The loop was away for so long.
  package static func stalled(_ usec: Int64, at reading: Reading) -> Discontinuity {
    Discontinuity(kind: .stalled, at: reading, sleptUSec: nil, steppedUSec: nil, awayUSec: usec)
  }
}
