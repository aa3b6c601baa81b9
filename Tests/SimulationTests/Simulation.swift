import CountdownService
import Countdowns
import TestSupport
import TimingWheel

/// One history of a whole daemon, by its seed: clients of several users who do everything clients do,
/// clocks that do everything clocks do, and an ``Oracle`` that looks on.
final class Simulation {
  private let seed: UInt64
  private var random: SplitMix64
  private let world: World
  private let oracle: Oracle
  private var clockOracle = ClockOracle()
  private let watchOracle: WatchOracle
  private let users: [UInt32] = [1_000, 1_001, 0]
  private var witnesses: [Int] = []
  private var callers: [Int] = []
  private var subscribers: [Int] = []
  private var watchers: [Int] = []
  private var number: Int64 = 0
  /// Noise comes once in a history, for it takes as long as all the rest; else never.
  private var hasMadeNoise = true
  /// Which actions come how often; some never.
  private var weights: [(action: Action, weight: Int)] = []
  private let lengths: [ClosedRange<Int64>] = [
    0...0, 1...200, 1_000...100_000, 1_000_000...10_000_000, 60_000_000...900_000_000,
    3_600_000_000...864_000_000_000, 864_000_000_000...7_776_000_000_000,
  ]

  private enum Action: CaseIterable {
    case start, verb, look, count, list, stream, burst, oneway
    case subscribe, stall, noise, resume, vanish, connect, halfCall, garbage
    case runShort, runToWake, runLong, suspend, stepForward, stepBack, stallLoop
    case lookAtMany, cancelMany, startMany, watch
  }

  /// - Parameter isDelayed: On a ledger whose verdicts come later.
  init(seed: UInt64, isDelayed: Bool) {
    self.seed = seed
    random = SplitMix64(seed: seed)
    var limits = Limits()
    // Small ones make gaps of what a stalled listener has not taken; a witness takes all at once.
    if Int.random(in: 0..<3, using: &random) == 0 {
      limits.recentEventsBytes = 40_000
      limits.messageBytes = 16 << 10
      limits.queuedReplyBytes = 64 << 10
      hasMadeNoise = false
    }
    limits.retainEndedUSec = [2_000_000, 300_000_000].randomElement(using: &random)!
    let ledger = DelayingLedger(
      seed: seed &+ 1,
      habits: .init(
        slowestTurns: [1, 3, 20].randomElement(using: &random)!,
        refusedPercent: [0, 0, 10, 50].randomElement(using: &random)!),
      firstRevision: 1)
    world = World(
      limits: limits, ledger: isDelayed ? ledger : nil,
      piecesSeed: Bool.random(using: &random) ? seed : nil)
    oracle = Oracle(
      refusesSynced: !isDelayed, isDelayed: isDelayed, retainUSec: limits.retainEndedUSec)
    watchOracle = WatchOracle(oracle)
    for action in Action.allCases where Int.random(in: 0..<4, using: &random) > 0 {
      weights.append((action, Int.random(in: 1...10, using: &random)))
    }
    // Where there can be a gap, one is looked for.
    if !hasMadeNoise { weights += [(.subscribe, 3), (.noise, 3)] }
    weights += [(.start, 5), (.verb, 2), (.runToWake, 2)]
    let (oracle, watchOracle) = (oracle, watchOracle)
    world.afterTurn = { [unowned self] world in
      oracle.judge(world)
      watchOracle.judge(world)
      clockOracle.judge(world)
      // They cost more than all the rest.
      world.checksInvariants = world.readings.count % 4 == 0
    }
  }

  /// Runs it.
  ///
  /// - Returns: What was wrong, in words, how many events and how many ticks were told, what was met, and
  ///   how long it took by its own clocks.
  func run(
    steps: Int
  ) -> (problems: [String], events: Int, ticks: Int, coverage: Coverage, passedUSec: Int64) {
    for uid in users {
      let witness = world.connect(uid: uid)
      world.sendWhole(to: witness)
      oracle.witness(witness, of: uid)
      witnesses.append(witness)
      world.post(
        "Subscribe",
        [
          "kinds": .array(Simulation.kinds.map(JSONTree.string)),
          "heartbeatUSec": 9_007_199_254_740_991,
        ], .more, from: witness)
      callers += [world.connect(uid: uid), world.connect(uid: uid)]
    }
    world.settle()
    let total = weights.reduce(0) { $0 + $1.weight }
    for step in 0..<steps where problems.isEmpty {
      var draw = Int.random(in: 0..<total, using: &random)
      for (action, weight) in weights {
        draw -= weight
        if draw < 0 {
          act(action)
          break
        }
      }
      switch Int.random(in: 0..<4, using: &random) {
      case 0: break
      case 1: world.settle()
      default: world.turn()
      }
      if step % 50 == 49 { world.run(1_000) }
    }
    for client in callers + subscribers + watchers where !world.clients[client].hasVanished {
      world.setReading(true, client)
    }
    world.settle()
    oracle.judgeEnd(world)
    judgeStatistics()
    watchOracle.judgeEnd(world)
    return (
      problems, oracle.eventCount, watchOracle.tickCount, world.coverage,
      world.clock.ran + world.clock.slept
    )
  }

