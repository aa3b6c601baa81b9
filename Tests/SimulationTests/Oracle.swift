import CountdownService
import Countdowns
import TestSupport

/// Judges a world by what was sent, what was answered, what one witness of each user was told, and
/// what the clocks showed.
///
/// A witness hears every event of its user. From its events the oracle keeps what stands under every
/// name; every reply must be what the plain model says of something that stood there in that turn.
final class Oracle {
  struct Key: Hashable, Comparable {
    let uid: UInt32
    let name: String

    static func < (lhs: Key, rhs: Key) -> Bool { (lhs.uid, lhs.name) < (rhs.uid, rhs.name) }
  }

  /// One that hears some of the events, reading or not.
  private struct Listener {
    let client: Int
    let uid: UInt32
    let prefix: String
    let kinds: Set<String>
    let startTurn: Int
    var expected: [(turn: Int, event: JSONTree)] = []
    /// The first of those that it was not told yet.
    var cursor = 0
    /// Where it begins is not known to the event: its call came somewhere in its turn.
    var isUnanchored = true
    var hasGap = false
    var mayHaveGap = false
    var isReady = false
  }

  private(set) var problems: [String] = []
  private let refusesSynced: Bool
  private let retainUSec: Int64
  /// Where verdicts come later, a call was decided at one of the turns since it was sent.
  private let isDelayed: Bool
  private var witnesses: [UInt32: Int] = [:]
  private var listeners: [Int: Listener] = [:]
  private var current: [Key: Standing] = [:]
  /// The last turn in which anything happened under a name.
  private(set) var lastChange: [Key: Int] = [:]
  private var endedAt: [Key: Int64] = [:]
  /// What stood under a name in this turn, one after the other.
  private var states: [Key: [Standing?]] = [:]
  private var lockedBefore: Set<Key> = []
  /// Starts by the number in their payload, and the turn after which they were sent.
  private var starts: [Int64: (parameters: JSONTree, owner: UInt32, sentAfter: Int)] = [:]
  private var startedNumbers: Set<Int64> = []
  private var refusedNumbers: Set<Int64> = []
  /// Those that a `SetPayload` asked for.
  private var payloads: Set<JSONTree> = []
  private var revisions: Set<Int64> = []
  private var lastRevision: [UInt32: Int64] = [:]
  /// The cancelled event that a replacement has to follow.
  private var replaced: [Key: (revision: Int64, standing: Standing)] = [:]
  private(set) var eventCount = 0
  private var path = ClockPath(from: VirtualClock().reading)
  /// What happened to the machine up to this turn, and what each user's witness was told of it.
  private var happened: [String] = []
  private var toldOfMachine: [UInt32: [String]] = [:]
  /// How long those had been due that a witness was told of in this turn, up to the first other thing.
  private var lastDrained: [UInt32: (due: Int64, revision: Int64)] = [:]
  private var draining: Set<UInt32> = []
  /// Those that waited for a verdict when they came due.
  private var heldUp: Set<Key> = []
  /// Those until an instant of which it is not known whether it was past when they were started.
  private var unsure: Set<Key> = []

  init(refusesSynced: Bool, isDelayed: Bool, retainUSec: Int64) {
    self.refusesSynced = refusesSynced
    self.isDelayed = isDelayed
    self.retainUSec = retainUSec
  }

  // MARK: Told by the simulation

  func witness(_ client: Int, of uid: UInt32) { witnesses[uid] = client }

  func listen(_ client: Int, uid: UInt32, prefix: String, kinds: [String], turn: Int) {
    listeners[client] = Listener(
      client: client, uid: uid, prefix: prefix, kinds: Set(kinds), startTurn: turn)
  }

  func stalls(_ client: Int) { listeners[client]?.mayHaveGap = true }

  func leaves(_ client: Int) { listeners[client] = nil }

  func note(start number: Int64, _ parameters: JSONTree, of owner: UInt32, sentAfter turn: Int) {
    starts[number] = (parameters, owner, turn)
  }

  func note(payload: JSONTree) { payloads.insert(payload) }

