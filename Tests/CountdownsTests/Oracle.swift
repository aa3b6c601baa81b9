import Countdowns
import TestSupport

/// What a scheduler ought to do, told without one: a dictionary of values, three numbers for clocks,
/// and a look at everything for every question. It shares no code with what it judges.
struct Oracle {
  struct Key: Hashable, Comparable {
    var uid: UInt32
    var name: String

    static func < (lhs: Key, rhs: Key) -> Bool {
      lhs.uid != rhs.uid
        ? lhs.uid < rhs.uid : lhs.name.utf8.lexicographicallyPrecedes(rhs.name.utf8)
    }
  }

  struct Countdown: Equatable {
    var state = CountdownState.running
    var clock: CountdownClock
    /// The deadline, or of a paused one what is left.
    var time: Int64
    var length: Int64
    var revision: Int64 = 0
    var startedAt: Int64
    var interval: Int64 = 0
    var occurrence: Int64 = 1
    var payload: [UInt8]?
    var catchUp = CatchUp.fire
    var grace: Int64 = 0
    var durability: Durability
    var endedAt: Int64 = 0
    var late: Int64 = 0
    /// On boot time, from when on it need not be kept.
    var keptUntil: Int64 = 0
    /// Which of all ends this was.
    var end = 0
    var isLocked = false

    var isLive: Bool { state == .running || state == .paused }
  }

  /// What a call comes to.
  enum Decision {
    case refused(Refusal)
    case nothing
    case change(Change)
  }

  /// A change that was decided: how the countdown stands when it takes effect, but for its revision.
  struct Change {
    var next: Countdown
    var kind: EventKind
    /// What is told to remain.
    var remaining: Int64
    /// What is left of what it replaces or restarts.
    var leftOfOld: Int64?
    var addsOne = false
    /// It brings a payload of its own, or none.
    var bringsPayload = false
  }

  var all: [Key: Countdown] = [:]
  /// Boot time, monotonic and realtime, by their clock's number.
  var clocks: [Int64]
  /// How they came there.
  var path: ClockPath
  var limits: Limits
  var ends = 0
  /// Starts under way, by user.
  var starting: [UInt32: Int] = [:]
  /// Bytes of payload under way, by user.
  var incoming: [UInt32: Int] = [:]

  init(_ reading: Reading, limits: Limits) {
    clocks = [reading.boottime, reading.monotonic, reading.realtime]
    path = ClockPath(from: reading)
    self.limits = limits
  }

  func time(_ clock: CountdownClock) -> Int64 { clocks[Int(clock.rawValue)] }

  func remaining(_ countdown: Countdown) -> Int64 {
    if countdown.state == .paused { return countdown.time }
    if countdown.state == .running { return max(0, countdown.time - time(countdown.clock)) }
    return 0
  }

  func isDue(_ countdown: Countdown) -> Bool {
    countdown.state == .running && !countdown.isLocked && countdown.time <= time(countdown.clock)
  }

  /// When it is or was due on boot time, as the clocks stand.
  func dueAt(_ countdown: Countdown) -> Int64 {
    clocks[0] + countdown.time - time(countdown.clock)
  }

  func live(_ uid: UInt32) -> Int {
    all.count { $0.key.uid == uid && $0.value.isLive } + starting[uid, default: 0]
  }

  func bytes(_ uid: UInt32) -> Int {
    all.reduce(incoming[uid, default: 0]) {
      $0 + ($1.key.uid == uid ? $1.value.payload?.count ?? 0 : 0)
    }
  }

  // MARK: Ends

  /// What is due is told and over, or goes on to its next occurrence.
  mutating func expire(_ key: Key) -> Told {
    var countdown = all[key]!
    let clock = time(countdown.clock)
    var told = Told(
      kind: .expired, revision: countdown.revision, deadline: countdown.time,
      lateUSec: clock - countdown.time, payload: countdown.payload)
    if countdown.interval == 0 {
      if isMissed(countdown) { told.kind = .missed }
      countdown.state = told.kind == .missed ? .missed : .expired
      countdown.late = clock - countdown.time
      ended(&countdown)
    } else {
      while countdown.time + countdown.interval <= clock {
        countdown.time += countdown.interval
        countdown.occurrence += 1
        told.missedOccurrences += 1
      }
      told.deadline = countdown.time
      told.lateUSec = clock - countdown.time
      if isMissed(countdown) { told.kind = .missed }
      told.occurrence = countdown.occurrence
      countdown.time += countdown.interval
      countdown.occurrence += 1
    }
    all[key] = countdown
    return told
  }

