package import TimingWheel

/// What `Start` asks for, as it came; the ranges are looked at when it is decided.
package struct StartRequest: Sendable {
  package enum End: Sendable {
    /// A length in µs, on the clock boottime or monotonic.
    case length(Int64)
    /// An instant of the wall clock, µs since 1970.
    case instant(Int64)
  }

  package var end: End
  package var clock: CountdownClock
  package var onConflict = OnConflict.fail
  package var catchUp = CatchUp.fire
  /// µs; only with `catchUp` `skip`.
  package var graceUSec: Int64?
  /// µs; `nil` where it does not repeat.
  package var repeatUSec: Int64?
  package var durability: Durability
  /// Bytes of the payload's JSON text; `nil` without one.
  package var payloadBytes: Int?
  /// The revision that must be the current one; only with `replace`.
  package var revision: Int64?

  package init(end: End, clock: CountdownClock, durability: Durability) {
    self.end = end
    self.clock = clock
    self.durability = durability
  }
}

/// A decided change, before it takes effect.
///
/// Decided on what is committed, at the reading of the turn; carried to the ledger where it must be
/// durable; applied once its verdict is there, and with what was decided then: a `Cancel` decided
/// before the deadline wins although its commit comes after it.
package struct Plan: Sendable {
  package enum Action: Sendable {
    /// A new name, or one whose countdown has ended, or with `replace` one that has not.
    case start
    case restart
    case extend
    case pause
    case resume
    case cancel
    /// Another payload, or none; nothing else.
    case setPayload
  }

  package var action: Action
  package var user: UInt32
  /// The deadline on `clock`; what remains of one that is or becomes paused. µs.
  package var time: Int64
  /// What is left of it when it takes effect, as the caller is told. µs.
  package var remainingUSec: Int64
  /// What was left of the countdown that it ends, where it replaces or restarts one. µs.
  package var endedRemainingUSec: Int64 = 0
  /// Running, paused or cancelled.
  package var state: CountdownState
  package var clock: CountdownClock
  /// It adds one to its owner's running and paused ones: it counts while it is under way, too.
  package var addsOne = false
  /// How durable the change must be: as its countdown, and at least as what it ends.
  package var durability: Durability

  /// The wall clock when it was decided, µs: where it starts a countdown, the start.
  package var decidedAt: Int64
  /// Of a start: what is written into the record.
  package var spec: Spec?

  package struct Spec: Sendable {
    var lengthUSec: Int64
    var durability: Durability
    var catchUp: CatchUp
    var graceUSec: Int64
    var repeatUSec: Int64
  }
}

/// What became of a plan that took effect.
package struct Outcome: Sendable {
  package var id: EntryID
  package var revision: Int64
  /// The end of what was replaced or restarted, to be told before `event`.
  package var ended: Event?
  package var event: Event
}
