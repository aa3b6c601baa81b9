import ControlClient
import Foundation
import LinuxIO
import Testing

/// `countdownctl`, run as people run it.
@Suite struct ClientTests {
  /// What a run came to.
  struct Run: Equatable {
    let status: Int32
    let output: String
    let error: String
  }

  /// Runs the client with a daemon's socket, and with a text as its standard input.
  static func run(
    _ arguments: String..., at socket: String, input: String = ""
  ) throws -> Run { try run(arguments, at: socket, input: input) }

  /// - Parameters:
  ///   - wrapper: A program that becomes the client, and its arguments before the client's.
  ///   - program: A copy of the client.
  static func run(
    _ arguments: [String], at socket: String, input: String = "", under wrapper: [String] = [],
    program: String? = nil
  ) throws -> Run {
    let directory = try TemporaryDirectory(prefix: "client-")
    let files = ["input", "output", "error"].map { "\(directory.path)/\($0)" }
    try input.write(toFile: files[0], atomically: false, encoding: .utf8)
    let file = try #require(FileHandle(forReadingAtPath: files[0]))
    let client = try program ?? "\(#require(CurrentProcess.folder))/countdownctl"
    let command = wrapper + [client, "--socket", socket] + arguments
    var child = try ChildProcess(
      running: command[0], arguments: Array(command.dropFirst()),
      input: .descriptor(file.fileDescriptor), output: .file(path: files[1]),
      error: .file(path: files[2]))
    guard case .exited(let status) = try child.wait() else {
      Issue.record("it was killed")
      return Run(status: -1, output: "", error: "")
    }
    return Run(status: status, output: try readFile(files[1]), error: try readFile(files[2]))
  }

  @Test func `lines are started in their order, and what is refused does not keep the others`()
    throws
  {
    try withDaemon { daemon in
      let result = try Self.run(
        "start", "-", at: daemon.socketPath,
        input: """
          {"name":"a","durationUSec":60000000,"payload":{"x":[1]}}

          {"name":"a","durationUSec":60000000}
          {"name":"b","durationUSec":-1}
          {"name":"c","durationUSec":3600000000}
          """)
      #expect(result.status == 1)
      let lines = result.output.split(separator: "\n")
      #expect(lines.count == 2)
      #expect(lines.first?.hasPrefix("a: running, 1:00 left, ends ") == true)
      #expect(lines.last?.hasPrefix("c: running, 1:00:00 left, ends ") == true)
      #expect(result.error.contains("line 3: 'a' is running already, with "))
      #expect(result.error.contains("line 4: the length is out of range"))
      var caller = try daemon.connect()
      let payload = try caller.get("a").countdown.payload
      #expect(payload == Array("{\"x\":[1]}".utf8))
    }
  }

