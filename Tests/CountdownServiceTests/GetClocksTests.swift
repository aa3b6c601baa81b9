import CountdownService
import Countdowns
import TestSupport
import Testing

@Suite("GetClocks")
struct GetClocksTests {
  private let world = World()

  private func clocks(from client: Int) -> VirtualClient.Reply {
    let reply = world.call("GetClocks", from: client)
    #expect(world.problems == [])
    return reply
  }

  private func told(_ reply: VirtualClient.Reply) -> [String] {
    (reply["discontinuities"]?.array ?? []).map { one in
      let members = ["sleptUSec", "steppedUSec", "awayUSec"].compactMap { field in
        one[field]?.integer.map { "\(field) \($0)" }
      }
      return ([one["kind"]?.string ?? ""] + members).joined(separator: " ")
    }
  }

  @Test func `on a machine where nothing happened it tells the clocks, and nothing else`() {
    let reply = clocks(from: world.connect())
    let now = world.clock.reading
    #expect(
      reply["now"] == [
        "realtimeUSec": .integer(now.realtime), "boottimeUSec": .integer(now.boottime),
        "monotonicUSec": .integer(now.monotonic),
      ])
    #expect(reply["bootID"]?.string == World.bootID)
    #expect(reply["sleptUSec"] == 180_000_000)
    #expect(reply["synchronized"] == false)
    #expect(reply["discontinuities"] == [])
  }

  @Test func `whether the clock is synchronised is what the host saw last`() {
    let client = world.connect()
    world.service.machine = Service.Machine(isSynchronized: true)
    #expect(clocks(from: client)["synchronized"] == true)
    world.service.machine.isSynchronized = false
    #expect(clocks(from: client)["synchronized"] == false)
  }

  @Test func `what happened is told in order, each once, with when it was noticed`() {
    let client = world.connect()
    world.clock.suspend(.hours(8))
    world.settle()
    let slept = world.clock.reading
    world.run(.minutes(1))
    world.clock.step(-.hours(1))
    world.settle()
    world.clock.suspend(.seconds(5))
    world.clock.step(2_000)
    world.settle()
    let reply = clocks(from: client)
    #expect(
      told(reply) == [
        "slept sleptUSec 28800000000", "stepped steppedUSec -3600000000",
        "sleptAndStepped sleptUSec 5000000 steppedUSec 2000",
      ])
    #expect(
      reply["discontinuities"]?.array?.first?["at"]?["boottimeUSec"] == .integer(slept.boottime))
    #expect(reply["sleptUSec"] == .integer(180_000_000 + .hours(8) + .seconds(5)))
    world.run(.days(1))
    #expect(told(clocks(from: client)).count == 3)
  }

  @Test func `what a sleep or a step did is told to whom it did it, and of all to administrators`()
  {
    let (mine, other, admin) = (world.connect(), world.connect(uid: 1_001), world.connect(uid: 0))
    func start(_ name: String, _ more: [String: JSONTree], from client: Int) {
      world.call(
        "Start", .object(more.merging(["name": .string(name)]) { $1 }), from: client)
    }
    let hour: JSONTree = 3_600_000_000
    start("late", ["durationUSec": hour], from: mine)
    start("missed", ["durationUSec": hour, "catchUp": "skip"], from: mine)
    start("awake", ["durationUSec": hour, "clock": "monotonic"], from: mine)
    start("others", ["durationUSec": hour], from: other)
    world.clock.suspend(.hours(2))
    world.settle()
    let noon = world.clock.reading.realtime + .hours(1)
    start("noon", ["deadlineUSec": .integer(noon)], from: other)
    world.clock.step(.hours(3))
    world.settle()
    func effects(_ parameters: JSONTree, from client: Int) -> [[Int64]] {
      (world.call("GetClocks", parameters, from: client)["discontinuities"]?.array ?? []).map {
        [$0["expired"]?.integer ?? -1, $0["missed"]?.integer ?? -1]
      }
    }
    #expect(effects([:], from: mine) == [[1, 1], [0, 0]])
    #expect(effects([:], from: other) == [[1, 0], [1, 0]])
    #expect(effects(["allOwners": true], from: admin) == [[2, 1], [1, 0]])
    #expect(effects(["owner": 1_001], from: admin) == [[1, 0], [1, 0]])
    #expect(world.problems == [])
  }

  @Test func `the turn that finds it says so to the host, and only that one`() {
    world.settle()
    #expect(world.service.discontinuity == nil)
    world.clock.step(1_000)
    world.turn()
    #expect(world.service.discontinuity?.kind == .stepped)
    world.turn()
    #expect(world.service.discontinuity == nil)
  }

  @Test func `a loop that comes 100 ms after its wake was away, one that comes before was not`() {
    for (late, isTold) in [(99_999, false), (100_000, true)] as [(Int64, Bool)] {
      let world = World()
      let client = world.connect()
      world.call("Start", ["name": "a", "durationUSec": 5_000_000], from: client)
      world.clock.run(5_000_000 + late)
      world.turn()
      #expect((world.service.discontinuity?.kind == .stalled) == isTold)
      #expect(world.service.discontinuity?.awayUSec == (isTold ? late : nil))
      // Nothing waits any more: nobody can tell.
      world.run(.seconds(400))
      world.clock.run(.days(1))
      world.turn()
      #expect(world.service.discontinuity == nil)
      #expect(world.problems == [])
    }
  }

  @Test func `a sleep is no absence, however long after the wake it ends`() {
    let client = world.connect()
    world.call("Start", ["name": "a", "durationUSec": 5_000_000], from: client)
    world.clock.suspend(.hours(1))
    world.turn()
    #expect(world.service.discontinuity?.kind == .slept)
    #expect(world.service.discontinuity?.awayUSec == nil)
  }

  @Test func `a coarse reading tells of nothing it is not sure of, and moves no deadline`() {
    let client = world.connect()
    world.call("Start", ["name": "a", "durationUSec": 60_000_000], from: client)
    let deadline = world.call("Get", ["name": "a"], from: client)["countdown"]?["deadline"]
    var torn = world.clock.reading
    torn.realtime += 5_000
    torn.uncertaintyUSec = 5_000
    world.service.turn(at: torn)
    #expect(world.service.discontinuity == nil)
    world.post("Get", ["name": "a"], from: client)
    world.settle()
    let again = world.clients[client].calls.last?.replies.last?["countdown"]?["deadline"]
    #expect(again == deadline)
    #expect(told(clocks(from: client)) == [])
  }

  @Test func `everybody may ask`() {
    for uid: UInt32 in [0, 1_000, 65_534] {
      #expect(clocks(from: world.connect(uid: uid)).error == nil)
    }
  }

  @Test func `forty steps and forty stalls leave sixteen of each`() {
    let client = world.connect()
    for count in 1...40 as ClosedRange<Int64> {
      world.clock.step(count * 1_000)
      world.turn()
      world.call(
        "Start", ["name": "a", "durationUSec": 1_000, "onConflict": "replace"], from: client)
      world.clock.run(1_000_000)
      world.turn()
    }
    let told = told(clocks(from: client))
    #expect(told.count == 32)
    #expect(told.first == "stepped steppedUSec 25000")
    #expect(told.last == "stalled awayUSec 999000")
  }
}