  /// The revision that stands under a name, for calls that name one.
  func revision(uid: UInt32, name: String) -> Int64? {
    current[Key(uid: uid, name: name)]?.revision
  }

  // MARK: After each turn

  func judge(_ world: World) {
    guard problems.isEmpty, let reading = world.readings.last else { return }
    beginTurn(world, reading)
    for news in world.written where witnesses[world.clients[news.client].uid] == news.client {
      for event in news.reply["events"]?.array ?? [] where event["kind"] != "heartbeat" {
        take(event, uid: world.clients[news.client].uid, world, reading)
      }
      if news.reply["gap"] == true { fail(world, "a witness has a gap") }
    }
    for (uid, client) in witnesses where !world.clients[client].calls[0].replies.isEmpty {
      if toldOfMachine[uid, default: []] != happened {
        fail(world, "\(uid) is told \(toldOfMachine[uid, default: []]), not \(happened)")
      }
    }
    for news in world.written { judge(news, world, reading) }
    for news in world.news where listeners[news.client] != nil { judgeListener(news, world) }
    judgePromptness(world, reading)
  }

  private func beginTurn(_ world: World, _ reading: Reading) {
    let clock = world.clock
    happened = path.note(clock.reading, slept: clock.slept, stepped: clock.stepped)
    toldOfMachine.removeAll(keepingCapacity: true)
    lastDrained.removeAll(keepingCapacity: true)
    draining = Set(witnesses.keys)
    states.removeAll(keepingCapacity: true)
    for (key, since) in endedAt where since + retainUSec <= reading.boottime {
      if lockedBefore.contains(key) {
        states[key] = [nil, current[key]]
      } else {
        current[key] = nil
        endedAt[key] = nil
        lastChange[key] = world.readings.count
      }
    }
  }

  /// What stood under a name in this turn, one after the other.
  func history(_ key: Key) -> [Standing?] { states[key] ?? [current[key]] }

  private func set(_ key: Key, _ standing: Standing, _ world: World, _ reading: Reading) {
    lastChange[key] = world.readings.count
    states[key] = history(key) + [standing]
    current[key] = standing
    endedAt[key] = standing.isEnded ? reading.boottime : nil
  }

  private func fail(_ world: World, _ text: String) {
    problems.append("turn \(world.readings.count): \(text)")
  }

  /// The readings at which something answered now may have been decided.
  private func window(_ world: World, since turn: Int) -> ArraySlice<Reading> {
    isDelayed
      ? world.readings[max(min(turn, world.readings.count - 1), 0)...] : world.readings.suffix(1)
  }

  // MARK: Events

  private func take(_ event: JSONTree, uid: UInt32, _ world: World, _ reading: Reading) {
    eventCount += 1
    if let kind = event["kind"]?.string, let by = event["byUSec"]?.integer {
      takeMachine(event, kind, by, uid, world, reading)
      return
    }
    guard let kind = event["kind"]?.string, let name = event["name"]?.string,
      let revision = event["revision"]?.integer, event["owner"] == .integer(Int64(uid))
    else { return fail(world, "an event is not the user's: \(event.text)") }
    for client in listeners.keys where listeners[client]?.uid == uid {
      let isFor = listeners[client].map { $0.kinds.contains(kind) && name.hasPrefix($0.prefix) }
      if isFor == true { listeners[client]?.expected.append((world.readings.count, event)) }
    }
    let key = Key(uid: uid, name: name)
    if replaced[key] != nil, kind != "started" {
      fail(
        world, "something came between the end of a countdown and what replaced it: \(event.text)")
    }
    switch kind {
    case "started":
      draining.remove(uid)
      takeStarted(event, key, revision, world, reading)
    case "expired", "missed": takeExpired(event, kind, key, revision, world, reading)
    case "cancelled":
      draining.remove(uid)
      takeCancelled(event, key, revision, world, reading)
    default:
      draining.remove(uid)
      takeMoved(event, kind, key, revision, world, reading)
    }
  }