  private var problems: [String] {
    world.problems + oracle.problems + watchOracle.problems + clockOracle.problems
  }

  /// The daemon has counted what each user's witness was told, and noticed what the clocks did.
  private func judgeStatistics() {
    guard problems.isEmpty else { return }
    let admin = world.connect(uid: 0)
    var sum: [Int64] = [0, 0, 0, 0]
    let kinds = ["started", "expired", "missed", "cancelled"]
    func counts(_ reply: VirtualClient.Reply) -> [Int64] {
      kinds.map { reply["sinceStart"]?[$0]?.integer ?? -1 }
    }
    for (uid, witness) in zip(users, witnesses) {
      let reply = world.call("GetStatistics", ["owner": .integer(Int64(uid))], from: admin)
      let events = world.events(of: witness)
      let told = kinds.map { kind in
        Int64(events.count { $0["kind"]?.string == kind })
      }
      if counts(reply) != told {
        world.problems.append("of user \(uid) \(counts(reply)) were counted, not \(told)")
      }
      let late = (reply["lateness"]?.array ?? []).reduce(0) { $0 + ($1["count"]?.integer ?? 0) }
      if late != told[1] { world.problems.append("\(late) latenesses of \(told[1]) expiries") }
      for place in sum.indices { sum[place] += told[place] }
    }
    let all = world.call("GetStatistics", ["allOwners": true], from: admin)
    if counts(all) != sum {
      world.problems.append("in all \(counts(all)) were counted, not \(sum)")
    }
    clockOracle.judgeEnd(world.call("GetClocks", from: admin))
  }

  private static let kinds = [
    "started", "changed", "paused", "resumed", "expired", "missed", "cancelled", "clockStepped",
    "slept",
  ]

  // MARK: Actions

