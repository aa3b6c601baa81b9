import CountdownService
import Countdowns
import TestSupport
import Testing

/// What clients leave unread is bounded in all, and who reads does not feel it.
@Suite("Unread replies")
struct UnreadTests {
  private let length: JSONTree = 600_000_000
  /// What every connection may leave unread whatever the others do.
  private let share = 16 << 10

  private var limits: Limits {
    var limits = Limits()
    limits.messageBytes = 16 << 10
    limits.queuedReplyBytes = 256 << 10
    return limits
  }

  /// A client that asks `count` times for a countdown that makes long replies, and reads none.
  private func stalled(_ world: World, uid: UInt32, _ count: Int = 200) -> Int {
    let client = world.connect(uid: uid)
    world.setReading(false, client)
    for _ in 0..<count { world.post("Get", ["name": "long"], from: client) }
    for _ in 0..<4 { world.turn() }
    return client
  }

  private func makeLong(_ world: World, uid: UInt32) {
    let payload: JSONTree = ["x": .string(String(repeating: "x", count: 4_000))]
    let reply = world.call(
      "Start", ["name": "long", "durationUSec": length, "payload": payload],
      from: world.connect(uid: uid))
    #expect(reply.error == nil)
  }

  private func unread(_ world: World, _ client: Int) -> Int {
    world.service.withOutput(of: world.clients[client].id) { $0.count }
  }

  @Test(arguments: [false, true], [0, -1])
  func `at the limit one more is answered, one past it only those with little unread`(
    inAll: Bool, more: Int
  ) {
    let world = World(limits: limits)
    let users: [UInt32] = inAll ? [1_000, 1_001, 1_002] : [1_000, 1_000, 1_000]
    for uid in Set(users) { makeLong(world, uid: uid) }
    let first = stalled(world, uid: users[0], 20)
    let reply = unread(world, first) / 20
    // The next one may go on beyond its share while so much is unread and the longest reply fits.
    var changed = limits
    let limit = 20 * reply + share / reply * reply + reply + limits.messageBytes + more
    if inAll {
      changed.queuedReplyBytesTotal = limit
    } else {
      changed.queuedReplyBytesPerUser = limit
    }
    world.service.adopt(changed)
    let second = stalled(world, uid: users[1])
    // Past the share by one reply, as one with nothing unread is always answered; then once more.
    let most = (share / reply + 1) * reply
    #expect(unread(world, second) == most + (more == 0 ? reply : 0))
    let third = stalled(world, uid: users[2])
    #expect(unread(world, third) == most)
    for client in [first, second, third] { world.setReading(true, client) }
    world.settle()
    for client in [first, second, third] {
      #expect(world.clients[client].calls.allSatisfy { $0.isAnswered })
    }
    #expect(world.problems == [])
  }

  @Test func `root is bound by what is unread in all only`() {
    var limits = limits
    limits.queuedReplyBytesPerUser = 0
    let world = World(limits: limits)
    makeLong(world, uid: 0)
    #expect(unread(world, stalled(world, uid: 0)) > limits.queuedReplyBytes - limits.messageBytes)
  }

