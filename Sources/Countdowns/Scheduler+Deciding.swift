package import TimingWheel

/// What `Start` comes to.
package enum StartDecision: Sendable {
  /// Nothing is to be done: this one stands already.
  case standing(EntryID)
  case change(Plan)
}

/// Deciding: what a call would do to what stands. Nothing changes here.
///
/// The caller has handed out the countdown first, if it was due (``Scheduler/expireIfDue(_:)``).
extension Scheduler {
  /// The countdown of that name. O(length of the name).
  package func find(user: UInt32, name: Span<UInt8>) -> EntryID? {
    guard let place = index.find(NameKey(owner: user, name: name), in: table) else { return nil }
    return wheel.id(at: place)
  }

  /// Decides a `Start` for a name under which `existing` stands.
  ///
  /// - Parameter user: ``UserTable/nobody`` for one who is not known yet: he has to be, before the plan
  ///   is carried out.
  package func decideStart(
    _ request: StartRequest, user: UInt32, existing: EntryID?
  ) throws(Refusal) -> StartDecision {
    let remaining = try checkedLength(of: request)
    try check(request.graceUSec, Bounds.interval, "graceUSec")
    try check(request.repeatUSec, Bounds.interval, "repeatUSec")
    try check(payloadBytes: request.payloadBytes)
    var plan = Plan(
      action: .start, user: user, time: deadline(of: request), remainingUSec: remaining,
      state: .running, clock: request.clock, durability: request.durability,
      decidedAt: now.realtime)
    plan.spec = Plan.Spec(
      lengthUSec: remaining, durability: request.durability,
      catchUp: request.catchUp,
      graceUSec: request.catchUp == .skip ? request.graceUSec ?? Bounds.defaultGrace : 0,
      repeatUSec: request.repeatUSec ?? 0)

    guard let existing else {
      if request.revision != nil { throw .noSuchCountdown }
      plan.addsOne = true
      return .change(try admitted(plan, payloadBytes: request.payloadBytes ?? 0, replacing: nil))
    }
    let record = table[existing.index]
    try checkRevision(request.revision, of: record)
    if record.state.isEnded {
      if request.onConflict == .once {
        try checkClock(request.clock, of: record)
        return .standing(existing)
      }
      plan.addsOne = true
      return .change(
        try admitted(plan, payloadBytes: request.payloadBytes ?? 0, replacing: existing))
    }
    switch request.onConflict {
    case .fail:
      throw .countdownExists(
        remainingUSec: remainingUSec(of: record), revision: record.revision, state: record.state)
    case .keep, .once:
      try checkClock(request.clock, of: record)
      return .standing(existing)
    case .replace:
      plan.durability = max(plan.durability, record.durability)
      plan.endedRemainingUSec = remainingUSec(of: record)
      return .change(
        try admitted(plan, payloadBytes: request.payloadBytes ?? 0, replacing: existing))
    case .extendOnly:
      try checkClock(request.clock, of: record)
      let time = record.state == .paused ? remaining : plan.time
      guard time > record.time else { return .standing(existing) }
      return .change(
        try stored(
          Plan(
            action: .extend, user: user, time: time, remainingUSec: remaining, state: record.state,
            clock: record.clock, durability: record.durability, decidedAt: now.realtime)))
    }
  }

  /// Decides a `Pause`: what remains is kept to the microsecond.
  package func decidePause(_ id: EntryID, revision: Int64?) throws(Refusal) -> Plan {
    let record = try live(id, revision: revision)
    if record.clock == .realtime { throw .wrongClock(record.clock) }
    guard record.state == .running else {
      throw .wrongState(state: record.state, revision: record.revision)
    }
    let remaining = remainingUSec(of: record)
    return try stored(
      plan(.pause, of: record, time: remaining, remainingUSec: remaining, state: .paused))
  }