  /// Before all else of its turn.
  private func takeMachine(
    _ event: JSONTree, _ kind: String, _ by: Int64, _ uid: UInt32, _ world: World,
    _ reading: Reading
  ) {
    for client in listeners.keys where listeners[client]?.uid == uid {
      if listeners[client]?.kinds.contains(kind) == true {
        listeners[client]?.expected.append((world.readings.count, event))
      }
    }
    toldOfMachine[uid, default: []].append("\(kind) \(by)")
    let isRight =
      event["at"]?["boottimeUSec"] == .integer(reading.boottime)
      && event["at"]?["realtimeUSec"] == .integer(reading.realtime)
    if !isRight { fail(world, "told of another moment: \(event.text)") }
    if !draining.contains(uid) || lastDrained[uid] != nil {
      fail(world, "told after what expired by it: \(event.text)")
    }
  }

  private func noteRevision(_ revision: Int64, _ key: Key, _ world: World) {
    if !revisions.insert(revision).inserted { fail(world, "revision \(revision) was used twice") }
    if let last = lastRevision[key.uid], revision <= last {
      fail(world, "revision \(revision) came after \(last)")
    }
    lastRevision[key.uid] = revision
  }

  private func takeStarted(
    _ event: JSONTree, _ key: Key, _ revision: Int64, _ world: World, _ reading: Reading
  ) {
    noteRevision(revision, key, world)
    let before: Standing?
    if let ended = replaced.removeValue(forKey: key) {
      if ended.revision != revision { fail(world, "replaced by another: \(event.text)") }
      before = ended.standing
    } else {
      before = current[key]
      if let before, !before.isEnded { fail(world, "started twice: \(event.text)") }
    }
    // Every start has a number in its payload; what has none, or an old one, was started again.
    let number = event["payload"]?["c"]?.integer ?? 0
    if number > 0, starts[number] == nil { return fail(world, "started by nobody: \(event.text)") }
    if refusedNumbers.contains(number) { fail(world, "it was refused, and started: \(event.text)") }
    let isRestart = number == 0 || !startedNumbers.insert(number).inserted
    let start = starts[number] ?? ([:], key.uid, 0)
    if start.owner != key.uid { fail(world, "started for another: \(event.text)") }
    var predictions: [Standing] = []
    for moment in window(world, since: isRestart ? 0 : start.sentAfter) {
      let prediction = predict(
        isRestart ? "Restart" : "Start", isRestart ? ["name": .string(key.name)] : start.parameters,
        on: before, at: moment, refusesSynced: refusesSynced)
      guard case .becomes(var next) = prediction else { continue }
      next.revision = revision
      predictions.append(next)
    }
    let deadline = deadline(of: event)
    guard
      let next = predictions.first(where: {
        $0.clock == deadline?.clock && $0.time == deadline?.time
      })
    else {
      return fail(
        world, "started otherwise than asked: \(event.text) before \(String(describing: before))")
    }
    if event["payload"] != next.payload { fail(world, "another payload: \(event.text)") }
    if event["occurrence"] != (next.interval > 0 ? 1 : nil) {
      fail(world, "occurrence: \(event.text)")
    }
    unsure.remove(key)
    if isDelayed, predictions.contains(where: { $0.pastAt != nil }) { unsure.insert(key) }
    heldUp.remove(key)
    set(key, next, world, reading)
  }

  /// Which clock a deadline is on shows by its members.
  func deadline(of event: JSONTree) -> (clock: String, time: Int64)? {
    guard let deadline = event["deadline"] else { return nil }
    if let time = deadline["boottimeUSec"]?.integer { return ("boottime", time) }
    if let time = deadline["monotonicUSec"]?.integer { return ("monotonic", time) }
    return deadline["realtimeUSec"]?.integer.map { ("realtime", $0) }
  }

