internal import TimingWheel

/// The list above ``Scheduler``'s properties, tested.
extension Scheduler {
  /// The first invariant that does not hold, in words; `nil` when all hold. O(n) for n entries.
  ///
  /// Reports instead of trapping, so that a simulation can add its seed and step. To be asked between
  /// calls, when no change is half applied.
  package borrowing func brokenInvariant() -> String? {
    if let broken = wheel.brokenInvariant() { return "wheel: \(broken)" }
    if let broken = table.names.brokenInvariant() { return "names: \(broken)" }
    if let broken = index.brokenInvariant(in: table) { return "index: \(broken)" }
    if !dueQueues.boottime.isInOrder || !dueQueues.monotonic.isInOrder
      || !dueQueues.realtime.isInOrder
    {
      return "an entry of a due queue precedes its parent"
    }
    var tally = Tally(users: users.count)
    for queue in [dueQueues.boottime.heap, dueQueues.monotonic.heap, dueQueues.realtime.heap] {
      for entry in queue where isCurrent(entry) { tally.queued.insert(entry.id.index) }
    }
    for place in 0..<UInt32(table.count) {
      if let broken = brokenRecord(at: place, &tally) { return "record \(place): \(broken)" }
    }
    for id in heldUp where !wheel.isLive(id) || table[id.index].state != .running {
      return "record \(id.index) was held up, and does not run"
    }
    if tally.live != wheel.liveCount {
      return "\(tally.live) records, but \(wheel.liveCount) live entries"
    }
    if tally.named != index.count || tally.named != table.names.count {
      return "\(tally.named) countdowns, \(index.count) in the index, \(table.names.count) names"
    }
    return extras.contradiction(to: tally.extras) ?? brokenUsers(tally)
  }

  /// What the records say, summed up. The sets are only looked up and counted.
  private struct Tally {
    var live = 0
    var named = 0
    var queued: Set<UInt32> = []
    var extras: Set<Int> = []
    var running: [Int]
    var paused: [Int]
    var ended: [Int]
    var payloadBytes: [Int]
    /// Whose changes are under way.
    var hasLocked: [Bool]

    init(users: Int) {
      running = Array(repeating: 0, count: users)
      paused = running
      ended = running
      payloadBytes = running
      hasLocked = Array(repeating: false, count: users)
    }
  }

  private func isCurrent(_ entry: DueQueue.Entry) -> Bool {
    guard wheel.isLive(entry.id) else { return false }
    let record = table[entry.id.index]
    return record.revision == entry.revision && record.time == entry.deadline
  }

  private func brokenRecord(at place: UInt32, _ tally: inout Tally) -> String? {
    let record = table[place]
    guard let id = wheel.id(at: place) else {
      return record.role == .vacant ? nil : "its entry was released"
    }
    tally.live += 1
    switch record.role {
    case .vacant: return "it is vacant, but its entry is live"
    case .timer: return nil
    case .countdown: break
    }
    tally.named += 1
    let user = Int(record.user)
    guard user < users.count else { return "its owner \(user) does not exist" }
    if index.find(table.key(of: place), in: table) != place { return "its name does not find it" }
    if let extra = record.extra {
      if !tally.extras.insert(extra).inserted { return "its extra is another's as well" }
      tally.payloadBytes[user] += extras[extra].payload?.count ?? 0
    }
    if record.isLocked { tally.hasLocked[user] = true }
    switch record.state {
    case .running:
      tally.running[user] += 1
      return record.isLocked ? nil : brokenWait(of: record, id, isQueued: tally.queued)
    case .paused:
      tally.paused[user] += 1
      return wheel.deadline(of: id) == nil ? nil : "it is paused, but waits"
    case .expired, .missed, .cancelled:
      tally.ended[user] += 1
      if record.extra == nil { return "it has ended without an extra" }
      return wheel.deadline(of: id) == nil && !record.isLocked ? "it stays for ever" : nil
    }
  }

  private func brokenWait(of record: Record, _ id: EntryID, isQueued: Set<UInt32>) -> String? {
    guard let key = wheel.deadline(of: id) else {
      return isQueued.contains(id.index) ? nil : "it runs, but waits nowhere"
    }
    let latest: Int64
    switch record.clock {
    case .boottime, .monotonic:
      latest = now.boottime + (record.time - now.value(of: record.clock))
    case .realtime:
      // A step puts the refiling back to the first; who is past its place was filed since.
      if let refileCursor, id.index >= refileCursor { return nil }
      latest = record.time - filedOffset
    }
    return key <= Scheduler.instant(latest) ? nil : "it waits for \(key), due at \(latest)"
  }

  private func brokenUsers(_ tally: Tally) -> String? {
    if now.realtime - now.boottime - filedOffset >= 1_000 {
      return "a step of the wall clock has passed unnoticed"
    }
    var live = 0
    for user in 0..<UInt32(users.count) {
      let usage = users[user]
      let place = Int(user)
      live += usage.live
      if usage.running != tally.running[place] || usage.paused != tally.paused[place] {
        return "user \(user) counts \(usage.running) running, \(usage.paused) paused, but has "
          + "\(tally.running[place]) and \(tally.paused[place])"
      }
      if usage.ended != tally.ended[place] {
        return "user \(user) counts \(usage.ended) ended, but has \(tally.ended[place])"
      }
      if usage.starting < 0 { return "user \(user) starts \(usage.starting)" }
      // What is under way counts beside what is stored; only then may there be more.
      let stored = tally.payloadBytes[place]
      let mayBeMore = usage.starting > 0 || tally.hasLocked[place]
      if mayBeMore ? usage.payloadBytes < stored : usage.payloadBytes != stored {
        return "user \(user) counts \(usage.payloadBytes) bytes of payload, but has \(stored)"
      }
      if let broken = brokenList(of: user, usage) { return "user \(user): \(broken)" }
    }
    let counts = (tally.running.reduce(0, +), tally.paused.reduce(0, +), tally.ended.reduce(0, +))
    guard counts == users.counts else { return "\(users.counts) count in all, but \(counts) are" }
    let payloadBytes = (0..<UInt32(users.count)).reduce(0) { $0 + users[$1].payloadBytes }
    guard payloadBytes == users.payloadBytes else {
      return "\(users.payloadBytes) bytes of payload count in all, but \(payloadBytes) are"
    }
    return live == users.live ? nil : "\(users.live) count as live, but \(live) are"
  }

  /// The list of a user's ended countdowns, from the oldest.
  private func brokenList(of user: UInt32, _ usage: UserTable.Usage) -> String? {
    var listed = 0
    var previous = UInt32.max
    var next = usage.oldestEnded
    while next != .max {
      guard wheel.id(at: next) != nil, table[next].role == .countdown, table[next].user == user,
        table[next].state.isEnded, let extra = table[next].extra
      else { return "record \(next) is listed, but is none of the ended ones" }
      if extras[extra].older != previous { return "record \(next) does not link back" }
      listed += 1
      if listed > usage.ended { return "more are listed than have ended" }
      previous = next
      next = extras[extra].newer
    }
    if usage.newestEnded != previous {
      return "the newest is \(usage.newestEnded), not \(previous)"
    }
    return listed == usage.ended ? nil : "\(listed) are listed, \(usage.ended) have ended"
  }
}