  /// Decides a `Resume`: it runs on from now.
  package func decideResume(_ id: EntryID, revision: Int64?) throws(Refusal) -> Plan {
    let record = try live(id, revision: revision)
    guard record.state == .paused else {
      throw .wrongState(state: record.state, revision: record.revision)
    }
    return try stored(
      plan(
        .resume, of: record, time: now.value(of: record.clock) + record.time,
        remainingUSec: record.time, state: .running))
  }

  /// Decides a `Restart`: the full original length, from now; ended ones start again.
  package func decideRestart(_ id: EntryID, revision: Int64?) throws(Refusal) -> Plan {
    let record = table[id.index]
    try checkRevision(revision, of: record)
    if record.clock == .realtime { throw .wrongClock(record.clock) }
    var plan = plan(
      .restart, of: record, time: now.value(of: record.clock) + record.lengthUSec,
      remainingUSec: record.lengthUSec, state: .running)
    plan.endedRemainingUSec = remainingUSec(of: record)
    guard record.state.isEnded else { return try stored(plan) }
    plan.addsOne = true
    try checkRoom(for: record.user)
    return try stored(plan)
  }

  /// What `Extend` asks for.
  package enum Extension: Sendable {
    /// µs, may be negative.
    case by(Int64)
    /// What should remain, µs.
    case toRemaining(Int64)
  }

  /// Decides an `Extend`: a running one that would have nothing left is due at once.
  package func decideExtend(
    _ id: EntryID, _ extent: Extension, revision: Int64?
  ) throws(Refusal) -> Plan {
    let record = try live(id, revision: revision)
    let remaining = remainingUSec(of: record)
    var target: Int64
    switch extent {
    case .by(let change):
      let bounds = Bounds.change.lowerBound...(Bounds.longest - remaining)
      try check(change, bounds, "byUSec")
      target = max(remaining + change, 0)
    case .toRemaining(let length):
      try check(length, Bounds.length, "toRemainingUSec")
      target = length
    }
    if record.clock == .realtime {
      // The instant it moves to is one that `Start` would take, too.
      let latest = max(Bounds.instant.upperBound - now.realtime, 0)
      guard target <= latest else {
        switch extent {
        case .by:
          throw .outOfRange(
            parameter: "byUSec", bounds: Bounds.change.lowerBound...(latest - remaining))
        case .toRemaining: throw .outOfRange(parameter: "toRemainingUSec", bounds: 0...latest)
        }
      }
    }
    target = min(target, Bounds.longest)
    let time = record.state == .paused ? target : now.value(of: record.clock) + target
    return try stored(
      plan(.extend, of: record, time: time, remainingUSec: target, state: record.state))
  }

  /// Decides a `Cancel`.
  package func decideCancel(_ id: EntryID, revision: Int64?) throws(Refusal) -> Plan {
    let record = try live(id, revision: revision)
    return try stored(
      plan(
        .cancel, of: record, time: record.time, remainingUSec: remainingUSec(of: record),
        state: .cancelled))
  }

  /// Decides a `SetPayload`: the deadline, and whether it runs, stay as they are.
  ///
  /// - Parameter payloadBytes: Bytes of the new payload's JSON text; `nil` takes the old one away.
  package func decideSetPayload(
    _ id: EntryID, payloadBytes: Int?, revision: Int64?
  ) throws(Refusal) -> Plan {
    let record = try live(id, revision: revision)
    try check(payloadBytes: payloadBytes)
    try checkRoom(forPayloadBytes: payloadBytes ?? 0, of: record.user, replacing: id)
    return try stored(
      plan(
        .setPayload, of: record, time: record.time, remainingUSec: remainingUSec(of: record),
        state: record.state))
  }

  // MARK: Checks

  private func plan(
    _ action: Plan.Action, of record: Record, time: Int64, remainingUSec: Int64,
    state: CountdownState
  ) -> Plan {
    Plan(
      action: action, user: record.user, time: time, remainingUSec: remainingUSec, state: state,
      clock: record.clock, durability: record.durability, decidedAt: now.realtime)
  }