  private func takeExpired(
    _ event: JSONTree, _ kind: String, _ key: Key, _ revision: Int64, _ world: World,
    _ reading: Reading
  ) {
    guard var standing = current[key], standing.state == "running", standing.revision == revision
    else {
      return fail(world, "expired, but \(String(describing: current[key])): \(event.text)")
    }
    let now = standing.now(reading)
    if now < standing.time { return fail(world, "early by \(standing.time - now): \(event.text)") }
    let overrun = standing.interval > 0 ? (now - standing.time) / standing.interval : 0
    let newest = standing.time + overrun * standing.interval
    let told = (
      event["lateUSec"]?.integer, deadline(of: event)?.time, event["occurrence"]?.integer,
      event["missedOccurrences"]?.integer ?? 0
    )
    let isRight =
      told.0 == now - newest && told.1 == newest && told.3 == overrun
      && told.2 == (standing.interval > 0 ? standing.occurrence + overrun : nil)
    if !isRight { fail(world, "expired otherwise than due: \(event.text), \(standing)") }
    judgeOrder(event, standing, key.uid, now - standing.time, world)
    let outcome = outcome(of: standing, newest, key, at: now)
    let reason = event["lateReason"]?.string
    let isKnown = outcome.map { $0 == (kind == "missed", reason) } ?? (reason != nil)
    if !isKnown {
      fail(world, "\(String(describing: outcome)) expected, not \(event.text), \(standing)")
    }
    heldUp.remove(key)
    if standing.interval > 0 {
      standing.time = newest + standing.interval
      standing.occurrence += overrun + 1
    } else {
      standing.state = kind
      standing.late = now - newest
      standing.lateReason = reason
    }
    set(key, standing, world, reading)
  }

  /// Whether one that comes to its deadline is missed, and why it is late; `nil` where that depends on what
  /// cannot be known.
  private func outcome(
    of standing: Standing, _ deadline: Int64, _ key: Key, at now: Int64
  ) -> (isMissed: Bool, reason: String?)? {
    if unsure.contains(key) { return nil }
    let since = max(deadline, standing.pastAt ?? .min)
    let clock = CountdownClock.allCases.first { "\($0)" == standing.clock } ?? .realtime
    let parts = path.lateness(of: since, on: clock)
    let isMissed = parts.isMissed(since, graceUSec: standing.grace)
    let late = now - since
    guard late >= 10_000 else { return (isMissed, "none") }
    // A call that waited as well hands it out in the turn of the verdict.
    let isSettled = isDelayed && (lockedBefore.contains(key) || states[key] != nil)
    let isHeldUp = heldUp.contains(key) || isSettled
    let rest = isHeldUp ? "storage" : "overload"
    let shares = [
      ("suspend", parts.slept), ("clockStep", parts.stepped),
      (rest, late - parts.slept - parts.stepped),
    ]
    let largest = shares.map(\.1).max()
    return (isMissed, shares.first { $0.1 == largest }?.0)
  }

  /// What is due comes first of all, and in order. Where verdicts come later, what was held up is handed
  /// out when it is free.
  private func judgeOrder(
    _ event: JSONTree, _ standing: Standing, _ uid: UInt32, _ due: Int64, _ world: World
  ) {
    if let before = lastDrained[uid], !isDelayed, draining.contains(uid),
      (before.due, -before.revision) < (due, -standing.revision)
    {
      fail(world, "told after one that was due later: \(event.text)")
    }
    lastDrained[uid] = (due, standing.revision)
  }

  private func takeCancelled(
    _ event: JSONTree, _ key: Key, _ revision: Int64, _ world: World, _ reading: Reading
  ) {
    guard var standing = current[key], !standing.isEnded, standing.revision == revision else {
      return fail(world, "cancelled, but \(String(describing: current[key])): \(event.text)")
    }
    let remaining = event["remainingUSec"]?.integer
    let isRight = window(world, since: world.readings.count - 100).contains {
      standing.remaining(at: $0) == remaining && (isDelayed || !standing.isDue(at: $0))
    }
    if !isRight { fail(world, "cancelled with another rest: \(event.text), \(standing)") }
    if let by = event["replacedBy"]?.integer {
      replaced[key] = (by, standing)
      return
    }
    standing.state = "cancelled"
    set(key, standing, world, reading)
  }