  @Test func `for programs each line has one of JSON, in their order`() throws {
    try withDaemon { daemon in
      let result = try Self.run(
        "start", "-", "--json", at: daemon.socketPath,
        input: """
          {"name":"a","durationUSec":60000000}
          {"name":"a","durationUSec":60000000}
          {"name":"a","durationUSec":1,"onConflict":"keep"}
          """)
      #expect(result.status == 1)
      let lines = try result.output.split(separator: "\n").map {
        try Members(parsing: Array($0.utf8))
      }
      try #require(lines.count == 3)
      #expect(try lines[0].boolean("created") == true)
      #expect(try lines[1].string("error") == "io.countdownd.Countdown.CountdownExists")
      #expect(try lines[1].object("errorParameters")?.string("name") == "a")
      #expect(try lines[2].boolean("created") == false)
      #expect(
        try Self.run("start", "-", at: daemon.socketPath, input: "\n")
          == Run(status: 0, output: "", error: ""))
    }
  }

  @Test(arguments: [
    (
      "{\"name\":\"a\",\"durationUSec\":1}\nnonsense\n{}\n", 2 as Int32,
      "line 2: a JSON object is needed"
    ),
    (
      "{\"name\":\"a\",\"durationUSec\":1}\n\n{\"name\":\"b\",\"durationUSec\":\"1\"}\n", 1,
      "line 3: the daemon refuses the value of 'durationUSec'"
    ),
    (
      "{\"name\":\"a\",\"durationUSec\":1}\n{\"name\":\"b\",\"colour\":1,\"durationUSec\":1}\n", 1,
      "line 2: the daemon refuses the value of 'colour'"
    ),
  ])
  func `a line that makes no sense is named, and nothing that came with it is started`(
    input: String, status: Int32, message: String
  ) throws {
    try withDaemon { daemon in
      let result = try Self.run("start", "-", at: daemon.socketPath, input: input)
      #expect(result.status == status)
      #expect(result.output == "")
      #expect(result.error.hasPrefix("countdownctl: \(message)"))
      #expect(result.error.hasSuffix("  nothing was started\n"))
      var caller = try daemon.connect()
      let count = try CountReply(caller.call("Count"))
      #expect(count.running + count.ended == 0)
    }
  }

  @Test func `more lines than a call takes are started in several`() throws {
    try withDaemon { daemon in
      let lines = (0..<2_500).map { "{\"name\":\"\($0)\",\"durationUSec\":3600000000}" }
      let result = try Self.run(
        "start", "-", at: daemon.socketPath, input: lines.joined(separator: "\n"))
      #expect(result.status == 0)
      #expect(result.error == "")
      let told = result.output.split(separator: "\n").map { $0.prefix { $0 != ":" } }
      #expect(told == (0..<2_500).map { Substring("\($0)") })
      var caller = try daemon.connect()
      #expect(try CountReply(caller.call("Count")).running == 2_500)
      let cancelled = try Self.run("cancel", "--prefix", "1", at: daemon.socketPath)
      #expect(
        cancelled == Run(status: 0, output: "1111 cancelled; 0 had ended before\n", error: ""))
    }
  }

  @Test func `a stream that comes slowly is started as it comes`() throws {
    try withDaemon { daemon in
      let directory = try TemporaryDirectory(prefix: "client-")
      let listening = try ListeningSocket(bindingTo: "\(directory.path)/s", mode: 0o600)
      let writer = try StreamSocket(connectingTo: "\(directory.path)/s")
      guard let reader = try listening.accept() else {
        Issue.record("it did not connect")
        return
      }
      let output = "\(directory.path)/output"
      var client = try ChildProcess(
        running: "\(#require(CurrentProcess.folder))/countdownctl",
        arguments: ["--socket", daemon.socketPath, "start", "-"],
        input: .descriptor(reader.rawValue), output: .file(path: output))
      var caller = try daemon.connect()
      for count in 1...3 as ClosedRange<Int64> {
        let line = "{\"name\":\"\(count)\",\"durationUSec\":3600000000}\n"
        #expect(try writer.sendAll(Array(line.utf8).span))
        for _ in 0..<1_000 where try CountReply(caller.call("Count")).running < count {
          pass(milliseconds: 10)
        }
        #expect(try CountReply(caller.call("Count")).running == count)
      }
      #expect(try client.poll() == nil)
      // One that has no end is a line as well, once nothing can come any more.
      #expect(try writer.sendAll(Array("{\"name\":\"4\",\"durationUSec\":0}".utf8).span))
      writer.shutDown()
      #expect(try client.wait() == .exited(status: 0))
      let lines = try readFile(output).split(separator: "\n")
      #expect(lines.map { $0.prefix(2) } == ["1:", "2:", "3:", "4:"])
    }
  }

  @Test func `a payload is set from a word or the standard input, and taken away`() throws {
    try withDaemon { daemon in
      var caller = try daemon.connect()
      _ = try caller.start("a", 3_600_000_000)
      let socket = daemon.socketPath
      func set(_ arguments: String..., input: String = "") throws -> Run {
        try Self.run(["set-payload", "a"] + arguments, at: socket, input: input)
      }
      let revision = try caller.get("a").countdown.revision
      #expect(
        try set("{\"x\": 1}")
          == Run(
            status: 0, output: "a: has another payload (revision \(revision + 1))\n", error: ""))
      var payload = try caller.get("a").countdown.payload
      #expect(payload == Array("{\"x\": 1}".utf8))
      #expect(try set("-", input: "\n {\"y\":[2]}\n").status == 0)
      payload = try caller.get("a").countdown.payload
      #expect(payload == Array("{\"y\":[2]}".utf8))
      for wrong in ["[1]", "{", "", "{\"a\":1,\"a\":2}"] {
        let result = try set("-", input: wrong)
        #expect(result.status == 2)
        #expect(result.error.hasPrefix("countdownctl: the standard input: a JSON object is needed"))
      }
      #expect(try set("x").status == 2)
      payload = try caller.get("a").countdown.payload
      #expect(payload == Array("{\"y\":[2]}".utf8))
      #expect(
        try set()
          == Run(
            status: 0, output: "a: has no payload any more (revision \(revision + 3))\n", error: "")
      )
      payload = try caller.get("a").countdown.payload
      #expect(payload == nil)
      let long = "{\"x\":\"" + String(repeating: "x", count: 4_088) + "\"}"
      #expect(try set(long).status == 0)
      let longer = try set(long.replacing("{", with: "{ "))
      #expect(longer.status == 1)
      #expect(
        longer.error.contains("the payload has 4097 bytes, and the daemon takes at most 4096"))
    }
  }

  @Test(.enabled(if: CurrentProcess.effectiveUserID == 0))
  func `one waits for and hears of another user's`() throws {
    try withDaemon { daemon in
      let socket = daemon.socketPath
      _ = try Self.run("start", "a", "1h", "--owner", "61002", at: socket)
      let directory = try TemporaryDirectory(prefix: "client-")
      let output = "\(directory.path)/output"
      let program = "\(try #require(CurrentProcess.folder))/countdownctl"
      var hearing = try ChildProcess(
        running: program, arguments: ["--socket", socket, "subscribe", "--state", "--all-owners"],
        output: .file(path: output))
      for _ in 0..<1_000 where try !readFile(output).contains("61002") { pass(milliseconds: 10) }
      var waiting = try ChildProcess(
        running: program, arguments: ["--socket", socket, "wait", "a", "--owner", "61002"],
        output: .null)
      #expect(try Self.run("extend", "a", "--to", "0", at: socket).status == 1)
      #expect(try Self.run("extend", "a", "--to", "0", "--owner", "61002", at: socket).status == 0)
      #expect(try waiting.wait() == .exited(status: 0))
      for _ in 0..<1_000 where try !readFile(output).contains("expired") { pass(milliseconds: 10) }
      let lines = try readFile(output).split(separator: "\n")
      #expect(lines.first?.hasPrefix("OWNER  NAME") == true)
      #expect(lines.last?.contains("  expired    61002  a  ") == true)
      try hearing.send(.terminate)
      _ = try hearing.wait()
    }
  }

  @Test func `what is mistyped is named, and what was meant`() throws {
    for (arguments, advice) in [
      (["strat"], "did you mean 'start'?"), (["set-paylod"], "did you mean 'set-payload'?"),
      (["list", "--all-owner"], "did you mean '--all-owners'?"),
      (["list", "--owner", "no such user"], "there is no such user"),
      (["list", "--owner", "4294967295"], "a user's number is at most 4294967294"),
      (["count", "--owner", "0", "--all-owners"], "--owner or --all-owners, not both"),
      (["cancel", "a", "--all-owners"], "--all-owners goes with --prefix only"),
      (["cancel", "a", "--prefix", "b"], "names or --prefix, not both"),
      (["start", "-", "--until", "18:00"], "'--until' does not go with '-'"),
    ] {
      let result = try Self.run(arguments, at: "/none")
      #expect(result.status == 2, "\(arguments)")
      #expect(result.error.contains(advice), "\(arguments): \(result.error)")
    }
  }

  @Test func `who names a socket is not told to start the service`() throws {
    let result = try Self.run("list", at: "/none/at/all")
    #expect(result.status == 3)
    #expect(!result.error.contains("systemctl"))
    #expect(result.error.contains("countdownd --socket /none/at/all"))
  }

  @Test func `every verb has help, with an example`() throws {
    let overview = try Self.run("help", at: "/none").output
    let table = overview.split(separator: "\n").drop { $0 != "Verbs" }.dropFirst()
      .prefix { $0.hasPrefix("  ") }
    let verbs = table.compactMap { $0.split(separator: " ").first.map(String.init) }
    #expect(verbs.contains("set-payload") && verbs.last == "help")
    for verb in verbs.dropLast() {
      let help = try Self.run(verb, "--help", at: "/none")
      #expect(help.status == 0)
      #expect(help.output.hasPrefix("countdownctl \(verb)"))
      let examples = help.output.split(separator: "\n").drop { !$0.hasPrefix("Example") }
      #expect(examples.count > 1)
      #expect(examples.dropFirst().allSatisfy { $0.hasPrefix("  countdownctl \(verb)") })
    }
  }
}
