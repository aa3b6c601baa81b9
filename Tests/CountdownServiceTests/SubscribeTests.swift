import CountdownService
import Countdowns
import TestSupport
import Testing

@Suite("Subscribe")
struct SubscribeTests {
  private let minute: JSONTree = 60_000_000
  private let all: JSONTree = [
    "started", "changed", "paused", "resumed", "expired", "missed", "cancelled",
  ]

  private func subscribe(
    _ world: World, _ parameters: JSONTree = [:], uid: UInt32 = 1_000
  ) -> Int {
    let client = world.connect(uid: uid)
    world.post("Subscribe", parameters, .more, from: client)
    world.settle()
    return client
  }

  private func start(_ world: World, _ name: String, _ length: JSONTree, from client: Int) {
    world.call(
      "Start", ["name": .string(name), "durationUSec": length, "onConflict": "replace"],
      from: client)
  }

  private func replies(_ world: World, _ client: Int) -> [VirtualClient.Reply] {
    world.clients[client].calls[0].replies
  }

  @Test func `a subscriber hears what happens from its call on, ready first`() {
    let world = World()
    let client = world.connect()
    start(world, "before", 0, from: client)
    world.run(1)
    let listener = subscribe(world)
    start(world, "after", 1_000, from: client)
    world.run(1_000_000)
    #expect(replies(world, listener)[0].parameters == ["ready": true])
    #expect(world.told(to: listener) == ["expired after"])
    #expect(replies(world, listener).allSatisfy { $0.continues })
  }

  @Test func `what comes in the same write before the call is not heard, what comes after is`() {
    let world = World()
    let (client, listener) = (world.connect(), world.connect())
    world.post("Start", ["name": "a", "durationUSec": minute], from: listener)
    world.post("Subscribe", ["kinds": all], .more, from: listener)
    world.turn()
    world.post("Start", ["name": "b", "durationUSec": minute], from: client)
    world.settle()
    #expect(world.told(to: listener) == ["started b"])
  }

