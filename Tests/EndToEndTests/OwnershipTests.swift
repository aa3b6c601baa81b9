import ControlClient
import Foundation
import LinuxIO
import Testing

/// B41: who owns the socket is told by a lock, never by a ping.
@Suite struct OwnershipTests {
  private static func program() throws -> String {
    "\(try #require(daemonFolder))/countdownd"
  }

  /// Starts a daemon that is not expected to serve; its exit status and what it said.
  private func runToEnd(_ path: String, log: String) throws -> (
    exit: ChildProcess.Exit, said: String
  ) {
    var child = try ChildProcess(
      running: Self.program(), arguments: ["--socket", path], error: .file(path: log))
    for _ in 0..<500 {
      if let exit = try child.poll() { return (exit, try readFile(log)) }
      pass(milliseconds: 20)
    }
    try child.send(.kill)
    _ = try child.wait()
    Issue.record("it went on serving")
    return (.exited(status: 0), "")
  }

  @Test func `B41 a leftover socket is replaced`() throws {
    let directory = try TemporaryDirectory(prefix: "b41-")
    let path = "\(directory.path)/s"
    for _ in 0..<2 {
      // Killed, so that its socket stays behind.
      var child = try ChildProcess(
        running: Self.program(), arguments: ["--socket", path], error: .null)
      try awaitService(at: path)
      try child.send(.kill)
      _ = try child.wait()
      #expect(FileManager.default.fileExists(atPath: path))
    }
  }

  @Test func `B41 a daemon that is stopped is still the owner`() throws {
    let directory = try TemporaryDirectory(prefix: "b41-")
    let path = "\(directory.path)/s"
    var first = try ChildProcess(
      running: Self.program(), arguments: ["--socket", path], error: .null)
    try awaitService(at: path)
    try first.send(.stop)
    try awaitStop(of: first.pid)
    let second = try runToEnd(path, log: "\(directory.path)/log")
    #expect(second.exit == .exited(status: 1))
    #expect(second.said.contains("already"), "\(second.said)")
    try first.send(.resume)
    try awaitService(at: path)
    try first.send(.terminate)
    #expect(try first.wait() == .exited(status: 0))
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `B41 a file at the path is refused and kept`() throws {
    let directory = try TemporaryDirectory(prefix: "b41-")
    let path = "\(directory.path)/s"
    try "precious".write(toFile: path, atomically: false, encoding: .utf8)
    let outcome = try runToEnd(path, log: "\(directory.path)/log")
    #expect(outcome.exit == .exited(status: 1))
    #expect(outcome.said.contains(path), "\(outcome.said)")
    #expect(try readFile(path) == "precious")
  }

  @Test func `B41 of two that start on a stale socket exactly one wins`() throws {
    for _ in 0..<5 {
      let directory = try TemporaryDirectory(prefix: "b41-")
      let path = "\(directory.path)/s"
      var stale = try ChildProcess(
        running: Self.program(), arguments: ["--socket", path], error: .null)
      try awaitService(at: path)
      try stale.send(.kill)
      _ = try stale.wait()
      var one = try ChildProcess(
        running: Self.program(), arguments: ["--socket", path], error: .null)
      var other = try ChildProcess(
        running: Self.program(), arguments: ["--socket", path], error: .null)
      var ended: [ChildProcess.Exit] = []
      for _ in 0..<500 where ended.isEmpty {
        if let exit = try one.poll() { ended.append(exit) }
        if let exit = try other.poll() { ended.append(exit) }
        pass(milliseconds: 10)
      }
      #expect(ended == [.exited(status: 1)])
      try awaitService(at: path)
      if try one.poll() == nil { try one.send(.terminate) }
      if try other.poll() == nil { try other.send(.terminate) }
      #expect(Set([try one.wait(), try other.wait()].map { "\($0)" }).count == 2)
    }
  }
}
