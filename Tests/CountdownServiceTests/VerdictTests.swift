import CountdownService
import Countdowns
import TestSupport
import Testing

/// Calls whose changes the ledger answers later: what waits for what.
@Suite("Verdicts")
struct VerdictTests {
  private let minute: JSONTree = 60_000_000

  private func isAnswered(_ world: World, _ client: Int) -> [Bool] {
    world.clients[client].calls.map(\.isAnswered)
  }

  @Test func `a reply leaves with its verdict, and nothing of the change is seen before`() {
    let world = World(ledger: .prompt)
    let (client, other) = (world.connect(), world.connect())
    let listener = world.connect()
    world.post("Subscribe", ["kinds": ["started"]], .more, from: listener)
    world.settle()
    world.holdsVerdicts = true
    world.post("Start", ["name": "a", "durationUSec": minute], from: client)
    world.settle()
    #expect(isAnswered(world, client) == [false])
    #expect(world.call("Get", ["name": "a"], from: other).errorName == "NoSuchCountdown")
    #expect(world.told(to: listener) == [])
    world.run(1_000_000)
    world.holdsVerdicts = false
    world.settle()
    #expect(isAnswered(world, client) == [true])
    #expect(world.told(to: listener) == ["started a"])
    // It counts from when it was decided.
    #expect(
      world.call("Get", ["name": "a"], from: other)["countdown"]?["remainingUSec"] == 59_000_000)
    #expect(world.problems == [])
  }

  @Test func `calls on one connection wait for each other, whatever they are about`() {
    let world = World(ledger: .prompt)
    let client = world.connect()
    world.holdsVerdicts = true
    world.post("Start", ["name": "a", "durationUSec": minute], from: client)
    world.post("Count", from: client)
    world.post("Start", ["name": "b", "durationUSec": minute], from: client)
    world.settle()
    #expect(isAnswered(world, client) == [false, false, false])
    world.holdsVerdicts = false
    world.settle()
    #expect(isAnswered(world, client) == [true, true, true])
    #expect(world.clients[client].calls[1].replies[0]["running"] == 1)
  }

  @Test func `a change of the same name on another connection is decided on the outcome`() {
    for refused in [0, 100] {
      let world = World(ledger: .prompt)
      let (first, second) = (world.connect(), world.connect())
      world.setRefusals(refused)
      world.holdsVerdicts = true
      world.post("Start", ["name": "a", "durationUSec": minute], from: first)
      world.settle()
      world.post("Start", ["name": "a", "durationUSec": minute], from: second)
      world.settle()
      #expect(isAnswered(world, second) == [false])
      world.holdsVerdicts = false
      world.turn()
      world.setRefusals(0)
      world.settle()
      let outcomes = [first, second].map { world.clients[$0].calls[0].replies[0].errorName }
      #expect(outcomes == (refused == 0 ? [nil, "CountdownExists"] : ["StorageFailed", nil]))
      #expect(world.problems == [])
    }
  }

  @Test func `other names and looks do not wait`() {
    let world = World(ledger: .prompt)
    let (first, second) = (world.connect(), world.connect())
    world.call("Start", ["name": "a", "durationUSec": minute], from: first)
    world.holdsVerdicts = true
    world.post("Cancel", ["name": "a"], from: first)
    world.settle()
    #expect(world.call("Get", ["name": "a"], from: second)["countdown"]?["state"] == "running")
    #expect(world.call("List", from: second)["countdowns"]?.array?.count == 1)
    world.post("Start", ["name": "b", "durationUSec": minute], from: second)
    world.post("Cancel", ["name": "a"], from: world.connect(uid: 5))
    world.settle()
    #expect(world.clients[2].calls[0].replies[0].errorName == "NoSuchCountdown")
    world.holdsVerdicts = false
    world.settle()
    #expect(isAnswered(world, second) == [true, true, true])
    #expect(world.problems == [])
  }

  @Test func `a Cancel decided before the deadline wins, though its verdict comes after`() {
    let world = World(ledger: .prompt)
    let (client, listener) = (world.connect(), world.connect())
    world.post("Subscribe", [:], .more, from: listener)
    world.call("Start", ["name": "a", "durationUSec": 1_000_000], from: client)
    world.run(999_999)
    world.holdsVerdicts = true
    world.post("Cancel", ["name": "a"], from: client)
    world.settle()
    world.run(5_000_000)
    #expect(world.told(to: listener) == [])
    world.holdsVerdicts = false
    world.settle()
    #expect(world.clients[client].calls[1].replies[0]["remainingUSec"] == 1)
    #expect(world.told(to: listener) == ["cancelled a"])
    #expect(world.problems == [])
  }

  @Test func `an expiry waits for the verdict, and comes when that was a refusal`() {
    let world = World(ledger: .prompt)
    let (client, listener) = (world.connect(), world.connect())
    world.post("Subscribe", [:], .more, from: listener)
    world.call("Start", ["name": "a", "durationUSec": 1_000_000], from: client)
    world.setRefusals(100)
    world.holdsVerdicts = true
    world.post("Cancel", ["name": "a"], from: client)
    world.settle()
    world.run(5_000_000)
    #expect(world.told(to: listener) == [])
    world.holdsVerdicts = false
    world.settle()
    #expect(world.clients[client].calls[1].replies[0].errorName == "StorageFailed")
    #expect(world.told(to: listener) == ["expired a"])
    #expect(world.events(of: listener)[0]["lateUSec"] == 4_000_000)
    #expect(world.events(of: listener)[0]["lateReason"] == "storage")
  }

  @Test func `a Start shorter than its verdict answers first, and then expires`() {
    let world = World(ledger: .prompt)
    let (client, listener) = (world.connect(), world.connect())
    world.post("Subscribe", ["kinds": ["started", "expired"]], .more, from: listener)
    world.settle()
    world.holdsVerdicts = true
    world.post("Start", ["name": "a", "durationUSec": 10], from: client)
    world.settle()
    world.run(1_000)
    world.holdsVerdicts = false
    world.settle()
    #expect(world.clients[client].calls[0].replies[0]["created"] == true)
    #expect(world.told(to: listener) == ["started a", "expired a"])
    #expect(world.events(of: listener)[1]["lateUSec"] == 990)
    #expect(world.events(of: listener)[1]["lateReason"] == "none")
  }

  /// Else one that pipelines changes of one name would keep everybody else from it.
  @Test func `who waits for a name has it before the next call of who had it`() {
    let world = World(ledger: .prompt)
    let clients = (0..<4).map { _ in world.connect() }
    world.call("Start", ["name": "a", "durationUSec": minute], from: clients[0])
    world.holdsVerdicts = true
    for _ in 0..<5 { world.post("Extend", ["name": "a", "byUSec": 1], from: clients[0]) }
    world.turn()
    for client in clients[1...] {
      for _ in 0..<2 { world.post("Extend", ["name": "a", "byUSec": 1], from: client) }
      world.turn()
    }
    world.holdsVerdicts = false
    var order: [Int] = []
    while !world.isSettled {
      world.turn()
      order += world.news.map(\.client)
    }
    #expect(order == [0, 1, 2, 3, 0, 1, 2, 3, 0, 0, 0])
    #expect(world.problems == [])
  }

  @Test func `a oneway call is not answered by its verdict either, and the next call waits for it`()
  {
    for refusals in [0, 100] {
      let world = World(ledger: .prompt)
      let client = world.connect()
      world.setRefusals(refusals)
      world.post("Start", ["name": "a", "durationUSec": minute], .oneway, from: client)
      world.post("Count", from: client)
      world.settle()
      #expect(world.clients[client].calls.map(\.replies.count) == [1])
      #expect(
        world.clients[client].calls[0].replies[0]["running"]?.integer == (refusals == 0 ? 1 : 0))
      #expect(world.clients[client].unexpected == [])
    }
  }

  @Test func `a change outlives its connection`() {
    let world = World(ledger: .prompt)
    let (client, waiting, other) = (world.connect(), world.connect(), world.connect())
    world.holdsVerdicts = true
    world.post("Start", ["name": "a", "durationUSec": minute], from: client)
    world.settle()
    world.post("Pause", ["name": "a"], from: waiting)
    world.settle()
    world.vanish(client)
    world.vanish(waiting)
    world.settle()
    #expect(!world.clients[client].isClosed)
    world.holdsVerdicts = false
    world.settle()
    #expect(world.clients[client].isClosed && world.clients[waiting].isClosed)
    #expect(world.call("Get", ["name": "a"], from: other)["countdown"]?["state"] == "paused")
  }

  @Test func `what is on its way counts against the quota`() {
    var limits = Limits()
    limits.countdownsPerUser = 2
    limits.payloadBytesPerUser = 30
    let world = World(limits: limits, ledger: .prompt)
    let clients = (0..<4).map { _ in world.connect() }
    world.holdsVerdicts = true
    for (place, client) in clients.enumerated() {
      world.post("Start", ["name": .string("n\(place)"), "durationUSec": minute], from: client)
    }
    world.settle()
    #expect(clients.map { isAnswered(world, $0) } == [[false], [false], [true], [true]])
    #expect(
      world.clients[clients[2]].calls[0].replies[0].parameters
        == ["resource": "MaxCountdownsPerUser", "limit": 2, "used": 2])
    world.setRefusals(100)
    world.holdsVerdicts = false
    world.settle()
    world.setRefusals(0)
    #expect(
      world.call("Start", ["name": "n", "durationUSec": minute], from: clients[0]).error == nil)
    #expect(world.problems == [])
  }

  @Test func `a payload on its way counts against the quota`() {
    var limits = Limits()
    limits.payloadBytesPerUser = 30
    let world = World(limits: limits, ledger: .prompt)
    let clients = (0..<2).map { _ in world.connect() }
    func start(_ name: String, _ payload: JSONTree) -> JSONTree {
      ["name": .string(name), "durationUSec": minute, "payload": payload]
    }
    world.call("Start", start("a", ["a": "0123456789"]), from: clients[0])
    world.holdsVerdicts = true
    world.post("Start", start("b", ["a": "x"]), from: clients[0])
    world.settle()
    let reply = world.call("Start", start("c", ["a": "x"]), from: clients[1])
    #expect(reply.parameters == ["resource": "MaxPayloadBytesPerUser", "limit": 30, "used": 27])
    world.setRefusals(100)
    world.holdsVerdicts = false
    world.settle()
    world.setRefusals(0)
    #expect(world.call("Start", start("c", ["a": "x"]), from: clients[1]).error == nil)
  }

  @Test func `a store that fails says which errno, and whether the outcome is unknown`() {
    let world = World()
    let client = world.connect()
    let reply = world.call(
      "Start", ["name": "a", "durationUSec": 1, "durability": "synced"], from: client)
    #expect(reply.errorName == "StorageFailed")
    #expect(reply.parameters == ["errno": 95, "errnoName": "ENOTSUP"])
    #expect(world.call("Get", ["name": "a"], from: client).errorName == "NoSuchCountdown")
  }

  @Test func `SetPayload waits for its verdict, and one that is refused never was`() {
    let world = World(ledger: .prompt)
    let (client, other) = (world.connect(), world.connect())
    let listener = world.connect()
    world.post("Subscribe", ["kinds": ["changed", "expired"]], .more, from: listener)
    let start = world.call(
      "Start", ["name": "a", "durationUSec": 1_000_000, "payload": ["a": 1]], from: client)
    world.setRefusals(100)
    #expect(
      world.call("SetPayload", ["name": "a", "payload": ["a": 2]], from: client).errorName
        == "StorageFailed")
    world.setRefusals(0)
    world.holdsVerdicts = true
    world.post("SetPayload", ["name": "a", "payload": ["a": 3]], from: client)
    world.settle()
    let before = world.call("Get", ["name": "a"], from: other)["countdown"]
    #expect(before?["payload"] == ["a": 1] && before?["revision"] == start["revision"])
    world.run(2_000_000)
    #expect(world.told(to: listener) == [])
    world.holdsVerdicts = false
    world.settle()
    let reply = world.clients[client].calls.last?.replies.last
    #expect(reply?.parameters.keys.sorted() == ["revision"])
    #expect(world.told(to: listener) == ["changed a", "expired a"])
    let events = world.events(of: listener)
    #expect(events.allSatisfy { $0["payload"] == ["a": 3] && $0["revision"] == reply?["revision"] })
    #expect(events.allSatisfy { $0["deadline"] == start["deadline"] })
    #expect(world.problems == [])
  }

  @Test func `SetPayload without a payload takes it away, and names the revision it is for`() {
    let world = World()
    let client = world.connect()
    let start = world.call(
      "Start", ["name": "a", "durationUSec": minute, "payload": ["a": 1]], from: client)
    let first = world.call("SetPayload", ["name": "a", "payload": .null], from: client)
    #expect(world.call("Get", ["name": "a"], from: client)["countdown"]?["payload"] == nil)
    let late = world.call(
      "SetPayload", ["name": "a", "payload": [:], "revision": start["revision"] ?? 0], from: client)
    #expect(late.errorName == "RevisionMismatch" && late["revision"] == first["revision"])
    #expect(world.call("SetPayload", ["name": "b"], from: client).errorName == "NoSuchCountdown")
    #expect(world.problems == [])
  }

  @Test func `what moves a countdown without starting it leaves its payload alone`() {
    let world = World(ledger: .prompt)
    let client = world.connect()
    world.call("Start", ["name": "a", "durationUSec": minute, "payload": ["a": 1]], from: client)
    let reply = world.call(
      "Start",
      ["name": "a", "durationUSec": 90_000_000, "onConflict": "extendOnly", "payload": ["b": 2]],
      from: client)
    #expect(reply["created"] == false)
    #expect(reply["remainingUSec"] == 90_000_000)
    #expect(world.call("Get", ["name": "a"], from: client)["countdown"]?["payload"] == ["a": 1])
    #expect(world.problems == [])
  }
}
