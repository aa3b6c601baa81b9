import Countdowns
import TestSupport
import Testing

@Suite("GetMany")
struct GetManyTests {
  private func names(_ reply: VirtualClient.Reply) -> [String] {
    reply["countdowns"]?.array?.compactMap { $0["name"]?.string } ?? []
  }

  private func list(_ names: [String]) -> JSONTree {
    ["names": .array(names.map(JSONTree.string))]
  }

  @Test func `they come in the order of the call, twice where asked twice, and what is missing`() {
    let world = World()
    let client = world.connect()
    for name in ["a", "b", "c"] {
      world.call("Start", ["name": .string(name), "durationUSec": 60_000_000], from: client)
    }
    world.call("Start", ["name": "x", "durationUSec": 5], from: world.connect(uid: 5))
    let reply = world.call("GetMany", list(["c", "x", "a", "c", "y"]), from: client)
    #expect(names(reply) == ["c", "a", "c"])
    #expect(reply["missing"] == ["x", "y"])
    #expect(reply["countdowns"]?.array?.first?["remainingUSec"] == 60_000_000)
    let none = world.call("GetMany", ["names": []], from: client)
    #expect(none["countdowns"] == [] && none["missing"] == [])
    #expect(world.problems == [])
  }

  @Test func `what is due is handed out before any of them is told`() {
    let world = World()
    let (client, listener) = (world.connect(), world.connect())
    world.post("Subscribe", [:], .more, from: listener)
    let crowd = 2_000  // More than a turn tells.
    for name in 0..<crowd {
      world.post("Start", ["name": .string("n\(name)"), "durationUSec": 1_000_000], from: client)
    }
    world.settle()
    world.clock.run(1_000_000)
    world.post("GetMany", list(["n1999", "n0", "n1999"]), from: client)
    while world.clients[client].calls.last?.isAnswered == false { world.turn() }
    let reply = world.clients[client].calls.last?.replies.last
    #expect(reply?["countdowns"]?.array?.map { $0["state"] } == ["expired", "expired", "expired"])
    world.settle()
    #expect(Set(world.told(to: listener)).count == crowd)
    #expect(world.problems == [])
  }

  @Test func `a hundred names are answered in one message, and one more is refused`() {
    let world = World()
    let client = world.connect()
    // The longest there are: every byte of the name escaped, a whole payload.
    let payload: JSONTree = ["a": .string(String(repeating: "x", count: 4_088))]
    let long = (0..<100).map { String(repeating: "\"", count: 252) + "\(100 + $0)" }
    for name in long {
      world.call(
        "Start",
        [
          "name": .string(name), "durationUSec": 60_000_000, "repeatUSec": 9_007_199_254_740_991,
          "catchUp": "skip", "graceUSec": 9_007_199_254_740_991, "payload": payload,
        ], from: client)
    }
    let reply = world.call("GetMany", list(long), from: client)
    #expect(names(reply) == long)
    #expect(JSONTree.object(reply.parameters).text.utf8.count < 1 << 20)
    let refused = world.call("GetMany", list(long + ["a"]), from: client)
    #expect(refused.parameters == ["resource": "NamesPerCall", "limit": 100, "used": 101])
    #expect(world.problems == [])
  }

  @Test func `what could be no name is refused, and named by its place`() {
    let world = World()
    let client = world.connect()
    for text in ["", "a\n", "\0"] {
      let reply = world.call("GetMany", list(["a", text]), from: client)
      #expect(reply.errorName == "InvalidParameter" && reply["parameter"] == "names[1]")
    }
  }
}