  private func takeMoved(
    _ event: JSONTree, _ kind: String, _ key: Key, _ revision: Int64, _ world: World,
    _ reading: Reading
  ) {
    noteRevision(revision, key, world)
    guard var standing = current[key], !standing.isEnded else {
      return fail(world, "\(kind), but \(String(describing: current[key])): \(event.text)")
    }
    let moments = window(world, since: world.readings.count - 100)
    let told = deadline(of: event)?.time ?? event["remainingUSec"]?.integer ?? -1
    switch kind {
    case "paused":
      let isRight =
        standing.state == "running" && moments.contains { standing.remaining(at: $0) == told }
      if !isRight { fail(world, "paused otherwise: \(event.text), \(standing)") }
      standing.state = "paused"
    case "resumed":
      let isRight =
        standing.state == "paused" && moments.contains { standing.now($0) + standing.time == told }
      if !isRight { fail(world, "resumed otherwise: \(event.text), \(standing)") }
      standing.state = "running"
    default:
      if (standing.state == "running") != (event["deadline"] != nil) {
        fail(world, "changed its state: \(event.text), \(standing)")
      }
      if event["payload"] != standing.payload {
        let isAsked = event["payload"].map { payloads.contains($0) } ?? true
        if !isAsked || told != standing.time {
          fail(world, "another payload: \(event.text), \(standing)")
        }
        standing.payload = event["payload"]
      }
    }
    if event["payload"] != standing.payload { fail(world, "another payload: \(event.text)") }
    standing.time = told
    standing.revision = revision
    set(key, standing, world, reading)
  }

  // MARK: Replies

  private func judge(_ news: World.News, _ world: World, _ reading: Reading) {
    guard let place = news.call else { return }
    let client = world.clients[news.client]
    let call = client.calls[place]
    // Whose countdowns it is about; `nil` for everybody's.
    let uid =
      call.parameters["allOwners"] == true
      ? nil : call.parameters["owner"]?.integer.map { UInt32($0) } ?? client.uid
    if client.uid != 0, uid != client.uid {
      if news.reply.errorName != "PermissionDenied" { fail(world, "\(call): \(news.reply)") }
      return
    }
    switch call.method {
    case "Count": judgeCount(news.reply, uid, world)
    case "StartMany": judgeStartMany(news.reply, call, uid ?? client.uid, world, reading)
    case "CancelMany": judgeCancelMany(news.reply, call, uid, world)
    case "GetMany": judgeMany(news.reply, call, uid ?? client.uid, world, reading)
    case "List": judgeList(news.reply, call, uid, world, reading)
    case "Subscribe", "Watch": break
    default: judgeOne(news.reply, call, uid ?? client.uid, world, reading)
    }
  }

  private func judgeOne(
    _ reply: VirtualClient.Reply, _ call: VirtualClient.Call, _ uid: UInt32, _ world: World,
    _ reading: Reading
  ) {
    guard let name = call.parameters["name"]?.string else { return }
    let key = Key(uid: uid, name: name)
    let number = call.parameters["payload"]?["c"]?.integer
    if reply.errorName == "StorageFailed", isDelayed {
      if let number, call.method == "Start" {
        if startedNumbers.contains(number) { fail(world, "it started, and was refused: \(call)") }
        refusedNumbers.insert(number)
      }
      return
    }
    let isLocked = lockedBefore.contains(key) || isLocked(key, world)
    let stood = history(key)
    for (place, standing) in stood.enumerated() {
      // Due time decides: what is due is handed out before a call looks at it.
      if standing?.isDue(at: reading) == true, !isLocked { continue }
      if fits(reply, call, on: standing, place, stood, world, reading) { return }
    }
    fail(world, "\(call.method) \(call.parameters.text) on \(stood): \(reply)")
  }

