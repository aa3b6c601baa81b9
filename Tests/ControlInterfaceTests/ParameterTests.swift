import TestSupport
import Testing

/// Every parameter that the interface file declares, asked with everything it should and should not be.
@Suite("Parameters")
struct ParameterTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let method: String
    let field: InterfaceDescription.Field
    var testDescription: String { "\(method).\(field.name)" }
  }

  static let cases: [Case] = InterfaceDescription.countdown.methods.sorted { $0.key < $1.key }
    .flatMap { method, declared in declared.parameters.map { Case(method: method, field: $0) } }

  /// What makes each method work without its optional parameters.
  private static let needed: [String: [String: String]] = [
    "Start": ["name": #""new""#, "durationUSec": "5000000"], "Get": ["name": #""running""#],
    "GetMany": ["names": #"["running"]"#],
    "List": [:], "Count": [:], "Pause": ["name": #""running""#], "Resume": ["name": #""paused""#],
    "Restart": ["name": #""running""#], "Extend": ["name": #""running""#, "byUSec": "1"],
    "Cancel": ["name": #""running""#], "SetPayload": ["name": #""running""#],
    "CancelMany": ["prefix": #""running""#], "StartMany": ["countdowns": "[]"], "Subscribe": [:],
    "GetClocks": [:], "GetStatistics": [:],
    "Watch": ["names": #"["running"]"#],
  ]

  /// What else a parameter needs to make sense, and what it may be; else its type says it.
  private static let special: [String: (others: [String: String?], values: [String])] = [
    "Start.deadlineUSec": (["durationUSec": nil], ["0", "-5", "9007199254740991"]),
    "Start.clock": ([:], [#""boottime""#, #""monotonic""#]),
    "Start.graceUSec": (["catchUp": #""skip""#], ["1000000"]),
    "Start.repeatUSec": ([:], ["1000000"]),
    "Start.revision": (["onConflict": #""replace""#, "name": #""running""#], ["1"]),
    "Extend.toRemainingUSec": (["byUSec": nil], ["0", "7"]),
    "CancelMany.names": (["prefix": nil], [#"["running","running"]"#, "[]"]),
    "List.limit": ([:], ["1", "100", "10000"]),
    "Subscribe.heartbeatUSec": ([:], ["1000000", "9007199254740991"]),
    "Watch.names": ([:], [#"["running","running"]"#, #"["nobody"]"#]),
    "Watch.intervalUSec": ([:], ["50000", "9007199254740991"]),
    "Watch.heartbeatUSec": ([:], ["1000000", "9007199254740991"]),
  ]

  /// The flag that each method needs.
  private static func flag(_ method: String) -> World.Flag? {
    method == "Subscribe" || method == "Watch" ? .more : nil
  }

  /// A world with a running and a paused countdown.
  private func world() -> (World, Int) {
    let world = World()
    let client = world.connect()
    for name in ["running", "paused"] {
      world.call("Start", ["name": .string(name), "durationUSec": 60_000_000], from: client)
    }
    world.call("Pause", ["name": "paused"], from: client)
    return (world, client)
  }

  private func parameters(_ test: Case, _ value: String?) -> String {
    var members = Self.needed[test.method] ?? [:]
    for (name, other) in Self.special[test.testDescription]?.others ?? [:] { members[name] = other }
    members[test.field.name] = value
    return "{"
      + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(
        separator: ",")
      + "}"
  }

  private func call(_ test: Case, _ text: String) -> VirtualClient.Reply {
    let (world, client) = world()
    let reply = world.call(test.method, text: text, Self.flag(test.method), from: client)
    #expect(world.problems == [])
    return reply
  }

  private func values(of kind: InterfaceDescription.Kind) -> (right: [String], wrong: [String]) {
    let interface = InterfaceDescription.countdown
    switch kind {
    case .optional(let inner): return values(of: inner)
    case .named(let name): return interface.types[name].map { values(of: $0) } ?? ([], [])
    case .boolean: return (["true", "false"], ["0", "1", #""true""#, "[]", "{}"])
    case .integer:
      return (
        ["0", "1"],
        [
          #""1""#, "true", "[1]", "{}", "1.0", "1e3", "0.5", "9223372036854775808",
          "-9223372036854775809", "1e400",
        ]
      )
    case .string: return ([#""running""#, #""\u0072unning""#], ["1", "true", "[]", "{}"])
    case .object:
      return (
        ["{}", #"{"a":{"b":[1,null]}}"#],
        [#""x""#, "1", "true", "[]", #"{"a":1,"a":2}"#, #"{"a":"\uFFFF"}"#]
      )
    case .enumeration(let words):
      return (
        words.map { "\"\($0)\"" },
        ["\"\(words[0].uppercased())\"", #""""#, "\"\(words[0]) \"", "1", "true", "[]", "{}"]
      )
    case .array(let inner):
      let (right, wrong) = values(of: inner)
      return (
        ["[]"] + right.map { "[\($0),\($0)]" },
        ["{}", "1", right[0]] + wrong.map { "[\(right[0]),\($0)]" }
      )
    case .structure:
      return (
        [#"{"name":"running","durationUSec":5000000}"#], ["1", "true", #""x""#, "[]", "null"]
      )
    case .float, .any, .dictionary: return ([], [])
    }
  }

  @Test(arguments: cases)
  func `what is of the right type is taken`(test: Case) {
    let right = Self.special[test.testDescription]?.values ?? values(of: test.field.type).right
    #expect(!right.isEmpty)
    for value in right {
      let reply = call(test, parameters(test, value))
      #expect(reply.errorName != "InvalidParameter", "\(value): \(reply.parameters)")
    }
  }

  @Test(arguments: cases)
  func `what is of the wrong type is refused, and named`(test: Case) {
    let wrong = values(of: test.field.type).wrong
    #expect(!wrong.isEmpty)
    for value in wrong {
      let reply = call(test, parameters(test, value))
      #expect(reply.error == "org.varlink.service.InvalidParameter", "\(value)")
      let name = reply["parameter"]?.string ?? ""
      let isElement = value.hasPrefix("[\"") || value.hasPrefix("[{")
      #expect(name == test.field.name + (isElement ? "[1]" : ""), "\(value)")
    }
  }

  @Test(arguments: cases)
  func `null is missing`(test: Case) {
    let null = call(test, parameters(test, "null"))
    #expect(null == call(test, parameters(test, nil)))
    guard case .optional = test.field.type else {
      #expect(null.error == "org.varlink.service.InvalidParameter")
      #expect(null["parameter"]?.string == test.field.name)
      return
    }
  }

  @Test(arguments: cases)
  func `what comes twice is refused, and named`(test: Case) {
    let right = Self.special[test.testDescription]?.values ?? values(of: test.field.type).right
    for first in [right[0], "null"] {
      var text = parameters(test, first)
      text.removeLast()
      text += ",\"\(test.field.name)\":\(right[0])}"
      let reply = call(test, text)
      #expect(reply.error == "org.varlink.service.InvalidParameter")
      #expect(reply["parameter"]?.string == test.field.name)
    }
  }

  @Test(arguments: InterfaceDescription.countdown.methods.keys.sorted())
  func `what is not declared is refused, and named`(method: String) {
    for (name, value) in [("nope", "1"), ("Name", "null"), ("", "{}"), (#"a\nb"#, "[]")] {
      let (world, client) = world()
      let members =
        (Self.needed[method] ?? [:]).map { "\"\($0.key)\":\($0.value)" } + ["\"\(name)\":\(value)"]
      let reply = world.call(
        method, text: "{\(members.joined(separator: ","))}", Self.flag(method), from: client)
      #expect(reply.error == "org.varlink.service.InvalidParameter")
      #expect(reply["parameter"]?.string == (name == #"a\nb"# ? "a\nb" : name))
    }
  }

  @Test(arguments: InterfaceDescription.countdown.methods.keys.sorted())
  func `parameters that are no object are refused`(method: String) {
    for text in ["1", "[]", #""name""#, "true"] {
      let (world, client) = world()
      let reply = world.call(method, text: text, Self.flag(method), from: client)
      #expect(reply.error == "org.varlink.service.InvalidParameter")
      #expect(reply["parameter"]?.string == "parameters")
    }
  }

  @Test(arguments: [
    ("Start", #"{"name":"a"}"#, "durationUSec"),
    ("Start", #"{"name":"a","durationUSec":1,"deadlineUSec":1}"#, "deadlineUSec"),
    ("Start", #"{"name":"a","durationUSec":1,"clock":"realtime"}"#, "durationUSec"),
    ("Start", #"{"name":"a","deadlineUSec":1,"clock":"boottime"}"#, "deadlineUSec"),
    ("Start", #"{"name":"a","durationUSec":1,"graceUSec":1000000}"#, "graceUSec"),
    ("Start", #"{"name":"a","durationUSec":1,"revision":1}"#, "revision"),
    ("Extend", #"{"name":"running"}"#, "byUSec"),
    ("Extend", #"{"name":"running","byUSec":1,"toRemainingUSec":1}"#, "toRemainingUSec"),
    ("List", #"{"limit":0}"#, "limit"), ("List", #"{"limit":10001}"#, "limit"),
    ("List", #"{"limit":-1}"#, "limit"),
    ("CancelMany", "{}", "names"), ("CancelMany", #"{"names":[],"prefix":""}"#, "prefix"),
    ("CancelMany", #"{"names":["a"],"allOwners":true}"#, "allOwners"),
    ("CancelMany", #"{"names":["a","a\n"]}"#, "names[1]"),
    ("Watch", "{}", "names"), ("Watch", #"{"names":[]}"#, "names"),
    ("Watch", #"{"names":["a",""]}"#, "names[1]"),
    ("Watch", #"{"names":["a"],"allOwners":true}"#, "allOwners"),
    ("CancelMany", #"{"prefix":"\u0000"}"#, "prefix"),
    ("Get", #"{"name":"a","owner":-1}"#, "owner"),
    ("Get", #"{"name":"a","owner":4294967295}"#, "owner"),
    ("List", #"{"owner":1,"allOwners":true}"#, "allOwners"),
    ("Get", #"{"name":"a","allOwners":true}"#, "allOwners"),
    ("Get", #"{"name":""}"#, "name"), ("Get", #"{"name":"a\u0000b"}"#, "name"),
    ("Get", #"{"name":"\u0085"}"#, "name"), ("Start", #"{"name":"\n","durationUSec":1}"#, "name"),
  ])
  func `what makes no sense together is refused, and named`(
    method: String, text: String, parameter: String
  ) {
    let (world, client) = world()
    let reply = world.call(method, text: text, Self.flag(method), from: client)
    #expect(reply.error == "org.varlink.service.InvalidParameter")
    #expect(reply["parameter"]?.string == parameter)
  }

  @Test func `a name has up to 255 bytes`() {
    let (world, client) = world()
    let longest = String(repeating: "é", count: 127) + "x"
    #expect(
      world.call("Start", ["name": .string(longest), "durationUSec": 5], from: client).error == nil)
    let reply = world.call(
      "Start", ["name": .string(longest + "x"), "durationUSec": 5], from: client)
    #expect(reply["parameter"] == "name")
  }

  @Test(arguments: [
    ("Start", #"{"name":"a","durationUSec":-1}"#, "durationUSec", 0),
    ("Start", #"{"name":"a","durationUSec":9007199254740992}"#, "durationUSec", 0),
    ("Start", #"{"name":"a","deadlineUSec":9007199254740992}"#, "deadlineUSec", -Self.longest),
    ("Start", #"{"name":"a","deadlineUSec":-9007199254740992}"#, "deadlineUSec", -Self.longest),
    ("Start", #"{"name":"a","durationUSec":1,"repeatUSec":999999}"#, "repeatUSec", 1_000_000),
    (
      "Start", #"{"name":"a","durationUSec":1,"catchUp":"skip","graceUSec":999999}"#, "graceUSec",
      1_000_000
    ),
    ("Extend", #"{"name":"paused","toRemainingUSec":-1}"#, "toRemainingUSec", 0),
    ("Extend", #"{"name":"paused","byUSec":-9007199254740992}"#, "byUSec", -Self.longest),
    ("Extend", #"{"name":"paused","byUSec":9223372036854775807}"#, "byUSec", -Self.longest),
    ("Subscribe", #"{"heartbeatUSec":999999}"#, "heartbeatUSec", 1_000_000),
    ("Watch", #"{"names":["a"],"heartbeatUSec":999999}"#, "heartbeatUSec", 1_000_000),
    ("Watch", #"{"names":["a"],"intervalUSec":49999}"#, "intervalUSec", 50_000),
    ("Watch", #"{"names":["a"],"intervalUSec":9007199254740992}"#, "intervalUSec", 50_000),
  ])
  func `a length out of range is refused with the bounds of that parameter`(
    method: String, text: String, parameter: String, minimum: Int64
  ) {
    let (world, client) = world()
    let reply = world.call(method, text: text, Self.flag(method), from: client)
    #expect(reply.errorName == "DurationOutOfRange")
    #expect(reply["parameter"]?.string == parameter)
    #expect(reply["minimumUSec"]?.integer == minimum)
    let isExtend = parameter == "byUSec"
    #expect(reply["maximumUSec"]?.integer == Self.longest - (isExtend ? 60_000_000 : 0))
  }

  static let longest: Int64 = 9_007_199_254_740_991

  @Test func `a payload is at most 16 deep`() {
    func payload(_ depth: Int) -> String {
      String(repeating: #"{"a":"#, count: depth) + "1" + String(repeating: "}", count: depth)
    }
    let (world, client) = world()
    let start = {
      #"{"name":"a","durationUSec":5,"onConflict":"replace","payload":"# + payload($0) + "}"
    }
    #expect(world.call("Start", text: start(16), from: client).error == nil)
    #expect(world.call("Start", text: start(17), from: client)["parameter"] == "payload")
  }

  @Test func `a payload has up to 4096 bytes`() {
    func payload(_ bytes: Int) -> String {
      #"{"a":""# + String(repeating: "x", count: bytes - 8) + #""}"#
    }
    let (world, client) = world()
    let start = {
      #"{"name":"a","durationUSec":5,"onConflict":"replace","payload":"# + payload($0) + "}"
    }
    #expect(world.call("Start", text: start(4_096), from: client).error == nil)
    let reply = world.call("Start", text: start(4_097), from: client)
    #expect(reply.errorName == "QuotaExceeded")
    #expect(reply["resource"] == "MaxPayloadBytes")
    #expect(reply["limit"] == 4_096)
    #expect(reply["used"] == 4_097)
  }

  /// Its bytes are kept: white space, order, escapes, numbers as they were written.
  @Test func `a payload comes back as it was`() {
    let (world, client) = world()
    let payload = #"{ "z":1.50,"a":"\u00e9\/", "n":12345678901234567890 }"#
    world.call("Start", text: #"{"name":"p","durationUSec":5,"payload":\#(payload)}"#, from: client)
    world.post("Get", ["name": "p"], from: client)
    world.setReading(false, client)
    world.settle()
    #expect(world.waitingText(for: client).contains(payload))
  }
}
