import CountdownService
import Countdowns
import TestSupport
import Testing

@Suite("StartMany")
struct StartManyTests {
  private let minute: JSONTree = 60_000_000

  private func item(_ name: String, _ more: [String: JSONTree] = [:]) -> JSONTree {
    var item: [String: JSONTree] = ["name": .string(name), "durationUSec": minute]
    item.merge(more) { _, new in new }
    return .object(item)
  }

  private func errors(_ reply: VirtualClient.Reply?) -> [String] {
    reply?["results"]?.array?.map {
      $0["error"]?.string?.split(separator: ".").last.map(String.init) ?? ""
    } ?? []
  }

  @Test(arguments: [false, true])
  func `each item is answered in its place as Start would answer it`(isDelayed: Bool) throws {
    let world = World(ledger: isDelayed ? .prompt : nil)
    let (client, alone) = (world.connect(uid: 1_000), world.connect(uid: 1_001))
    let items = [
      item("a", ["payload": ["a": 1]]), item("b", ["durationUSec": -1]), item("c"),
      item("a", ["onConflict": "keep"]), item("a"), item("d", ["durationUSec": 0]),
      item("c", ["onConflict": "extendOnly", "durationUSec": 70_000_000]),
      item("a", ["onConflict": "keep", "clock": "monotonic"]),
      item("e", ["onConflict": "replace", "revision": 1]),
      item("c", ["onConflict": "replace", "revision": 1]),
    ]
    let reply = world.call("StartMany", ["countdowns": .array(items)], from: client)
    #expect(
      errors(reply) == [
        "", "DurationOutOfRange", "", "", "CountdownExists", "", "", "WrongClock",
        "NoSuchCountdown", "RevisionMismatch",
      ])
    let results = try #require(reply["results"]?.array)
    for (item, result) in zip(items, results) {
      let single = world.call("Start", item, from: alone)
      if let error = result["error"] {
        #expect(single.error == error.string)
        var (fields, expected) = (result["errorParameters"]?.object, single.parameters)
        #expect(result.object?.count == 2)
        fields?["revision"] = nil  // The two have numbers of their own.
        expected["revision"] = nil
        #expect(fields == expected)
      } else {
        var (fields, expected) = (result.object, single.parameters)
        #expect(fields?["revision"] != nil)
        fields?["revision"] = nil
        expected["revision"] = nil
        #expect(fields == expected)
      }
    }
    #expect(world.call("Get", ["name": "a"], from: client)["countdown"]?["payload"] == ["a": 1])
    #expect(world.problems == [])
  }

  @Test(arguments: [false, true])
  func `a turn starts no more of them than of single calls, and at least one call's`(
    isDelayed: Bool
  ) {
    let world = World(ledger: isDelayed ? .prompt : nil)
    world.checksInvariants = false
    let clients = (0..<5).map { _ in world.connect() }
    for client in clients {
      let items = (0..<1_000).map { item("c\(client)-\($0)") }
      world.post("StartMany", ["countdowns": .array(items)], from: client)
    }
    var before = 0
    while !world.isSettled {
      world.turn()
      let usage = world.service.scheduler.users[world.service.scheduler.users.known(1_000)]
      // The last call of a turn may go over what it may cost by its whole length.
      #expect(usage.live - before <= 2_048 + 1_000)
      before = usage.live
    }
    #expect(before == 5_000)
    #expect(world.service.brokenInvariant() == nil)
    #expect(world.problems == [])
  }

  @Test func `all go to the ledger in one batch, and are answered when all verdicts are there`() {
    var ledger = DelayingLedger(
      seed: 1, habits: .init(slowestTurns: 20, refusedPercent: 20), firstRevision: 1)
    ledger.habits.refusedPercent = 20
    let world = World(ledger: ledger)
    let (client, listener) = (world.connect(), world.connect())
    world.post("Subscribe", ["kinds": ["started"]], .more, from: listener)
    world.settle()
    world.post(
      "StartMany", ["countdowns": .array((0..<100).map { item("n\($0)") })], from: client)
    world.post("Count", from: client)
    world.turn()
    world.turn()
    #expect(
      world.service.scheduler.users.counts.running == 0
        || !world.clients[client].calls[0].isAnswered)
    while world.told(to: listener).count < 50 {
      #expect(!world.clients[client].calls[0].isAnswered)
      world.turn()
    }
    world.settle()
    let errors = errors(world.clients[client].calls[0].replies.first)
    #expect(errors.count == 100 && Set(errors) == ["", "StorageFailed"])
    let started = errors.count { $0.isEmpty }
    #expect(world.told(to: listener).count == started)
    #expect(world.clients[client].calls[1].replies[0]["running"] == .integer(Int64(started)))
    for (place, error) in errors.enumerated() {
      let get = world.call("Get", ["name": .string("n\(place)")], from: client)
      #expect((get.error == nil) == error.isEmpty)
    }
    #expect(world.problems == [])
  }

  @Test(arguments: [0, 100])
  func `of two of one name the later is decided on the outcome of the earlier`(refused: Int) {
    let world = World(ledger: .prompt)
    let client = world.connect()
    world.setRefusals(refused)
    world.holdsVerdicts = true
    world.post(
      "StartMany", ["countdowns": [item("a"), item("b"), item("a"), item("a")]], from: client)
    world.settle()
    world.holdsVerdicts = false
    world.turn()
    world.setRefusals(0)
    world.settle()
    #expect(
      errors(world.clients[client].calls[0].replies.first)
        == (refused == 0
          ? ["", "", "CountdownExists", "CountdownExists"]
          : ["StorageFailed", "StorageFailed", "", "CountdownExists"]))
    #expect(world.problems == [])
  }

  @Test func `a name with another's change under way is waited for, the others are not`() {
    let world = World(ledger: .prompt)
    let (client, other) = (world.connect(), world.connect())
    world.holdsVerdicts = true
    world.post("Start", ["name": "a", "durationUSec": minute], from: other)
    world.settle()
    world.post("StartMany", ["countdowns": [item("a"), item("b"), item("a")]], from: client)
    world.settle()
    #expect(world.service.scheduler.users[0].starting == 2)
    world.holdsVerdicts = false
    world.settle()
    #expect(
      errors(world.clients[client].calls[0].replies.first)
        == ["CountdownExists", "", "CountdownExists"])
    // Where nothing of its own is under way, it waits for that alone.
    world.holdsVerdicts = true
    world.post("Cancel", ["name": "a"], from: other)
    world.settle()
    world.post("StartMany", ["countdowns": [item("a")]], from: client)
    let turns = world.readings.count
    world.settle()
    #expect(world.readings.count <= turns + 2)
    world.holdsVerdicts = false
    world.settle()
    #expect(errors(world.clients[client].calls[1].replies.first) == [""])
    #expect(world.problems == [])
  }

  @Test func `a quota lets in what fits, in order`() {
    var limits = Limits()
    limits.countdownsPerUser = 3
    for isDelayed in [false, true] {
      let world = World(limits: limits, ledger: isDelayed ? .prompt : nil)
      let client = world.connect()
      let items = (0..<5).map { item("n\($0)") }
      let reply = world.call("StartMany", ["countdowns": .array(items)], from: client)
      #expect(errors(reply) == ["", "", "", "QuotaExceeded", "QuotaExceeded"])
      #expect(
        reply["results"]?.array?.last?["errorParameters"]
          == ["resource": "MaxCountdownsPerUser", "limit": 3, "used": 3])
      #expect(world.problems == [])
    }
  }

  @Test func `a thousand are taken, with the longest answers, and one more is refused`() {
    let world = World()
    let client = world.connect()
    let items = (0..<1_000).map { item(String(repeating: "\"", count: 251) + "\(1_000 + $0)") }
    for expected in ["", "CountdownExists"] {
      world.post("StartMany", ["countdowns": .array(items)], from: client)
      world.setReading(false, client)
      world.settle()
      #expect(world.waitingText(for: client).utf8.count < 1 << 20)
      world.setReading(true, client)
      world.settle()
      let errors = errors(world.clients[client].calls.last?.replies.first)
      #expect(errors == Array(repeating: expected, count: 1_000))
    }
    let many = world.call(
      "StartMany", ["countdowns": .array((0...1_000).map { item("m\($0)") })], from: client)
    #expect(many.parameters == ["resource": "CountdownsPerCall", "limit": 1_000, "used": 1_001])
    #expect(world.call("Count", from: client)["running"] == 1_000)
    #expect(world.call("StartMany", ["countdowns": []], from: client)["results"] == [])
    #expect(world.problems == [])
  }

  @Test(arguments: [
    (#"{"durationUSec":1}"#, ".name"), (#"{"name":"x\n","durationUSec":1}"#, ".name"),
    (#"{"name":"","durationUSec":1}"#, ".name"), (#"{"name":"x"}"#, ".durationUSec"),
    (#"{"name":"x","durationUSec":"1"}"#, ".durationUSec"),
    (#"{"name":"x","durationUSec":1,"deadlineUSec":1}"#, ".deadlineUSec"),
    (#"{"name":"x","durationUSec":1,"clock":"sun"}"#, ".clock"),
    (#"{"name":"x","durationUSec":1,"payload":[]}"#, ".payload"),
    (#"{"name":"x","durationUSec":1,"owner":1000}"#, ".owner"),
    (#"{"name":"x","name":"x","durationUSec":1}"#, ".name"),
    (#"{"name":"x","durationUSec":1,"nope":null}"#, ".nope"), ("1", ""), ("null", ""), ("[]", ""),
  ])
  func `an item of the wrong form refuses the whole call before anything is done`(
    item: String, parameter: String
  ) {
    let world = World()
    let client = world.connect()
    let good = #"{"name":"a","durationUSec":60000000}"#
    let reply = world.call(
      "StartMany", text: #"{"countdowns":[\#(good),\#(good),\#(item),\#(good)]}"#, from: client)
    #expect(reply.errorName == "InvalidParameter")
    #expect(reply["parameter"]?.string == "countdowns[2]" + parameter)
    #expect(world.call("Count", from: client)["running"] == 0)
    #expect(world.problems == [])
  }

  @Test func `oneway and another's owner work as with Start`() {
    let world = World()
    let (admin, user) = (world.connect(uid: 0), world.connect(uid: 1_000))
    world.post("StartMany", ["countdowns": [item("a")], "owner": 1_000], .oneway, from: admin)
    let denied = world.call("StartMany", ["countdowns": [item("b")], "owner": 0], from: user)
    #expect(denied.errorName == "PermissionDenied")
    #expect(world.call("Count", from: user)["running"] == 1)
    #expect(world.call("Count", from: admin)["running"] == 0)
    #expect(world.problems == [])
  }
}
