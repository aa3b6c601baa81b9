import CountdownService
import Countdowns
import TestSupport
import Testing

/// One conversation that meets everything the interface file declares; what it did not meet is told.
@Suite("Coverage")
struct CoverageTests {
  private static func converse() -> (Coverage, problems: [String]) {
    var limits = Limits()
    limits.countdownsPerUser = 12
    let world = World(limits: limits)
    let listener = world.connect()
    world.post(
      "Subscribe",
      [
        "prefix": "", "includeState": true, "heartbeatUSec": 10_000_000,
        "kinds": [
          "started", "changed", "paused", "resumed", "expired", "missed", "cancelled",
          "clockStepped", "slept",
        ],
      ], .more, from: listener)
    let client = world.connect()
    let watcher = world.connect(uid: 5, isAdmin: true)
    world.post(
      "Watch",
      [
        "names": ["boot", "again", "grace", "nobody"], "intervalUSec": 1_000_000,
        "heartbeatUSec": 10_000_000, "owner": 1_000,
      ], .more, from: watcher)
    func start(_ name: String, _ more: [String: JSONTree]) -> VirtualClient.Reply {
      var parameters: [String: JSONTree] = ["name": .string(name)]
      parameters.merge(more) { _, new in new }
      return world.call("Start", .object(parameters), from: client)
    }
    _ = start("boot", ["durationUSec": 60_000_000, "clock": "boottime", "payload": ["a": 1]])
    _ = start("mono", ["durationUSec": 60_000_000, "clock": "monotonic", "onConflict": "fail"])
    let instant = world.clock.reading.realtime + 60_000_000
    _ = start(
      "real",
      [
        "deadlineUSec": .integer(instant), "clock": "realtime", "catchUp": "fire",
        "durability": "memory",
      ])
    _ = start(
      "grace", ["durationUSec": 2_000_000, "catchUp": "skip", "graceUSec": 3_000_000])
    _ = start("again", ["durationUSec": 1_000_000, "repeatUSec": 1_000_000])
    _ = start("boot", ["durationUSec": 1])
    _ = start("boot", ["durationUSec": 1, "onConflict": "keep"])
    _ = start("boot", ["durationUSec": 1, "onConflict": "once"])
    _ = start("boot", ["durationUSec": 90_000_000, "onConflict": "extendOnly"])
    _ = start("boot", ["durationUSec": 9_000_000, "onConflict": "replace", "payload": ["b": [2]]])
    _ = start("boot", ["durationUSec": 9_000_000, "onConflict": "replace", "revision": 1])
    _ = start("far", ["durationUSec": -1])
    _ = start("safe", ["durationUSec": 1, "durability": "synced"])
    world.call("Pause", ["name": "mono"], from: client)
    world.call("Get", ["name": "mono"], from: client)
    world.call("Resume", ["name": "boot"], from: client)
    let revision = world.call("Resume", ["name": "mono"], from: client)["revision"] ?? 0
    world.call("Extend", ["name": "mono", "byUSec": 1, "revision": revision], from: client)
    world.call("Extend", ["name": "mono", "toRemainingUSec": 70_000_000], from: client)
    for verb in ["Pause", "Resume", "Restart", "Cancel"] {
      world.call(verb, ["name": "mono", "revision": 1], from: client)
    }
    world.call("Restart", ["name": "mono"], from: client)
    let moved = world.call("SetPayload", ["name": "mono", "payload": ["a": 1]], from: client)
    world.call("SetPayload", ["name": "mono", "revision": moved["revision"] ?? 0], from: client)
    world.call("Pause", ["name": "real"], from: client)
    world.clock.suspend(4_500_000)
    world.settle()
    world.run(1_000_000)
    for name in ["again", "grace", "mono"] {
      world.call("Get", ["name": .string(name)], from: client)
    }
    world.call("Cancel", ["name": "grace"], from: client)
    world.call("Cancel", ["name": "mono"], from: client)
    world.call("Get", ["name": "mono"], from: client)
    world.call("Get", ["name": "nobody"], from: client)
    world.call("GetMany", ["names": ["mono", "nobody"]], from: client)
    for state in ["running", "paused", "expired", "missed", "cancelled"] {
      world.call(
        "List", ["prefix": "", "state": .string(state), "after": "", "limit": 1], from: client)
    }
    world.call("Count", from: client)
    for name in 0..<12 { _ = start("n\(name)", ["durationUSec": 60_000_000]) }
    world.call("Pause", ["name": "n1"], from: client)
    world.call("List", ["limit": 3], from: client)
    world.run(20_000_000)
    world.call("Nope", from: client)
    world.call("a.b.C", from: client)
    world.call("Get", ["name": "a"], .upgrade, from: client)
    world.call("Subscribe", from: client)
    world.call("Get", ["name": 1], from: client)
    let admin = world.connect(uid: 5, isAdmin: true)
    let needed: [String: [String: JSONTree]] = [
      "Start": ["name": "theirs", "durationUSec": 60_000_000], "Extend": ["byUSec": 1],
      "GetMany": ["names": ["theirs"]],
    ]
    let calls = [
      "Start", "Get", "GetMany", "List", "Count", "Pause", "Resume", "Restart", "Extend",
      "SetPayload", "Cancel", "GetStatistics",
    ]
    for method in calls {
      var parameters = needed[method] ?? [:]
      parameters["owner"] = 6
      let isList = ["List", "Count", "GetStatistics"].contains(method)
      if !isList, method != "GetMany" { parameters["name"] = "theirs" }
      world.call(method, .object(parameters), from: client)
      #expect(world.call(method, .object(parameters), from: admin).error == nil)
      if isList { world.call(method, ["allOwners": true], from: admin) }
    }
    let all: JSONTree = [
      "name": "all", "durationUSec": 1_000_000, "clock": "boottime", "onConflict": "replace",
      "catchUp": "skip", "graceUSec": 1_000_000, "repeatUSec": 1_000_000, "durability": "memory",
      "payload": [:], "revision": 1,
    ]
    let real: JSONTree = ["name": "real", "deadlineUSec": .integer(instant)]
    world.call("StartMany", ["countdowns": [all, real], "owner": 6], from: admin)
    for selection: JSONTree in [
      ["names": ["theirs"], "owner": 6], ["prefix": "theirs", "allOwners": true],
    ] { world.call("CancelMany", selection, from: admin) }
    for scope: JSONTree in [["owner": 6], ["allOwners": true]] {
      world.post("Subscribe", scope, .more, from: world.connect(uid: 5, isAdmin: true))
    }
    world.configurationRefusal = ConfigurationRefusal(message: "/x:2: y", file: "/x", line: 2)
    world.call("io.systemd.service.Reload", from: world.connect(uid: 0))
    let late = world.connect()
    world.post("Subscribe", ["includeState": true], .more, from: late)
    world.settle()
    var (coverage, problems) = (world.coverage, world.problems)

    // A store of its own has the words about storage, and a stalled reader those about gaps.
    let failing = DelayingLedger(
      seed: 1, habits: .init(slowestTurns: 1, refusedPercent: 80), firstRevision: 1)
    limits.recentEventsBytes = 1_000
    let other = World(limits: limits, ledger: failing)
    let reader = other.connect()
    other.post("Subscribe", ["kinds": ["started", "cancelled"]], .more, from: reader)
    let writer = other.connect()
    other.settle()
    other.setReading(false, reader)
    let payload: JSONTree = ["x": .string(String(repeating: "x", count: 4_000))]
    for _ in 0..<500 {
      other.call(
        "Start",
        [
          "name": "a", "durationUSec": 5_000_000, "onConflict": "replace", "durability": "synced",
          "payload": payload,
        ],
        from: writer)
    }
    other.call("Get", ["name": "a"], from: writer)
    let held = ["name": "held", "durationUSec": 1_000, "durability": "synced"] as JSONTree
    while other.call("Start", held, from: writer).errorName == "StorageFailed" {}
    other.call("Restart", ["name": "held"], from: writer)
    other.holdsVerdicts = true
    other.post("Restart", ["name": "held"], from: writer)
    other.settle()
    other.run(1_000_000)
    other.holdsVerdicts = false
    other.settle()
    other.call("Get", ["name": "held"], from: writer)
    other.setReading(true, reader)
    other.settle()
    coverage.formUnion(other.coverage)
    problems += other.problems

    // The clocks do all they can, and a crowd is overdue while it is told.
    let busy = World()
    let root = busy.connect(uid: 0)
    for crowd in ["a", "b"] {
      let items = (0..<600).map { index -> JSONTree in
        ["name": .string("\(crowd)/\(index)"), "durationUSec": 60_000_000]
      }
      busy.call("StartMany", ["countdowns": .array(items)], from: root)
    }
    let soon = busy.clock.reading.realtime + .minutes(30)
    busy.call("Start", ["name": "soon", "deadlineUSec": .integer(soon)], from: root)
    busy.clock.step(.hours(1))
    busy.turn()
    busy.turn()
    busy.call("Get", ["name": "soon"], from: root)
    busy.clock.run(.minutes(2))
    busy.call("GetStatistics", ["owner": 0], from: root)
    busy.call("Get", ["name": "a/0"], from: root)
    busy.clock.suspend(.hours(1))
    busy.turn()
    busy.clock.suspend(.hours(1))
    busy.clock.step(.hours(1))
    busy.turn()
    busy.call("GetClocks", ["owner": 0], from: root)
    busy.call("GetClocks", ["allOwners": true], from: root)
    coverage.formUnion(busy.coverage)
    problems += busy.problems
    return (coverage, problems)
  }