  private func fits(
    _ reply: VirtualClient.Reply, _ call: VirtualClient.Call, on standing: Standing?, _ place: Int,
    _ stood: [Standing?], _ world: World, _ reading: Reading
  ) -> Bool {
    func prediction(_ moment: Reading) -> Prediction {
      predict(call.method, call.parameters, on: standing, at: moment, refusesSynced: refusesSynced)
    }
    switch prediction(reading) {
    case .error(let name, let fields):
      return reply.errorName == name && reply.parameters == fields
    case .stands(let standing):
      if call.method == "Get" { return shows(reply["countdown"], standing, reading) }
      return reply.error == nil && reply["created"] == false && answers(reply, standing, reading)
    case .becomes: break
    }
    // The change is the next thing that happened to the name, or what followed its own replacement.
    guard reply.error == nil, let revision = reply["revision"]?.integer, place + 1 < stood.count,
      let next = stood[place + 1]
    else { return false }
    if call.method == "Cancel" {
      return next.state == "cancelled" && next.revision == revision
        && window(world, since: call.sentAfter).contains {
          standing?.remaining(at: $0) == reply["remainingUSec"]?.integer
        }
    }
    let isAsked = window(world, since: call.sentAfter).contains {
      guard case .becomes(var asked) = prediction($0) else { return false }
      asked.revision = revision
      return asked == next
    }
    if call.method == "SetPayload" { return isAsked && reply.parameters.count == 1 }
    if call.method == "Start" {
      let isNew = next.payload == call.parameters["payload"]
      guard reply["created"] == .boolean(isNew) else { return false }
    }
    return isAsked && answers(reply, next, reading)
  }

  /// Whether the fields that most replies share say what stands.
  private func answers(_ reply: VirtualClient.Reply, _ standing: Standing, _ reading: Reading)
    -> Bool
  {
    reply["revision"] == .integer(standing.revision)
      && reply["remainingUSec"] == .integer(standing.remaining(at: reading))
      && reply["now"]?["boottimeUSec"] == .integer(reading.boottime)
      && (reply["state"] ?? .string(standing.state)) == .string(standing.state)
      && (reply["deadline"] == nil) == (standing.state == "paused" || standing.state == "cancelled")
  }

  /// Whether a `Countdown` says what stands.
  private func shows(_ countdown: JSONTree?, _ standing: Standing, _ reading: Reading) -> Bool {
    guard let countdown else { return false }
    let deadline = deadline(of: countdown)?.time
    // Until an instant, the length depends on when the start was decided.
    let isLengthUnknown = isDelayed && standing.clock == "realtime"
    let hasDeadline = ["running", "expired", "missed"].contains(standing.state)
    return countdown["state"] == .string(standing.state)
      && countdown["clock"] == .string(standing.clock)
      && countdown["revision"] == .integer(standing.revision)
      && (countdown["durationUSec"] == .integer(standing.length) || isLengthUnknown)
      && countdown["remainingUSec"] == .integer(standing.remaining(at: reading))
      && countdown["payload"] == standing.payload
      && (countdown["repeatUSec"] ?? 0) == .integer(standing.interval)
      && deadline == (hasDeadline ? standing.time : nil)
      && countdown["lateUSec"]?.integer == standing.late
      && countdown["lateReason"]?.string == standing.lateReason
      && countdown["catchUp"] == (standing.grace > 0 ? "skip" : "fire")
      && (countdown["graceUSec"] ?? 0) == .integer(standing.grace)
  }

  private func judgeCount(_ reply: VirtualClient.Reply, _ uid: UInt32?, _ world: World) {
    guard isQuiet(uid) else { return }  // Which moment is not known.
    let mine = current.filter { uid == nil || $0.key.uid == uid }.values
    let isRight =
      reply["running"] == .integer(Int64(mine.count { $0.state == "running" }))
      && reply["paused"] == .integer(Int64(mine.count { $0.state == "paused" }))
      && reply["ended"] == .integer(Int64(mine.count { $0.isEnded }))
    if !isRight { fail(world, "Count: \(reply), \(mine)") }
  }