  private func isMissed(_ countdown: Countdown) -> Bool {
    // An instant that was past is known at once.
    let isPast = countdown.clock == .realtime && countdown.length == 0
    let due = isPast ? max(countdown.time, countdown.startedAt) : countdown.time
    return path.lateness(of: due, on: countdown.clock).isMissed(due, graceUSec: countdown.grace)
  }

  private mutating func ended(_ countdown: inout Countdown) {
    ends += 1
    countdown.end = ends
    countdown.endedAt = clocks[2]
    countdown.keptUntil = clocks[0] + limits.retainEndedUSec
  }

  /// Which ended ones may be gone, and by the end of the turn must be.
  func mayGo() -> Set<Key> {
    var going = Set(
      all.filter { !$0.value.isLive && !$0.value.isLocked && $0.value.keptUntil <= clocks[0] }.keys)
    for uid in Set(all.keys.map(\.uid)) {
      let ended = all.filter { $0.key.uid == uid && !$0.value.isLive }
        .sorted { $0.value.end < $1.value.end }
      let excess = ended.count - limits.retainedPerUser
      for (key, _) in ended.filter({ !$0.value.isLocked }).prefix(max(excess, 0)) {
        going.insert(key)
      }
    }
    return going
  }

  // MARK: Calls

  func decide(_ request: StartRequest, _ key: Key, payload: [UInt8]?) -> Decision {
    if let payload, payload.count > limits.payloadBytes {
      return .refused(tooLong(payload))
    }
    let deadline: Int64
    let length: Int64
    switch request.end {
    case .length(let asked):
      deadline = time(request.clock) + asked
      length = asked
    case .instant(let asked):
      deadline = asked
      length = asked < clocks[2] ? 0 : asked - clocks[2]
    }
    let old = all[key]
    if let revision = request.revision {
      guard let old else { return .refused(.noSuchCountdown) }
      if old.revision != revision { return .refused(.revisionMismatch(revision: old.revision)) }
    }
    if let old, old.isLive || request.onConflict == .once {
      if request.onConflict == .fail {
        return .refused(
          .countdownExists(
            remainingUSec: remaining(old), revision: old.revision, state: old.state))
      }
      if request.onConflict != .replace {
        if old.clock != request.clock { return .refused(.wrongClock(old.clock)) }
        guard request.onConflict == .extendOnly else { return .nothing }
        var next = old
        next.time = old.state == .paused ? length : deadline
        if next.time <= old.time { return .nothing }
        return .change(Change(next: next, kind: .changed, remaining: length))
      }
    }
    let addsOne = old.map { !$0.isLive } ?? true
    if addsOne, let full = full(key.uid) { return .refused(full) }
    if let refusal = refusal(of: payload, over: old, key.uid) { return .refused(refusal) }
    var next = Countdown(
      clock: request.clock, time: deadline, length: length, startedAt: clocks[2],
      durability: request.durability)
    next.payload = payload
    next.interval = request.repeatUSec ?? 0
    next.catchUp = request.catchUp
    next.grace = request.catchUp == .skip ? request.graceUSec ?? 60_000_000 : 0
    return .change(
      Change(
        next: next, kind: .started, remaining: length,
        leftOfOld: old.flatMap { $0.isLive ? remaining($0) : nil }, addsOne: addsOne,
        bringsPayload: true))
  }

  private func tooLong(_ payload: [UInt8]) -> Refusal {
    .quotaExceeded(resource: .payloadBytes, limit: limits.payloadBytes, used: payload.count)
  }

