import CountdownService
import Countdowns
import TestSupport
import Testing

@Suite("CancelMany")
struct CancelManyTests {
  private let minute: JSONTree = 60_000_000

  private func list(_ names: [String]) -> JSONTree {
    ["names": .array(names.map(JSONTree.string))]
  }

  private func counts(_ cancelled: Int64, _ ended: Int64, _ missing: Int64) -> [String: JSONTree] {
    [
      "cancelled": .integer(cancelled), "ended": .integer(ended), "missing": .integer(missing),
    ]
  }

  private func start(_ names: [String], in world: World, from client: Int) {
    for name in names {
      world.post("Start", ["name": .string(name), "durationUSec": minute], from: client)
    }
    world.settle()
  }

  @Test(arguments: [false, true])
  func `names that run or are paused are cancelled, and the others counted`(isDelayed: Bool) {
    let world = World(ledger: isDelayed ? .prompt : nil)
    let (client, listener) = (world.connect(), world.connect())
    start(["a", "b", "c", "d"], in: world, from: client)
    world.call("Pause", ["name": "b"], from: client)
    world.call("Cancel", ["name": "c"], from: client)
    world.call("Start", ["name": "due", "durationUSec": 5], from: client)
    world.post("Subscribe", [:], .more, from: listener)
    world.settle()
    world.clock.run(5)
    let reply = world.call(
      "CancelMany", list(["due", "b", "x", "a", "c", "a", "y", "x"]), from: client)
    #expect(reply.parameters == counts(2, 3, 3))
    #expect(Set(world.told(to: listener)) == ["expired due", "cancelled a", "cancelled b"])
    #expect(world.call("Get", ["name": "d"], from: client)["countdown"]?["state"] == "running")
    let none = world.call("CancelMany", ["names": []], from: client)
    #expect(none.parameters == counts(0, 0, 0))
    #expect(world.problems == [])
  }

  @Test(arguments: [0, 1, 255, 256, 257, 1_000], [false, true])
  func `a prefix of any number is cancelled, and others are called meanwhile`(
    count: Int, isDelayed: Bool
  ) {
    let world = World(ledger: isDelayed ? .prompt : nil)
    let (client, other) = (world.connect(), world.connect())
    start((0..<count).map { "p/\($0)" } + ["o", "p", "q"], in: world, from: client)
    world.post("CancelMany", ["prefix": "p/"], from: client)
    world.post("Count", from: client)
    world.turn()
    world.post("Get", ["name": "q"], from: other)
    world.turn()
    #expect(world.clients[other].calls[0].isAnswered)
    let isOver = world.clients[client].calls.suffix(2).first?.isAnswered
    if count == 1_000 { #expect(isOver == false) }
    world.settle()
    let replies = world.clients[client].calls.suffix(2).map(\.replies)
    #expect(replies.first?.map(\.parameters) == [counts(Int64(count), 0, 0)])
    #expect(replies.last?.first?["running"] == 3)
    #expect(
      world.call("CancelMany", ["prefix": "p/"], from: client).parameters
        == counts(0, Int64(count), 0))
    #expect(world.problems == [])
  }

  @Test func `a slice goes to the ledger as one batch, and the next after its verdicts`() {
    let world = World(ledger: .prompt)
    let client = world.connect()
    start((0..<300).map { "p\($0)" }, in: world, from: client)
    world.holdsVerdicts = true
    world.post("CancelMany", ["prefix": "p"], from: client)
    world.settle()
    #expect(world.service.scheduler.users.counts.running == 300)
    world.run(1_000_000)
    world.holdsVerdicts = false
    world.turn()
    #expect(world.service.scheduler.users.counts == (300 - 256, 0, 256))
    world.settle()
    #expect(world.clients[client].calls.last?.replies.first?.parameters == counts(300, 0, 0))
    #expect(world.problems == [])
  }

