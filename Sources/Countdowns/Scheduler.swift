package import TimingWheel

/// All countdowns, on one wheel: what each is, when it is due, and what a call does to it.
///
/// It is told the time (``advance(to:limit:)``) and asked for what is due (``takeDue()``); calls are
/// decided on what stands (`decide…`) and take effect when the ledger has answered (``apply``). It
/// knows no connection, no wire and no disk. Deciding is in Scheduler+Deciding.swift, taking effect
/// in Scheduler+Applying.swift, looking in Scheduler+Reading.swift.
///
/// One wheel serves three clocks. It runs on boot time; an entry's key there is the earliest instant
/// at which its countdown can be due, and the countdown's own clock is asked again when the wheel
/// hands it back: suspend makes the keys of monotonic ones too early, a backward step those of
/// realtime ones, and they are filed anew. Only a forward step of the wall clock makes keys too late;
/// then the realtime ones are refiled, a slice a turn.
///
/// An id that was found stays good for the rest of the turn: countdowns go away in ``advance`` only.
///
/// Invariants, tested by ``brokenInvariant()``:
/// - Those of the wheel, the names, their index, the due queues, the extras and the users.
/// - A live entry of the wheel has a record with a role, and nothing else has.
/// - A running countdown waits in the wheel at the key that its clock implies, or earlier; or it is
///   due and in the queue of its clock; or it is locked. The key of a realtime one may be 1 ms late,
///   and later than that only while it waits to be refiled.
/// - A paused one does not wait.
/// - An ended one waits for its removal, or is locked; and it is in its owner's list once, the lists
///   being linked both ways.
/// - A record with the role countdown is found by its owner and name, and nothing else is.
/// - The `Extra`s in use are those that records have, each its own; ended ones have one.
/// - Who was held up by a verdict runs, and is due or comes to be looked at before it is.
/// - The counts of every user are what the records say, and so are the bytes of payload while no
///   change of his is under way.
package struct Scheduler: ~Copyable {
  /// The reading of this turn.
  package internal(set) var now: Reading
  /// A reading that deadlines are converted between clocks by, where people are told of them: it stays
  /// until the clocks have moved by 1 ms against each other, so that the same deadline is always told
  /// as the same instant. What is due is never decided by it.
  package private(set) var anchor: Reading
  package var limits: Limits
  package var users = UserTable()
  package let terms: LedgerTerms

  var wheel: Wheel
  var table: CountdownTable
  var index: NameIndex
  var extras = ExtraTable()
  var dueQueues = DueQueues()
  private var handedBack = DueEntries()
  private var dueTimers: [EntryID] = []
  /// Users with more ended countdowns than may stay.
  private var crowdedUsers: [UInt32] = []
  /// Names that are watched, of countdowns that were removed in this turn.
  private var removed: [RemovedName] = []
  /// Whether the limit ended the last thinning of those before it was done.
  private var isThinningCutShort = false

  /// R − B, up to which the keys of realtime countdowns are not too late, µs: no key was filed at a
  /// lower one, but for those that wait to be refiled.
  var filedOffset: Int64
  /// Where the refiling after a forward step stands; `nil` when none is under way.
  var refileCursor: UInt32?
  /// Whether anything expired in this turn: nothing of it may be told before its reading has passed.
  package private(set) var hasExpired = false
  /// Expiries later than this are noted for ``takeLate()``, µs.
  package var notedAfterUSec = Int64.max
  private var late: LateExpiries?
  /// What the clocks passed over.
  private var jumps = ClockJumps()
  /// Those that waited for a verdict when they came due, and were not handed out since.
  var heldUp: Set<EntryID> = []
  /// How many entries of the due queues that wait no more may still be dropped in this turn: all the due
  /// ones of a crowd can be expired by calls, or moved, in one.
  private var droppable = 0
  /// Whether the wheel had reached the reading, so that no earlier entry can follow.
  private var hasReachedNow = true

  /// - Parameters:
  ///   - reading: Where its time begins.
  ///   - terms: Which changes the ledger answers when.
  ///   - reservation: For how many countdowns to reserve address space.
  package init(
    at reading: Reading, limits: Limits, terms: LedgerTerms, reserving reservation: Int
  ) {
    now = reading
    anchor = reading
    self.limits = limits
    self.terms = terms
    wheel = Wheel(now: Scheduler.instant(reading.boottime), reserving: reservation)
    table = CountdownTable(reserving: reservation)
    index = NameIndex(reserving: 12 * reservation)
    filedOffset = reading.realtime - reading.boottime
  }

  // MARK: Time

  /// When the next turn has something to do, if nothing comes in before.
  package enum Wake: Equatable, Sendable {
    case now
    case at(Instant)
    case never
  }

  /// O(1).
  package var nextWake: Wake {
    if !dueQueues.isEmpty || refileCursor != nil || !dueTimers.isEmpty || isThinningCutShort {
      return .now
    }
    guard let wake = wheel.nextWake else { return .never }
    return wake <= wheel.now ? .now : .at(wake)
  }

  /// A turn's reading comes in: what is due by it can then be taken with ``takeDue()`` and
  /// ``takeDueTimer()``.
  ///
  /// - Parameters:
  ///   - reading: The clocks; boot time and monotonic time that seem to go back stand still.
  ///   - limit: Entries to look at in this turn, 1 or more; ``nextWake`` is `now` when there are more.
  package mutating func advance(to reading: Reading, limit: Int) {
    hasExpired = false
    droppable = limit
    now.boottime = max(reading.boottime, now.boottime)
    now.monotonic = max(reading.monotonic, now.monotonic)
    now.realtime = reading.realtime
    now.uncertaintyUSec = reading.uncertaintyUSec
    if now.hasMoved(from: anchor) { anchor = now }
    noteStep()
    thinOut(limit: limit)
    refile(limit: limit)
    hasReachedNow = wheel.advance(
      to: Scheduler.instant(now.boottime), limit: limit, into: &handedBack)
    for place in 0..<handedBack.count { lookAgain(at: handedBack[place]) }
    handedBack.removeAll()
  }

  /// What happened to the clocks up to this turn's reading: told before anything is handed out, it says
  /// why that is late.
  package mutating func note(_ discontinuity: Discontinuity) { jumps.note(discontinuity) }

  /// The entry's own clock is asked whether it is due.
  private mutating func lookAgain(at id: EntryID) {
    let record = table[id.index]
    switch record.role {
    case .vacant: break
    case .timer: dueTimers.append(id)
    case .countdown:
      switch record.state {
      case .running: file(id)
      case .paused: break
      case .expired, .missed, .cancelled: if !record.isLocked { remove(id) }
      }
    }
  }

  /// The next countdown that is due, expired or missed; `nil` when none is, or not in its turn yet.
  ///
  /// They come in order of deadline, then revision: while the wheel is in the middle of a slot only
  /// what is due before that slot is certain to be next, and while realtime ones are being refiled
  /// none of them is. To be told before anything else is done. O(log of the crowd), and as much for each
  /// one that waits no more; of those at most as many are passed over as ``advance(to:limit:)`` may look
  /// at, and then it says `nil`.
  package mutating func takeDue() -> Event? {
    while let first = dueQueues.first(at: now, besidesRealtime: refileCursor != nil) {
      guard hasReachedNow || first.dueAt < Int64(wheel.now.tick.start.rawValue) else { return nil }
      let entry = first.entry
      if waits(entry), isDue(entry.id) {
        dueQueues.removeFirst(of: first.clock)
        return expire(entry.id)
      }
      guard drop(first) else { return nil }
    }
    return nil
  }

  /// Takes an entry that is no longer due out of its queue.
  ///
  /// - Returns: False where enough was dropped in this turn; the next one goes on with it.
  private mutating func drop(_ first: DueQueues.First) -> Bool {
    guard droppable > 0 else { return false }
    droppable -= 1
    dueQueues.removeFirst(of: first.clock)
    // What was changed since has another revision or time, and an entry of its own. Else the wall clock
    // was stepped back.
    if waits(first.entry) { file(first.entry.id) }
    return true
  }

  private func waits(_ entry: DueQueue.Entry) -> Bool {
    guard wheel.isLive(entry.id), isRunning(entry.id) else { return false }
    let record = table[entry.id.index]
    return !record.isLocked && record.revision == entry.revision && record.time == entry.deadline
  }

  /// For how long the first countdown in the queues has been due, µs; `nil` if none is due that was not
  /// handed out. Those that the wheel or a refiling has not come to yet are not counted, unless none
  /// else is: then they are told by the least that can be.
  ///
  /// O(log of the crowd), amortised: what no longer waits is dropped, up to as much as in ``takeDue()``;
  /// what stands behind more of it is not counted either.
  package mutating func oldestOverdueUSec() -> Int64? {
    while let first = dueQueues.first(at: now, besidesRealtime: false) {
      if waits(first.entry), isDue(first.entry.id) { return now.boottime - first.dueAt }
      guard drop(first) else { break }
    }
    guard !hasReachedNow else { return nil }
    return max(now.boottime - Int64(wheel.now.rawValue), 0)
  }

  /// Expires a countdown that is due but was not handed out yet: due time decides, not the sweep.
  ///
  /// - Returns: The event, to be told before the call is decided; `nil` if it is not due, or waits
  ///   for a verdict.
  package mutating func expireIfDue(_ id: EntryID) -> Event? {
    guard isRunning(id), isDue(id), !table[id.index].isLocked else { return nil }
    return expire(id)
  }

  private func isRunning(_ id: EntryID) -> Bool {
    let record = table[id.index]
    return record.role == .countdown && record.state == .running
  }

  private func isDue(_ id: EntryID) -> Bool {
    let record = table[id.index]
    return record.time <= now.value(of: record.clock)
  }

  private mutating func expire(_ id: EntryID) -> Event {
    hasExpired = true
    let event = expiry(of: id)
    if let lateUSec = event.lateUSec, lateUSec > notedAfterUSec { note(event) }
    return event
  }

  /// By how much an expiry of this turn is late, but for what was past when it was given: that is
  /// nobody's lateness. µs, 0 or more. O(1).
  package func lateness(of event: Event) -> Int64 {
    guard let deadline = event.deadline else { return 0 }
    let dueSince = dueSince(deadline, of: event.id)
    return min(max(now.value(of: event.clock) - dueSince, 0), Bounds.longest)
  }

  /// From when on one with that deadline can be late, on its own clock: where the instant it was started
  /// until was past, from the start on.
  private func dueSince(_ deadline: Int64, of id: EntryID) -> Int64 {
    let record = table[id.index]
    guard record.clock == .realtime, record.lengthUSec == 0 else { return deadline }
    return max(deadline, record.extra.map { extras[$0].startedAt } ?? record.plainStartedAt)
  }

  /// Why one with that deadline is late now. O(jumps since then).
  private func lateReason(_ deadline: Int64, of id: EntryID, isHeldUp: Bool) -> LateReason {
    let clock = table[id.index].clock
    let since = dueSince(deadline, of: id)
    let lateUSec = now.value(of: clock) - since
    guard lateUSec >= Scheduler.leastLate else { return .none }
    let parts = jumps.parts(since: since, on: clock)
    let rest = lateUSec - parts.suspend - parts.clockStep
    if parts.suspend >= max(parts.clockStep, rest) { return .suspend }
    if parts.clockStep >= rest { return .clockStep }
    return isHeldUp ? .storage : .overload
  }

  /// Whether one with that deadline is missed: the clock jumped over it, and was further than the grace
  /// beyond it when anybody could first know. O(jumps since then).
  private func isMissed(_ deadline: Int64, of id: EntryID, graceUSec: Int64) -> Bool {
    guard graceUSec > 0 else { return false }
    let since = dueSince(deadline, of: id)
    guard let jump = jumps.jump(over: since, on: table[id.index].clock) else { return false }
    return jump.knownAt - since > graceUSec
  }

  /// What is less late needs no reason, µs.
  private static let leastLate: Int64 = 10_000

  private mutating func note(_ event: Event) {
    let lateUSec = lateness(of: event)
    guard lateUSec > notedAfterUSec else { return }
    guard var all = late else {
      late = alone(event, lateUSec: lateUSec)
      return
    }
    if lateUSec > all.worstUSec {
      all.add(alone(event, lateUSec: lateUSec))
    } else {
      all.addOne()
    }
    late = all
  }

  private func alone(_ event: Event, lateUSec: Int64) -> LateExpiries {
    LateExpiries(
      lateUSec: lateUSec, reason: event.lateReason ?? .none, name: nameBytes(of: event.id),
      owner: users[event.user].uid)
  }

  /// The late expiries since it was last asked; `nil` if there were none.
  package mutating func takeLate() -> LateExpiries? {
    defer { late = nil }
    return late
  }

  private mutating func expiry(of id: EntryID) -> Event {
    let record = table[id.index]
    let extra = record.extra.map { extras[$0] }
    let isHeldUp = !heldUp.isEmpty && heldUp.remove(id) != nil
    var event = Event(
      kind: .expired, id: id, user: record.user, revision: record.revision, clock: record.clock,
      deadline: record.time, lateUSec: lateness(of: record.time, on: record.clock),
      lateReason: lateReason(record.time, of: id, isHeldUp: isHeldUp), payload: extra?.payload)
    guard let place = record.extra, let extra, extra.repeatUSec > 0 else {
      let isMissed = isMissed(record.time, of: id, graceUSec: extra?.graceUSec ?? 0)
      if isMissed { event.kind = .missed }
      end(
        id, as: isMissed ? .missed : .expired, lateUSec: event.lateUSec ?? 0,
        lateReason: event.lateReason ?? .none)
      return event
    }
    // One event for the newest occurrence, whatever was overrun; the grid stays where it is.
    let overrun = (now.value(of: record.clock) - record.time) / extra.repeatUSec
    let newest = record.time + overrun * extra.repeatUSec
    event.occurrence = extra.occurrence + overrun
    event.missedOccurrences = overrun
    event.deadline = newest
    event.lateUSec = lateness(of: newest, on: record.clock)
    event.lateReason = lateReason(newest, of: id, isHeldUp: isHeldUp)
    if isMissed(newest, of: id, graceUSec: extra.graceUSec) { event.kind = .missed }
    table[id.index].time = newest + extra.repeatUSec
    extras[place].occurrence += overrun + 1
    file(id)
    return event
  }

  /// How late a deadline is handed out now. An instant long before 1970 is later than any length that
  /// the wire can tell; it is told as the longest.
  private func lateness(of deadline: Int64, on clock: CountdownClock) -> Int64 {
    min(now.value(of: clock) - deadline, Bounds.longest)
  }

  // MARK: The wheel's keys

  static func instant(_ boottime: Int64) -> Instant { Instant(clamping: UInt64(max(boottime, 0))) }

  /// The wheel's key of something due in `leftUSec` by its own clock: the earliest it can be.
  private func key(in leftUSec: Int64) -> Instant { Scheduler.instant(now.boottime + leftUSec) }

  /// Puts a running countdown where it waits: into the wheel, or, if it is due, into the queue of
  /// what ``takeDue()`` hands out, for the wheel could not tell it from what was due before it. A
  /// locked one waits for ``unlock(_:)`` instead.
  mutating func file(_ id: EntryID) {
    let record = table[id.index]
    guard !record.isLocked else { return }
    let left = record.time - now.value(of: record.clock)
    if left > 0 {
      wheel.schedule(id, at: key(in: left))
      if !heldUp.isEmpty { heldUp.remove(id) }
    } else {
      wheel.park(id)
      dueQueues.push(
        .init(deadline: record.time, revision: record.revision, id: id), on: record.clock)
    }
  }

  /// A forward step of the wall clock makes realtime keys too late; a backward one only too early.
  private mutating func noteStep() {
    let offset = now.realtime - now.boottime
    if offset - filedOffset >= 1_000 {  // Less is the noise of reading.
      refileCursor = 0
      filedOffset = offset
    } else {
      // What is filed from here on is filed at this one; several small steps must not add up.
      filedOffset = min(filedOffset, offset)
    }
  }

  private mutating func refile(limit: Int) {
    guard var cursor = refileCursor else { return }
    let end = UInt32(table.count)
    var filed = 0
    // Looking at a record that stays costs little beside filing one: sixteen of them count as one.
    let last = min(UInt64(end), UInt64(cursor) + UInt64(limit) * 16)
    while UInt64(cursor) < last, filed < limit {
      let record = table[cursor]
      if record.role == .countdown, record.state == .running, record.clock == .realtime,
        let id = wheel.id(at: cursor), wheel.deadline(of: id) != nil  // Else it is due, or locked.
      {
        file(id)
        filed += 1
      }
      cursor += 1
    }
    refileCursor = cursor < end ? cursor : nil
  }

  // MARK: Timers of the service

  /// Something else to wait for: `token` comes back from ``takeDueTimer()`` at that instant. O(1).
  package mutating func startTimer(token: UInt64, inUSec lengthUSec: Int64) -> EntryID {
    let id = wheel.start(at: key(in: lengthUSec))
    table.put(Record(timerToken: token), at: id.index)
    return id
  }

  /// Lets a timer wait anew. O(1).
  package mutating func restartTimer(_ id: EntryID, inUSec lengthUSec: Int64) {
    wheel.schedule(id, at: key(in: lengthUSec))
  }

  /// Ends a timer, due or not. O(1).
  package mutating func cancelTimer(_ id: EntryID) {
    table[id.index] = .vacant
    wheel.release(id)
  }

  /// The next timer that is due: it waits no more, and is to be restarted or cancelled.
  package mutating func takeDueTimer() -> (id: EntryID, token: UInt64)? {
    while let id = dueTimers.popLast() {
      // One that waits again was restarted since.
      if wheel.isLive(id), table[id.index].role == .timer, wheel.deadline(of: id) == nil {
        return (id, UInt64(bitPattern: table[id.index].time))
      }
    }
    return nil
  }

  // MARK: Ending

  /// Ends a running or paused countdown; it stays readable for a while. The oldest ended one of the
  /// same owner goes in the next turn when there are more than may stay.
  mutating func end(
    _ id: EntryID, as state: CountdownState, lateUSec: Int64 = 0, lateReason: LateReason = .none
  ) {
    let user = table[id.index].user
    if table[id.index].state == .running {
      users[user].running -= 1
    } else {
      users[user].paused -= 1
    }
    users[user].ended += 1
    if !heldUp.isEmpty { heldUp.remove(id) }
    table[id.index].state = state
    let place = makeExtra(id)
    extras[place].endedAt = now.realtime
    extras[place].lateUSec = lateUSec
    extras[place].lateReason = lateReason
    extras[place].newer = .max
    extras[place].older = users[user].newestEnded
    if users[user].newestEnded == .max {
      users[user].oldestEnded = id.index
    } else {
      withExtra(of: users[user].newestEnded) { $0.newer = id.index }
    }
    users[user].newestEnded = id.index
    wheel.schedule(id, at: key(in: limits.retainEndedUSec))
    noteCrowd(of: user)
  }

  private mutating func noteCrowd(of user: UInt32) {
    guard users[user].ended > limits.retainedPerUser, !users[user].isCrowded else { return }
    users[user].isCrowded = true
    crowdedUsers.append(user)
  }

  /// Removes the oldest ended countdowns of users who have more than may stay, but for locked ones.
  ///
  /// In the next turn and not at once, so that nothing that was found in a turn goes away in it; and
  /// before that turn's calls, so that nobody sees more. It needs no wake of its own.
  private mutating func thinOut(limit: Int) {
    var budget = limit
    while let user = crowdedUsers.last {
      var next = wheel.id(at: users[user].oldestEnded)
      while let id = next, budget > 0, users[user].ended > limits.retainedPerUser {
        next = table[id.index].extra.flatMap { wheel.id(at: extras[$0].newer) }
        if table[id.index].isLocked { continue }
        remove(id)
        budget -= 1
      }
      isThinningCutShort = budget == 0
      if isThinningCutShort { return }
      users[user].isCrowded = false
      crowdedUsers.removeLast()
    }
  }

  /// Takes an ended countdown out of its owner's list.
  mutating func forgetEnd(_ id: EntryID) {
    let user = table[id.index].user
    guard let place = table[id.index].extra else { return }
    let (older, newer) = (extras[place].older, extras[place].newer)
    if older == .max {
      users[user].oldestEnded = newer
    } else {
      withExtra(of: older) { $0.newer = newer }
    }
    if newer == .max {
      users[user].newestEnded = older
    } else {
      withExtra(of: newer) { $0.older = older }
    }
    users[user].ended -= 1
  }

  /// Removes an ended countdown altogether.
  private mutating func remove(_ id: EntryID) {
    forgetEnd(id)
    dropExtra(id)
    let record = table[id.index]
    if users[record.user].watched > 0 {
      removed.append(RemovedName(user: record.user, name: nameBytes(of: id)))
    }
    let wasListed = index.remove(id.index, in: table)
    precondition(wasListed, "a countdown was not in the index of names")
    table.names.remove(record.name)
    table[id.index] = .vacant
    wheel.release(id)
  }

  /// A name under which nothing stands any more.
  package struct RemovedName: Sendable {
    package let user: UInt32
    package let name: [UInt8]
  }

  /// Those that ``advance(to:limit:)`` has removed, of users of whom anything is watched.
  package mutating func takeRemoved() -> [RemovedName] {
    if removed.isEmpty { return [] }
    defer { removed.removeAll() }
    return removed
  }

  // MARK: Waiting for a verdict

  /// A change of this countdown goes to the ledger: until ``unlock(_:)`` it does not expire.
  package mutating func lock(_ id: EntryID) { table[id.index].isLocked = true }

  /// The verdict has come, and where it was favourable the change was applied. What waited for it,
  /// an expiry or the removal of an ended one, comes in the next turn.
  package mutating func unlock(_ id: EntryID) {
    table[id.index].isLocked = false
    let state = table[id.index].state
    if state == .running {
      file(id)
      if isDue(id) { heldUp.insert(id) }
    } else if state.isEnded {
      if wheel.deadline(of: id) == nil { wheel.schedule(id, at: wheel.now) }
      noteCrowd(of: table[id.index].user)
    }
  }

  // MARK: Extras

  /// The place of the countdown's `Extra`, made where it has none.
  mutating func makeExtra(_ id: EntryID) -> Int {
    if let place = table[id.index].extra { return place }
    let place = extras.insert(Extra(startedAt: table[id.index].plainStartedAt))
    table[id.index].setExtra(place)
    return place
  }

  /// Frees the countdown's `Extra`, and what its payload counted for its owner.
  mutating func dropExtra(_ id: EntryID) {
    guard let place = table[id.index].extra else { return }
    users[table[id.index].user].payloadBytes -= extras[place].payload?.count ?? 0
    table[id.index].setPlainStartedAt(extras[place].startedAt)
    extras.remove(at: place)
  }

  private mutating func withExtra(of index: UInt32, _ change: (inout Extra) -> Void) {
    guard let place = table[index].extra else { return }
    change(&extras[place])
  }
}
