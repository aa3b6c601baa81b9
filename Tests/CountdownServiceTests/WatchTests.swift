import CountdownService
import Countdowns
import TestSupport
import Testing

@Suite("Watch")
struct WatchTests {
  private let minute: JSONTree = 60_000_000

  private func watch(
    _ world: World, _ names: [String], _ more: [String: JSONTree] = [:], uid: UInt32 = 1_000
  ) -> Int {
    let client = world.connect(uid: uid)
    var parameters = more
    parameters["names"] = .array(names.map(JSONTree.string))
    world.post("Watch", .object(parameters), .more, from: client)
    world.settle()
    return client
  }

  private func start(
    _ world: World, _ name: String, _ length: JSONTree, _ more: [String: JSONTree] = [:],
    from client: Int
  ) {
    var parameters = more
    parameters["name"] = .string(name)
    parameters["onConflict"] = "replace"
    if parameters["deadlineUSec"] == nil { parameters["durationUSec"] = length }
    world.call("Start", .object(parameters), from: client)
  }

  private func replies(_ world: World, _ client: Int) -> [VirtualClient.Reply] {
    world.clients[client].calls[0].replies
  }

  /// What it was told, reply by reply: `a running 5`.
  private func told(_ world: World, _ client: Int) -> [[String]] {
    replies(world, client).map { reply in
      (reply["countdowns"]?.array ?? []).map {
        let remaining = $0["remainingUSec"]?.integer.map { " \($0)" } ?? ""
        return "\($0["name"]?.string ?? "") \($0["state"]?.string ?? "")\(remaining)"
      }
    }
  }

  // MARK: What it tells

