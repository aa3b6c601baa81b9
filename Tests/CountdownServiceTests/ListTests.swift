import CountdownService
import Countdowns
import TestSupport
import Testing

@Suite("List")
struct ListTests {
  private let hour: JSONTree = 3_600_000_000

  private func names(_ reply: VirtualClient.Reply) -> [String] {
    reply["countdowns"]?.array?.compactMap { $0["name"]?.string } ?? []
  }

  /// Every page, by `next`.
  private func pages(
    _ world: World, _ client: Int, _ parameters: [String: JSONTree], between: () -> Void = {}
  ) -> [[String]] {
    var parameters = parameters
    var pages: [[String]] = []
    while true {
      let reply = world.call("List", .object(parameters), from: client)
      pages.append(names(reply))
      guard let next = reply["next"] else { return pages }
      parameters["after"] = next
      between()
    }
  }

  private func world(_ names: [String], uid: UInt32 = 1_000) -> (World, Int) {
    let world = World()
    let client = world.connect(uid: uid)
    for name in names {
      world.call("Start", ["name": .string(name), "durationUSec": hour], from: client)
    }
    return (world, client)
  }

  @Test func `names come in bytewise order`() {
    let given = [
      "b", "a/2", "a", "é", "e\u{301}", "a/10", "Z", "~", "a0", "\u{10FFFF}", "\u{FFFD}",
    ]
    let (world, client) = world(given)
    let expected = given.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    #expect(names(world.call("List", from: client)) == expected)
    for limit in 1...given.count {
      let pages = pages(world, client, ["limit": .integer(Int64(limit))])
      #expect(pages.flatMap { $0 } == expected)
      #expect(pages.allSatisfy { $0.count <= limit })
    }
    #expect(world.problems == [])
  }

