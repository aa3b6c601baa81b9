import Countdowns
import TestSupport
import Testing

/// How messages are cut out of the stream, and what a message that is none does.
@Suite("Framing")
struct FramingTests {
  private let start =
    #"{"method":"io.countdownd.Countdown.Start","parameters":{"name":"NAME","durationUSec":60000000}}"#

  private func start(_ name: String) -> String { start.replacing("NAME", with: name) + "\0" }

  private func names(_ world: World) -> [String] {
    let client = world.connect()
    let reply = world.call("List", from: client)
    return reply["countdowns"]?.array?.compactMap { $0["name"]?.string } ?? []
  }

  @Test func `B47 d: a call that comes byte by byte is answered`() {
    let world = World()
    let client = world.connect()
    for byte in start("a").utf8 {
      world.send([byte], from: client)
      world.run(1_000_000)
    }
    #expect(world.clients[client].unexpected.map(\.error) == [nil])
    #expect(world.clients[client].unexpected[0]["remainingUSec"] == 60_000_000)
    #expect(!world.clients[client].isClosed)
  }

  @Test func `B47 f: two calls in one write are answered in order`() {
    let world = World()
    let client = world.connect()
    world.send(start("a") + start("a"), from: client)
    world.settle()
    #expect(world.clients[client].unexpected.map(\.errorName) == [nil, "CountdownExists"])
  }

