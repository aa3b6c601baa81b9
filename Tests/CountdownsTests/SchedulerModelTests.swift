import Countdowns
import TestSupport
import Testing
import TimingWheel

/// The scheduler against the ``Oracle``.
@Suite struct SchedulerModelTests {
  #if DEBUG
    static let seeds: Range<UInt64> = 0..<100
  #else
    static let seeds: Range<UInt64> = 0..<10_000
  #endif

  /// One seed is replayed by its number.
  @Test(arguments: 0..<10 as Range<UInt64>)
  func `the scheduler and an oracle agree on every history`(part: UInt64) {
    for seed in Self.seeds where seed % 10 == part {
      let history = History(seed: seed)
      if let disagreement = history.run(steps: 200) {
        Issue.record("seed \(seed), \(disagreement)")
        return
      }
    }
  }
}

/// One history: random calls, clocks and verdicts, judged after every step.
final class History {
  private var random: SplitMix64
  private let rig: Rig
  private var oracle: Oracle
  private let uids: [UInt32] = [0, 1_000, 1_001]
  private let names: [String]
  /// Changes that are with the ledger.
  private var underway: [(key: Oracle.Key, plan: Plan, change: Oracle.Change)] = []
  /// A forward step may not be digested yet.
  private var isStepping = false
  /// What was told of each, by revision and occurrence: once only.
  private var outcomes: Set<[Int64]> = []
  /// Out of a hundred: how many steps let time pass, how many calls wait for a verdict.
  private let passing: Int
  private let waiting: Int
  private let reach: Int64

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
    names = ["a", "ab", "b/", "b/é"].prefix(.random(in: 1...4, using: &random)).map { $0 }
    var limits = Limits()
    limits.countdownsPerUser = .random(in: 1...4, using: &random)
    limits.countdowns = .random(in: 3...10, using: &random)
    limits.retainedPerUser = .random(in: 0...3, using: &random)
    limits.retainEndedUSec = [0, 1_000, second, 20 * second, hour].randomElement(using: &random)!
    limits.payloadBytes = 8
    limits.payloadBytesPerUser = .random(in: 8...24, using: &random)
    passing = [5, 25, 60].randomElement(using: &random)!
    waiting = [0, 20, 70].randomElement(using: &random)!
    reach = [64, 5_000, 2 * second, 60 * second, 100 * hour].randomElement(using: &random)!
    let start = Reading(
      monotonic: .random(in: 0...hour, using: &random),
      boottime: .random(in: hour...2 * hour, using: &random),
      realtime: .random(in: 0...60 * year, using: &random))
    rig = Rig(at: start, limits: limits)
    oracle = Oracle(start, limits: limits)
    for uid in uids { _ = rig.scheduler.users.index(of: uid) }
  }

  private func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  private func length() -> Int64 {
    chance(10)
      ? 0
      : .random(in: 0...max(reach >> Int64.random(in: 0...8, using: &random), 1), using: &random)
  }

  /// The first disagreement, in words; `nil` when there is none.
  func run(steps: Int) -> String? {
    for step in 0..<steps {
      let wrong =
        if chance(passing) {
          turn()
        } else if !underway.isEmpty, chance(30) {
          verdict()
        } else {
          call()
        }
      if let wrong = wrong ?? judge() { return "step \(step): \(wrong)" }
    }
    return nil
  }

  // MARK: Time

  private func turn() -> String? {
    switch Int.random(in: 0..<10, using: &random) {
    case 0: rig.suspend(length())
    case 1:
      // Smaller ones may come a little late (see SchedulerTests).
      let change = (1_000 + length()) * (Bool.random(using: &random) ? 1 : -1)
      rig.step(change)
      if change > 0 { isStepping = true }
    case 2: break
    case 3, 4:
      if case .at(let wake) = rig.scheduler.nextWake {
        rig.run(max(Int64(wake.rawValue) - rig.reading.boottime, 0))
      }
    default: rig.run(length())
    }
    oracle.path.note(rig.reading, slept: rig.slept, stepped: rig.stepped)
    oracle.clocks = [rig.reading.boottime, rig.reading.monotonic, rig.reading.realtime]
    let mayGo = oracle.mayGo()
    rig.advance(limit: [1, 2, 5, 1_000].randomElement(using: &random)!)
    for (key, countdown) in oracle.all where rig.find(key.name, uid: key.uid) == nil {
      if !mayGo.contains(key) { return "\(key) is gone: \(countdown)" }
      oracle.all[key] = nil
    }
    var left = chance(20) ? Int.random(in: 0...3, using: &random) : .max
    while left > 0 {
      guard let event = rig.scheduler.takeDue() else { break }
      left -= 1
      if let wrong = judge(event) { return wrong }
    }
    guard left > 0, rig.scheduler.nextWake != .now else { return nil }
    isStepping = false
    for key in oracle.all.keys.sorted() {
      if oracle.isDue(oracle.all[key]!) { return "\(key) is due, but nothing is to be done" }
      if mayGo.contains(key), !oracle.all[key]!.isLive, !oracle.all[key]!.isLocked {
        return "\(key) should be gone"
      }
    }
    return nil
  }

  /// An expiry that the scheduler told by itself.
  private func judge(_ event: Event) -> String? {
    let key = Oracle.Key(
      uid: rig.scheduler.users[event.user].uid, name: rig.name(of: event.id))
    guard let countdown = oracle.all[key] else { return "\(key) expired, but does not exist" }
    guard oracle.isDue(countdown) else { return "\(key) expired, but is not due: \(countdown)" }
    let place = (oracle.dueAt(countdown), countdown.revision)
    for (other, rival) in oracle.all where oracle.isDue(rival) {
      // While a forward step is digested, realtime ones come when all are refiled.
      if isStepping, (rival.clock == .realtime) != (countdown.clock == .realtime) { continue }
      if (oracle.dueAt(rival), rival.revision) < place { return "\(key) came before \(other)" }
    }
    return compare(event, oracle.expire(key))
  }

  private func compare(_ event: Event, _ expected: Told) -> String? {
    if event.told != expected { return "told \(event.told), not \(expected)" }
    guard [.expired, .missed, .cancelled].contains(event.kind) else { return nil }
    let isNew = outcomes.insert([event.revision, event.occurrence ?? 0]).inserted
    return isNew ? nil : "a second outcome: \(event.told)"
  }

  // MARK: Calls

  private func call() -> String? {
    let key = Oracle.Key(
      uid: uids.randomElement(using: &random)!, name: names.randomElement(using: &random)!)
    if underway.contains(where: { $0.key == key }) { return nil }  // It would wait.
    // What is due is handed out first.
    let events = rig.events.count
    if let countdown = oracle.all[key], oracle.isDue(countdown) {
      guard let id = rig.find(key.name, uid: key.uid), let event = rig.scheduler.expireIfDue(id)
      else { return "\(key) is due, but is not handed out" }
      if let wrong = compare(event, oracle.expire(key)) { return wrong }
    }
    var payload: [UInt8]?
    var plan: Plan?
    let decision: Oracle.Decision
    let refusal: Refusal?
    if chance(45) {
      payload = chance(40) ? .init(repeating: 32, count: .random(in: 1...9, using: &random)) : nil
      let request = request(for: key, payload)
      decision = oracle.decide(request, key, payload: payload)
      refusal = rig.refusal { () throws(Refusal) in
        if case .change(let decided) = try rig.decide(request, key.name, uid: key.uid) {
          plan = decided
        }
      }
    } else {
      let verb = verb()
      let revision = revision(for: key)
      decision = oracle.decide(verb, key, revision: revision)
      refusal = rig.refusal { () throws(Refusal) in
        plan = try rig.decide(verb, key.name, uid: key.uid, revision: revision)
      }
    }
    if rig.events.count != events { return "\(key) was handed out, but is not due" }
    switch (decision, plan, refusal) {
    case (.refused(let expected), nil, let refusal?) where refusal == expected: return nil
    case (.nothing, nil, nil): return nil
    case (.change(let change), let plan?, nil):
      if chance(waiting) {
        submit(plan, change, key)
        return nil
      }
      return apply(plan, change, key)
    default:
      return "\(key): \(String(describing: plan)), \(String(describing: refusal)), not \(decision)"
    }
  }

  private func request(for key: Oracle.Key, _ payload: [UInt8]?) -> StartRequest {
    let clock = CountdownClock.allCases.randomElement(using: &random)!
    let end: StartRequest.End =
      clock == .realtime
      ? .instant(rig.scheduler.now.realtime + length() * (chance(10) ? -1 : 1)) : .length(length())
    var request = StartRequest(
      end: end, clock: clock, durability: Bool.random(using: &random) ? .memory : .synced)
    request.onConflict = OnConflict.allCases.randomElement(using: &random)!
    if chance(30) { request.repeatUSec = second + length() }
    if chance(20) { request.catchUp = .skip }
    if request.catchUp == .skip, chance(50) { request.graceUSec = second + length() }
    request.payloadBytes = payload?.count
    request.revision = request.onConflict == .replace ? revision(for: key) : nil
    return request
  }

  private func revision(for key: Oracle.Key) -> Int64? {
    guard chance(30) else { return nil }
    let current = oracle.all[key]?.revision ?? 0
    return chance(70) ? current : current - 1
  }

  private func verb() -> Rig.Verb {
    switch Int.random(in: 0..<9, using: &random) {
    case 0: .cancel
    case 1: .restart
    case 2, 3: .pause
    case 4, 5: .resume
    case 6:
      .setPayload(
        chance(60) ? .init(repeating: 32, count: .random(in: 1...9, using: &random)) : nil)
    case 7: .extend(.by(length() * (Bool.random(using: &random) ? 1 : -1)))
    default: .extend(.toRemaining(length()))
    }
  }

  // MARK: The ledger

  private func submit(_ plan: Plan, _ change: Oracle.Change, _ key: Oracle.Key) {
    if let id = rig.find(key.name, uid: key.uid) { rig.scheduler.lock(id) }
    oracle.all[key]?.isLocked = true
    count(change, key, 1)
    underway.append((key, plan, change))
  }

  /// As the service counts what is under way.
  private func count(_ change: Oracle.Change, _ key: Oracle.Key, _ sign: Int) {
    let user = rig.scheduler.users.index(of: key.uid)
    let bytes = change.bringsPayload ? change.next.payload?.count ?? 0 : 0
    rig.scheduler.users[user].starting += change.addsOne ? sign : 0
    rig.scheduler.users[user].payloadBytes += sign * bytes
    oracle.starting[key.uid, default: 0] += change.addsOne ? sign : 0
    oracle.incoming[key.uid, default: 0] += sign * bytes
  }

  private func verdict() -> String? {
    let place = Int.random(in: 0..<underway.count, using: &random)
    let (key, plan, change) = underway.remove(at: place)
    count(change, key, -1)
    guard chance(75) else {
      if let id = rig.find(key.name, uid: key.uid) { rig.scheduler.unlock(id) }
      oracle.all[key]?.isLocked = false
      return nil
    }
    return apply(plan, change, key)
  }

  private func apply(_ plan: Plan, _ change: Oracle.Change, _ key: Oracle.Key) -> String? {
    let events = rig.events.count
    let revision = rig.nextRevision
    let refusal = rig.refusal { () throws(Refusal) in
      let outcome = try rig.apply(
        plan, key.name, uid: key.uid, payload: change.bringsPayload ? change.next.payload : nil)
      rig.scheduler.unlock(outcome.id)
    }
    if let refusal { return "\(key) was not applied: \(refusal)" }
    let expected = oracle.apply(change, key, revision: revision)
    let told = rig.events[events...]
    if told.count != expected.count { return "\(told.map(\.told)) were told, not \(expected)" }
    for (event, expected) in zip(told, expected) {
      if let wrong = compare(event, expected) { return wrong }
    }
    return nil
  }

  // MARK: Judging

  private func judge() -> String? {
    if let broken = rig.scheduler.brokenInvariant() { return broken }
    for uid in uids {
      let keys = oracle.all.keys.filter { $0.uid == uid }.sorted()
      if rig.names(uid: uid) != keys.map(\.name) { return "\(rig.names(uid: uid)), not \(keys)" }
      for key in keys {
        let view = rig.view(key.name, uid: uid)!
        if let wrong = compare(view, oracle.all[key]!) { return "\(key): \(wrong)" }
      }
      let usage = rig.usage(uid: uid)
      let states = keys.map { oracle.all[$0]!.state }
      if usage.running != states.count(where: { $0 == .running })
        || usage.paused != states.count(where: { $0 == .paused })
        || usage.live != oracle.live(uid) || usage.payloadBytes != oracle.bytes(uid)
      {
        return "\(usage), but \(states) and \(oracle.bytes(uid)) bytes"
      }
    }
    return judgeWake()
  }

  private func compare(_ view: CountdownView, _ expected: Oracle.Countdown) -> String? {
    let hasEnded = expected.state == .expired || expected.state == .missed
    let hasDeadline = expected.state == .running || hasEnded
    let isRight =
      view.state == expected.state && view.clock == expected.clock
      && view.lengthUSec == expected.length && view.revision == expected.revision
      && view.remainingUSec == oracle.remaining(expected)
      && view.deadline == (hasDeadline ? expected.time : nil)
      && view.startedAt == expected.startedAt && view.payload == expected.payload
      && (view.repeatUSec ?? 0) == expected.interval && (view.graceUSec ?? 0) == expected.grace
      && view.catchUp == expected.catchUp && view.durability == expected.durability
      && view.endedAt == (expected.isLive ? nil : expected.endedAt)
      && view.lateUSec == (hasEnded ? expected.late : nil)
      && rig.scheduler.isLocked(view.id) == expected.isLocked
    return isRight ? nil : "\(view), not \(expected)"
  }

  /// The next wake is no later than the first deadline, should no clock be stepped before it.
  private func judgeWake() -> String? {
    let wake: Int64
    switch rig.scheduler.nextWake {
    case .now: return nil
    case .at(let instant): wake = Int64(instant.rawValue)
    case .never: wake = .max
    }
    for (key, countdown) in oracle.all where countdown.state == .running && !countdown.isLocked {
      if oracle.dueAt(countdown) < wake { return "\(key) is due before the wake at \(wake)" }
    }
    return nil
  }
}
