import CountdownService
import Countdowns
import TestSupport
import Testing

/// What has come of calls without their end is bounded in all, and nobody waits for ever for it.
@Suite("Long calls")
struct LongCallTests {
  /// So much is read ahead of everybody.
  private let ahead = 64 << 10

  private func world(perUser: Int, inAll: Int, piecesSeed: UInt64? = nil) -> World {
    var limits = Limits()
    limits.longCallsPerUser = perUser
    limits.longCalls = inAll
    return World(limits: limits, piecesSeed: piecesSeed)
  }

  /// Sends blanks in the midst of a call, in pieces that are read one by one.
  private func sendMuch(_ world: World, _ client: Int, bytes: Int? = nil, begins: Bool = true) {
    if begins { world.send("{\"method\":\"org.varlink.service.GetInfo\"", from: client) }
    var rest = bytes ?? 3 * ahead
    while rest > 0 {
      world.send(Array(repeating: 0x20, count: min(rest, ahead)), from: client)
      rest -= ahead
      world.settle()
    }
  }

  private func end(_ world: World, _ client: Int) {
    world.send("}\0", from: client)
    world.settle()
  }

  private func isRead(_ world: World, _ client: Int) -> Bool {
    world.service.wish(of: world.clients[client].id)?.wantsInput == true
  }

  private func isAnswered(_ world: World, _ client: Int) -> Bool {
    world.clients[client].unexpected.map(\.error) == [nil]
  }

  @Test func `as many as a user may send are read, one more waits, and goes on after one's end`() {
    let world = world(perUser: 2, inAll: 100)
    let clients = (0..<4).map { _ in world.connect(uid: 1_000) }
    for client in clients { sendMuch(world, client) }
    #expect(clients.map { isRead(world, $0) } == [true, true, false, false])
    end(world, clients[1])
    #expect(isAnswered(world, clients[1]))
    #expect(clients.map { isRead(world, $0) } == [true, true, true, false])
    // What is short is answered as ever, and so is what others send at length.
    #expect(world.call("Count", from: world.connect(uid: 1_000)).error == nil)
    let other = world.connect(uid: 1_001)
    sendMuch(world, other)
    #expect(isRead(world, other))
    for client in [clients[0], clients[2], clients[3], other] { end(world, client) }
    for client in clients + [other] { #expect(isAnswered(world, client)) }
    #expect(world.problems == [])
  }

  @Test func `root is bound by how many there are in all, and everybody may send one`() {
    let world = world(perUser: 1, inAll: 3)
    let root = (0..<4).map { _ in world.connect(uid: 0) }
    for client in root { sendMuch(world, client) }
    #expect(root.map { isRead(world, $0) } == [true, true, true, false])
    let one = (0..<2).map { _ in world.connect(uid: 1_000) }
    for client in one { sendMuch(world, client) }
    #expect(one.map { isRead(world, $0) } == [true, false])
    // Four are one too many in all: the next one may go on after the second has come to its end.
    end(world, root[0])
    #expect(!isRead(world, root[3]))
    end(world, root[1])
    #expect(isRead(world, root[3]) && !isRead(world, one[1]))
    #expect(world.problems == [])
  }

  @Test(arguments: [0, 1], [3, 4, 5] as [UInt64])
  func `with hardly any room all go on one after the other, however they are cut`(
    limit: Int, seed: UInt64
  ) {
    let world = world(perUser: limit, inAll: limit, piecesSeed: seed)
    let clients = (0..<6).map { world.connect(uid: $0 < 4 ? 1_000 : 1_001) }
    for client in clients { sendMuch(world, client, bytes: 200 << 10) }
    for client in clients { end(world, client) }
    for client in clients { #expect(isAnswered(world, client)) }
    #expect(world.problems == [])
  }

  @Test(arguments: [0, 1, 2])
  func `one that goes away, or is too long, or is none, leaves its place`(how: Int) {
    let world = world(perUser: 1, inAll: 100)
    let (first, second) = (world.connect(), world.connect())
    sendMuch(world, first)
    sendMuch(world, second)
    #expect(isRead(world, first) && !isRead(world, second))
    switch how {
    case 0: world.vanish(first)
    case 1: sendMuch(world, first, bytes: 1 << 20, begins: false)
    default: world.send("nothing\0", from: first)
    }
    world.settle()
    #expect(world.clients[first].isClosed && isRead(world, second))
    end(world, second)
    #expect(isAnswered(world, second))
    #expect(world.problems == [])
  }

  @Test func `other limits let those go on who wait, and the loop does not sleep on it`() {
    let world = world(perUser: 1, inAll: 100)
    let (first, second) = (world.connect(), world.connect())
    sendMuch(world, first)
    sendMuch(world, second)
    var limits = world.service.limits
    limits.longCallsPerUser = 2
    world.service.adopt(limits)
    #expect(isRead(world, second))
    world.settle()
    limits.longCallsPerUser = 1
    world.service.adopt(limits)
    let third = world.connect()
    sendMuch(world, third)
    #expect(!isRead(world, third) && world.service.nextWake == .never)
    for client in [first, second] { world.service.forget(world.clients[client].id) }
    #expect(isRead(world, third) && world.service.nextWake == .now)
  }

  @Test func `a stream that is sent to has no place, and what follows a long call neither`() {
    let world = world(perUser: 1, inAll: 100)
    let (stream, caller, next) = (world.connect(), world.connect(), world.connect())
    world.call("Subscribe", [:], .more, from: stream)
    sendMuch(world, stream, bytes: 2 * ahead)
    sendMuch(world, caller)
    world.send("}\0{", from: caller)
    world.settle()
    #expect(isAnswered(world, caller))
    sendMuch(world, next)
    #expect(isRead(world, next) && !isRead(world, stream))
    #expect(world.problems == [])
  }
}