  private func refusal(of payload: [UInt8]?, over old: Countdown?, _ uid: UInt32) -> Refusal? {
    guard let payload, !payload.isEmpty else { return nil }
    if payload.count > limits.payloadBytes { return tooLong(payload) }
    let used = bytes(uid)
    let isFull = used + payload.count - (old?.payload?.count ?? 0) > limits.payloadBytesPerUser
    return isFull && uid != 0
      ? .quotaExceeded(
        resource: .payloadBytesPerUser, limit: limits.payloadBytesPerUser, used: used) : nil
  }

  private func full(_ uid: UInt32) -> Refusal? {
    let used = live(uid)
    if uid != 0, used >= limits.countdownsPerUser {
      return .quotaExceeded(
        resource: .countdownsPerUser, limit: limits.countdownsPerUser, used: used)
    }
    let total = Set(all.keys.map(\.uid)).union(starting.keys).reduce(0) { $0 + live($1) }
    return total >= limits.countdowns
      ? .quotaExceeded(resource: .countdowns, limit: limits.countdowns, used: total) : nil
  }

  func decide(_ verb: Rig.Verb, _ key: Key, revision: Int64?) -> Decision {
    guard let old = all[key] else { return .refused(.noSuchCountdown) }
    if let revision, revision != old.revision {
      return .refused(.revisionMismatch(revision: old.revision))
    }
    let wrongState = Decision.refused(.wrongState(state: old.state, revision: old.revision))
    var next = old
    if case .restart = verb {
      if old.clock == .realtime { return .refused(.wrongClock(.realtime)) }
      if !old.isLive, let full = full(key.uid) { return .refused(full) }
      next.state = .running
      next.time = time(old.clock) + old.length
      next.startedAt = clocks[2]
      next.occurrence = 1
      return .change(
        Change(
          next: next, kind: .started, remaining: old.length,
          leftOfOld: old.isLive ? remaining(old) : nil, addsOne: !old.isLive))
    }
    switch old.state {
    case .expired, .missed:
      return .refused(.alreadyExpired(state: old.state, revision: old.revision))
    case .cancelled: return wrongState
    case .running, .paused: break
    }
    var left = remaining(old)
    switch verb {
    case .restart: break
    case .cancel:
      next.state = .cancelled
      return .change(Change(next: next, kind: .cancelled, remaining: left))
    case .pause:
      if old.clock == .realtime { return .refused(.wrongClock(.realtime)) }
      if old.state == .paused { return wrongState }
      next.state = .paused
      next.time = left
      return .change(Change(next: next, kind: .paused, remaining: left))
    case .resume:
      if old.state == .running { return wrongState }
      next.state = .running
      next.time = time(old.clock) + old.time
      return .change(Change(next: next, kind: .resumed, remaining: left))
    case .extend(.by(let change)): left = max(left + change, 0)
    case .extend(.toRemaining(let length)): left = length
    case .setPayload(let payload):
      if let refusal = refusal(of: payload, over: old, key.uid) { return .refused(refusal) }
      next.payload = payload
      return .change(Change(next: next, kind: .changed, remaining: left, bringsPayload: true))
    }
    next.time = old.state == .paused ? left : time(old.clock) + left
    return .change(Change(next: next, kind: .changed, remaining: left))
  }

  /// A change takes effect: what is told.
  mutating func apply(_ change: Change, _ key: Key, revision: Int64) -> [Told] {
    var told: [Told] = []
    if let old = all[key], let left = change.leftOfOld {
      told.append(
        Told(
          kind: .cancelled, revision: old.revision,
          occurrence: old.interval > 0 ? old.occurrence : nil,
          deadline: old.state == .running ? old.time : nil, remainingUSec: left,
          payload: old.payload, replacedBy: revision))
    }
    var next = change.next
    next.isLocked = false
    let isCancel = change.kind == .cancelled
    if !isCancel { next.revision = revision }
    let runs = isCancel ? all[key]?.state == .running : next.state == .running
    told.append(
      Told(
        kind: change.kind, revision: next.revision,
        occurrence: next.interval > 0 ? next.occurrence : nil, deadline: runs ? next.time : nil,
        remainingUSec: change.remaining, payload: next.payload))
    if isCancel { ended(&next) }
    all[key] = next
    return told
  }
}
