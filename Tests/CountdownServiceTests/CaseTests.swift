import CountdownService
import Countdowns
import TestSupport
import Testing
import TimingWheel

/// Real failures of other systems (CASES.md), at the service's level.
@Suite("Cases")
struct CaseTests {
  private func start(_ world: World, _ name: String, _ length: Int64, from client: Int)
    -> VirtualClient.Reply
  {
    world.call("Start", ["name": .string(name), "durationUSec": .integer(length)], from: client)
  }

  private func remaining(_ world: World, _ name: String, from client: Int) -> Int64? {
    world.call("Get", ["name": .string(name)], from: client)["countdown"]?["remainingUSec"]?.integer
  }

  private func listener(_ world: World) -> Int {
    let client = world.connect()
    world.post(
      "Subscribe",
      [
        "heartbeatUSec": 9_007_199_254_740_991, "kinds": ["expired", "missed", "cancelled"],
      ], .more, from: client)
    world.settle()
    return client
  }

  @Test
  func
    `B01: the base of a countdown and its timer are of the same clock, however long the machine slept`()
  {
    let slept: Int64 = .hours(45) + .minutes(57)
    let clock = VirtualClock(
      monotonic: 5_000_000, boottime: 5_000_000 + slept, realtime: 1_796_000_000_000_000)
    for name in ["boottime", "monotonic"] {
      let world = World(clock: clock)
      let (client, listener) = (world.connect(), listener(world))
      let reply = world.call(
        "Start", ["name": "a", "durationUSec": 10_000_000, "clock": .string(name)], from: client)
      #expect(reply["remainingUSec"] == 10_000_000)
      #expect(remaining(world, "a", from: client) == 10_000_000)
      world.run(9_999_999)
      #expect(world.told(to: listener) == [])
      world.run(1)
      #expect(world.told(to: listener) == ["expired a"])
      #expect(world.events(of: listener)[0]["lateUSec"] == 0)
    }
  }

  @Test func `B02: what remains never grows over a suspend`() {
    let world = World()
    let (client, listener) = (world.connect(), listener(world))
    _ = start(world, "a", 60_000_000, from: client)
    world.run(10_000_000)
    world.clock.suspend(30_000_000)
    world.settle()
    #expect(remaining(world, "a", from: client) == 20_000_000)
    world.run(20_000_000)
    #expect(world.told(to: listener) == ["expired a"])
  }

  @Test func `B06: steps of the wall clock move no countdown of a length`() {
    let world = World()
    let (client, listener) = (world.connect(), listener(world))
    _ = start(world, "r", .seconds(600), from: client)
    var left: Int64 = .seconds(600)
    for step in [.days(-18 * 365), .days(18 * 365), .days(1), .days(-1)] as [Int64] {
      world.run(.seconds(60))
      world.clock.step(step)
      world.settle()
      left -= .seconds(60)
      #expect(remaining(world, "r", from: client) == left)
      #expect(world.told(to: listener) == [])
    }
    world.run(.seconds(360))
    #expect(world.told(to: listener) == ["expired r"])
    #expect(world.events(of: listener)[0]["lateUSec"] == 0)
  }

