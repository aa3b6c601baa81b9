package import TimingWheel

/// What happened to a countdown, to be told at once: `id` still has its name and owner.
package struct Event: Sendable {
  package var kind: EventKind
  package var id: EntryID
  package var user: UInt32
  /// The revision it happened to.
  package var revision: Int64
  package var clock: CountdownClock
  /// The number of the occurrence, from 1; `nil` of one that does not repeat.
  package var occurrence: Int64?
  /// On `clock`, µs; `nil` of a paused one.
  package var deadline: Int64?
  /// How long after the deadline it was handed out, µs on `clock`; of expiries only.
  package var lateUSec: Int64?
  /// Why; of expiries only.
  package var lateReason: LateReason?
  /// What remains or remained, µs.
  package var remainingUSec: Int64?
  package var payload: [UInt8]?
  /// Occurrences passed over since the last one that was told.
  package var missedOccurrences: Int64 = 0
  /// The revision that took its place.
  package var replacedBy: Int64?
}