  /// The record of one that runs or is paused, of the revision asked for.
  private func live(_ id: EntryID, revision: Int64?) throws(Refusal) -> Record {
    let record = table[id.index]
    try checkRevision(revision, of: record)
    switch record.state {
    case .running, .paused: return record
    case .expired, .missed:
      throw .alreadyExpired(state: record.state, revision: record.revision)
    case .cancelled: throw .wrongState(state: record.state, revision: record.revision)
    }
  }

  private func checkRevision(_ revision: Int64?, of record: Record) throws(Refusal) {
    if let revision, revision != record.revision {
      throw .revisionMismatch(revision: record.revision)
    }
  }

  private func checkClock(_ clock: CountdownClock, of record: Record) throws(Refusal) {
    if clock != record.clock { throw .wrongClock(record.clock) }
  }

  private func check(
    _ value: Int64?, _ bounds: ClosedRange<Int64>, _ parameter: String
  ) throws(Refusal) {
    if let value, !bounds.contains(value) {
      throw .outOfRange(parameter: parameter, bounds: bounds)
    }
  }

  /// What remains at the start, µs.
  private func checkedLength(of request: StartRequest) throws(Refusal) -> Int64 {
    switch request.end {
    case .length(let length):
      try check(length, Bounds.length, "durationUSec")
      return length
    case .instant(let instant):
      try check(instant, Bounds.instant, "deadlineUSec")
      return min(max(instant - now.realtime, 0), Bounds.longest)
    }
  }

  private func deadline(of request: StartRequest) -> Int64 {
    switch request.end {
    case .length(let length): now.value(of: request.clock) + length
    case .instant(let instant): instant
    }
  }

  /// A start for which there is room, in countdowns and in bytes of payload.
  private func admitted(
    _ plan: Plan, payloadBytes: Int, replacing existing: EntryID?
  ) throws(Refusal) -> Plan {
    if plan.addsOne { try checkRoom(for: plan.user) }
    try checkRoom(forPayloadBytes: payloadBytes, of: plan.user, replacing: existing)
    return try stored(plan)
  }

  private func check(payloadBytes: Int?) throws(Refusal) {
    if let payloadBytes, payloadBytes > limits.payloadBytes {
      throw .quotaExceeded(
        resource: .payloadBytes, limit: limits.payloadBytes, used: payloadBytes)
    }
  }

  /// Room among all payloads of a user for one that takes the place of what `existing` has.
  private func checkRoom(
    forPayloadBytes payloadBytes: Int, of user: UInt32, replacing existing: EntryID?
  ) throws(Refusal) {
    let freed = existing.flatMap { payload(of: $0)?.count } ?? 0
    let owner = users.usage(of: user)
    let used = owner.payloadBytes - freed + payloadBytes
    if payloadBytes > 0, used > limits.payloadBytesPerUser, owner.uid != 0 {
      throw .quotaExceeded(
        resource: .payloadBytesPerUser, limit: limits.payloadBytesPerUser,
        used: owner.payloadBytes)
    }
  }

  private func checkRoom(for user: UInt32) throws(Refusal) {
    let owner = users.usage(of: user)
    if owner.live >= limits.countdownsPerUser, owner.uid != 0 {
      throw .quotaExceeded(
        resource: .countdownsPerUser, limit: limits.countdownsPerUser, used: owner.live)
    }
    if users.live >= limits.countdowns {
      throw .quotaExceeded(resource: .countdowns, limit: limits.countdowns, used: users.live)
    }
  }

  /// A plan that the ledger can take at all.
  private func stored(_ plan: Plan) throws(Refusal) -> Plan {
    if case .refused(let errno) = terms.answer(for: plan.durability) {
      throw .storageFailed(errno: errno, outcomeUnknown: false)
    }
    return plan
  }
}
