import ControlClient
import Foundation
import LinuxIO
import Testing

/// `countdownctl watch` on a terminal, which `script` plays.
@Suite struct LiveScreenTests {
  /// A terminal with a program in it.
  private struct Terminal: ~Copyable {
    private let directory: TemporaryDirectory
    private let keys = Pipe()
    private var program: ChildProcess

    init(_ words: String) throws {
      let folder = try #require(CurrentProcess.folder)
      let directory = try TemporaryDirectory(prefix: "terminal-")
      try Data().write(to: URL(fileURLWithPath: "\(directory.path)/typescript"))
      let program = try ChildProcess(
        running: "script",
        arguments: [
          "-qefc", "trap true INT; stty cols 60 rows 8; '\(folder)/countdownctl' \(words); stty -a",
          "\(directory.path)/typescript",
        ],
        environment: [("TERM", "xterm"), ("NO_COLOR", "1"), ("TZ", "UTC")],
        input: .descriptor(keys.fileHandleForReading.fileDescriptor), output: .null, error: .null)
      self.directory = directory
      self.program = program
    }

    func press(_ keys: String) throws {
      try self.keys.fileHandleForWriting.write(contentsOf: Array(keys.utf8))
    }

    /// All that was written to it.
    func screen() throws -> String { try readFile("\(directory.path)/typescript") }

    func awaitScreen(_ text: String) throws {
      for _ in 0..<1_000 {
        if try screen().contains(text) { return }
        pass(milliseconds: 10)
      }
      Issue.record("never shown: \(text); but \(try screen())")
    }

    mutating func wait() throws -> ChildProcess.Exit { try program.wait() }
  }

  private static func quoted(_ path: String) -> String { "--socket '\(path)' " }

  @Test func `named ones run down in a table until q is pressed, and the terminal is as before`()
    throws
  {
    try withDaemon { daemon in
      var caller = try daemon.connect()
      _ = try caller.start("tea", 3_600_000_000)
      var terminal = try Terminal(Self.quoted(daemon.socketPath) + "watch tea eggs")
      try terminal.awaitScreen("tea   running    1:00:00  ██████████")
      try terminal.awaitScreen("eggs  absent           –")
      try terminal.awaitScreen("59:59")
      _ = try caller.start("eggs", 300_000_000)
      try terminal.awaitScreen("eggs  running       5:00")
      _ = try caller.call("Pause", "eggs")
      try terminal.awaitScreen("eggs  paused")
      try terminal.press("q")
      #expect(try terminal.wait() == .exited(status: 0))
      let screen = try terminal.screen()
      let leaving = try #require(screen.range(of: "\u{1b}[?25h\u{1b}[?1049l"))
      // What `stty -a` says afterwards: lines and echo are as they were.
      let after = screen[leaving.upperBound...]
      #expect(after.contains(" icanon") && after.contains(" echo "))
    }
  }

  @Test func `without names all are shown, and those that come`() throws {
    try withDaemon { daemon in
      var caller = try daemon.connect()
      _ = try caller.start("orders/1", 3_600_000_000)
      _ = try caller.start("other", 3_600_000_000)
      var terminal = try Terminal(Self.quoted(daemon.socketPath) + "watch --prefix orders/")
      try terminal.awaitScreen("orders/1")
      _ = try caller.start("orders/2", 60_000_000)
      try terminal.awaitScreen("orders/2")
      _ = try caller.call("Cancel", "orders/2")
      try terminal.awaitScreen("cancelled")
      try terminal.press("q")
      #expect(try terminal.wait() == .exited(status: 0))
      #expect(try !terminal.screen().contains("other"))
    }
  }

  @Test func `of more than one page all are shown, whatever has ended before them by name`() throws
  {
    try withDaemon { daemon in
      var caller = try daemon.connect()
      for index in 0..<400 {
        _ = try caller.start("a/\(index)", 0)
        _ = try caller.start("b/\(index)", 3_600_000_000 + Int64(index))
      }
      var terminal = try Terminal(Self.quoted(daemon.socketPath) + "watch")
      try terminal.awaitScreen("394 more below; q quits")
      for index in 400..<1_001 { _ = try caller.start("b/\(index)", 3_600_000_000) }
      try terminal.awaitScreen("994 more below")
      try terminal.awaitScreen("not all")
      try terminal.press("q")
      #expect(try terminal.wait() == .exited(status: 0))
    }
  }

  @Test func `interrupted, it leaves the screen as it was and says so with its status`() throws {
    try withDaemon { daemon in
      var terminal = try Terminal(Self.quoted(daemon.socketPath) + "watch tea; echo status $?")
      try terminal.awaitScreen("absent")
      try terminal.press("\u{3}")
      #expect(try terminal.wait() == .exited(status: 0))
      let screen = try terminal.screen()
      #expect(screen.contains("\u{1b}[?1049l") && screen.contains("status 130"))
    }
  }

  @Test func `when the daemon goes, the screen is left and the error is told`() throws {
    var daemon = try Daemon()
    var terminal = try Terminal(Self.quoted(daemon.socketPath) + "watch tea; echo status $?")
    try terminal.awaitScreen("absent")
    try daemon.stop()
    #expect(try terminal.wait() == .exited(status: 0))
    let screen = try terminal.screen()
    let leaving = try #require(screen.range(of: "\u{1b}[?1049l"))
    #expect(screen[leaving.upperBound...].contains("status 3"))
  }
}
