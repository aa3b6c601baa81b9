import CountdownService
import Countdowns
import TestSupport
import Testing

/// Calls about other users' countdowns: who may, and what they come to.
@Suite("Owner")
struct OwnerTests {
  private let minute: JSONTree = 60_000_000

  private func names(_ reply: VirtualClient.Reply) -> [String] {
    reply["countdowns"]?.array?.map {
      "\($0["owner"]?.integer ?? -1)/\($0["name"]?.string ?? "")"
    } ?? []
  }

  private static let calls: [(method: String, parameters: [String: JSONTree])] = [
    ("Start", ["name": "b", "durationUSec": 60_000_000]), ("Get", ["name": "a"]),
    ("GetMany", ["names": ["a"]]), ("List", [:]), ("Count", [:]), ("Pause", ["name": "a"]),
    ("Resume", ["name": "a"]), ("Restart", ["name": "a"]), ("Extend", ["name": "a", "byUSec": 1]),
    ("SetPayload", ["name": "a"]), ("Cancel", ["name": "a"]), ("Subscribe", [:]),
    ("CancelMany", ["names": ["a"]]), ("CancelMany", ["prefix": "a"]), ("GetStatistics", [:]),
  ]

  @Test(arguments: 0..<15)
  func `only an admin may name another owner, and everybody may name himself`(place: Int) {
    let (method, parameters) = Self.calls[place]
    let flag: World.Flag? = method == "Subscribe" ? .more : nil
    for (uid, isAdmin, owner, isRight) in [
      (1_000, false, 1_000, true), (1_000, false, 1_001, false), (1_000, false, 7_777, false),
      (1_001, false, 0, false), (1_000, true, 1_001, true), (0, true, 1_000, true),
    ] as [(UInt32, Bool, Int64, Bool)] {
      let world = World()
      for other: UInt32 in [1_000, 1_001, 0] {
        let client = world.connect(uid: other)
        world.call("Start", ["name": "a", "durationUSec": minute], from: client)
        if method == "Resume" { world.call("Pause", ["name": "a"], from: client) }
      }
      let client = world.connect(uid: uid, isAdmin: isAdmin)
      var call = parameters
      call["owner"] = .integer(owner)
      let reply = world.call(method, .object(call), flag, from: client)
      #expect(reply.error == (isRight ? nil : "org.varlink.service.PermissionDenied"))
      if !isRight { #expect(reply.parameters == [:]) }
      #expect(world.problems == [])
    }
  }

  @Test(arguments: ["List", "Count", "Subscribe", "CancelMany", "GetStatistics"])
  func `only an admin may ask about everybody`(method: String) {
    for isAdmin in [false, true] {
      let world = World()
      let client = world.connect(isAdmin: isAdmin)
      let flag: World.Flag? = method == "Subscribe" ? .more : nil
      var call: [String: JSONTree] = ["allOwners": true]
      if method != "Count", method != "GetStatistics" { call["prefix"] = "" }
      let reply = world.call(method, .object(call), flag, from: client)
      #expect(reply.errorName == (isAdmin ? nil : "PermissionDenied"))
      let own = world.connect()
      call["allOwners"] = false
      #expect(world.call(method, .object(call), flag, from: own).error == nil)
    }
  }

  @Test func `what an admin starts for another belongs to him, and counts for him`() {
    var limits = Limits()
    limits.countdownsPerUser = 1
    let world = World(limits: limits)
    let (admin, user) = (world.connect(uid: 0), world.connect(uid: 1_000))
    let start: (String) -> JSONTree = {
      ["name": .string($0), "durationUSec": 60_000_000, "owner": 1_000]
    }
    #expect(world.call("Start", start("a"), from: admin).error == nil)
    #expect(world.call("Get", ["name": "a"], from: admin).errorName == "NoSuchCountdown")
    #expect(world.call("Get", ["name": "a"], from: user)["countdown"]?["owner"] == 1_000)
    let refused = world.call("Start", start("b"), from: admin)
    #expect(refused.parameters == ["resource": "MaxCountdownsPerUser", "limit": 1, "used": 1])
    #expect(world.call("Cancel", ["name": "a"], from: user).error == nil)
    #expect(world.problems == [])
  }

  @Test func `of an owner nobody has seen there is nothing, and asking makes him not known`() {
    let world = World()
    let admin = world.connect(uid: 0)
    let users = world.service.scheduler.users.count
    let owner: JSONTree = 4_294_967_294
    #expect(
      world.call("Get", ["name": "a", "owner": owner], from: admin).errorName == "NoSuchCountdown")
    #expect(
      world.call("Pause", ["name": "a", "owner": owner], from: admin).errorName
        == "NoSuchCountdown")
    #expect(names(world.call("List", ["owner": owner], from: admin)) == [])
    #expect(
      world.call("Count", ["owner": owner], from: admin).parameters
        == ["running": 0, "paused": 0, "ended": 0])
    let many = world.call("GetMany", ["names": ["a"], "owner": owner], from: admin)
    #expect(many["missing"] == ["a"])
    #expect(world.service.scheduler.users.count == users)
  }

  @Test(arguments: [false, true])
  func `what is refused or only asked makes nobody known, and what is given makes him known`(
    isDelayed: Bool
  ) {
    let world = World(ledger: isDelayed ? .prompt : nil)
    let admin = world.connect(uid: 0)
    func known() -> Int { world.service.scheduler.users.count }
    func call(_ method: String, _ more: [String: JSONTree], _ owner: Int64) -> String? {
      let client = method == "Watch" || method == "Subscribe" ? world.connect(uid: 0) : admin
      var call = more
      call["owner"] = .integer(owner)
      let flag: World.Flag? = client == admin ? nil : .more
      return world.call(method, .object(call), flag, from: client).errorName
    }
    let before = known()
    let (asking, far): (Int64, Int64) = (7_001, 4_294_967_294)
    #expect(call("Start", ["name": "a", "durationUSec": -1], asking) == "DurationOutOfRange")
    #expect(
      call("Start", ["name": "a", "durationUSec": 1, "revision": 1, "onConflict": "replace"], far)
        == "NoSuchCountdown")
    let refused: JSONTree = [["name": "a", "durationUSec": -1]]
    #expect(call("StartMany", ["countdowns": refused], asking) == nil)
    #expect(call("StartMany", ["countdowns": []], asking) == nil)
    #expect(call("Watch", ["names": ["a"], "intervalUSec": 1], asking) == "DurationOutOfRange")
    #expect(call("Subscribe", ["heartbeatUSec": 1], asking) == "DurationOutOfRange")
    #expect(call("CancelMany", ["names": ["a"]], asking) == nil)
    #expect(call("CancelMany", ["prefix": ""], asking) == nil)
    #expect(call("SetPayload", ["name": "a"], far) == "NoSuchCountdown")
    #expect(call("GetStatistics", [:], far) == nil)
    #expect(known() == before)
    #expect(call("Start", ["name": "a", "durationUSec": minute], 7_002) == nil)
    #expect(known() == before + 1)
    let items: JSONTree = [
      ["name": "a", "durationUSec": -1], ["name": "a", "durationUSec": minute],
      ["name": "a", "durationUSec": minute], ["name": "b", "durationUSec": minute],
    ]
    #expect(call("StartMany", ["countdowns": items], 7_003) == nil)
    #expect(known() == before + 2)
    #expect(world.call("Count", ["owner": 7_003], from: admin)["running"] == 2)
    #expect(call("Watch", ["names": ["a"]], 7_004) == nil)
    #expect(call("Subscribe", ["kinds": ["started"]], 7_005) == nil)
    #expect(known() == before + 4)
    // Who was heard of before he had anything is heard when he has.
    for owner in [7_004, 7_005] as [Int64] {
      #expect(call("Start", ["name": "a", "durationUSec": minute], owner) == nil)
    }
    let (watcher, listener) = (world.clients.count - 2, world.clients.count - 1)
    #expect(world.told(to: listener) == ["started a"])
    #expect(
      world.clients[watcher].calls[0].replies.last?["countdowns"]?.array?.first?["state"]
        == "running")
    #expect(world.problems == [])
  }

  @Test func `beyond the limit nobody becomes known by his name, and those who are stay served`() {
    var limits = Limits()
    limits.namedUsers = 3
    limits.users = 4
    let world = World(limits: limits)
    let admin = world.connect(uid: 0)
    func start(_ owner: Int64, _ name: String) -> VirtualClient.Reply {
      world.call(
        "Start", ["name": .string(name), "durationUSec": minute, "owner": .integer(owner)],
        from: admin)
    }
    #expect(start(7_001, "a").error == nil && start(7_002, "a").error == nil)
    let full: [String: JSONTree] = ["resource": "Users", "limit": 3, "used": 3]
    #expect(start(7_003, "a").errorName == "QuotaExceeded")
    #expect(start(7_003, "a").parameters == full)
    let many = world.call(
      "StartMany", ["countdowns": [["name": "a", "durationUSec": minute]], "owner": 7_003],
      from: admin)
    #expect(many["results"]?.array?.first?["errorParameters"] == .object(full))
    for (method, more) in [("Watch", ["names": ["a"]]), ("Subscribe", [:])]
      as [(String, [String: JSONTree])]
    {
      var call = more
      call["owner"] = 7_003
      let client = world.connect(uid: 0)
      #expect(world.call(method, .object(call), .more, from: client).parameters == full)
    }
    #expect(start(7_002, "b").error == nil)
    // Room is left for who comes himself, but not for ever.
    #expect(world.call("Count", from: world.connect(uid: 7_003)).error == nil)
    #expect(start(7_003, "a").error == nil)
    let one = world.connect(uid: 7_004)
    let two = world.connect(uid: 7_005)
    world.settle()
    for client in [one, two] {
      #expect(world.clients[client].isClosed)
      let told = world.clients[client].unexpected.map(\.parameters)
      #expect(told == [["resource": "Users", "limit": 4, "used": 4]])
    }
    #expect(world.call("Count", from: world.connect(uid: 7_001))["running"] == 1)
    #expect(world.call("Count", from: world.connect(uid: 0))["running"] == 0)
    #expect(world.service.scheduler.users.count == 5, "and all strangers as one")
    #expect(world.problems == [])
  }

  /// Users come in the order of their uids, whichever was seen first.
  @Test(arguments: [1, 2, 3, 7, 100])
  func `a list of everybody's goes by owner, then by name, on pages of every length`(limit: Int64) {
    let world = World()
    var wanted: [String] = []
    for uid: UInt32 in [70_000, 5, 1_000, 0, 900] {
      let client = world.connect(uid: uid)
      for name in ["b/1", "a", "b/2"] where uid != 900 {
        world.call("Start", ["name": .string(name), "durationUSec": minute], from: client)
      }
    }
    for uid in [0, 5, 1_000, 70_000] { wanted += ["a", "b/1", "b/2"].map { "\(uid)/\($0)" } }
    let admin = world.connect(uid: 900, isAdmin: true)
    for prefix in ["", "b/", "c"] {
      var got: [String] = []
      var next: JSONTree?
      repeat {
        let page = world.call(
          "List",
          [
            "allOwners": true, "prefix": .string(prefix), "limit": .integer(limit),
            "after": next ?? .null,
          ], from: admin)
        got += names(page)
        next = page["next"]
      } while next != nil && got.count < 100
      let asked = wanted.filter { $0.split(separator: "/", maxSplits: 1)[1].hasPrefix(prefix) }
      #expect(got == asked)
      world.post("List", ["allOwners": true, "prefix": .string(prefix)], .more, from: admin)
      world.settle()
      let replies = world.clients[admin].calls.last?.replies ?? []
      #expect(replies.flatMap { names($0) } == asked)
    }
    #expect(
      world.call("Count", ["allOwners": true], from: admin).parameters
        == ["running": 12, "paused": 0, "ended": 0])
    #expect(world.problems == [])
  }

  @Test(arguments: ["x", "5", "/a", "-1/a", "4294967296/a", "5/a\n", "5a/b"])
  func `what is no place of such a list is refused`(after: String) {
    let world = World()
    let admin = world.connect(uid: 0)
    let reply = world.call("List", ["allOwners": true, "after": .string(after)], from: admin)
    #expect(reply.errorName == "InvalidParameter" && reply["parameter"] == "after")
    for place in ["", "5/", "5/gone", "7/a/b", "4294967295/a"] {
      let reply = world.call("List", ["allOwners": true, "after": .string(place)], from: admin)
      #expect(reply.error == nil)
    }
  }

  @Test func `a subscriber hears the owner it names, or everybody, and nobody else`() {
    let world = World()
    let (first, second) = (world.connect(uid: 1_000), world.connect(uid: 1_001))
    world.call("Start", ["name": "old", "durationUSec": minute], from: second)
    let scopes: [[String: JSONTree]] = [["owner": 1_001], ["allOwners": true], [:]]
    let listeners = scopes.map { scope in
      let client = world.connect(uid: 0)
      var call: [String: JSONTree] = ["kinds": ["started"], "includeState": true]
      call.merge(scope) { _, new in new }
      world.post("Subscribe", .object(call), .more, from: client)
      return client
    }
    world.settle()
    let states = listeners.map { world.clients[$0].calls[0].replies.flatMap { names($0) } }
    #expect(states == [["1001/old"], ["1001/old"], []])
    for client in [first, second] {
      world.call("Start", ["name": "a", "durationUSec": minute], from: client)
    }
    let owners = listeners.map { world.events(of: $0).map { $0["owner"]?.integer } }
    #expect(owners == [[1_001], [1_000, 1_001], []])
    for client in listeners { world.vanish(client) }
    world.settle()
    #expect(world.problems == [])
  }

  @Test func `a change for another waits for the verdict on his name`() {
    let world = World(ledger: .prompt)
    let (admin, user) = (world.connect(uid: 0), world.connect(uid: 1_000))
    world.call("Start", ["name": "a", "durationUSec": minute], from: user)
    world.holdsVerdicts = true
    world.post("Pause", ["name": "a"], from: user)
    world.settle()
    world.post("Cancel", ["name": "a", "owner": 1_000], from: admin)
    world.settle()
    #expect(world.clients[admin].calls[0].isAnswered == false)
    world.holdsVerdicts = false
    world.settle()
    #expect(world.clients[admin].calls[0].replies.first?.error == nil)
    #expect(world.call("Get", ["name": "a"], from: user)["countdown"]?["state"] == "cancelled")
    #expect(world.problems == [])
  }
}