  @Test func `every method, error, field and word that is declared is met`() {
    let (coverage, problems) = Self.converse()
    #expect(problems == [])
    let interface = InterfaceDescription.countdown
    #expect(coverage.methods == Set(interface.methods.keys))
    let standard: Set = [
      "InterfaceNotFound", "MethodNotFound", "MethodNotImplemented", "InvalidParameter",
      "ExpectedMore", "PermissionDenied",
    ]
    #expect(coverage.errors == standard.union(interface.errors.keys))
    for (method, declared) in interface.methods {
      for field in declared.parameters {
        #expect(coverage.parameters.contains("\(method).\(field.name)"))
      }
      // The verbs answer alike, and what was paused has no deadline.
      for field in declared.reply where (method, field.name) != ("Pause", "deadline") {
        #expect(coverage.fields.contains("\(method).\(field.name)"))
      }
    }
    for (error, fields) in interface.errors {
      for field in fields { #expect(coverage.fields.contains("\(error).\(field.name)")) }
    }
    for (name, kind) in interface.types {
      switch kind {
      case .structure(let fields):
        for field in fields { #expect(coverage.fields.contains("\(name).\(field.name)")) }
      case .enumeration(let words):
        for word in words { #expect(coverage.words.contains("\(name).\(word)")) }
      default: Issue.record("\(name) is neither a structure nor an enumeration")
      }
    }
  }
}