  /// Each result is one that the reply to a Start would be.
  private func judgeStartMany(
    _ reply: VirtualClient.Reply, _ call: VirtualClient.Call, _ uid: UInt32, _ world: World,
    _ reading: Reading
  ) {
    let items = call.parameters["countdowns"]?.array ?? []
    let results = reply["results"]?.array ?? []
    if items.count != results.count || reply.error != nil { fail(world, "\(call): \(reply)") }
    for (item, result) in zip(items, results) {
      let error = result["error"]?.string
      let one = VirtualClient.Reply(
        error: error,
        parameters: (error == nil ? result : result["errorParameters"])?.object ?? [:],
        continues: false)
      // Where verdicts come later, what became of the first may be long ago when the last is told.
      if isDelayed, one.errorName != "StorageFailed" { continue }
      judgeOne(
        one,
        VirtualClient.Call(
          method: "Start", parameters: item, isStreamed: false, sentAfter: call.sentAfter),
        uid, world, reading)
    }
  }

  /// What it cancels is judged by its events; they and the counts must agree.
  private func judgeCancelMany(
    _ reply: VirtualClient.Reply, _ call: VirtualClient.Call, _ uid: UInt32?, _ world: World
  ) {
    if isDelayed, reply.errorName == "StorageFailed" { return }
    let counts = ["cancelled", "ended", "missing"].map { reply[$0]?.integer ?? -1 }
    let names = call.parameters["names"]?.array
    var isRight = counts.allSatisfy { $0 >= 0 }
    if let names {
      isRight = isRight && counts.reduce(0, +) == Int64(names.count)
    } else {
      isRight = isRight && counts[2] == 0
    }
    if !isDelayed, let uid {
      // At the end of its turn at the latest each is known to have ended, whoever did it.
      for case let name? in names?.map(\.string) ?? [] {
        let stood = history(Key(uid: uid, name: name))
        isRight = isRight && stood.contains { $0?.isEnded ?? true }
      }
      if isQuiet(uid) { isRight = isRight && counts[0] == 0 }
    }
    if !isRight { fail(world, "\(call): \(reply)") }
  }

  private func judgeMany(
    _ reply: VirtualClient.Reply, _ call: VirtualClient.Call, _ uid: UInt32, _ world: World,
    _ reading: Reading
  ) {
    var told = (reply["countdowns"]?.array ?? [])[...]
    var missing = (reply["missing"]?.array ?? [])[...]
    for name in call.parameters["names"]?.array ?? [] {
      let key = Key(uid: uid, name: name.string ?? "")
      let isLocked = lockedBefore.contains(key) || isLocked(key, world)
      let stood = history(key).filter { $0?.isDue(at: reading) != true || isLocked }
      if told.first?["name"] == name {
        let countdown = told.removeFirst()
        if !stood.contains(where: { $0.map { shows(countdown, $0, reading) } ?? false }) {
          fail(world, "GetMany tells \(countdown.text), but \(stood)")
        }
      } else if missing.first != name || !stood.contains(where: { $0 == nil }) {
        fail(world, "GetMany \(call.parameters.text) on \(stood): \(reply)")
      } else {
        missing.removeFirst()
      }
    }
    if !told.isEmpty || !missing.isEmpty { fail(world, "GetMany tells too much: \(reply)") }
  }

  private func judgeList(
    _ reply: VirtualClient.Reply, _ call: VirtualClient.Call, _ uid: UInt32?, _ world: World,
    _ reading: Reading
  ) {
    let prefix = call.parameters["prefix"]?.string ?? ""
    let told = reply["countdowns"]?.array ?? []
    let keys = told.map {
      Key(uid: UInt32($0["owner"]?.integer ?? 0), name: $0["name"]?.string ?? "")
    }
    if keys != keys.sorted() || Set(keys).count != keys.count {
      fail(world, "a list is not in order: \(keys)")
    }
    for (key, countdown) in zip(keys, told) {
      let fits =
        key.name.hasPrefix(prefix) && (uid == nil || key.uid == uid)
        && history(key).contains { standing in
          standing.map { shows(countdown, $0, reading) } ?? false
        }
      if !fits { fail(world, "a list tells \(countdown.text), but \(history(key))") }
    }
    // Whole only where it is one reply and nothing happened meanwhile.
    guard reply["next"] == nil, !call.isStreamed, isQuiet(uid) else { return }
    let mine = current.keys.filter {
      (uid == nil || $0.uid == uid) && $0.name.hasPrefix(prefix)
    }
    if mine.sorted() != keys { fail(world, "a list tells \(keys), not \(mine)") }
  }

