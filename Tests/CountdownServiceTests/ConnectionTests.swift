import CountdownService
import Countdowns
import TestSupport
import Testing

/// Connections: how many there may be, how they end, and what a client that does not read costs.
@Suite("Connection")
struct ConnectionTests {
  private let length: JSONTree = 60_000_000

  @Test func `B44: 1 000 clients send Start and vanish at once, and all of it exists`() {
    let world = World()
    world.checksInvariants = false
    for name in 0..<1_000 {
      let client = world.connect()
      world.post("Start", ["name": .string("n\(name)"), "durationUSec": length], from: client)
      world.vanish(client)
      if name % 50 == 0 { world.settle() }
    }
    world.settle()
    let client = world.connect()
    #expect(world.call("Count", from: client)["running"] == 1_000)
    #expect(world.service.connectionCount == 1)
    #expect(world.service.brokenInvariant() == nil)
  }

  @Test func `what a client sent before it vanished is done, also behind a list`() {
    let world = World()
    let client = world.connect()
    world.post("List", [:], .more, from: client)
    world.post("Start", ["name": "a", "durationUSec": length], from: client)
    world.vanish(client)
    world.settle()
    #expect(world.clients[client].isClosed)
    let other = world.connect()
    #expect(world.call("Count", from: other)["running"] == 1)
  }

  @Test func `what a client sent before it vanished in the middle of a list is done`() {
    let world = World()
    let client = world.connect()
    let payload: JSONTree = ["x": .string(String(repeating: "x", count: 4_000))]
    for name in 0..<200 {
      world.call(
        "Start", ["name": .string("n\(name)"), "durationUSec": length, "payload": payload],
        from: client)
    }
    world.setReading(false, client)
    world.post("List", [:], .more, from: client)
    world.post("Start", ["name": "a", "durationUSec": length], from: client)
    world.settle()
    world.vanish(client)
    world.settle()
    #expect(world.clients[client].isClosed)
    let other = world.connect()
    #expect(world.call("Get", ["name": "a"], from: other).error == nil)
  }

  @Test func `a client that subscribes and vanishes at once leaves nothing behind`() {
    var limits = Limits()
    limits.streamsPerUser = 1
    let world = World(limits: limits)
    for _ in 0..<3 {
      let client = world.connect()
      world.post("Subscribe", ["includeState": true], .more, from: client)
      world.vanish(client)
      world.settle()
      #expect(world.clients[client].isClosed)
    }
    #expect(world.service.connectionCount == 0)
    #expect(world.service.nextWake == .never)
    let client = world.connect()
    #expect(world.call("Subscribe", [:], .more, from: client).error == nil)
    #expect(world.problems == [])
  }

  // MARK: Limits