  @Test func `all are told at once, in the order given, and duplicates once`() {
    let world = World()
    let client = world.connect()
    for name in ["a", "b", "c"] { start(world, name, minute, from: client) }
    world.call("Pause", ["name": "b"], from: client)
    start(world, "d", 0, from: client)
    let watcher = watch(world, ["c", "x", "b", "c", "d", "x"])
    #expect(
      told(world, watcher) == [
        ["c running 60000000", "x absent", "b paused 60000000", "d expired 0"]
      ])
    let reply = replies(world, watcher)[0]
    #expect(reply.continues && reply["now"]?["boottimeUSec"] == 1_020_000_017)
    let get = world.call("Get", ["name": "c"], from: client)["countdown"]
    let first = reply["countdowns"]?.array?[0]
    #expect(first?["deadline"] == get?["deadline"] && first?["revision"] == get?["revision"])
    let rest = reply["countdowns"]?.array ?? []
    #expect(rest[1].object?.count == 2)
    #expect(rest[2]["deadline"] == nil && rest[2]["lateUSec"] == nil)
    #expect(rest[3]["lateUSec"] == 0 && rest[3]["deadline"] != nil)
    #expect(world.problems == [])
  }

  @Test func `every change is told in the turn it takes effect, and no other name with it`() {
    let world = World()
    let client = world.connect()
    start(world, "b", minute, from: client)
    let watcher = watch(world, ["a", "b"])
    start(world, "a", minute, from: client)
    for verb in ["Pause", "Resume", "Restart"] { world.call(verb, ["name": "a"], from: client) }
    world.call("Extend", ["name": "a", "byUSec": -1], from: client)
    world.call("SetPayload", ["name": "a", "payload": ["x": 1]], from: client)
    world.call("Cancel", ["name": "a"], from: client)
    start(world, "a", 5, from: client)
    world.run(5)
    #expect(
      told(world, watcher).dropFirst() == [
        ["a running 60000000"], ["a paused 60000000"], ["a running 60000000"],
        ["a running 60000000"], ["a running 59999999"], ["a running 59999999"], ["a cancelled 0"],
        ["a running 5"], ["a expired 0"],
      ])
    let revisions = replies(world, watcher).dropFirst().compactMap {
      $0["countdowns"]?.array?[0]["revision"]?.integer
    }
    #expect(revisions == revisions.sorted() && Set(revisions).count == 7)
    #expect(world.problems == [])
  }

  @Test func `what a call only looks at, or is refused, is not told`() {
    let world = World()
    let client = world.connect()
    start(world, "a", minute, from: client)
    let watcher = watch(world, ["a"])
    for (method, parameters): (String, JSONTree) in [
      ("Get", ["name": "a"]), ("Resume", ["name": "a"]), ("Cancel", ["name": "a", "revision": 1]),
      ("Start", ["name": "a", "durationUSec": 1]),
      ("Start", ["name": "a", "durationUSec": 1, "onConflict": "keep"]), ("List", [:]),
    ] { world.call(method, parameters, from: client) }
    #expect(told(world, watcher).count == 1)
  }

  @Test func `one that repeats is told again at each occurrence`() {
    let world = World()
    let watcher = watch(world, ["a"])
    start(world, "a", 5_000_000, ["repeatUSec": 2_000_000], from: world.connect())
    world.run(8_999_999)
    #expect(
      told(world, watcher).dropFirst() == [
        ["a running 5000000"], ["a running 2000000"], ["a running 2000000"],
      ])
  }

  @Test func `one that expires late says by how much`() {
    let world = World()
    let watcher = watch(world, ["a"])
    start(world, "a", 1_000_000, from: world.connect())
    world.clock.run(1_500_000)
    world.settle()
    let last = replies(world, watcher).last?["countdowns"]?.array?[0]
    #expect(last?["state"] == "expired" && last?["lateUSec"] == 500_000)
  }

  @Test func `what has ended is told as absent when it is no longer readable, and followed on`() {
    var limits = Limits()
    limits.retainEndedUSec = 10_000_000
    let world = World(limits: limits)
    let client = world.connect()
    let watcher = watch(world, ["a"])
    start(world, "a", 5, from: client)
    world.run(10_000_004)
    #expect(told(world, watcher).last == ["a expired 0"])
    world.run(1)
    #expect(told(world, watcher).last == ["a absent"])
    start(world, "a", minute, from: client)
    #expect(told(world, watcher).last == ["a running 60000000"])
    #expect(told(world, watcher).count == 5)
    #expect(world.problems == [])
  }

  @Test func `what too many others push out is absent as well`() {
    var limits = Limits()
    limits.retainedPerUser = 2
    let world = World(limits: limits)
    let client = world.connect()
    let watcher = watch(world, ["a", "b"])
    for name in ["a", "b", "c", "d"] { start(world, name, 0, from: client) }
    world.settle()
    let all = told(world, watcher).flatMap { $0 }
    #expect(all.filter { $0.hasPrefix("a") }.last == "a absent")
    #expect(all.filter { $0.hasPrefix("b") }.last == "b absent")
    #expect(world.problems == [])
  }

  @Test func `what is due is handed out before it is told`() {
    let world = World()
    let client = world.connect()
    let listener = world.connect()
    world.post("Subscribe", [:], .more, from: listener)
    let crowd = 1_500  // More than a turn tells.
    for number in 0..<crowd {
      world.post("Start", ["name": .string("n\(number)"), "durationUSec": 1_000_000], from: client)
    }
    world.settle()
    world.clock.run(1_000_000)
    let watcher = world.connect()
    world.post("Watch", ["names": ["n1499"]], .more, from: watcher)
    while replies(world, watcher).isEmpty { world.turn() }
    #expect(told(world, watcher) == [["n1499 expired 0"]])
    world.settle()
    #expect(told(world, watcher).count == 1)
    #expect(world.told(to: listener).count == crowd)
    #expect(world.problems == [])
  }

  @Test func `a name is the owner's: other users' are never told`() {
    let world = World()
    let (client, other) = (world.connect(), world.connect(uid: 9))
    let watcher = watch(world, ["a"])
    let admin = watch(world, ["a"], ["owner": 9], uid: 0)
    start(world, "a", minute, from: other)
    #expect(told(world, watcher) == [["a absent"]])
    #expect(told(world, admin) == [["a absent"], ["a running 60000000"]])
    start(world, "a", 5, from: client)
    world.run(5)
    #expect(told(world, admin).count == 2 && told(world, watcher).count == 3)
    let refused = world.call("Watch", ["names": ["a"], "owner": 0], .more, from: other)
    #expect(refused.errorName == "PermissionDenied")
    // Somebody whom nobody knew yet is followed from his first countdown on.
    let early = watch(world, ["a"], ["owner": 77], uid: 0)
    start(world, "a", minute, from: world.connect(uid: 77))
    #expect(told(world, early) == [["a absent"], ["a running 60000000"]])
    #expect(world.problems == [])
  }

  // MARK: Limits

  @Test func `a thousand names are watched, in replies below 64 KiB, and one more is refused`() {
    let world = World()
    let client = world.connect()
    let long = (0..<1_000).map { String(repeating: "\"", count: 251) + "\(1_000 + $0)" }
    for name in long.prefix(300) { start(world, name, minute, from: client) }
    let watcher = watch(world, long)
    let names = replies(world, watcher).flatMap { $0["countdowns"]?.array ?? [] }
    #expect(names.compactMap { $0["name"]?.string } == long)
    #expect(replies(world, watcher).count > 1)
    for reply in replies(world, watcher) {
      #expect(JSONTree.object(reply.parameters).text.utf8.count < 64 << 10)
    }
    let refused = world.call(
      "Watch", ["names": .array((long + ["a"]).map(JSONTree.string))], .more, from: client)
    #expect(refused.parameters == ["resource": "NamesPerCall", "limit": 1_000, "used": 1_001])
    #expect(world.problems == [])
  }

  @Test func `no name at all, and one that could be none, are refused`() {
    let world = World()
    let client = world.connect()
    let none = world.call("Watch", ["names": []], .more, from: client)
    #expect(none.errorName == "InvalidParameter" && none["parameter"] == "names")
    let bad = world.call("Watch", ["names": ["a", "\n"]], .more, from: client)
    #expect(bad.errorName == "InvalidParameter" && bad["parameter"] == "names[1]")
    let plain = world.call("Watch", ["names": ["a"]], from: client)
    #expect(plain.errorName == "ExpectedMore")
    #expect(world.call("Count", from: client).error == nil)
    #expect(world.problems == [])
  }

  @Test func `subscriptions and watches share the limits on streams`() {
    var limits = Limits()
    limits.streamsPerUser = 2
    limits.streams = 3
    let world = World(limits: limits)
    let first = watch(world, ["a"])
    let listener = world.connect()
    world.post("Subscribe", [:], .more, from: listener)
    world.settle()
    let third = watch(world, ["a"])
    #expect(
      replies(world, third).last?.parameters
        == ["resource": "MaxStreamsPerUser", "limit": 2, "used": 2])
    let root = watch(world, ["a"], uid: 0)
    #expect(replies(world, root).last?.error == nil)
    let last = watch(world, ["a"], uid: 5)
    #expect(
      replies(world, last).last?.parameters == ["resource": "MaxStreams", "limit": 3, "used": 3])
    world.vanish(first)
    world.settle()
    #expect(replies(world, watch(world, ["a"], uid: 5)).last?.error == nil)
    #expect(world.problems == [])
  }

  @Test
  func `watchers that go together are cleared away in slices, and nobody is told in their place`() {
    let world = World()
    world.checksInvariants = false
    let names = (0..<1_000).map { "n\($0)" }
    _ = watch(world, ["one that stays"], uid: 1_002)
    let watchers = (0..<60).map { watch(world, names, uid: 1_001 + UInt32($0 / 30)) }
    watchers.forEach(world.vanish)
    world.turn()
    #expect(world.service.nextWake == .now)
    #expect(world.service.brokenInvariant() == nil)
    // Places of theirs are taken again before all is cleared away, and then the last of the names changes.
    let others = (0..<2).map { _ in world.connect(uid: 1_001) }
    let otherNames = names.map { JSONTree.string("other \($0)") }
    for other in others { world.post("Watch", ["names": .array(otherNames)], .more, from: other) }
    for _ in 0..<3 { world.turn() }
    #expect(others.map { told(world, $0).joined().count } == [1_000, 1_000])
    let caller = world.connect(uid: 1_002)
    world.post("Start", ["name": "n999", "durationUSec": minute], from: caller)
    world.settle()
    #expect(others.map { told(world, $0).joined().count } == [1_000, 1_000])
    #expect(world.service.nextWake != .now)
    #expect(world.service.brokenInvariant() == nil)
  }

  @Test func `one user's watchers take no more of a turn than another's`() {
    let world = World()
    world.checksInvariants = false
    let names = (0..<1_000).map { "n\($0)" }
    let greedy = (0..<20).map { _ in watch(world, names, uid: 1_001) }
    let modest = watch(world, ["a"], uid: 1_002)
    let (first, second) = (world.connect(uid: 1_001), world.connect(uid: 1_002))
    let items = names.map { JSONTree.object(["name": .string($0), "durationUSec": minute]) }
    let before = told(world, modest).count
    world.post("StartMany", ["countdowns": .array(items)], from: first)
    world.post("Start", ["name": "a", "durationUSec": minute], from: second)
    world.turn()
    #expect(told(world, modest).count == before + 1)
    world.settle()
    #expect(greedy.map { told(world, $0).joined().count } == Array(repeating: 2_000, count: 20))
  }

  @Test func `a client that is gone leaves nothing behind`() {
    let world = World()
    let client = world.connect()
    start(world, "a", minute, from: client)
    let before = world.service.scheduler.footprint
    for round in 0..<20 {
      let watchers = (0..<3).map { _ in watch(world, ["a", "b", "c"], ["intervalUSec": 50_000]) }
      if round % 2 == 0 { watchers.forEach { world.setReading(false, $0) } }
      world.run(200_000)
      watchers.forEach(world.vanish)
      world.settle()
    }
    #expect(world.service.scheduler.users[0].watched == 0)
    #expect(world.service.scheduler.users[0].streams == 0)
    #expect(world.service.scheduler.footprint.entries <= before.entries + 3)
    // Nothing is left to wake up for but the countdown itself.
    #expect(world.run(10_000_000) == 0)
    #expect(world.problems == [])
  }

  // MARK: Ticks

  @Test func `with an interval each multiple of what remains is told, at its moment`() {
    let world = World()
    let client = world.connect()
    start(world, "a", 350_000, from: client)
    let watcher = watch(world, ["a"], ["intervalUSec": 100_000])
    let begin = world.clock.reading.boottime
    world.run(1_000_000)
    #expect(
      told(world, watcher) == [
        ["a running 350000"], ["a running 300000"], ["a running 200000"], ["a running 100000"],
        ["a expired 0"],
      ])
    let moments = replies(world, watcher).compactMap { $0["now"]?["boottimeUSec"]?.integer }
    #expect(moments.map { $0 - begin } == [0, 50_000, 150_000, 250_000, 350_000])
    #expect(world.problems == [])
  }

  /// The host then waits until the reading, which was rounded up, has really passed.
  @Test func `what is told because its time has come is known to be, and nothing else`() {
    let world = World()
    let client = world.connect()
    start(world, "a", 350_000, from: client)
    _ = watch(world, ["a"], ["intervalUSec": 100_000])
    let begin = world.clock.reading.boottime
    var moments: [Int64] = []
    world.afterTurn = {
      if $0.service.hasToldByTime { moments.append($0.clock.reading.boottime - begin) }
    }
    world.call("Pause", ["name": "a"], from: client)
    world.call("Resume", ["name": "a"], from: client)
    world.run(29_000_000)
    #expect(moments == [50_000, 150_000, 250_000, 350_000])
    world.run(60_000_000)
    #expect(moments.count == 4, "a heartbeat is no crossing")
    #expect(world.problems == [])
  }

  @Test func `a multiple that is met exactly is told once, and one interval is the last`() {
    let world = World()
    let client = world.connect()
    start(world, "a", 100_000, from: client)
    start(world, "b", 50_000, from: client)
    let watcher = watch(world, ["a", "b"], ["intervalUSec": 50_000])
    world.run(1_000_000)
    #expect(
      told(world, watcher) == [
        ["a running 100000", "b running 50000"], ["b expired 0", "a running 50000"],
        ["a expired 0"],
      ])
  }

  @Test func `without an interval no crossing is told`() {
    let world = World()
    start(world, "a", minute, from: world.connect())
    let watcher = watch(world, ["a"])
    #expect(world.run(29_000_000) == 0)
    #expect(told(world, watcher).count == 1)
  }

  @Test func `crossings within 10 ms are told together, with the last of them, and no later`() {
    let world = World()
    let client = world.connect()
    // The second comes 10 ms after the first, the third 10.001 ms: it waits for nobody any more.
    for (name, length): (String, JSONTree) in [
      ("a", 101_000), ("b", 111_000), ("c", 111_001), ("d", 130_000),
    ] { start(world, name, length, from: client) }
    let watcher = watch(world, ["d", "c", "b", "a"], ["intervalUSec": 100_000])
    let begin = world.clock.reading.boottime
    world.run(50_000)
    #expect(
      told(world, watcher).dropFirst() == [
        ["b running 100000", "a running 90000"], ["c running 100000"], ["d running 100000"],
      ])
    let moments = replies(world, watcher).compactMap { $0["now"]?["boottimeUSec"]?.integer }
    #expect(moments.map { $0 - begin } == [0, 11_000, 11_001, 30_000])
    #expect(world.problems == [])
  }

  @Test func `one that comes to be within 10 ms of the first is waited for as well`() {
    let world = World()
    let client = world.connect()
    start(world, "a", 101_000, from: client)
    start(world, "b", minute, from: client)
    let watcher = watch(world, ["a", "b"], ["intervalUSec": 100_000])
    world.call("Extend", ["name": "b", "toRemainingUSec": 105_000], from: client)
    world.run(1_000)
    #expect(told(world, watcher).count == 2)
    world.run(10_000)
    #expect(told(world, watcher).dropFirst(2) == [["a running 96000", "b running 100000"]])
    #expect(world.problems == [])
  }

  @Test func `paused and ended ones have no crossings, and one that goes on has them anew`() {
    let world = World()
    let client = world.connect()
    start(world, "a", 1_000_000, from: client)
    let watcher = watch(world, ["a"], ["intervalUSec": 300_000])
    world.run(50_000)
    world.call("Pause", ["name": "a"], from: client)
    world.run(10_000_000)
    world.call("Resume", ["name": "a"], from: client)
    world.run(60_000)
    world.call("Extend", ["name": "a", "toRemainingUSec": 650_000], from: client)
    world.run(60_000)
    world.call("Cancel", ["name": "a"], from: client)
    world.run(10_000_000)
    #expect(
      told(world, watcher) == [
        ["a running 1000000"], ["a paused 950000"], ["a running 950000"], ["a running 900000"],
        ["a running 650000"], ["a running 600000"], ["a cancelled 0"],
      ])
    #expect(world.problems == [])
  }

  @Test func `a loop that was away tells the newest only, and goes on from there`() {
    let world = World()
    start(world, "a", 10_000_000, from: world.connect())
    let watcher = watch(world, ["a"], ["intervalUSec": 1_000_000])
    world.clock.run(4_500_000)
    world.settle()
    world.run(600_000)
    #expect(
      told(world, watcher) == [
        ["a running 10000000"], ["a running 5500000"], ["a running 5000000"],
      ])
  }

  @Test func `a step of the wall clock moves the crossings of realtime ones, both ways`() {
    let world = World()
    let client = world.connect()
    let instant = world.clock.reading.realtime + 100_000_000
    start(world, "r", 0, ["deadlineUSec": .integer(instant)], from: client)
    let watcher = watch(world, ["r"], ["intervalUSec": 10_000_000, "heartbeatUSec": 1_000_000_000])
    world.clock.step(25_000_000)
    world.run(5_000_000)
    #expect(
      told(world, watcher).dropFirst() == [["r running 75000000"], ["r running 70000000"]])
    world.clock.step(-30_000_000)
    world.run(30_000_000)
    #expect(
      told(world, watcher).dropFirst(3) == [
        ["r running 100000000"], ["r running 90000000"], ["r running 80000000"],
        ["r running 70000000"],
      ])
    // A step over its end is its expiry, and no crossing.
    world.clock.step(1_000_000_000)
    world.settle()
    #expect(told(world, watcher).dropFirst(7) == [["r expired 0"]])
    #expect(world.problems == [])
  }

  @Test func `small steps that add up move the crossings as well`() {
    let world = World()
    let client = world.connect()
    let instant = world.clock.reading.realtime + 1_000_000
    start(world, "r", 0, ["deadlineUSec": .integer(instant)], from: client)
    let watcher = watch(world, ["r"], ["intervalUSec": 500_000])
    for _ in 0..<100 {
      world.clock.step(999)
      world.turn()
    }
    world.run(400_200)
    let last = replies(world, watcher).last?["countdowns"]?.array?[0]["remainingUSec"]?.integer ?? 0
    #expect(last <= 500_000 && last > 498_000)
    #expect(world.problems == [])
  }

  @Test func `the wall clock that falls behind by less than is noticed makes no crossing early`() {
    let world = World()
    let client = world.connect()
    let instant = world.clock.reading.realtime + 1_000_000
    start(world, "r", 0, ["deadlineUSec": .integer(instant)], from: client)
    let watcher = watch(world, ["r"], ["intervalUSec": 500_000])
    world.clock.step(-999)
    world.run(999_999)
    #expect(told(world, watcher) == [["r running 1000000"], ["r running 500000"]])
    world.run(1_000)
    #expect(told(world, watcher).last == ["r expired 0"])
    #expect(world.problems == [])
  }

  @Test func `sleep is told to who watches what runs, and moves the crossings of monotonic ones`() {
    let world = World()
    let client = world.connect()
    start(world, "m", 100_000_000, ["clock": "monotonic"], from: client)
    start(world, "b", 100_000_000, from: client)
    start(world, "p", 100_000_000, from: client)
    world.call("Pause", ["name": "p"], from: client)
    let watcher = watch(world, ["m", "b", "p"], ["intervalUSec": 40_000_000])
    world.clock.suspend(30_000_000)
    world.settle()
    #expect(told(world, watcher).last == ["m running 100000000", "b running 70000000"])
    world.run(20_000_000)
    #expect(told(world, watcher).last == ["m running 80000000"])
    let crossings = told(world, watcher).count
    world.run(9_999_999)
    #expect(told(world, watcher).count == crossings)
    #expect(world.problems == [])
  }

  @Test func `the longest interval and the longest countdown go together`() {
    let world = World()
    start(world, "a", 9_007_199_254_740_991, from: world.connect())
    let watcher = watch(
      world, ["a"],
      ["intervalUSec": 9_007_199_254_740_991, "heartbeatUSec": 9_007_199_254_740_991])
    #expect(told(world, watcher) == [["a running 9007199254740991"]])
    #expect(world.run(.days(30)) < 1_000)
    #expect(told(world, watcher).count == 1)
    #expect(world.problems == [])
  }

  // MARK: Who does not read

  @Test func `the newest wins: one that does not read is told once where each stands`() {
    let world = World()
    let client = world.connect()
    for name in ["a", "b", "c"] { start(world, name, minute, from: client) }
    let watcher = watch(world, ["a", "b", "c", "d"], ["intervalUSec": 50_000])
    world.setReading(false, watcher)
    world.call("Pause", ["name": "b"], from: client)  // The one reply that was under way.
    var most = 0
    for number in 0..<200 {
      start(world, "a", .integer(Int64(1_000_000 + number)), from: client)
      start(world, "d", 0, from: client)
      world.run(100_000)
      most = max(most, world.waitingText(for: watcher).utf8.count)
    }
    world.call("Cancel", ["name": "a"], from: client)
    #expect(most < 1_000)
    let before = told(world, watcher).count
    world.setReading(true, watcher)
    world.turn()
    world.turn()
    let after = told(world, watcher).dropFirst(before)
    #expect(after.count == 2)
    #expect(after.first == ["b paused 60000000"])
    #expect(
      Set(after.last ?? []) == ["a cancelled 0", "c running 40000000", "d expired 0"])
    #expect(world.problems == [])
  }

  @Test func `names that change faster than a watcher is told them take turns, and no more room`() {
    var limits = Limits()
    limits.listBytes = 3_000  // Some seven of a hundred names at a time.
    let world = World(limits: limits)
    let client = world.connect()
    let names = (100..<200).map { "n\($0)" }
    let watcher = watch(world, names)
    let items = names.map { ["name": JSONTree.string($0), "durationUSec": 60_000_000] as JSONTree }
    let first = replies(world, watcher).count
    for _ in 0..<60 {
      world.post("CancelMany", ["prefix": ""], from: client)
      world.post("StartMany", ["countdowns": .array(items)], from: client)
      world.turn()
    }
    // Nobody is passed over for those that change again.
    let told = replies(world, watcher).dropFirst(first).flatMap { $0["countdowns"]?.array ?? [] }
    let counts = names.map { name in told.count { $0["name"] == .string(name) } }
    #expect(told.count > 200 && (counts.max() ?? 0) - (counts.min() ?? 0) <= 1)
    world.settle()
    #expect(world.problems == [])
  }

  @Test func `one that does not read costs no wakes`() {
    let world = World()
    start(world, "a", minute, from: world.connect())
    let watcher = watch(world, ["a"], ["intervalUSec": 50_000])
    world.setReading(false, watcher)
    #expect(world.run(29_000_000) < 5)
    world.setReading(true, watcher)
    world.settle()
    #expect(world.run(1_000_000) >= 20)
    #expect(world.problems == [])
  }

  @Test func `after a silence comes a reply with no countdowns`() {
    let world = World()
    let client = world.connect()
    let watcher = watch(world, ["a"], ["heartbeatUSec": 2_000_000])
    let patient = watch(world, ["a"])
    world.run(2_000_000)
    world.run(1_000_000)
    start(world, "a", minute, from: client)
    world.run(2_000_000)
    #expect(
      told(world, watcher) == [["a absent"], [], ["a running 60000000"], []])
    #expect(told(world, patient).count == 2)
    world.run(28_000_000)
    #expect(told(world, patient).last == [])
    world.setReading(false, watcher)
    world.run(20_000_000)
    let read = told(world, watcher).count
    world.setReading(true, watcher)
    world.turn()
    #expect(told(world, watcher).count == read + 1)
    #expect(world.problems == [])
  }

  // MARK: What is under way

  @Test func `a change is told at its verdict, and one that is refused is not`() {
    let world = World(ledger: .prompt)
    let client = world.connect()
    start(world, "a", 1_000_000, from: client)
    let watcher = watch(world, ["a"], ["intervalUSec": 400_000])
    world.holdsVerdicts = true
    world.post("Pause", ["name": "a"], from: client)
    world.settle()
    // It runs on until then, and does not expire.
    world.run(1_500_000)
    #expect(
      told(world, watcher) == [
        ["a running 1000000"], ["a running 800000"], ["a running 400000"],
      ])
    world.holdsVerdicts = false
    world.settle()
    #expect(told(world, watcher).dropFirst(3) == [["a paused 1000000"]])
    world.setRefusals(100)
    world.call("Resume", ["name": "a"], from: client)
    #expect(told(world, watcher).count == 4)
    #expect(world.problems == [])
  }

  @Test func `ten thousand changes of a turn are told over several, to every watcher at last`() {
    let world = World()
    let client = world.connect()
    let names = (0..<1_000).map { "n\($0)" }
    let watchers = (0..<10).map { _ in watch(world, names) }
    let items = names.map { ["name": JSONTree.string($0), "durationUSec": 60_000_000] as JSONTree }
    world.post("StartMany", ["countdowns": .array(items)], from: client)
    world.settle()
    for watcher in watchers {
      let running = told(world, watcher).flatMap { $0 }.filter { $0.hasSuffix("running 60000000") }
      #expect(running.count == 1_000 && Set(running).count == 1_000)
    }
    #expect(world.problems == [])
  }
}
