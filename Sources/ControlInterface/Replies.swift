package import Countdowns
package import JSON

/// The types of the interface file, written.
extension JSONWriter {
  /// `key` and a `Timestamp` of all three clocks.
  package mutating func timestamp(_ key: JSONLiteral, _ reading: Reading) {
    self.key(key)
    beginObject()
    member(.realtimeUSec, reading.realtime)
    member(.boottimeUSec, reading.boottime)
    member(.monotonicUSec, reading.monotonic)
    endObject()
  }

  /// `key` and a `Timestamp` of the wall clock alone.
  package mutating func timestamp(_ key: JSONLiteral, wallClock: Int64) {
    self.key(key)
    beginObject()
    member(.realtimeUSec, wallClock)
    endObject()
  }

  /// `key` and a deadline as a `Timestamp`: on its own clock, and on the wall clock.
  ///
  /// - Parameter anchor: A reading that tells how the clocks stand to each other; the same one every
  ///   time, so that one deadline is always told as the same instant.
  package mutating func deadline(
    _ key: JSONLiteral, _ deadline: Int64, on clock: CountdownClock, by anchor: Reading
  ) {
    self.key(key)
    beginObject()
    member(.realtimeUSec, anchor.realtime + (deadline - anchor.value(of: clock)))
    switch clock {
    case .boottime: member(.boottimeUSec, deadline)
    case .monotonic: member(.monotonicUSec, deadline)
    case .realtime: break
    }
    endObject()
  }

  /// A member of a `Timestamp`, left out where it lies beyond what every reader keeps exactly.
  private mutating func member(_ key: JSONLiteral, _ instant: Int64) {
    guard Bounds.instant.contains(instant) else { return }
    self.key(key)
    integer(instant)
  }

  /// `key` and a number.
  package mutating func field(_ key: JSONLiteral, _ value: Int64) {
    self.key(key)
    integer(value)
  }

  /// `key` and a word.
  package mutating func field(_ key: JSONLiteral, _ word: String) {
    self.key(key)
    string(word)
  }

  /// What a `Start` answers, as members.
  package mutating func started(
    _ view: CountdownView, created: Bool, at now: Reading, by anchor: Reading
  ) {
    key(.created)
    boolean(created)
    field(.revision, view.revision)
    field(.remainingUSec, view.remainingUSec)
    if let deadline = view.deadline {
      self.deadline(.deadline, deadline, on: view.clock, by: anchor)
    }
    timestamp(.now, now)
    field(.state, view.state.wireName)
  }

  /// A `Countdown`, as a value.
  package mutating func countdown(
    _ view: CountdownView, name: Span<UInt8>, owner: UInt32, by anchor: Reading
  ) {
    beginObject()
    key(.name)
    string(name)
    field(.owner, Int64(owner))
    field(.state, view.state.wireName)
    field(.clock, view.clock.wireName)
    field(.durationUSec, view.lengthUSec)
    field(.remainingUSec, view.remainingUSec)
    if let deadline = view.deadline {
      self.deadline(.deadline, deadline, on: view.clock, by: anchor)
    }
    timestamp(.startedAt, wallClock: view.startedAt)
    field(.revision, view.revision)
    field(.catchUp, view.catchUp.wireName)
    if let grace = view.graceUSec { field(.graceUSec, grace) }
    if let interval = view.repeatUSec { field(.repeatUSec, interval) }
    field(.durability, view.durability.wireName)
    if let payload = view.payload {
      key(.payload)
      raw(payload.span)
    }
    if let endedAt = view.endedAt { timestamp(.endedAt, wallClock: endedAt) }
    late(view.lateUSec, view.lateReason)
    endObject()
  }

  /// How late, and why, where that is known.
  private mutating func late(_ usec: Int64?, _ reason: LateReason?) {
    if let usec { field(.lateUSec, usec) }
    if let reason { field(.lateReason, reason.wireName) }
  }

  /// A `WatchedCountdown`, as a value.
  ///
  /// - Parameter view: `nil` where there is none of that name.
  package mutating func watched(_ view: CountdownView?, name: Span<UInt8>, by anchor: Reading) {
    beginObject()
    key(.name)
    string(name)
    if let view {
      field(.state, view.state.wireName)
      field(.remainingUSec, view.remainingUSec)
      field(.durationUSec, view.lengthUSec)
      if let deadline = view.deadline {
        self.deadline(.deadline, deadline, on: view.clock, by: anchor)
      }
      field(.revision, view.revision)
      late(view.lateUSec, view.lateReason)
    } else {
      field(.state, "absent")
    }
    endObject()
  }

  /// An `Event` of a countdown, as a value.
  package mutating func event(
    _ event: Event, name: Span<UInt8>, owner: UInt32, at reading: Reading, by anchor: Reading
  ) {
    beginObject()
    field(.kind, event.kind.wireName)
    key(.name)
    string(name)
    field(.owner, Int64(owner))
    field(.revision, event.revision)
    if let occurrence = event.occurrence { field(.occurrence, occurrence) }
    timestamp(.at, reading)
    if let deadline = event.deadline {
      self.deadline(.deadline, deadline, on: event.clock, by: anchor)
    }
    late(event.lateUSec, event.lateReason)
    if let remaining = event.remainingUSec { field(.remainingUSec, remaining) }
    if let payload = event.payload {
      key(.payload)
      raw(payload.span)
    }
    if event.missedOccurrences > 0 { field(.missedOccurrences, event.missedOccurrences) }
    if let revision = event.replacedBy { field(.replacedBy, revision) }
    endObject()
  }

  /// An `Event` of the machine, as a value.
  ///
  /// - Parameter byUSec: How long it slept, or how far the wall clock was set.
  package mutating func event(_ kind: EventKind, byUSec: Int64, at reading: Reading) {
    beginObject()
    field(.kind, kind.wireName)
    timestamp(.at, reading)
    field(.byUSec, byUSec)
    endObject()
  }

  /// A `Discontinuity`, as a value.
  ///
  /// - Parameter effect: What it did to those of whom is asked; not told of a stall, which may do so to any.
  package mutating func discontinuity(_ one: Discontinuity, effect: ClockHistory.Effect) {
    beginObject()
    field(.kind, one.kind.wireName)
    timestamp(.at, one.at)
    if let slept = one.sleptUSec { field(.sleptUSec, slept) }
    if let stepped = one.steppedUSec { field(.steppedUSec, stepped) }
    if let away = one.awayUSec { field(.awayUSec, away) }
    if one.kind != .stalled {
      field(.expired, Int64(effect.expired))
      field(.missed, Int64(effect.missed))
    }
    endObject()
  }

  /// The `Event` that only says that the daemon is there, as a value.
  package mutating func heartbeat(at reading: Reading) {
    beginObject()
    field(.kind, "heartbeat")
    timestamp(.at, reading)
    endObject()
  }
}