  @Test func `a prefix selects by bytes, and other users' names are nobody's`() {
    let (world, client) = world(["a", "orders", "orders/", "orders/1", "orders/2", "orders0", "p"])
    let other = world.connect(uid: 2)
    world.call("Start", ["name": "orders/9", "durationUSec": hour], from: other)
    #expect(
      names(world.call("List", ["prefix": "orders/"], from: client)) == [
        "orders/", "orders/1", "orders/2",
      ])
    #expect(names(world.call("List", ["prefix": ""], from: client)).count == 7)
    #expect(names(world.call("List", ["prefix": "zz"], from: client)) == [])
    #expect(
      names(world.call("List", ["prefix": "orders/", "after": "orders/1"], from: client)) == [
        "orders/2"
      ])
    #expect(
      names(world.call("List", ["prefix": "orders/", "after": "a"], from: client)) == [
        "orders/", "orders/1", "orders/2",
      ])
    #expect(names(world.call("List", ["prefix": "orders/", "after": "p"], from: client)) == [])
    #expect(names(world.call("List", from: other)) == ["orders/9"])
  }

  @Test(arguments: ["a\0", "a\0b", "\0", "b\u{7}", String(repeating: "a", count: 256), "é\u{85}"])
  func `what could be no name is no prefix and no place`(text: String) {
    let (world, client) = world(["a", "aa", "b"])
    for parameter in ["prefix", "after"] {
      let reply = world.call("List", .object([parameter: .string(text)]), from: client)
      #expect(reply.error == "org.varlink.service.InvalidParameter")
      #expect(reply["parameter"]?.string == parameter)
    }
    #expect(
      world.call("Subscribe", ["prefix": .string(text)], .more, from: client)["parameter"]
        == "prefix")
  }

  @Test func `a state selects, also on pages`() {
    let (world, client) = world((0..<600).map { "n\($0 + 1_000)" })
    for number in stride(from: 0, to: 600, by: 50) {
      world.call("Pause", ["name": .string("n\(number + 1_000)")], from: client)
    }
    world.call("Cancel", ["name": "n1001"], from: client)
    let paused = stride(from: 0, to: 600, by: 50).map { "n\($0 + 1_000)" }
    for limit in [1, 5, 12, 100] as [Int64] {
      let pages = pages(world, client, ["state": "paused", "limit": .integer(limit)])
      #expect(pages.flatMap { $0 } == paused)
    }
    #expect(names(world.call("List", ["state": "cancelled"], from: client)) == ["n1001"])
    #expect(names(world.call("List", ["state": "missed"], from: client)) == [])
    world.post("List", ["state": "paused"], .more, from: client)
    world.settle()
    #expect(world.clients[client].calls.last?.replies.flatMap { names($0) } == paused)
  }

  @Test func `a page holds up to limit, and a list with more everything`() {
    let all = (0..<1_000).map { "n\($0 + 1_000)" }
    let (world, client) = world(all)
    #expect(names(world.call("List", from: client)) == Array(all.prefix(100)))
    #expect(pages(world, client, ["limit": 10_000]).flatMap { $0 } == all)
    world.post("List", ["limit": 1], .more, from: client)
    world.settle()
    let replies = world.clients[client].calls.last?.replies ?? []
    #expect(replies.flatMap { names($0) } == all)
    #expect(replies.dropLast().allSatisfy { $0.continues })
    #expect(replies.last?.continues == false)
    #expect(!replies.contains { $0.parameters.keys.contains("next") })
  }

  @Test func `an empty list is one reply`() {
    let world = World()
    let client = world.connect()
    #expect(world.call("List", from: client)["countdowns"] == [])
    world.post("List", [:], .more, from: client)
    world.settle()
    #expect(world.clients[client].calls[1].replies.count == 1)
  }

  @Test func `a list is cut at 64 KiB, and goes on`() {
    let world = World()
    let client = world.connect()
    let payload: JSONTree = ["x": .string(String(repeating: "x", count: 4_000))]
    let all = (0..<100).map { "n\($0 + 100)" }
    for name in all {
      world.call(
        "Start", ["name": .string(name), "durationUSec": hour, "payload": payload], from: client)
    }
    let pages = pages(world, client, ["limit": 10_000])
    #expect(pages.flatMap { $0 } == all)
    #expect(pages.allSatisfy { (11...16).contains($0.count) || $0 == pages.last })
    world.post("List", [:], .more, from: client)
    world.setReading(false, client)
    world.settle()
    let lengths = world.waitingText(for: client).split(separator: "\0").map(\.utf8.count)
    #expect(lengths.allSatisfy { $0 <= 64 << 10 } && lengths.count > 1)
  }

  @Test(arguments: 0..<20 as Range<UInt64>, [false, true])
  func `what exists throughout is listed exactly once, whatever comes and goes`(
    seed: UInt64, isStreamed: Bool
  ) {
    var random = SplitMix64(seed: seed)
    var limits = Limits()
    limits.listBytes = 16 << 10
    limits.queuedReplyBytes = 32 << 10
    limits.messageBytes = 16 << 10
    let world = World(limits: limits)
    world.checksInvariants = false
    let (client, other) = (world.connect(), world.connect())
    let stable = Set((0..<150).map { _ in "s\(UInt16.random(in: 0..<1_000, using: &random))" })
    for name in stable.sorted() {
      world.call("Start", ["name": .string(name), "durationUSec": hour], from: other)
    }
    func change() {
      for _ in 0..<20 {
        let name =
          "\("rst".randomElement(using: &random)!)\(UInt16.random(in: 0..<1_000, using: &random))"
        if stable.contains(name) { continue }
        let verb = ["Start", "Start", "Cancel", "Restart"].randomElement(using: &random)!
        var parameters: [String: JSONTree] = ["name": .string(name)]
        if verb == "Start" {
          parameters["durationUSec"] = [0, hour].randomElement(using: &random)!
        }
        world.post(verb, .object(parameters), from: other)
      }
    }
    var listed: [String] = []
    if isStreamed {
      world.setReading(false, client)
      world.post("List", [:], .more, from: client)
      while world.clients[client].calls[0].isAnswered == false {
        change()
        world.setReading(Bool.random(using: &random), client)
        world.turn()
      }
      listed = world.clients[client].calls[0].replies.flatMap { names($0) }
    } else {
      listed = pages(world, client, ["limit": 17], between: change).flatMap { $0 }
    }
    #expect(Set(listed).count == listed.count)
    #expect(listed.filter { stable.contains($0) } == stable.sorted())
    #expect(listed == listed.sorted())
    #expect(world.problems == [])
  }

  /// Looking at one that is due ends it, which pushes out one that ended before: in the next turn.
  @Test func `a list that makes room among the ended ones tells what stood when it began`() {
    var limits = Limits()
    limits.retainedPerUser = 1
    let world = World(limits: limits)
    let client = world.connect()
    for name in ["a", "b", "c", "d"] {
      world.call("Start", ["name": .string(name), "durationUSec": hour], from: client)
    }
    world.call("Cancel", ["name": "c"], from: client)
    for name in ["a", "b"] {
      world.post(
        "Start", ["name": .string(name), "durationUSec": 0, "onConflict": "replace"], from: client)
    }
    world.post("List", from: client)
    world.settle()
    let told = world.clients[client].calls.last?.replies[0]["countdowns"]?.array ?? []
    #expect(told.map { $0["name"] } == ["a", "b", "c", "d"])
    #expect(told.map { $0["state"] } == ["expired", "expired", "cancelled", "running"])
    #expect(world.call("Count", from: client)["ended"] == 1)
    #expect(world.problems == [])
  }

  @Test(arguments: 0..<12)
  func `no page is longer than 64 KiB, with payloads of MaxPayloadBytes either`(small: Int) {
    var limits = Limits()
    limits.payloadBytes = 8 << 10
    let world = World(limits: limits)
    let client = world.connect()
    let payload: JSONTree = ["x": .string(String(repeating: "x", count: 8_184))]  // 8 192 bytes.
    for number in 0..<small {
      world.call("Start", ["name": .string("a\(number)"), "durationUSec": hour], from: client)
    }
    for number in 0..<10 {
      let name = String(repeating: "\"", count: 254) + "\(number)"
      let reply = world.call(
        "Start", ["name": .string(name), "durationUSec": hour, "payload": payload], from: client)
      #expect(reply.error == nil)
    }
    world.setReading(false, client)
    world.post("List", from: client)
    world.turn()
    let length = world.waitingText(for: client).utf8.count
    #expect((40 << 10...64 << 10).contains(length))
  }

  @Test func `Count tells the caller's own`() {
    let (world, client) = world(["a", "b", "c"])
    world.call("Pause", ["name": "a"], from: client)
    world.call("Cancel", ["name": "b"], from: client)
    #expect(
      world.call("Count", from: client).parameters == ["running": 1, "paused": 1, "ended": 1])
    #expect(
      world.call("Count", from: world.connect(uid: 3)).parameters == [
        "running": 0, "paused": 0, "ended": 0,
      ])
    world.run(300_000_000)
    #expect(world.call("Count", from: client)["ended"] == 0)
  }
}