  @Test func `B07: what fell due in sleep expires at the resume, and says how late`() {
    let world = World()
    let (client, listener) = (world.connect(), listener(world))
    let reply = start(world, "a", .seconds(20), from: client)
    world.clock.suspend(.seconds(60))
    world.settle()
    #expect(world.told(to: listener) == ["expired a"])
    #expect(world.events(of: listener)[0]["lateUSec"]?.integer == .seconds(40))
    #expect(world.events(of: listener)[0]["lateReason"] == "suspend")
    #expect(
      world.events(of: listener)[0]["deadline"]?["boottimeUSec"]
        == reply["deadline"]?["boottimeUSec"])
  }

  /// Zones are the business of who makes an instant of a local time: see `PointInTimeTests`.
  @Test func `B08: a night on which local time leaps repeats keep their interval`() {
    let world = World(
      clock: VirtualClock(
        monotonic: 5_000_000, boottime: 5_000_000, realtime: 1_743_296_390_000_000))
    let (client, listener) = (world.connect(), listener(world))
    world.call(
      "Start", ["name": "r", "durationUSec": 3_600_000_000, "repeatUSec": 3_600_000_000],
      from: client)
    // 01:30 UTC is the instant that Dublin calls 02:30 and nobody there calls 01:30.
    world.call("Start", ["name": "u", "deadlineUSec": 1_743_298_200_000_000], from: client)
    let begin = world.clock.reading.boottime
    let wakes = world.run(.hours(3))
    #expect(world.told(to: listener) == ["expired u", "expired r", "expired r", "expired r"])
    let at = world.events(of: listener).map { ($0["at"]?["boottimeUSec"]?.integer ?? 0) - begin }
    #expect(at == [.seconds(1_810), .hours(1), .hours(2), .hours(3)])
    #expect(wakes <= 4 * 8)  // One for each level of the wheel, at most.
    #expect(world.problems == [])
  }

  @Test func `B10 a: an instant of the wall clock follows it`() {
    let world = World()
    let (client, listener) = (world.connect(), listener(world))
    let instant = world.clock.reading.realtime + .minutes(10)
    world.call("Start", ["name": "u", "deadlineUSec": .integer(instant)], from: client)
    world.run(.minutes(1))
    world.clock.step(.days(-18 * 365))
    world.settle()
    #expect(remaining(world, "u", from: client) == .days(18 * 365) + .minutes(9))
    world.run(.hours(1))
    #expect(world.told(to: listener) == [])
  }

  @Test
  func `B10 b: an instant that a step passed over expires once, whatever the clock does then`() {
    let world = World()
    let (client, listener) = (world.connect(), listener(world))
    let instant = world.clock.reading.realtime + .minutes(10)
    world.call("Start", ["name": "u", "deadlineUSec": .integer(instant)], from: client)
    _ = start(world, "r", .minutes(10), from: client)
    world.run(.minutes(1))
    world.clock.step(.days(1))
    world.settle()
    #expect(world.told(to: listener) == ["expired u"])
    world.run(.minutes(1))
    world.clock.step(.days(-1))
    world.run(.minutes(20))
    #expect(world.told(to: listener) == ["expired u", "expired r"])
    #expect(world.events(of: listener)[1]["lateUSec"] == 0)
  }

  @Test func `B11: very long lengths are exact, and one past the longest is refused`() {
    let longest: Int64 = 9_007_199_254_740_991
    let lengths = [
      2_147_483_647_000, 2_147_483_648_000, 4_294_972_296_000, 4_398_046_511_104_000, longest,
    ]
    let world = World()
    let (client, listener) = (world.connect(), listener(world))
    for (place, length) in lengths.enumerated() {
      #expect(start(world, "n\(place)", length, from: client)["remainingUSec"]?.integer == length)
    }
    let refused = start(world, "past", longest + 1, from: client)
    #expect(refused.errorName == "DurationOutOfRange")
    #expect(refused["maximumUSec"]?.integer == longest)
    #expect(world.run(.seconds(60)) <= 9)
    for (place, length) in lengths.enumerated() {
      #expect(remaining(world, "n\(place)", from: client) == length - .seconds(60))
    }
    #expect(world.told(to: listener) == [])
    world.clock.run(longest - .seconds(60) - 1)
    world.settle()
    #expect(world.told(to: listener) == ["expired n0", "expired n1", "expired n2", "expired n3"])
    world.run(1)
    #expect(world.told(to: listener).last == "expired n4")
    #expect(world.problems == [])
  }

  @Test
  func
    `B13 b: a length counts from the reading at which its call is handled, after a stall as well`()
  {
    let world = World()
    let (client, listener) = (world.connect(), listener(world))
    for name in 0..<500 { _ = start(world, "n\(name)", .hours(1), from: client) }
    world.post("List", [:], .more, from: client)
    world.post("Start", ["name": "a", "durationUSec": 5_000_000], from: client)
    world.turn()
    world.clock.run(.seconds(5))  // The turn took that long.
    world.settle()
    #expect(world.clients[client].calls.last?.replies[0]["remainingUSec"] == 5_000_000)
    let handledAt =
      world.clients[client].calls.last?.replies[0]["now"]?["boottimeUSec"]?.integer ?? 0
    world.run(.seconds(5))
    #expect(world.told(to: listener) == ["expired a"])
    let at = world.events(of: listener)[0]["at"]?["boottimeUSec"]?.integer ?? 0
    #expect(at - handledAt == .seconds(5))
  }

  @Test
  func `B18: of those due at once, each is cancelled or has expired, and the quota counts right`() {
    var limits = Limits()
    limits.countdownsPerUser = 11
    let world = World(limits: limits)
    let (client, listener) = (world.connect(), listener(world))
    for name in 0..<11 { _ = start(world, "n\(name)", 1_000_000, from: client) }
    world.clock.run(1_000_000)
    for name in 1..<11 { world.post("Cancel", ["name": .string("n\(name)")], from: client) }
    for name in 0..<12 {
      world.post("Start", ["name": .string("m\(name)"), "durationUSec": 60_000_000], from: client)
    }
    world.settle()
    let calls = world.clients[client].calls.dropFirst(11)
    let told = world.told(to: listener)
    for (name, call) in zip(1..<11, calls) {
      let isCancelled = call.replies[0].error == nil
      #expect(told.count { $0 == "expired n\(name)" } == (isCancelled ? 0 : 1))
      #expect(told.count { $0 == "cancelled n\(name)" } == (isCancelled ? 1 : 0))
      if !isCancelled { #expect(call.replies[0].errorName == "AlreadyExpired") }
    }
    #expect(told.count == 11)
    #expect(
      calls.suffix(12).map { $0.replies[0].errorName } == Array(repeating: nil, count: 11) + [
        "QuotaExceeded"
      ])
    #expect(world.call("Count", from: client)["running"] == 11)
    #expect(world.problems == [])
  }

  @Test func `B20: with nothing near to wait for it hardly wakes, and what then comes is on time`()
  {
    let world = World()
    let client = world.connect()
    #expect(world.service.nextWake == .never)
    #expect(world.run(.minutes(10)) == 0)
    _ = start(world, "far", 9_007_199_254_740_991, from: client)
    #expect(world.run(.days(365)) <= 9)
    guard case .at(let wake) = world.service.nextWake else {
      Issue.record("it waits for nothing")
      return
    }
    #expect(wake.rawValue < 1 << 54)
    let listener = listener(world)
    _ = start(world, "a", 1_000_000, from: client)
    #expect(world.run(1_000_000) <= 9)
    #expect(world.told(to: listener) == ["expired a"])
    #expect(world.events(of: listener)[0]["lateUSec"] == 0)
  }

  @Test func `B22: what is measured in lengths goes on while the wall clock is set back`() {
    let world = World()
    let client = world.connect()
    let listener = world.connect()
    world.post("Subscribe", ["heartbeatUSec": 2_000_000], .more, from: listener)
    world.settle()
    world.clock.step(.hours(-1))
    world.settle()
    let begin = world.clock.reading.boottime
    _ = start(world, "a", .seconds(5), from: client)
    world.run(.seconds(10))
    // Heartbeats two seconds after what was told last.
    let told = world.events(of: listener).map {
      "\($0["kind"]?.string ?? "") \((($0["at"]?["boottimeUSec"]?.integer ?? 0) - begin) / 1_000)"
    }
    #expect(
      told == [
        "clockStepped 0", "heartbeat 2000", "heartbeat 4000", "expired 5000", "heartbeat 7000",
        "heartbeat 9000",
      ])

    // A leap second, while a chain of short ones runs.
    world.run(.seconds(1))
    for link in 0..<20 {
      let begin = world.clock.reading.boottime
      _ = start(world, "link\(link)", 500_000, from: client)
      if link == 7 {
        world.run(250_000)
        world.clock.step(-1_000_000)
        world.settle()
      }
      let wakes = world.run(begin + 500_000 - world.clock.reading.boottime)
      let event = world.events(of: listener).last { $0["name"] == .string("link\(link)") }
      #expect(event?["at"]?["boottimeUSec"]?.integer == begin + 500_000)
      #expect(wakes <= 3)
    }
    #expect(world.problems == [])
  }

  @Test func `B24: every length out of range is refused, and nothing changes`() {
    let world = World()
    let (client, listener) = (world.connect(), listener(world))
    _ = start(world, "a", .seconds(600), from: client)
    for text in [
      #"{"name":"x","durationUSec":-46000}"#, #"{"name":"x","durationUSec":-9223372036854775808}"#,
      #"{"name":"x","durationUSec":9223372036854775807}"#,
      #"{"name":"x","deadlineUSec":9223372036854775807}"#,
      #"{"name":"x","deadlineUSec":-9223372036854775808}"#,
      #"{"name":"x","durationUSec":1,"repeatUSec":9223372036854775807}"#,
      #"{"name":"x","durationUSec":1,"repeatUSec":-9223372036854775808}"#,
    ] {
      #expect(
        world.call("Start", text: text, from: client).errorName == "DurationOutOfRange", "\(text)")
    }
    for text in [
      #"{"name":"x","durationUSec":9223372036854775807000000}"#,
      #"{"name":"x","durationUSec":1.5}"#,
      #"{"name":"x","durationUSec":1e3}"#, #"{"name":"x","durationUSec":"5"}"#,
    ] {
      #expect(
        world.call("Start", text: text, from: client)["parameter"] == "durationUSec", "\(text)")
    }
    for change in [Int64.max, .min, 9_007_199_254_740_991 - .seconds(600) + 1] {
      for field in ["byUSec", "toRemainingUSec"] {
        if field == "toRemainingUSec", change == 9_007_199_254_740_991 - .seconds(600) + 1 {
          continue
        }
        let reply = world.call(
          "Extend", .object(["name": "a", field: .integer(change)]), from: client)
        #expect(reply.errorName == "DurationOutOfRange")
        #expect(reply["parameter"]?.string == field)
      }
    }
    #expect(remaining(world, "a", from: client) == .seconds(600))
    #expect(world.call("Count", from: client)["running"] == 1)
    #expect(start(world, "zero", 0, from: client).error == nil)
    world.settle()
    #expect(world.told(to: listener) == ["expired zero"])
    world.call(
      "Start", ["name": "past", "deadlineUSec": -9_007_199_254_740_991, "repeatUSec": 1_000_000],
      from: client)
    world.settle()
    #expect(world.told(to: listener) == ["expired zero", "expired past"])
    #expect(
      world.call(
        "Extend", ["name": "a", "byUSec": .integer(9_007_199_254_740_991 - .seconds(600))],
        from: client
      ).error == nil)
    #expect(
      world.call("Extend", ["name": "a", "byUSec": -9_007_199_254_740_991], from: client)[
        "remainingUSec"] == 0)
    #expect(world.told(to: listener).last == "expired a")
    #expect(world.problems == [])
  }

  @Test func `B27: what remains is never negative, before, at and long after the deadline`() {
    for (wait, expected) in [
      (999_000, 1_000), (1_000_000, 0), (1_001_000, 0), (1_000_000 + .hours(16), 0),
    ] as [(Int64, Int64)] {
      let world = World()
      let client = world.connect()
      _ = start(world, "a", 1_000_000, from: client)
      world.clock.run(wait)
      let reply = world.call("Get", ["name": "a"], from: client)
      #expect(reply["countdown"]?["remainingUSec"]?.integer == expected)
      #expect(reply["countdown"]?["state"] == (expected > 0 ? "running" : "expired"))
    }
    // While a change of it is with the ledger it does not expire; nothing is negative for that.
    let world = World(ledger: .prompt)
    let (client, other) = (world.connect(), world.connect())
    _ = start(world, "a", 1_000_000, from: client)
    world.holdsVerdicts = true
    world.post("Pause", ["name": "a"], from: client)
    world.settle()
    world.clock.run(.hours(16))
    #expect(remaining(world, "a", from: other) == 0)
  }

  @Test
  func `B35: a second start, and verbs that do not fit, are refused by name and change nothing`() {
    let world = World()
    let (one, two, listener) = (world.connect(), world.connect(), world.connect())
    world.post(
      "Subscribe", ["kinds": ["started", "changed", "paused", "resumed", "expired", "cancelled"]],
      .more,
      from: listener)
    world.settle()
    for client in [one, two] {
      world.post("Start", ["name": "a", "durationUSec": 60_000_000], from: client)
    }
    world.settle()
    let replies = [one, two].map { world.clients[$0].calls[0].replies[0] }
    #expect(replies.map(\.errorName) == [nil, "CountdownExists"])
    #expect(replies[1]["remainingUSec"] == 60_000_000)
    world.run(1_000_000)
    #expect(remaining(world, "a", from: one) == 59_000_000)
    #expect(world.call("Resume", ["name": "a"], from: one).errorName == "WrongState")
    #expect(world.call("Cancel", ["name": "a"], from: one)["remainingUSec"] == 59_000_000)
    #expect(world.call("Cancel", ["name": "a"], from: two).errorName == "WrongState")
    #expect(world.call("Cancel", ["name": "nope"], from: two).errorName == "NoSuchCountdown")
    _ = start(world, "b", 5, from: one)
    world.run(5)
    #expect(world.call("Pause", ["name": "b"], from: one).errorName == "AlreadyExpired")
    #expect(world.call("Resume", ["name": "b"], from: one).errorName == "AlreadyExpired")
    #expect(world.told(to: listener) == ["started a", "cancelled a", "started b", "expired b"])
    #expect(world.problems == [])
  }

  @Test func `B32: what falls due while the loop is held comes late, whatever its grace, and once`()
  {
    let world = World()
    let (client, listener) = (world.connect(), listener(world))
    _ = start(world, "a", .seconds(1), from: client)
    world.run(.seconds(1))
    _ = start(world, "b", .hours(1), from: client)
    _ = start(world, "c", .hours(1), from: client)
    world.call(
      "Start",
      ["name": "d", "durationUSec": 1_000_000, "catchUp": "skip", "graceUSec": 1_000_000],
      from: client)
    world.clock.run(.seconds(6))
    world.settle()
    #expect(world.told(to: listener) == ["expired a", "expired d"])
    #expect(world.events(of: listener)[1]["lateUSec"] == 5_000_000)
    #expect(world.events(of: listener)[1]["lateReason"] == "overload")
    _ = start(world, "e", .hours(1), from: client)
    world.run(.minutes(1))
    #expect(world.told(to: listener) == ["expired a", "expired d"])
    #expect(world.problems == [])
  }

  /// The clocks say what there is to know of a pause; nothing is guessed beyond them.
  @Test func `B40: a virtual machine that was paused is believed by its clocks`() {
    // Its wall clock is put right afterwards: a step.
    var world = World()
    var (client, listener) = (world.connect(), listener(world))
    _ = start(world, "a", .hours(1), from: client)
    world.run(.minutes(10))
    world.clock.step(.days(1))
    world.settle()
    #expect(remaining(world, "a", from: client) == .minutes(50))
    var found = world.call("GetClocks", from: client)["discontinuities"]?.array ?? []
    #expect(found.map { $0["kind"] } == ["stepped"])
    #expect(found[0]["steppedUSec"]?.integer == .days(1))

    // All its clocks jump together: to everybody in it the day has passed.
    world = World()
    (client, listener) = (world.connect(), self.listener(world))
    world.call(
      "Start", ["name": "a", "durationUSec": .integer(.hours(1)), "catchUp": "skip"], from: client)
    world.run(.minutes(10))
    world.clock.run(.days(1))
    world.settle()
    #expect(world.told(to: listener) == ["expired a"])
    let late: Int64 = .hours(23) + .minutes(10)
    #expect(world.events(of: listener)[0]["lateUSec"]?.integer == late)
    #expect(world.events(of: listener)[0]["lateReason"] == "overload")
    found = world.call("GetClocks", from: client)["discontinuities"]?.array ?? []
    #expect(found.map { $0["kind"] } == ["stalled"])
    #expect(found[0]["awayUSec"]?.integer == late)
    #expect(world.problems == [])
  }

  @Test func `B36: each clock counts sleep as it promises`() {
    let world = World()
    let (client, listener) = (world.connect(), listener(world))
    _ = start(world, "x", .minutes(10), from: client)
    world.call(
      "Start", ["name": "y", "durationUSec": .integer(.minutes(10)), "clock": "monotonic"],
      from: client)
    world.run(.minutes(1))
    world.clock.suspend(.minutes(8))
    world.run(.minutes(1))
    #expect(world.told(to: listener) == ["expired x"])
    #expect(world.events(of: listener)[0]["lateUSec"] == 0)
    #expect(remaining(world, "y", from: client) == .minutes(8))
    #expect(world.call("Get", ["name": "y"], from: client)["countdown"]?["clock"] == "monotonic")
    world.run(.minutes(8))
    #expect(world.told(to: listener) == ["expired x", "expired y"])
  }

  /// The watchdog's part is the host's: it is told before the turn, and between the turns of the drain.
  @Test
  func `B56: a crowd that fell due in sleep is told in batches, in order, with calls between`() {
    let world = World()
    let (client, caller) = (world.connect(uid: 0), world.connect())
    let listener = world.connect(uid: 0)
    world.post(
      "Subscribe", ["kinds": ["expired"], "heartbeatUSec": 9_007_199_254_740_991], .more,
      from: listener)
    _ = start(world, "mine", .hours(1), from: caller)
    let count = 6_000
    var order: [String] = []
    for first in stride(from: 0, to: count, by: 1_000) {
      let items = (first..<first + 1_000).map { index -> JSONTree in
        // Neither the order in which they start nor that of their names.
        let length = Int64(index * 7_919 % count) * 10_000
        return ["name": .string("n\(index)"), "durationUSec": .integer(.seconds(60) + length)]
      }
      world.call("StartMany", ["countdowns": .array(items)], from: client)
    }
    order = (0..<count).sorted { $0 * 7_919 % count < $1 * 7_919 % count }.map { "expired n\($0)" }
    world.checksInvariants = false
    // The state of sleep in which all clocks go on, and one in which they do not.
    world.clock.run(.minutes(5))
    world.clock.suspend(.minutes(5))
    var turns = 0
    while world.told(to: listener).count < count, turns < 100 {
      let before = world.told(to: listener).count
      world.post("Get", ["name": "mine"], from: caller)
      world.turn()
      turns += 1
      #expect(world.told(to: listener).count - before <= 1_024)
      #expect(world.clients[caller].calls.last?.isAnswered == true)
    }
    #expect(turns >= 6)
    #expect(world.told(to: listener) == order)
    #expect(world.events(of: listener).allSatisfy { $0["lateReason"] != "none" })
    #expect(world.problems == [])
  }
}