  @Test func `with no room at all everybody is answered all the same, in order`() {
    var limits = limits
    limits.queuedReplyBytesPerUser = 0
    limits.queuedReplyBytesTotal = 0
    let world = World(limits: limits, piecesSeed: 5)
    makeLong(world, uid: 1_000)
    let clients = (0..<5).map { _ in stalled(world, uid: 1_000, 60) }
    let subscriber = world.connect()
    world.post("Subscribe", ["includeState": true, "kinds": ["started"]], .more, from: subscriber)
    let lister = world.connect()
    world.post("List", [:], .more, from: lister)
    #expect(world.call("Count", from: world.connect())["running"] == 1)
    for client in clients { world.setReading(true, client) }
    world.settle()
    for client in clients { #expect(world.clients[client].calls.allSatisfy { $0.isAnswered }) }
    makeLong(world, uid: 1_001)
    world.call("Start", ["name": "b", "durationUSec": length], from: world.connect())
    world.settle()
    #expect(world.told(to: subscriber) == ["started b"])
    #expect(world.clients[lister].calls[0].isAnswered)
    #expect(world.problems == [])
  }

  @Test func `many that do not read are bounded together, and others get as much a turn as before`()
  {
    var limits = limits
    limits.queuedReplyBytesPerUser = 512 << 10
    let world = World(limits: limits)
    world.checksInvariants = false
    makeLong(world, uid: 1_000)
    makeLong(world, uid: 1_001)
    let count = 40
    let clients = (0..<count).map { _ in stalled(world, uid: 1_000, 60) }
    let all = clients.reduce(0) { $0 + unread(world, $1) }
    #expect(all <= limits.queuedReplyBytesPerUser + count * (share + 5_000), "\(all)")
    #expect(all > limits.queuedReplyBytesPerUser - limits.messageBytes)
    let prompt = world.connect(uid: 1_001)
    for _ in 0..<60 { world.post("Get", ["name": "long"], from: prompt) }
    world.turn()
    // All that one connection may have unread, in one turn.
    #expect(world.written.count { $0.client == prompt } >= 56)
    world.settle()
    #expect(world.service.brokenInvariant() == nil)
    #expect(world.problems == [])
  }

  /// A world in which so much is unread, by one who reads nothing, that a bound is reached.
  private func crowded(inAll: Bool) -> World {
    let world = World(limits: limits)
    makeLong(world, uid: 1_000)
    _ = stalled(world, uid: 1_000, 20)
    var changed = limits
    if inAll { changed.queuedReplyBytesTotal = 0 } else { changed.queuedReplyBytesPerUser = 0 }
    world.service.adopt(changed)
    return world
  }

  @Test(arguments: [false, true], [0, -1])
  func `beyond a bound a GetMany is answered with as much as a list has, and refused one past it`(
    inAll: Bool, more: Int
  ) throws {
    let world = crowded(inAll: inAll)
    let names: JSONTree = ["names": .array(Array(repeating: "long", count: 100))]
    let refused = world.call("GetMany", names, from: world.connect())
    #expect(refused.errorName == "QuotaExceeded")
    let key = inAll ? "MaxQueuedReplyBytesTotal" : "MaxQueuedReplyBytesPerUser"
    #expect(refused["resource"]?.string == key && refused["limit"] == 0)
    #expect(try #require(refused["used"]?.integer) > 0)
    // Whoever is not concerned gets all of it: root, or another user.
    let root = world.connect(uid: 0)
    let roots = world.call("GetMany", ["names": names["names"]!, "owner": 1_000], from: root)
    #expect(roots.error == (inAll ? refused.error : nil))
    let short = world.connect()
    world.setReading(false, short)
    world.post("GetMany", ["names": ["long", "b"]], from: short)
    world.turn()
    let length = unread(world, short)
    world.setReading(true, short)
    world.settle()
    var changed = world.service.limits
    changed.listBytes = length + more
    world.service.adopt(changed)
    let reply = world.call("GetMany", ["names": ["long", "b"]], from: short)
    #expect(reply.errorName == (more == 0 ? nil : "QuotaExceeded"))
    #expect(world.service.brokenInvariant() == nil)
    #expect(world.problems == [])
  }

  @Test func `beyond a bound a StartMany with a long answer is refused before anything is done`() {
    let world = crowded(inAll: false)
    func start(_ count: Int, _ name: String) -> VirtualClient.Reply {
      let items = (0..<count).map { number -> JSONTree in
        ["name": .string("\(name)\(number)"), "durationUSec": length]
      }
      return world.call("StartMany", ["countdowns": .array(items)], from: world.connect())
    }
    var changed = world.service.limits
    changed.listBytes = 4 * 404
    world.service.adopt(changed)
    #expect(start(4, "a").error == nil)
    #expect(start(5, "b").errorName == "QuotaExceeded")
    #expect(world.call("Count", from: world.connect())["running"] == 5)
    #expect(world.problems == [])
  }

  @Test func `one that leaves without reading counts no more`() {
    var limits = limits
    limits.queuedReplyBytesPerUser = 100 << 10
    let world = World(limits: limits)
    makeLong(world, uid: 1_000)
    let first = stalled(world, uid: 1_000)
    let before = unread(world, first)
    let second = stalled(world, uid: 1_000)
    #expect(unread(world, second) < before)
    world.vanish(first)
    world.settle()
    #expect(unread(world, stalled(world, uid: 1_000)) > 2 * share)
    #expect(world.problems == [])
  }

  @Test func `one that its host forgets counts no more`() {
    let world = World(limits: limits)
    makeLong(world, uid: 1_000)
    let client = stalled(world, uid: 1_000)
    #expect(unread(world, client) > 0)
    world.service.forget(world.clients[client].id)
    #expect(world.service.brokenInvariant() == nil)
  }

  @Test func `a subscriber and a list that are not read stop as well`() {
    var limits = limits
    limits.queuedReplyBytes = 4 << 20
    limits.queuedReplyBytesPerUser = 64 << 10
    let world = World(limits: limits)
    world.checksInvariants = false
    let client = world.connect()
    let payload: JSONTree = ["x": .string(String(repeating: "x", count: 4_000))]
    for name in 0..<200 {
      world.post(
        "Start", ["name": .string("n\(name)"), "durationUSec": 5, "payload": payload], from: client)
    }
    world.settle()
    let lister = world.connect()
    world.setReading(false, lister)
    world.post("List", [:], .more, from: lister)
    for _ in 0..<10 { world.turn() }
    #expect(unread(world, lister) <= 2 * limits.listBytes)
    let subscriber = world.connect()
    world.post("Subscribe", ["kinds": ["expired"]], .more, from: subscriber)
    world.settle()
    world.setReading(false, subscriber)
    world.run(1_000)
    #expect(unread(world, subscriber) <= share + limits.listBytes + 5_000)
    for client in [lister, subscriber] { world.setReading(true, client) }
    world.settle()
    #expect(world.told(to: subscriber).count == 200)
    #expect(world.clients[lister].calls[0].isAnswered)
    #expect(world.service.brokenInvariant() == nil)
    #expect(world.problems == [])
  }
}