  @Test func `other limits bind what is new, and what exceeds them stays`() {
    let world = World()
    let (one, two) = (world.connect(), world.connect())
    world.post("Subscribe", [:], .more, from: two)
    for name in ["a", "b"] {
      world.call("Start", ["name": .string(name), "durationUSec": length], from: one)
    }
    var limits = Limits()
    limits.countdownsPerUser = 1
    limits.connectionsPerUser = 1
    limits.streamsPerUser = 1
    limits.recentEventsBytes = 64 << 10
    world.service.adopt(limits)
    world.settle()
    let refused = world.call("Start", ["name": "c", "durationUSec": length], from: one)
    #expect(refused.errorName == "QuotaExceeded")
    #expect(refused["limit"] == 1 && refused["used"] == 2)
    #expect(world.call("Subscribe", [:], .more, from: one).errorName == "QuotaExceeded")
    let third = world.connect()
    world.settle()
    #expect(world.clients[third].isClosed)
    #expect(!world.clients[one].isClosed && !world.clients[two].isClosed)
    world.run(60_000_000)
    #expect(
      world.told(to: two).filter { $0.hasPrefix("expired") } == ["expired a", "expired b"])
    world.service.adopt(Limits())
    #expect(world.call("Start", ["name": "c", "durationUSec": length], from: one).error == nil)
    #expect(world.problems == [])
  }

  @Test func `a user may have MaxConnectionsPerUser, and one more is told and closed`() {
    var limits = Limits()
    limits.connectionsPerUser = 3
    let world = World(limits: limits)
    let clients = (0..<3).map { _ in world.connect(uid: 7) }
    for client in clients { #expect(world.call("Count", from: client).error == nil) }
    let refused = world.connect(uid: 7)
    world.settle()
    #expect(world.clients[refused].isClosed)
    let reply = world.clients[refused].unexpected.first
    #expect(reply?.errorName == "QuotaExceeded")
    #expect(reply?.parameters == ["resource": "MaxConnectionsPerUser", "limit": 3, "used": 3])
    #expect(world.call("Count", from: world.connect(uid: 8)).error == nil)
    world.vanish(clients[0])
    world.settle()
    #expect(world.call("Count", from: world.connect(uid: 7)).error == nil)
    for _ in 0..<5 { #expect(world.call("Count", from: world.connect(uid: 0)).error == nil) }
  }

  @Test func `there are MaxConnections in all, for root as well`() {
    var limits = Limits()
    limits.connections = 3
    let world = World(limits: limits)
    for uid in [1, 2, 0] as [UInt32] {
      #expect(world.call("Count", from: world.connect(uid: uid)).error == nil)
    }
    for uid in [0, 3] as [UInt32] {
      let refused = world.connect(uid: uid)
      world.settle()
      #expect(world.clients[refused].isClosed)
      #expect(
        world.clients[refused].unexpected.first?.parameters
          == ["resource": "MaxConnections", "limit": 3, "used": 3])
    }
    #expect(world.problems == [])
  }

  @Test func `a user may have MaxStreamsPerUser, and goes on with calls after one too many`() {
    var limits = Limits()
    limits.streamsPerUser = 2
    let world = World(limits: limits)
    for _ in 0..<2 {
      #expect(world.call("Subscribe", [:], .more, from: world.connect(uid: 7)).error == nil)
    }
    let client = world.connect(uid: 7)
    let reply = world.call("Subscribe", [:], .more, from: client)
    #expect(reply.errorName == "QuotaExceeded")
    #expect(reply.parameters == ["resource": "MaxStreamsPerUser", "limit": 2, "used": 2])
    #expect(world.call("Count", from: client).error == nil)
    for _ in 0..<3 {
      #expect(world.call("Subscribe", [:], .more, from: world.connect(uid: 0)).error == nil)
    }
  }

  @Test func `there are MaxStreams in all, for root as well`() {
    var limits = Limits()
    limits.streams = 2
    let world = World(limits: limits)
    let first = world.connect(uid: 1)
    #expect(world.call("Subscribe", [:], .more, from: first).error == nil)
    #expect(world.call("Subscribe", [:], .more, from: world.connect(uid: 0)).error == nil)
    let client = world.connect(uid: 0)
    let reply = world.call("Subscribe", [:], .more, from: client)
    #expect(reply.parameters == ["resource": "MaxStreams", "limit": 2, "used": 2])
    world.vanish(first)
    world.settle()
    #expect(world.call("Subscribe", [:], .more, from: client).error == nil)
  }

  // MARK: Clients that send much

  @Test func `a turn handles so many calls in all, shared evenly among those who sent some`() {
    let world = World()
    world.checksInvariants = false
    let clients = (0..<30).map { _ in world.connect() }
    for client in clients {
      for number in 0..<100 {
        world.post(
          "Start", ["name": .string("\(client)/\(number)"), "durationUSec": length], from: client)
      }
    }
    world.turn()
    for client in clients {
      #expect((68...69).contains(world.clients[client].calls.count { $0.isAnswered }))
    }
    #expect(world.service.nextWake == .now)
    world.settle()
    #expect(world.service.scheduler.users.counts.running == 3_000)
    #expect(world.service.brokenInvariant() == nil)
    #expect(world.problems == [])
  }

  @Test func `who sends one call waits for a share of the others', not for all they sent`() {
    let world = World()
    world.checksInvariants = false
    for _ in 0..<200 {
      let greedy = world.connect()
      for _ in 0..<200 { world.post("Count", from: greedy) }
    }
    world.turn()
    let client = world.connect()
    world.post("Count", from: client)
    world.turn()
    #expect(world.clients[client].calls[0].isAnswered)
    world.settle()
    #expect(world.problems == [])
  }

  @Test func `who has many connections takes no more of a turn than who has one`() {
    let world = World()
    world.checksInvariants = false
    for _ in 0..<300 {
      let greedy = world.connect(uid: 1_001)
      for _ in 0..<20 { world.post("GetMany", ["names": .array(manyNames)], from: greedy) }
    }
    world.turn()
    let client = world.connect(uid: 1_002)
    for _ in 0..<64 { world.post("Count", from: client) }
    world.turn()
    #expect(world.clients[client].calls.count { $0.isAnswered } == 64)
    world.settle()
    #expect(world.problems == [])
  }

  private var manyNames: [JSONTree] { (0..<100).map { .string("n\($0)") } }

  @Test func `those whom a turn has no room for come first in the next`() {
    let world = World()
    world.checksInvariants = false
    let clients = (0..<2_100).map { world.connect(uid: UInt32($0 / 1_000)) }
    for client in clients { for _ in 0..<2 { world.post("Count", from: client) } }
    world.turn()
    // The last user has but a hundred: both calls of each are within his third.
    #expect(clients.count { world.clients[$0].calls[0].isAnswered } == 2_048 - 100)
    world.turn()
    #expect(clients.allSatisfy { world.clients[$0].calls[0].isAnswered })
    #expect(!clients.allSatisfy { world.clients[$0].calls[1].isAnswered })
    world.settle()
    #expect(world.problems == [])
  }

  @Test func `long calls count for as much as they cost`() {
    let world = World()
    world.checksInvariants = false
    let clients = (0..<30).map { _ in world.connect() }
    let long: JSONTree = .string(String(repeating: "x", count: 51_100))
    for client in clients { world.post("Get", ["name": long], from: client) }
    world.turn()
    #expect(clients.count { world.clients[$0].calls[0].isAnswered } == 21)
    world.settle()
    #expect(world.problems == [])
  }

  @Test func `calls that cancel many take turns like calls that cancel one`() {
    let world = World()
    world.checksInvariants = false
    let clients = (1...20).map { world.connect(uid: $0) }
    for client in clients {
      for number in 0..<250 {
        world.post("Start", ["name": .string("n\(number)"), "durationUSec": length], from: client)
      }
    }
    world.settle()
    for client in clients { world.post("CancelMany", ["prefix": "n"], from: client) }
    world.turn()
    #expect(world.service.scheduler.users.counts.ended == 9 * 250)
    world.settle()
    #expect(world.service.scheduler.users.counts.ended == 20 * 250)
    #expect(world.problems == [])
  }

  @Test func `while a call waits for its turn little more is read`() {
    let world = World()
    world.checksInvariants = false
    let client = world.connect()
    for _ in 0..<4_000 { world.post("Count", from: client) }
    world.turn()
    #expect(world.service.wish(of: world.clients[client].id)?.wantsInput == false)
    world.settle()
    #expect(world.clients[client].calls.allSatisfy { $0.isAnswered })
    #expect(world.problems == [])
  }

  @Test func `nothing is looked for any more for a client that has gone`() {
    let world = World()
    world.checksInvariants = false
    let client = world.connect()
    for number in 0..<3_000 {
      world.post("Start", ["name": .string("n\(number)"), "durationUSec": length], from: client)
    }
    world.settle()
    for _ in 0..<100 { world.post("List", ["state": "missed"], from: client) }
    world.post("Start", ["name": "last", "durationUSec": length], from: client)
    world.vanish(client)
    world.turn()
    #expect(world.service.scheduler.users.counts.running == 3_001)
  }

  @Test func `lists that look at many and find none take turns like calls that do something`() {
    let world = World()
    world.checksInvariants = false
    let client = world.connect()
    for number in 0..<3_000 {
      world.post("Start", ["name": .string("n\(number)"), "durationUSec": length], from: client)
    }
    world.settle()
    let before = world.clients[client].calls.count
    for _ in 0..<10 { world.post("List", ["state": "missed"], from: client) }
    world.turn()
    #expect(world.clients[client].calls[before...].count { !$0.replies.isEmpty } == 1)
    world.settle()
    #expect(world.clients[client].calls[before...].allSatisfy { $0.replies.count == 1 })
    #expect(world.problems == [])
  }

  @Test func `ended countdowns do not outrun RetainEndedMax, however many clients make some`() {
    var limits = Limits()
    limits.retainedPerUser = 10
    let world = World(limits: limits)
    world.checksInvariants = false
    var most = 0
    world.afterTurn = { most = max(most, $0.service.scheduler.users.counts.ended) }
    for _ in 0..<64 {
      let client = world.connect()
      for number in 0..<128 {
        let name: JSONTree = .string("\(client)/\(number)")
        world.post("Start", ["name": name, "durationUSec": length], from: client)
        world.post("Cancel", ["name": name], from: client)
      }
    }
    world.settle()
    #expect(most <= 10 + 1_024)
    #expect(world.call("Count", from: world.connect())["ended"] == 10)
    #expect(world.problems == [])
  }

  // MARK: Clients that do not read

  @Test
  func
    `B48: who sends 100 000 calls and reads nothing is not read from, and later gets every reply`()
  {
    let world = World()
    world.checksInvariants = false
    let (client, other) = (world.connect(), world.connect())
    world.keepBytes(of: client)
    world.setReading(false, client)
    var calls: [UInt8] = []
    var expected: [UInt8] = []
    for name in 0..<100_000 {
      calls += Array(
        "{\"method\":\"io.countdownd.Countdown.Get\",\"parameters\":{\"name\":\"\(name)\"}}\0".utf8)
      expected += Array(
        "{\"error\":\"io.countdownd.Countdown.NoSuchCountdown\",\"parameters\":{\"name\":\"\(name)\"}}\0"
          .utf8)
    }
    world.send(calls, from: client)
    for _ in 0..<300 { world.turn() }
    let id = world.clients[client].id
    #expect(world.service.wish(of: id)?.wantsInput == false)
    let queued = world.service.withOutput(of: id) { $0.count }
    #expect(queued > 1 << 20)
    #expect(queued <= world.service.limits.queuedReplyBytes)
    #expect(world.call("Count", from: other).error == nil)
    world.setReading(true, client)
    world.settle()
    #expect(world.clients[client].bytes == expected)
  }

  /// It reads steadily, and there is always more: what it has read is given back all the same.
  @Test func `one that never catches up keeps no more than what waits`() {
    let world = World(piecesSeed: 1)
    let client = world.connect()
    world.keepBytes(of: client)
    let payload: JSONTree = ["x": .string(String(repeating: "x", count: 4_000))]
    world.call("Start", ["name": "a", "durationUSec": length, "payload": payload], from: client)
    for _ in 0..<40 {
      for _ in 0..<50 { world.post("Get", ["name": "a"], from: client) }
      world.turn()
    }
    #expect(world.problems == ["Start was not answered"])  // Its bytes were only kept.
  }

  @Test
  func `a client that does not read is answered in order when it does, with small queues as well`()
  {
    var limits = Limits()
    limits.messageBytes = 4_096
    limits.queuedReplyBytes = 8_192
    let world = World(limits: limits, piecesSeed: 3)
    let client = world.connect()
    world.setReading(false, client)
    for name in 0..<200 {
      world.post("Start", ["name": .string("n\(name)"), "durationUSec": length], from: client)
      world.post("Get", ["name": .string("n\(name)")], from: client)
      if name % 10 == 0 { world.turn() }
      let queued = world.service.withOutput(of: world.clients[client].id) { $0.count }
      #expect(queued <= limits.queuedReplyBytes)
    }
    world.setReading(true, client)
    world.settle()
    for (place, call) in world.clients[client].calls.enumerated() {
      #expect(call.isAnswered)
      if place % 2 == 1 {
        #expect(call.replies[0]["countdown"]?["name"]?.string == "n\(place / 2)")
      }
    }
    #expect(world.problems == [])
  }

  @Test func `a reply that was sent makes no more turns`() {
    let world = World()
    let client = world.connect()
    world.post("Count", from: client)
    world.turn()
    #expect(world.clients[client].calls[0].isAnswered)
    #expect(world.service.nextWake == .never)
  }
}