  /// Nothing of that user, or of anybody, has happened in this turn.
  private func isQuiet(_ uid: UInt32?) -> Bool {
    uid.map { uid in states.keys.allSatisfy { $0.uid != uid } } ?? states.isEmpty
  }

  // MARK: Listeners

  private func judgeListener(_ news: World.News, _ world: World) {
    guard var listener = listeners[news.client], news.reply.error == nil else { return }
    defer { listeners[news.client] = listener }
    if news.reply["ready"] == true {
      if listener.isReady { fail(world, "ready twice") }
      listener.isReady = true
    }
    if news.reply["gap"] == true {
      if !listener.mayHaveGap { fail(world, "a gap for one that reads") }
      listener.hasGap = true
    }
    for event in news.reply["events"]?.array ?? [] where event["kind"] != "heartbeat" {
      if !listener.isReady { fail(world, "an event before ready") }
      let rest = listener.expected[listener.cursor...]
      guard let found = rest.firstIndex(where: { $0.event == event }) else {
        return fail(world, "told what did not happen, twice, or is not for it: \(event.text)")
      }
      let passed = rest[..<found]
      let isBeginning = listener.isUnanchored && passed.allSatisfy { $0.turn <= listener.startTurn }
      if !passed.isEmpty, !listener.hasGap, !isBeginning {
        fail(world, "passed over \(passed.count) events before \(event.text)")
      }
      listener.cursor = found + 1
      listener.isUnanchored = false
      listener.hasGap = false
    }
  }

  // MARK: What must have come

  func isLocked(_ key: Key, _ world: World) -> Bool {
    world.ledger?.isDeciding(owner: key.uid, name: Array(key.name.utf8)) ?? false
  }

  private func judgePromptness(_ world: World, _ reading: Reading) {
    var locked: Set<Key> = []
    for (key, standing) in current {
      if isLocked(key, world) { locked.insert(key) }
      noteVerdict(key, standing, isLocked: locked.contains(key), reading)
      guard standing.isDue(at: reading), !locked.contains(key) else { continue }
      // Forward steps of less than that are noise to the wheel.
      if standing.clock == "realtime", reading.realtime - standing.time < 1_000 { continue }
      // What became due or free within this turn comes in the next one, and that is wanted at once.
      let isNew = states[key] != nil || lockedBefore.contains(key)
      if !isNew || world.service.nextWake != .now {
        fail(world, "\(key) is due and not told: \(standing)")
      }
    }
    lockedBefore = locked
    for (key, end) in replaced { fail(world, "\(key) was replaced by nothing: \(end)") }
  }

  /// One that is due and waits for a verdict, or has it since this turn, is held up by it.
  private func noteVerdict(
    _ key: Key, _ standing: Standing, isLocked: Bool, _ reading: Reading
  ) {
    guard standing.isDue(at: reading) else {
      heldUp.remove(key)
      return
    }
    guard isDelayed else { return }
    if isLocked || lockedBefore.contains(key) || states[key] != nil { heldUp.insert(key) }
  }

  /// At the end, when everybody has read everything.
  func judgeEnd(_ world: World) {
    guard problems.isEmpty else { return }
    for (place, client) in world.clients.enumerated() where !client.hasVanished && !client.isClosed
    {
      for call in client.calls where !call.isAnswered {
        let isStream = call.method == "Subscribe" || call.method == "Watch"
        if !isStream { fail(world, "client \(place) has no answer to \(call)") }
        break  // What comes after a stream waits for ever.
      }
    }
    for listener in listeners.values
    where !world.clients[listener.client].isClosed && !listener.hasGap {
      let rest = listener.expected[listener.cursor...]
      let isBeginning = listener.isUnanchored && rest.allSatisfy { $0.turn <= listener.startTurn }
      if !rest.isEmpty, !isBeginning {
        fail(world, "\(rest.count) events were never told: \(rest.first!)")
      }
    }
  }
}
