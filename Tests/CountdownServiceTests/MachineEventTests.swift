import CountdownService
import Countdowns
import TestSupport
import Testing

/// What subscribers hear of the machine.
@Suite("Machine events")
struct MachineEventTests {
  private func subscribe(
    _ world: World, _ parameters: JSONTree = [:], uid: UInt32 = 1_000, isAdmin: Bool = false
  ) -> Int {
    let client = world.connect(uid: uid, isAdmin: isAdmin)
    world.post("Subscribe", parameters, .more, from: client)
    world.settle()
    return client
  }

  private func told(_ world: World, _ client: Int) -> [String] {
    world.events(of: client).filter { $0["kind"] != "heartbeat" }.map {
      "\($0["kind"]?.string ?? "") \($0["byUSec"]?.integer ?? 0)"
    }
  }

  @Test func `a sleep and a step are told, each with how much it was`() {
    let world = World()
    let listener = subscribe(world)
    world.clock.suspend(.hours(8))
    world.turn()
    let at = world.clock.reading
    world.clock.run(50_000)
    world.clock.step(-1_000)
    world.turn()
    world.clock.run(50_000)
    world.clock.step(.hours(1))
    world.settle()
    #expect(
      told(world, listener) == [
        "slept 28800000000", "clockStepped -1000", "clockStepped 3600000000",
      ])
    let event = world.events(of: listener)[0]
    #expect(event.object?.keys.sorted() == ["at", "byUSec", "kind"])
    #expect(event["at"]?["boottimeUSec"]?.integer == at.boottime)
    #expect(event["at"]?["realtimeUSec"]?.integer == at.realtime)
    #expect(event["at"]?["monotonicUSec"]?.integer == at.monotonic)
    #expect(world.problems == [])
  }

  @Test func `of both at once the sleep is told first`() {
    let world = World()
    let listener = subscribe(world)
    world.clock.suspend(2_000)
    world.clock.step(-3_000)
    world.settle()
    #expect(told(world, listener) == ["slept 2000", "clockStepped -3000"])
  }

  @Test func `what is too little is not told, nor is a stall`() {
    let world = World()
    let listener = subscribe(world)
    let client = world.connect()
    world.call("Start", ["name": "a", "durationUSec": 1_000], from: client)
    world.clock.suspend(999)
    world.turn()
    world.clock.step(-999)
    world.turn()
    world.clock.run(.minutes(1))
    world.settle()
    #expect(world.told(to: listener).filter { $0 != "heartbeat " } == ["expired a"])
    world.clock.step(-1)
    world.settle()
    #expect(told(world, listener).last == "clockStepped -1000")
  }

  /// Whoever asks, of whatever owner and prefix; once on each stream.
  @Test func `everybody hears of them who wants the kind`() {
    let world = World()
    let listeners = [
      subscribe(world), subscribe(world, ["prefix": "orders/"]), subscribe(world, uid: 1_001),
      subscribe(world, ["allOwners": true], uid: 5, isAdmin: true),
      subscribe(world, ["owner": 1_000, "prefix": "x"], uid: 5, isAdmin: true),
      subscribe(world, ["kinds": ["slept", "clockStepped"]]),
      subscribe(world, ["kinds": ["slept"], "prefix": "a"]),
    ]
    let other = subscribe(world, ["kinds": ["expired"]])
    world.clock.suspend(.hours(1))
    world.settle()
    for listener in listeners { #expect(told(world, listener) == ["slept 3600000000"]) }
    world.clock.step(.hours(1))
    world.settle()
    for listener in listeners.dropLast() {
      #expect(told(world, listener) == ["slept 3600000000", "clockStepped 3600000000"])
    }
    #expect(told(world, listeners[6]) == ["slept 3600000000"])
    #expect(told(world, other) == [])
    #expect(world.problems == [])
  }

  /// In one list, so that who acts on an expiry knows already.
  @Test func `they come before what expired by them`() {
    let world = World()
    let (client, listener) = (world.connect(), subscribe(world))
    for name in ["a", "b"] {
      world.call("Start", ["name": .string(name), "durationUSec": 60_000_000], from: client)
    }
    let instant = world.clock.reading.realtime + .days(1)
    world.call(
      "Start",
      [
        "name": "c", "deadlineUSec": .integer(instant), "catchUp": "skip", "graceUSec": 1_000_000,
      ], from: client)
    world.clock.suspend(.hours(1))
    world.clock.step(.days(2))
    world.settle()
    // By how long each has been due, as if the clocks had run.
    #expect(
      world.told(to: listener) == [
        "slept ", "clockStepped ", "missed c", "expired a", "expired b",
      ])
    let replies = world.clients[listener].calls[0].replies
    #expect(replies.count { $0["events"] != nil } == 1)
    #expect(
      world.events(of: listener).map { $0["lateReason"]?.string } == [
        nil, nil, "clockStep", "suspend", "suspend",
      ])
    #expect(world.problems == [])
  }

  @Test func `one that did not read is told of them later, in their place`() {
    let world = World()
    let (client, listener) = (world.connect(), subscribe(world, ["prefix": "a"]))
    world.setReading(false, listener)
    for name in ["a", "b", "a2"] {
      world.call("Start", ["name": .string(name), "durationUSec": 0], from: client)
      world.clock.step(.hours(1))
      world.settle()
    }
    world.setReading(true, listener)
    world.settle()
    #expect(
      world.told(to: listener) == [
        "expired a", "clockStepped ", "clockStepped ", "expired a2", "clockStepped ",
      ])
    #expect(world.problems == [])
  }
}
