import CountdownService
import Countdowns
import TestSupport
import Testing

/// `io.systemd.service`: the daemon is controlled, by those who may.
@Suite("Control")
struct ControlTests {
  private static let denied = "org.varlink.service.PermissionDenied"

  @Test func `everybody may ask whether it answers`() {
    let world = World()
    for uid: UInt32 in [0, World.daemonUID, 1_000] {
      let reply = world.call("io.systemd.service.Ping", from: world.connect(uid: uid))
      #expect(reply.error == nil)
      #expect(reply.parameters.isEmpty)
    }
    #expect(world.requests == [])
    #expect(world.problems == [])
  }

  @Test func `root and the daemon's own user may have it read its configuration again`() {
    let world = World()
    for uid: UInt32 in [0, World.daemonUID] {
      let reply = world.call("io.systemd.service.Reload", from: world.connect(uid: uid))
      #expect(reply.error == nil)
      #expect(reply.parameters.isEmpty)
    }
    #expect(world.requests == [.reload, .reload])
    #expect(world.problems == [])
  }

  @Test func `others may not, administrators of countdowns neither`() {
    let world = World()
    for client in [world.connect(), world.connect(uid: 5, isAdmin: true)] {
      #expect(world.call("io.systemd.service.Reload", from: client).error == Self.denied)
      let reply = world.call("io.systemd.service.SetLogLevel", ["level": 7], from: client)
      #expect(reply.error == Self.denied)
      #expect(world.call("Count", from: client).error == nil)
    }
    #expect(world.requests == [])
    #expect(world.problems == [])
  }

  @Test func `a configuration that is refused is answered with file and line`() {
    let world = World()
    let client = world.connect(uid: 0)
    let message = "/etc/x.conf:3: LogLevel=loud: must be one of error, warning, info, debug"
    world.configurationRefusal = ConfigurationRefusal(
      message: message, file: "/etc/x.conf", line: 3)
    let reply = world.call("io.systemd.service.Reload", from: client)
    #expect(reply.error == "io.countdownd.Countdown.ConfigurationRefused")
    #expect(
      reply.parameters == ["message": .string(message), "file": "/etc/x.conf", "line": 3])
    // What is in no file, or of a whole one, has no such place.
    world.configurationRefusal = ConfigurationRefusal(message: "m", file: nil, line: nil)
    let other = world.call("io.systemd.service.Reload", from: client)
    #expect(other.parameters == ["message": "m"])
    world.configurationRefusal = nil
    #expect(world.call("io.systemd.service.Reload", from: client).error == nil)
    #expect(world.problems == [])
  }

  @Test func `the levels of syslog are passed on, and no others`() {
    let world = World()
    let client = world.connect(uid: 0)
    for level in 0...7 as ClosedRange<Int64> {
      let reply = world.call(
        "io.systemd.service.SetLogLevel", ["level": .integer(level)], from: client)
      #expect(reply.error == nil)
      #expect(reply.parameters.isEmpty)
    }
    #expect(world.requests == (0...7).map { .setLogLevel($0) })
    for wrong in [
      "{}", "{\"level\":null}", "{\"level\":-1}", "{\"level\":8}", "{\"level\":\"7\"}",
      "{\"level\":7.0}", "{\"level\":9223372036854775807}", "{\"level\":1,\"level\":1}",
    ] {
      let reply = world.call("io.systemd.service.SetLogLevel", text: wrong, from: client)
      #expect(reply.error == "org.varlink.service.InvalidParameter", "\(wrong)")
      #expect(reply["parameter"] == "level", "\(wrong)")
    }
    #expect(world.requests.count == 8)
    #expect(world.problems == [])
  }

  @Test func `none of them takes another parameter`() {
    let world = World()
    let client = world.connect(uid: 0)
    for method in ["Ping", "Reload", "SetLogLevel"] {
      let reply = world.call("io.systemd.service." + method, ["owner": 1], from: client)
      #expect(reply.error == "org.varlink.service.InvalidParameter")
      #expect(reply["parameter"] == "owner")
    }
    let reply = world.call("io.systemd.service.Stop", from: client)
    #expect(reply.error == "org.varlink.service.MethodNotFound")
    #expect(reply["method"] == "io.systemd.service.Stop")
    #expect(world.requests == [])
  }

  @Test func `calls behind one wait for it, and are answered in order`() {
    let world = World()
    let client = world.connect(uid: 0)
    world.post("io.systemd.service.Reload", from: client)
    world.post("Start", ["name": "a", "durationUSec": 60_000_000], from: client)
    world.post("io.systemd.service.SetLogLevel", ["level": 3], from: client)
    world.post("io.systemd.service.Reload", from: client)
    world.post("Get", ["name": "a"], from: client)
    world.turn()
    #expect(world.requests == [.reload])  // What follows it goes by the new configuration.
    world.settle()
    #expect(world.requests == [.reload, .setLogLevel(3), .reload])
    let replies = world.clients[client].calls.map { $0.replies.last }
    #expect(replies.allSatisfy { $0?.error == nil })
    #expect(replies[1]?["created"] == true)
    #expect(replies[4]?["countdown"]?["name"] == "a")
    #expect(world.problems == [])
  }

  @Test func `a oneway one is carried out and not answered, even where it is refused`() {
    let world = World()
    let client = world.connect(uid: 0)
    world.configurationRefusal = ConfigurationRefusal(message: "m", file: nil, line: nil)
    for method in ["Ping", "Reload"] {
      world.post("io.systemd.service." + method, [:], .oneway, from: client)
    }
    world.post("io.systemd.service.SetLogLevel", ["level": 1], .oneway, from: client)
    world.settle()
    #expect(world.clients[client].bytesRead == 0)
    #expect(world.requests == [.reload, .setLogLevel(1)])
    #expect(world.call("io.systemd.service.Ping", from: client).error == nil)
    #expect(world.clients[client].unexpected == [])
  }

  @Test func `who has left is not answered, and others are not in its stead`() {
    let limits = Limits()
    let clock = VirtualClock()
    var service = Service(
      at: clock.reading, limits: limits,
      terms: .inMemory(wallClock: clock.reading.realtime, notSupported: 95),
      identity: Service.Identity(version: "0", uid: 5, bootID: "0"), reserving: 0)
    let first = service.open(uid: 5, isAdmin: false)
    service.receive(Array("{\"method\":\"io.systemd.service.Reload\"}\0".utf8).span, from: first)
    service.turn(at: clock.reading)
    let requests = service.takeRequests()
    #expect(requests.map(\.action) == [.reload])
    #expect(service.takeRequests() == [])
    service.forget(first)
    let second = service.open(uid: 5, isAdmin: false)
    #expect(second.place == first.place)
    for request in requests { service.conclude(request) }
    #expect(service.wish(of: second)?.hasOutput == false)
    #expect(service.brokenInvariant() == nil)
  }
}