  @Test(arguments: ["names", "prefix"])
  func `a name with another's change under way is waited for`(kind: String) {
    let world = World(ledger: .prompt)
    let (client, other) = (world.connect(), world.connect())
    start(["a", "b", "c"], in: world, from: client)
    world.holdsVerdicts = true
    world.post("Cancel", ["name": "b"], from: other)
    world.post("Start", ["name": "n", "durationUSec": minute], from: world.connect())
    world.settle()
    world.post(
      "CancelMany", kind == "names" ? list(["a", "b", "n", "c"]) : ["prefix": ""], from: client)
    world.settle()
    #expect(world.clients[client].calls.last?.isAnswered == false)
    world.holdsVerdicts = false
    world.settle()
    let reply = world.clients[client].calls.last?.replies.first
    // The one that starts meanwhile is behind, where the prefix comes to it.
    #expect(reply?.parameters == counts(3, 1, 0))
    #expect(world.problems == [])
  }

  @Test func `where storing fails it stops, says so, and each was cancelled or was not`() {
    let world = World(ledger: .prompt)
    let (client, listener) = (world.connect(), world.connect())
    start((0..<600).map { "p\($0)" }, in: world, from: client)
    world.post("Subscribe", [:], .more, from: listener)
    world.settle()
    world.setRefusals(50)
    let reply = world.call("CancelMany", ["prefix": "p"], from: client)
    #expect(reply.errorName == "StorageFailed")
    let counts = world.service.scheduler.users.counts
    #expect(counts.ended > 0 && counts.running > 600 - 256)
    #expect(world.told(to: listener).count == counts.ended)
    world.setRefusals(0)
    #expect(world.call("Count", from: client)["running"] == .integer(Int64(counts.running)))
    #expect(world.problems == [])
  }

  @Test(arguments: [false, true])
  func `oneway, it is done and not answered; of one that vanished, it is done as well`(
    isDelayed: Bool
  ) {
    let world = World(ledger: isDelayed ? .prompt : nil)
    let (client, gone) = (world.connect(), world.connect())
    start((0..<600).map { "p\($0)" } + (0..<600).map { "q\($0)" }, in: world, from: client)
    world.post("CancelMany", ["prefix": "p"], .oneway, from: client)
    let count = world.call("Count", from: client)
    #expect(count["running"] == 600 && count["ended"] == 600)
    world.post("CancelMany", ["prefix": "q"], from: gone)
    world.vanish(gone)
    world.settle()
    #expect(world.call("Count", from: client)["running"] == 0)
    #expect(world.problems == [])
  }

  @Test func `what comes in meanwhile makes no turns of its own`() {
    let world = World(ledger: .prompt)
    let client = world.connect()
    start(["a"], in: world, from: client)
    world.holdsVerdicts = true
    world.post("CancelMany", ["prefix": ""], from: client)
    world.settle()
    world.post("Count", from: client)
    let turns = world.readings.count
    world.settle()
    #expect(world.readings.count <= turns + 2)
    world.holdsVerdicts = false
    world.settle()
    #expect(world.clients[client].calls.last?.replies.first?["ended"] == 1)
  }

  @Test func `everybody's of a prefix are cancelled by an admin, another's names too`() {
    let world = World()
    let admin = world.connect(uid: 0)
    for uid: UInt32 in [1_001, 5, 1_000] {
      start(["a/1", "a/2", "b"], in: world, from: world.connect(uid: uid))
    }
    var call: [String: JSONTree] = ["names": ["b", "c"], "owner": 5]
    #expect(world.call("CancelMany", .object(call), from: admin).parameters == counts(1, 0, 1))
    let denied = world.call("CancelMany", .object(call), from: world.connect(uid: 1_000))
    #expect(denied.errorName == "PermissionDenied")
    call = ["prefix": "a/", "allOwners": true]
    #expect(world.call("CancelMany", .object(call), from: admin).parameters == counts(6, 0, 0))
    #expect(world.call("Count", ["allOwners": true], from: admin)["running"] == 2)
    #expect(world.problems == [])
  }
}