  private func act(_ action: Action) {
    switch action {
    case .start: post("Start", start())
    case .verb: verb()
    case .look: post("Get", ["name": name()])
    case .lookAtMany:
      let names = (0..<Int.random(in: 0...5, using: &random)).map { _ in name() }
      post("GetMany", ["names": .array(names)])
    case .count: post("Count", [:])
    case .cancelMany:
      let names = (0..<Int.random(in: 0...5, using: &random)).map { _ in name() }
      let prefix: JSONTree = ["a/", "b", "c/1"].randomElement(using: &random)!
      post(
        "CancelMany",
        Bool.random(using: &random) ? ["names": .array(names)] : ["prefix": prefix],
        Int.random(in: 0..<5, using: &random) == 0 ? .oneway : nil)
    case .startMany:
      let items = (0..<Int.random(in: 0...6, using: &random)).map { _ in start() }
      post(
        "StartMany", ["countdowns": .array(items)],
        Int.random(in: 0..<5, using: &random) == 0 ? .oneway : nil)
    case .list: post("List", ["prefix": ["", "a/", "b"].randomElement(using: &random)!])
    case .stream: post("List", [:], .more)
    case .burst:
      for _ in 0..<Int.random(in: 2...12, using: &random) {
        act([.start, .verb, .look, .verb].randomElement(using: &random)!)
      }
    case .oneway: Bool.random(using: &random) ? post("Start", start(), .oneway) : verb(.oneway)
    case .subscribe: subscribe()
    case .watch: watch()
    case .stall:
      for client in [
        subscribers.randomElement(using: &random), callers.randomElement(using: &random),
        watchers.randomElement(using: &random),
      ] {
        guard let client else { continue }
        world.setReading(false, client)
        oracle.stalls(client)
      }
    case .noise: makeNoise()
    case .resume:
      for client in callers + subscribers + watchers { world.setReading(true, client) }
    case .vanish: vanish()
    case .connect:
      if callers.count < 12 {
        callers.append(world.connect(uid: users.randomElement(using: &random)!))
      }
    case .halfCall:
      end(with: #"{"method":"io.countdownd.Countdown.Start","parameters":{"name":"half","dur"#)
    case .garbage:
      end(
        with: ["\0", "[1]\0", "{}\0", "nonsense\0", "{\"method\":1}\0"].randomElement(
          using: &random)!)
    case .runShort: world.clock.run(.random(in: 0...2_000, using: &random))
    case .runToWake:
      if case .at(let instant) = world.service.nextWake {
        let wait = Int64(instant.rawValue) - world.clock.reading.boottime
        if wait > .days(100) { return }
        world.clock.run(max(wait + .random(in: -1...1, using: &random), 0))
      }
    case .runLong:
      let length = Int64.random(in: lengths[..<5].randomElement(using: &random)!, using: &random)
      // Every tick is a turn, and must not be all that there is.
      world.run(min(length, 100 * (watchOracle.shortestInterval ?? length)))
    case .suspend:
      world.clock.suspend(.random(in: lengths[3...].randomElement(using: &random)!, using: &random))
    case .stepForward: step(1)
    case .stepBack: step(-1)
    case .stallLoop:
      let wait = Int64.random(in: lengths[3...].randomElement(using: &random)!, using: &random)
      world.clock.run(wait)
    }
  }

  /// From a microsecond to twenty years; the wall clock stays within some lifetimes of now.
  private func step(_ direction: Int64) {
    let range = (lengths[1...] + [.days(365)...(.days(7_300))]).randomElement(using: &random)!
    let step = direction * Int64.random(in: range, using: &random)
    if abs(world.clock.stepped + step) < .days(20_000) { world.clock.step(step) }
  }

  private func name() -> JSONTree {
    ["a/1", "a/2", "a/3", "a", "b", "bé", "c/1"].randomElement(using: &random).map(JSONTree.string)!
  }

  private func post(
    _ method: String, _ parameters: JSONTree, _ flag: World.Flag? = nil, from caller: Int? = nil
  ) {
    guard let client = caller ?? callers.randomElement(using: &random) else { return }
    var parameters = parameters
    if Int.random(in: 0..<(world.clients[client].uid == 0 ? 2 : 12), using: &random) == 0,
      caller == nil, case .object(var members) = parameters
    {
      let isList =
        method == "List" || method == "Count" || parameters["prefix"] != nil
      if isList, Bool.random(using: &random) {
        members["allOwners"] = true
      } else {
        members["owner"] = .integer(Int64(users.randomElement(using: &random)!))
      }
      parameters = .object(members)
    }
    for start in method == "Start" ? [parameters] : parameters["countdowns"]?.array ?? [] {
      guard let number = start["payload"]?["c"]?.integer else { continue }
      let owner = parameters["owner"]?.integer ?? Int64(world.clients[client].uid)
      oracle.note(start: number, start, of: UInt32(owner), sentAfter: world.readings.count)
    }
    world.post(method, parameters, flag, from: client)
  }

  private func start() -> JSONTree {
    number += 1
    var call: [String: JSONTree] = ["name": name(), "payload": ["c": .integer(number)]]
    if Int.random(in: 0..<8, using: &random) == 0 {
      call["payload"] = ["c": .integer(number), "x": .string(String(repeating: "x", count: 800))]
    }
    let length = Int64.random(in: lengths.randomElement(using: &random)!, using: &random)
    if Int.random(in: 0..<4, using: &random) == 0 {
      call["deadlineUSec"] = .integer(
        world.clock.reading.realtime + length - [0, 500].randomElement(using: &random)!)
    } else {
      call["durationUSec"] = .integer(Int.random(in: 0..<50, using: &random) == 0 ? -1 : length)
      if Bool.random(using: &random) {
        call["clock"] = ["boottime", "monotonic"].randomElement(using: &random)!
      }
    }
    if Int.random(in: 0..<3, using: &random) > 0 {
      call["onConflict"] = ["fail", "keep", "once", "replace", "replace", "extendOnly"]
        .randomElement(using: &random)!
    }
    if Int.random(in: 0..<4, using: &random) == 0 {
      call["repeatUSec"] = .integer(.random(in: 5_000_000...300_000_000, using: &random))
    }
    if Int.random(in: 0..<10, using: &random) == 0 { call["durability"] = "synced" }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: call["catchUp"] = "skip"
    case 1:
      call["catchUp"] = "skip"
      call["graceUSec"] = .integer(
        .random(
          in: [1_000_000...1_000_000, 1_000_000...900_000_000].randomElement(using: &random)!,
          using: &random))
    default: break
    }
    if call["onConflict"] == "replace", Bool.random(using: &random) {
      call["revision"] = revision(call["name"])
    }
    return .object(call)
  }

  /// One that is, mostly, and one that is not.
  private func revision(_ name: JSONTree?) -> JSONTree? {
    guard Int.random(in: 0..<5, using: &random) > 0 else { return 12_345 }
    let known = oracle.revision(uid: users.randomElement(using: &random)!, name: name?.string ?? "")
    return known.map(JSONTree.integer)
  }

