import ControlClient
import Foundation
import LinuxIO
import Testing

/// What the programs do with what they are started with, and how the daemon ends.
@Suite struct ProcessTests {
  private static func program(_ name: String) throws -> String {
    let folder = name == "countdownd" ? daemonFolder : CurrentProcess.folder
    return "\(try #require(folder))/\(name)"
  }

  /// Runs a program by a shell that changes its descriptors first.
  private func start(
    _ name: String, _ arguments: [String], redirected: String, output: ChildProcess.Stream = .null
  ) throws -> ChildProcess {
    try ChildProcess(
      running: "sh",
      arguments: ["-c", "exec \"$@\" \(redirected)", "sh", Self.program(name)] + arguments,
      output: output, error: .null)
  }

  @Test func `a daemon without standard descriptors writes its log into nothing of its own`() throws
  {
    let directory = try TemporaryDirectory(prefix: "closed-")
    let path = "\(directory.path)/s"
    var daemon = try start("countdownd", ["--socket", path], redirected: "<&- >&- 2>&-")
    try awaitService(at: path)
    try daemon.send(.terminate)
    #expect(try daemon.wait() == .exited(status: 0))
    #expect(try !readFile("\(path).lock").contains("Listening"))
  }

  @Test func `countdownctl without a standard output fails, and sends nothing to the daemon`()
    throws
  {
    try withDaemon { daemon in
      var list = try start(
        "countdownctl", ["--socket", daemon.socketPath, "list"], redirected: ">&-")
      #expect(try list.wait() == .exited(status: 1))
    }
  }

  @Test func `a name that is no UTF-8 is refused, not mended`() throws {
    try withDaemon { daemon in
      var start = try ChildProcess(
        running: "sh",
        arguments: [
          "-c", #"exec "$0" --socket "$1" start "$(printf 'a\377')" 5min"#,
          Self.program("countdownctl"), daemon.socketPath,
        ], output: .null, error: .null)
      #expect(try start.wait() == .exited(status: 2))
      var caller = try daemon.connect()
      #expect(try CountReply(caller.call("Count")).running == 0)
    }
  }

  @Test func `a demo that is killed leaves no daemon running`() throws {
    let directory = try TemporaryDirectory(prefix: "demo-")
    let output = "\(directory.path)/output"
    var demo = try ChildProcess(
      running: Self.program("countdownctl"), arguments: ["demo"], output: .file(path: output),
      error: .null)
    var socket: String?
    for _ in 0..<1_000 where socket == nil {
      let line = (try? readFile(output))?.split(separator: "\n").first ?? ""
      if line.hasSuffix(".") { socket = line.split(separator: " ").last.map { "\($0.dropLast())" } }
      pass(milliseconds: 10)
    }
    try demo.send(.kill)
    _ = try demo.wait()
    let path = try #require(socket)
    for _ in 0..<1_000 where FileManager.default.fileExists(atPath: path) { pass(milliseconds: 10) }
    #expect(!FileManager.default.fileExists(atPath: path))
    try FileManager.default.removeItem(atPath: path.replacing("/socket", with: ""))
  }

  /// One connection among many.
  private final class Client {
    let socket: StreamSocket
    init(_ path: String) throws { socket = try StreamSocket(connectingTo: path) }
  }

  /// A daemon that may open so many descriptors.
  private func startLimited(to descriptors: Int, _ path: String, log: String) throws -> ChildProcess
  {
    try ChildProcess(
      running: "sh",
      arguments: [
        "-c", "ulimit -n \(descriptors); exec \"$@\"", "sh", Self.program("countdownd"),
        "--socket", path,
      ], error: .file(path: log))
  }

  @Test func `out of descriptors, it takes in who waits as soon as others leave`() throws {
    let directory = try TemporaryDirectory(prefix: "few-")
    let path = "\(directory.path)/s"
    var daemon = try startLimited(to: 32, path, log: "\(directory.path)/log")
    try awaitService(at: path)
    var clients = try (0..<40).map { _ in try Client(path) }
    let call = encodeCall(
      "io.countdownd.Countdown.Count", parameters: Array("{}".utf8), wantsMore: false)
    for client in clients { #expect(try client.socket.sendAll(call.span)) }
    try awaitReplies(1, from: clients[0].socket)
    var served = 1
    while try clients[served].socket.waitReadable(timeoutMSec: 300) { served += 1 }
    // Left to the tries that it makes every second, this would take eight of them.
    let before = boottimeUSec()
    for _ in 0..<8 {
      clients.removeFirst()
      #expect(try clients[served - 1].socket.waitReadable(timeoutMSec: 5_000))
    }
    #expect(boottimeUSec() - before < 4_000_000)
    try daemon.send(.terminate)
    #expect(try daemon.wait() == .exited(status: 0))
  }

  @Test func `told to stop while more clients come than it has descriptors for, it stops well`()
    throws
  {
    let directory = try TemporaryDirectory(prefix: "few-")
    let path = "\(directory.path)/s"
    var daemon = try startLimited(to: 32, path, log: "\(directory.path)/log")
    try awaitService(at: path)
    // Both are there when it wakes, the signal first.
    try daemon.send(.stop)
    try awaitStop(of: daemon.pid)
    try daemon.send(.terminate)
    let clients = try (0..<40).map { _ in try Client(path) }
    try daemon.send(.resume)
    #expect(try daemon.wait() == .exited(status: 0))
    #expect(clients.count == 40)
  }
}