  @Test(
    arguments: [
      [0xFF, 0xFE, 0], Array("[1]\0".utf8), [0], Array("{}\0".utf8), Array("nonsense\0".utf8),
      Array(#"{"method":"a.b","more":true,"oneway":true}"#.utf8) + [0],
      Array("\"\0".utf8), Array(#"{"method":"a.b"}}"#.utf8) + [0],
    ] as [[UInt8]])
  func `B47 b c g: what is no call ends its connection, unanswered, and no other`(bytes: [UInt8]) {
    let world = World()
    let other = world.connect()
    let client = world.connect()
    world.send(start("before"), from: client)
    world.send(bytes, from: client)
    world.send(start("after"), from: client)
    world.settle()
    #expect(world.clients[client].isClosed)
    #expect(world.clients[client].unexpected.count == 1)
    #expect(names(world) == ["before"])
    #expect(world.call("Count", from: other)["running"] == 1)
    #expect(world.problems == [])
  }

  @Test func `B47 e: half a call, and then the end, creates nothing`() {
    let call = Array(start("a").utf8)
    for length in 0..<call.count {
      let world = World()
      let client = world.connect()
      world.send(Array(call.prefix(length)), from: client)
      if length % 2 == 0 { world.shutDown(client) } else { world.vanish(client) }
      world.settle()
      #expect(world.clients[client].isClosed)
      #expect(names(world) == [])
    }
  }

  @Test func `calls sent before the end are answered, then the connection closes`() {
    let world = World()
    let client = world.connect()
    world.send(start("a") + start("b") + #"{"method":"#, from: client)
    world.shutDown(client)
    world.settle()
    #expect(world.clients[client].unexpected.map(\.error) == [nil, nil])
    #expect(world.clients[client].isClosed)
  }

  @Test(arguments: [1, 2, 3, 7, 64, 1_000])
  func `a stream of calls is the same in pieces of every size`(size: Int) {
    let world = World()
    let client = world.connect()
    let stream = Array((start("a") + start("b") + start("a")).utf8)
    for at in stride(from: 0, to: stream.count, by: size) {
      world.send(Array(stream[at..<min(at + size, stream.count)]), from: client)
      world.turn()
    }
    world.settle()
    #expect(world.clients[client].unexpected.map(\.errorName) == [nil, nil, "CountdownExists"])
  }

  // MARK: The longest message

  /// A call of exactly so many bytes, by white space.
  private func call(bytes: Int) -> [UInt8] {
    let text = Array(#"{"method":"io.countdownd.Countdown.Count"}"#.utf8)
    return Array(repeating: 0x20, count: bytes - text.count) + text
  }

  @Test func `B47 a: a message may have MaxMessageBytes, and one more ends the connection`() {
    var limits = Limits()
    limits.messageBytes = 1 << 20
    let world = World(limits: limits)
    let client = world.connect()
    world.send(call(bytes: 1 << 20) + [0], from: client)
    world.settle()
    #expect(world.clients[client].unexpected.map(\.error) == [nil])
    world.send(call(bytes: 1 << 20 + 1) + [0], from: client)
    world.send(start("after"), from: client)
    world.settle()
    let reply = world.clients[client].unexpected.last
    #expect(reply?.errorName == "QuotaExceeded")
    #expect(reply?["resource"] == "MaxMessageBytes")
    #expect(reply?["limit"] == 1_048_576)
    #expect((reply?["used"]?.integer ?? 0) >= 1_048_577)
    #expect(world.clients[client].isClosed)
    #expect(names(world) == [])
  }

  @Test func `B47 a: what never ends is refused at the limit, and no more of it is read`() {
    let world = World()
    let client = world.connect()
    world.send(Array(repeating: UInt8(ascii: "x"), count: 4 << 20), from: client)
    world.settle()
    #expect(world.clients[client].unexpected.map(\.errorName) == ["QuotaExceeded"])
    #expect(world.clients[client].isClosed)
    #expect(names(world) == [])
  }

  @Test func `B50: what is nested too deep ends its connection`() {
    for text in [
      String(repeating: "[", count: 100_000),
      #"{"method":"io.countdownd.Countdown.Start","parameters":"#
        + String(repeating: #"{"a":"#, count: 10_000) + "1" + String(repeating: "}", count: 10_001),
    ] {
      let world = World()
      let other = world.connect()
      let client = world.connect()
      world.send(text + "\0", from: client)
      world.settle()
      #expect(world.clients[client].isClosed)
      #expect(world.call("Count", from: other)["running"] == 0)
    }
  }

  // MARK: Flags

  @Test func `B49: each call is answered as its flags and its method say`() {
    let world = World()
    let client = world.connect()
    world.post("Subscribe", from: client)
    world.post("Start", ["name": "a", "durationUSec": 60_000_000], .oneway, from: client)
    world.post("Get", ["name": "a"], .more, from: client)
    world.post("Nope", from: client)
    world.post("Get", ["name": 1], from: client)
    world.post("Get", ["name": "a"], from: client)
    world.settle()
    let calls = world.clients[client].calls
    #expect(calls.allSatisfy { $0.replies.count == 1 && $0.isAnswered })
    #expect(
      calls.map { $0.replies[0].error } == [
        "org.varlink.service.ExpectedMore", nil, "org.varlink.service.MethodNotFound",
        "org.varlink.service.InvalidParameter", nil,
      ])
    #expect(calls[2].replies[0]["method"] == "io.countdownd.Countdown.Nope")
    #expect(calls[3].replies[0]["parameter"] == "name")
    #expect(world.clients[client].unexpected == [])
    #expect(world.problems == [])
  }

  @Test func `a oneway call is not answered, whatever comes of it`() {
    let world = World()
    let client = world.connect()
    for (method, parameters): (String, JSONTree) in [
      ("Start", ["name": "a", "durationUSec": 60_000_000]),
      ("Start", ["name": "a", "durationUSec": 1]),
      ("Start", ["name": "far", "durationUSec": -1]), ("Get", ["name": "a"]),
      ("Get", ["name": "b"]),
      ("Get", ["nope": 1]), ("Cancel", ["name": "b"]), ("List", [:]), ("Count", [:]),
      ("Subscribe", [:]), ("Nope", [:]), ("org.varlink.service.GetInfo", [:]),
      ("no.such.Method", [:]),
      ("Pause", ["name": "a"]),
    ] {
      world.post(method, parameters, .oneway, from: client)
    }
    world.settle()
    #expect(world.clients[client].bytesRead == 0)
    #expect(world.call("Get", ["name": "a"], from: client)["countdown"]?["state"] == "paused")
    #expect(world.clients[client].unexpected == [])
  }

  @Test func `an upgrade is not implemented, of any method`() {
    let world = World()
    let client = world.connect()
    for method in [
      "Start", "Subscribe", "org.varlink.service.GetInfo", "io.systemd.service.Ping",
      "no.such.Method",
    ] {
      let reply = world.call(method, [:], .upgrade, from: client)
      #expect(reply.error == "org.varlink.service.MethodNotImplemented")
    }
    #expect(world.call("Count", from: client).error == nil)
  }

  @Test func `a method of another interface is told by its interface`() {
    let world = World()
    let client = world.connect()
    for (method, interface) in [
      ("a.b.C", "a.b"), ("io.countdownd.Countdown.x.Start", "io.countdownd.Countdown.x"),
    ] {
      let reply = world.call(method, from: client)
      #expect(reply.error == "org.varlink.service.InterfaceNotFound")
      #expect(reply["interface"]?.string == interface)
    }
  }
}