  private func verb(_ flag: World.Flag? = nil) {
    let method = [
      "Pause", "Resume", "Restart", "Extend", "Extend", "Cancel", "SetPayload",
    ].randomElement(using: &random)!
    var call: [String: JSONTree] = ["name": name()]
    if method == "Extend" {
      let length = Int64.random(in: lengths.randomElement(using: &random)!, using: &random)
      if Bool.random(using: &random) {
        call["byUSec"] = .integer(Bool.random(using: &random) ? length : -length)
      } else {
        call["toRemainingUSec"] = .integer(length)
      }
    }
    if method == "SetPayload", Int.random(in: 0..<3, using: &random) > 0 {
      number += 1
      call["payload"] = ["p": .integer(number)]
      oracle.note(payload: ["p": .integer(number)])
    }
    if Int.random(in: 0..<4, using: &random) == 0 { call["revision"] = revision(call["name"]) }
    post(method, .object(call), flag)
  }

  private func subscribe() {
    guard subscribers.count < 8 else { return }
    let caller = users.randomElement(using: &random)!
    let uid = caller == 0 ? users.randomElement(using: &random)! : caller
    let client = world.connect(uid: caller)
    subscribers.append(client)
    let prefix = ["", "a", "a/", "b"].randomElement(using: &random)!
    var kinds = ["expired", "missed", "cancelled", "clockStepped", "slept"]
    var call: [String: JSONTree] = ["prefix": .string(prefix)]
    if uid != caller { call["owner"] = .integer(Int64(uid)) }
    if Bool.random(using: &random) {
      kinds = Simulation.kinds.filter { _ in Bool.random(using: &random) }
      call["kinds"] = .array(kinds.map(JSONTree.string))
    }
    call["includeState"] = Bool.random(using: &random) ? true : nil
    if Bool.random(using: &random) {
      call["heartbeatUSec"] = .integer(.random(in: 5_000_000...500_000_000, using: &random))
    }
    world.post("Subscribe", .object(call), .more, from: client)
    // Listened to from the turn on that handles it, which shows by its first reply.
    repeat {
      oracle.listen(client, uid: uid, prefix: prefix, kinds: kinds, turn: world.readings.count + 1)
      world.turn()
    } while !world.written.contains { $0.client == client } && problems.isEmpty
  }

  private func watch() {
    guard watchers.count < 5 else { return }
    let caller = users.randomElement(using: &random)!
    let uid = caller == 0 ? users.randomElement(using: &random)! : caller
    let client = world.connect(uid: caller)
    watchers.append(client)
    let names = (0..<Int.random(in: 1...8, using: &random)).map { _ in name().string! }
    let intervals: [Int64?] = [nil, 50_000, 1_000_000, 20_000_000, 3_600_000_000]
    let interval = intervals.randomElement(using: &random)!
    var call: [String: JSONTree] = ["names": .array(names.map(JSONTree.string))]
    if uid != caller { call["owner"] = .integer(Int64(uid)) }
    if let interval { call["intervalUSec"] = .integer(interval) }
    if Bool.random(using: &random) {
      call["heartbeatUSec"] = .integer(.random(in: 5_000_000...500_000_000, using: &random))
    }
    watchOracle.watch(client, uid: uid, names: names, interval: interval)
    world.post("Watch", .object(call), .more, from: client)
  }

  /// One does not read while much happens.
  private func makeNoise() {
    guard !hasMadeNoise, !subscribers.isEmpty else { return }
    hasMadeNoise = true
    guard let client = subscribers.randomElement(using: &random),
      let caller = callers.first(where: { world.clients[$0].uid == world.clients[client].uid })
    else { return }
    world.setReading(false, client)
    oracle.stalls(client)
    for _ in 0..<45 {
      guard case .object(var call) = start() else { return }
      number += 1
      call["payload"] = ["c": .integer(number), "x": .string(String(repeating: "x", count: 800))]
      call["onConflict"] = "replace"
      call["revision"] = nil
      post("Start", .object(call), from: caller)
      world.turn()
    }
  }

  private func vanish() {
    if Bool.random(using: &random), let place = subscribers.indices.randomElement(using: &random) {
      oracle.leaves(subscribers[place])
      world.vanish(subscribers.remove(at: place))
    } else if Bool.random(using: &random),
      let place = watchers.indices.randomElement(using: &random)
    {
      watchOracle.leaves(watchers[place])
      world.vanish(watchers.remove(at: place))
    } else if callers.count > 4 {
      world.vanish(callers.remove(at: .random(in: callers.indices, using: &random)))
    }
  }

  private func end(with text: String) {
    let client = world.connect(uid: users.randomElement(using: &random)!)
    world.send(text, from: client)
    Bool.random(using: &random) ? world.shutDown(client) : world.vanish(client)
  }
}
