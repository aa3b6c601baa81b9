package import TimingWheel

/// Taking effect: the ledger has answered.
extension Scheduler {
  /// Carries out what was decided, under the number that the ledger gave.
  ///
  /// - Parameters:
  ///   - existing: What stands under the name now.
  ///   - name: The name, for one that is new.
  ///   - payload: Of a start and of a `SetPayload`; `nil` without one.
  /// - Throws: `quotaExceeded` where the bytes of another name cannot be kept; nothing has changed.
  package mutating func apply(
    _ plan: Plan, to existing: EntryID?, name: Span<UInt8>, payload: [UInt8]?, revision: Int64
  ) throws(Refusal) -> Outcome {
    guard plan.action != .start else {
      return try start(plan, over: existing, name: name, payload: payload, revision: revision)
    }
    guard let id = existing else {
      fatalError("a countdown went away while its change was decided")
    }
    var ended: Event?
    switch plan.action {
    case .start: break
    case .restart: ended = restart(plan, id, revision: revision)
    case .extend:
      table[id.index].time = plan.time
      table[id.index].revision = revision
      if plan.state == .running { file(id) }
    case .pause:
      table[id.index].time = plan.time
      table[id.index].revision = revision
      table[id.index].state = .paused
      users[plan.user].running -= 1
      users[plan.user].paused += 1
      wheel.park(id)
    case .resume:
      table[id.index].time = plan.time
      table[id.index].revision = revision
      table[id.index].state = .running
      users[plan.user].running += 1
      users[plan.user].paused -= 1
      file(id)
    case .cancel:
      let event = event(.cancelled, id, remainingUSec: plan.remainingUSec)
      end(id, as: .cancelled)
      return Outcome(id: id, revision: event.revision, ended: nil, event: event)
    case .setPayload:
      setPayload(payload, of: id)
      table[id.index].revision = revision
      // Where it waits to be handed out, it waits as the revision it was.
      if plan.state == .running { file(id) }
    }
    let event = event(Scheduler.kind(of: plan.action), id, remainingUSec: plan.remainingUSec)
    return Outcome(id: id, revision: revision, ended: ended, event: event)
  }

  private mutating func start(
    _ plan: Plan, over existing: EntryID?, name: Span<UInt8>, payload: [UInt8]?, revision: Int64
  ) throws(Refusal) -> Outcome {
    guard let spec = plan.spec else { fatalError("a start was decided without what it starts") }
    var ended: Event?
    let id: EntryID
    let reference: NameReference
    if let existing {
      ended = makeWay(existing, for: revision, of: plan)
      dropExtra(existing)
      id = existing
      reference = table[id.index].name
    } else {
      (id, reference) = try enter(name, of: plan.user)
    }
    let isLocked = existing.map { table[$0.index].isLocked } ?? false
    table.put(
      Record(
        state: .running, clock: plan.clock, durability: spec.durability, catchUp: spec.catchUp,
        time: plan.time, lengthUSec: spec.lengthUSec, revision: revision, startedAt: plan.decidedAt,
        user: plan.user, name: reference), at: id.index)
    table[id.index].isLocked = isLocked
    if payload != nil || spec.repeatUSec > 0 || spec.graceUSec > 0 {
      let place = makeExtra(id)
      extras[place].payload = payload
      extras[place].repeatUSec = spec.repeatUSec
      extras[place].graceUSec = spec.graceUSec
      users[plan.user].payloadBytes += payload?.count ?? 0
    }
    users[plan.user].running += 1
    file(id)
    return Outcome(
      id: id, revision: revision, ended: ended,
      event: event(.started, id, remainingUSec: plan.remainingUSec))
  }

  private mutating func restart(_ plan: Plan, _ id: EntryID, revision: Int64) -> Event? {
    let ended = makeWay(id, for: revision, of: plan)
    table[id.index].time = plan.time
    table[id.index].revision = revision
    table[id.index].state = .running
    if let place = table[id.index].extra {
      extras[place].startedAt = plan.decidedAt
      extras[place].occurrence = 1
      extras[place].endedAt = 0
      extras[place].lateUSec = 0
      extras[place].lateReason = .none
    } else {
      table[id.index].setPlainStartedAt(plan.decidedAt)
    }
    users[plan.user].running += 1
    file(id)
    return ended
  }

  private mutating func setPayload(_ payload: [UInt8]?, of id: EntryID) {
    if payload == nil, table[id.index].extra == nil { return }
    let place = makeExtra(id)
    let user = table[id.index].user
    users[user].payloadBytes += (payload?.count ?? 0) - (extras[place].payload?.count ?? 0)
    extras[place].payload = payload
    if payload == nil, extras[place].repeatUSec == 0, extras[place].graceUSec == 0 {
      dropExtra(id)
    }
  }

  /// Takes what stands out of its owner's counts; what had not ended is told as cancelled.
  private mutating func makeWay(_ id: EntryID, for revision: Int64, of plan: Plan) -> Event? {
    let record = table[id.index]
    switch record.state {
    case .expired, .missed, .cancelled:
      forgetEnd(id)
      return nil
    case .running: users[record.user].running -= 1
    case .paused: users[record.user].paused -= 1
    }
    var ended = event(.cancelled, id, remainingUSec: plan.endedRemainingUSec)
    ended.replacedBy = revision
    return ended
  }

  /// A parked entry under a new name, kept and listed.
  private mutating func enter(
    _ name: Span<UInt8>, of user: UInt32
  ) throws(Refusal) -> (EntryID, NameReference) {
    guard let reference = table.names.insert(name) else { throw noRoomForNames }
    let id = wheel.allocate()
    let insertion = index.insert(NameKey(owner: user, name: name), record: id.index, in: table)
    guard insertion == .inserted else {
      precondition(insertion == .full, "a name that was not found was taken")
      table.names.remove(reference)
      wheel.release(id)
      throw noRoomForNames
    }
    return (id, reference)
  }

  private var noRoomForNames: Refusal {
    .quotaExceeded(
      resource: .nameBytes, limit: table.names.arenaBytes, used: table.names.liveBytes)
  }

  private func event(_ kind: EventKind, _ id: EntryID, remainingUSec: Int64) -> Event {
    let record = table[id.index]
    var event = Event(
      kind: kind, id: id, user: record.user, revision: record.revision, clock: record.clock,
      deadline: record.state == .running ? record.time : nil, remainingUSec: remainingUSec,
      payload: record.extra.flatMap { extras[$0].payload })
    if let place = record.extra, extras[place].repeatUSec > 0 {
      event.occurrence = extras[place].occurrence
    }
    return event
  }

  private static func kind(of action: Plan.Action) -> EventKind {
    switch action {
    case .start, .restart: .started
    case .extend, .setPayload: .changed
    case .pause: .paused
    case .resume: .resumed
    case .cancel: .cancelled
    }
  }
}
