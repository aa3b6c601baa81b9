import ControlClient
import SystemdSyntax
import Testing

@Suite struct ArgumentsTests {
  private static let options = [
    Option("--until", "TIME", help: ""), Option("--past", help: ""), Option("--json", help: ""),
    Option("--revision", "N", help: ""),
  ]

  private static func read(_ typed: String...) throws(ParseError) -> Arguments {
    try Arguments(typed, options: options)
  }

  @Test func `options stand anywhere, and their values with or without a sign`() throws {
    let arguments = try Self.read("--past", "tea", "--until=18:00", "5min", "--revision", "7")
    #expect(arguments.words == ["tea", "5min"])
    #expect(arguments["--until"] == "18:00")
    #expect(arguments.has("--past"))
    #expect(!arguments.has("--json"))
    #expect(try arguments.number("--revision") == 7)
    #expect(try Self.read("--until=a=b")["--until"] == "a=b")
    #expect(try Self.read("--until=")["--until"] == "")
  }

  @Test func `what begins with a dash and a digit is a word`() throws {
    #expect(try Self.read("tea", "-5min", "-", "-1").words == ["tea", "-5min", "-", "-1"])
  }

  @Test func `after two dashes everything is a word`() throws {
    let arguments = try Self.read("--json", "--", "--past", "--", "-x")
    #expect(arguments.words == ["--past", "--", "-x"])
    #expect(arguments.has("--json"))
  }

  @Test(arguments: [
    (["--unti", "x"], "unknown option '--unti'; did you mean '--until'?"),
    (["--frobnicate"], "unknown option '--frobnicate'"), (["-x"], "unknown option '-x'"),
    (["--past=1"], "'--past' takes no value"),
    (["--until"], "'--until' needs a value: --until TIME"),
    (["--past", "--past"], "'--past' was given twice"),
  ])
  func `what is mistyped is told`(typed: [String], text: String) {
    #expect(
      message { () throws(ParseError) in try Arguments(typed, options: Self.options) } == text)
  }

  @Test(arguments: ["x", "-1", "1.0", "", "99999999999999999999", "１"])
  func `a number is a whole number`(text: String) throws {
    let arguments = try Self.read("--revision", text)
    #expect(
      message { () throws(ParseError) in try arguments.number("--revision") }
        .contains("a whole number is needed"))
  }

  @Test func `a choice is one of those there are`() throws {
    let arguments = try Self.read("--until", "kep")
    let refused = message { () throws(ParseError) in
      try arguments.choice("--until", among: ["fail", "keep"])
    }
    #expect(refused == "'--until kep': it must be one of fail, keep; did you mean 'keep'?")
    #expect(try Self.read("--until", "keep").choice("--until", among: ["keep"]) == "keep")
    #expect(try Self.read().choice("--until", among: ["keep"]) == nil)
    #expect(try Self.read("--until", "2min").length("--until") == 120_000_000)
  }

  @Test(arguments: [
    ("strat", "start"), ("cancle", "cancel"), ("pasue", "pause"), ("lst", "list"),
    ("sub", "subscribe"),
    ("stat", "start"), ("extnd", "extend"), ("waits", "wait"),
  ])
  func `a slip finds the word that was meant`(typed: String, meant: String) {
    let verbs = ["start", "get", "list", "pause", "extend", "cancel", "wait", "subscribe"]
    #expect(suggestion(for: typed, among: verbs) == "; did you mean '\(meant)'?")
  }

  @Test(arguments: ["xyzzy", "q", "", "remove"])
  func `nothing is suggested that is not near`(typed: String) {
    #expect(suggestion(for: typed, among: ["start", "get", "list"]) == "")
  }
}