  @Test func `without kinds it hears how countdowns end`() {
    let world = World()
    let client = world.connect()
    let (plain, everything) = (subscribe(world), subscribe(world, ["kinds": all]))
    let (none, some) = (
      subscribe(world, ["kinds": []]), subscribe(world, ["kinds": ["paused", "resumed"]])
    )
    start(world, "a", minute, from: client)
    for verb in ["Pause", "Resume", "Restart"] { world.call(verb, ["name": "a"], from: client) }
    world.call("Extend", ["name": "a", "byUSec": 1], from: client)
    world.call("Cancel", ["name": "a"], from: client)
    start(world, "b", 5, from: client)
    world.run(5)
    #expect(world.told(to: plain) == ["cancelled a", "cancelled a", "expired b"])
    #expect(
      world.told(to: everything) == [
        "started a", "paused a", "resumed a", "cancelled a", "started a", "changed a",
        "cancelled a",
        "started b", "expired b",
      ])
    #expect(world.told(to: none) == [])
    #expect(world.told(to: some) == ["paused a", "resumed a"])
    #expect(world.problems == [])
  }

  @Test func `a prefix selects by bytes, and other users' events are never heard`() {
    let world = World()
    let client = world.connect()
    let listener = subscribe(world, ["prefix": "a/", "kinds": all])
    let root = subscribe(world, ["kinds": all], uid: 0)
    for name in ["a", "a/", "a/1", "a0", "A/1"] { start(world, name, minute, from: client) }
    start(world, "a/2", minute, from: world.connect(uid: 9))
    #expect(world.told(to: listener) == ["started a/", "started a/1"])
    #expect(world.told(to: root) == [])
  }

  @Test func `includeState tells what there is, then ready, then events`() {
    let world = World()
    let client = world.connect()
    let payload: JSONTree = ["x": .string(String(repeating: "x", count: 4_000))]
    let names = (100..<200).map { "a/\($0)" }
    for name in names {
      world.call(
        "Start", ["name": .string(name), "durationUSec": minute, "payload": payload], from: client)
    }
    start(world, "b", minute, from: client)
    world.call("Cancel", ["name": "a/150"], from: client)
    let listener = world.connect()
    world.setReading(false, listener)
    world.post(
      "Subscribe", ["prefix": "a/", "includeState": true, "kinds": all], .more, from: listener)
    world.settle()
    world.call("Cancel", ["name": "a/100"], from: client)
    world.setReading(true, listener)
    world.settle()
    let replies = replies(world, listener)
    let ready = replies.firstIndex { $0["ready"] == true } ?? 0
    #expect(ready > 1)
    let state = replies[..<ready].flatMap { $0["countdowns"]?.array ?? [] }
    #expect(state.compactMap { $0["name"]?.string } == names)
    #expect(state.count { $0["state"] == "cancelled" } >= 1)
    #expect(replies[..<ready].allSatisfy { $0["events"] == nil })
    #expect(world.told(to: listener) == ["cancelled a/100"])
    #expect(world.problems == [])
  }

  @Test func `telling a state tells what that hands out`() {
    let world = World()
    let (client, listener) = (world.connect(), subscribe(world))
    let late = world.connect()
    world.post("Start", ["name": "a", "durationUSec": 0], from: client)
    world.post("Subscribe", ["includeState": true], .more, from: late)
    world.settle()
    #expect(world.told(to: listener) == ["expired a"])
    #expect(replies(world, late)[0]["countdowns"]?.array?[0]["state"] == "expired")
  }

  /// 4 KB of payload each, so that a stalled reader's queue and the ring are soon full.
  private func makeNoise(_ world: World, _ count: Int, from client: Int) {
    let payload: JSONTree = ["x": .string(String(repeating: "x", count: 4_000))]
    for number in 0..<count {
      world.post(
        "Start",
        [
          "name": .string("n\(number)"), "durationUSec": 0, "payload": payload,
          "onConflict": "replace",
        ],
        from: client)
      world.settle()
    }
  }

  @Test func `B46: one that does not read gets a gap, costs nobody anything, and goes on after it`()
  {
    var limits = Limits()
    limits.recentEventsBytes = 100_000
    limits.retainedPerUser = 10
    let world = World(limits: limits)
    world.checksInvariants = false
    let (client, slow, prompt) = (world.connect(), subscribe(world), subscribe(world))
    world.setReading(false, slow)
    makeNoise(world, 400, from: client)
    #expect(world.told(to: prompt).count == 400)
    #expect(replies(world, prompt).allSatisfy { $0["gap"] == nil })
    let waiting = world.service.withOutput(of: world.clients[slow].id) { $0.count }
    #expect(waiting < 400 << 10)
    world.setReading(true, slow)
    world.settle()
    let gaps = replies(world, slow).filter { $0["gap"] == true }
    #expect(gaps.count == 1)
    let told = world.told(to: slow)
    #expect(told.count < 400 && told.last == "expired n399")
    let order = told.compactMap { Int($0.dropFirst("expired n".count)) }
    #expect(order == order.sorted() && Set(order).count == order.count)
    makeNoise(world, 1, from: client)
    #expect(world.told(to: slow).last == "expired n0")
    #expect(replies(world, slow).last?["gap"] == nil)
    #expect(world.problems == [])
  }

  @Test func `B46: who reads hears of a crowd without a gap, whatever the events' size`() {
    var limits = Limits()
    limits.recentEventsBytes = 300 << 10
    let world = World(limits: limits)
    world.checksInvariants = false
    let (client, listener) = (world.connect(), subscribe(world))
    let payload: JSONTree = ["x": .string(String(repeating: "x", count: 1_000))]
    let deadline = world.clock.reading.realtime + 1_000_000
    for name in 0..<800 {
      world.post(
        "Start",
        ["name": .string("n\(name)"), "deadlineUSec": .integer(deadline), "payload": payload],
        from: client)
    }
    world.run(1_000_000)
    #expect(world.told(to: listener) == (0..<800).map { "expired n\($0)" })
    #expect(replies(world, listener).allSatisfy { $0["gap"] == nil })
    #expect(world.clock.reading.realtime == deadline)
  }

  @Test func `a heartbeat comes after a silence, and only then`() {
    let world = World()
    let client = world.connect()
    let listener = subscribe(world, ["heartbeatUSec": 10_000_000])
    world.run(9_999_999)
    #expect(world.events(of: listener).isEmpty)
    world.run(1)
    #expect(world.told(to: listener) == ["heartbeat "])
    world.run(6_000_000)
    start(world, "a", 0, from: client)
    world.run(9_999_999)
    #expect(world.told(to: listener) == ["heartbeat ", "expired a"])
    world.run(1)
    #expect(world.told(to: listener) == ["heartbeat ", "expired a", "heartbeat "])
    #expect(
      world.events(of: listener).last?["at"]?["boottimeUSec"]?.integer
        == world.clock.reading.boottime)
    #expect(world.run(60_000_000) <= 8)
    #expect(world.problems == [])
  }

  @Test func `the heartbeat is every 30 s without being asked for`() {
    let world = World()
    let listener = subscribe(world)
    world.run(.minutes(10))
    #expect(world.events(of: listener).count == 20)
  }

  @Test func `one that does not read is sent no heartbeats`() {
    let world = World()
    let listener = subscribe(world)
    let client = world.connect()
    world.setReading(false, listener)
    start(world, "a", 0, from: client)
    world.run(.hours(1))
    world.setReading(true, listener)
    world.settle()
    #expect(world.told(to: listener) == ["expired a"])
    world.run(30_000_000)
    #expect(world.told(to: listener) == ["expired a", "heartbeat "])
  }

  @Test func `a subscriber that sends no more goes on hearing`() {
    let world = World()
    let (client, listener) = (world.connect(), subscribe(world))
    world.shutDown(listener)
    world.settle()
    start(world, "a", 0, from: client)
    world.settle()
    #expect(world.told(to: listener) == ["expired a"])
    #expect(!world.clients[listener].isClosed)
    world.vanish(listener)
    start(world, "b", 0, from: client)
    world.settle()
    #expect(world.clients[listener].isClosed)
    #expect(world.service.brokenInvariant() == nil)
  }

  @Test func `calls behind a subscription are not handled`() {
    let world = World()
    let listener = subscribe(world)
    world.post("Start", ["name": "a", "durationUSec": minute], from: listener)
    world.settle()
    #expect(world.call("Count", from: world.connect())["running"] == 0)
  }

  @Test func `what is replaced is told as cancelled, and by what`() {
    let world = World()
    let (client, listener) = (world.connect(), subscribe(world, ["kinds": all]))
    let first = world.call(
      "Start", ["name": "a", "durationUSec": minute, "payload": ["n": 1]], from: client)
    world.run(10_000_000)
    let second = world.call("Restart", ["name": "a"], from: client)
    let third = world.call(
      "Start", ["name": "a", "durationUSec": 5, "onConflict": "replace"], from: client)
    let events = world.events(of: listener)
    #expect(
      world.told(to: listener) == [
        "started a", "cancelled a", "started a", "cancelled a", "started a",
      ])
    #expect(
      events.map { $0["revision"] } == [first, first, second, second, third].map { $0["revision"] })
    #expect(
      events.map { $0["replacedBy"] } == [nil, second["revision"], nil, third["revision"], nil])
    #expect(events.map { $0["remainingUSec"] } == [minute, 50_000_000, minute, minute, 5])
    #expect(events.map { $0["payload"] } == [["n": 1], ["n": 1], ["n": 1], ["n": 1], nil])
  }

  @Test func `expiries come in order of deadline, then of revision`() {
    let world = World()
    let (client, listener) = (world.connect(), subscribe(world))
    for (name, length) in [("c", 300), ("a", 100), ("b", 100), ("d", 64), ("e", 300)]
      as [(String, JSONTree)]
    {
      start(world, name, length, from: client)
    }
    world.clock.run(1_000)
    world.settle()
    #expect(world.told(to: listener) == ["d", "a", "b", "c", "e"].map { "expired \($0)" })
    #expect(world.events(of: listener).map { $0["lateUSec"] } == [936, 900, 900, 700, 700])
  }
}
