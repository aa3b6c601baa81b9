import Foundation
import LinuxIO
import Testing

/// A daemon's directory with a configuration, a socket, and what it says.
struct Place: ~Copyable {
  private let directory: TemporaryDirectory
  var path: String { directory.path }
  var configuration: String { directory.path + "/main.conf" }
  var socket: String { directory.path + "/socket" }
  private var log: String { directory.path + "/log" }

  init(_ text: String = "") throws {
    let directory = try TemporaryDirectory(prefix: "place-")
    try write(text, to: directory.path + "/main.conf")
    self.directory = directory
  }

  /// Writes the configuration anew.
  func configure(_ text: String) throws { try write(text, to: configuration) }

  /// - Parameters:
  ///   - wrapper: A program that becomes the daemon, and its arguments before the daemon's.
  ///   - listens: Whether it is told where to listen.
  ///   - error: Where its messages go; `nil` is where ``said()`` finds them.
  func start(
    _ options: String..., under wrapper: [String] = [], listens: Bool = true,
    environment: [(name: String, value: String)] = [], error: ChildProcess.Stream? = nil
  ) throws -> ChildProcess {
    let daemon = "\(try #require(daemonFolder))/countdownd"
    let command =
      wrapper + [daemon, "--config", configuration] + (listens ? ["--socket", socket] : [])
      + options
    return try ChildProcess(
      running: command[0], arguments: Array(command.dropFirst()), environment: environment,
      error: error ?? .file(path: log))
  }

  func said() throws -> String { try readFile(log) }

  /// Waits until so many lines were said.
  func awaitLines(_ count: Int) throws -> [Substring] {
    var lines: [Substring] = []
    for _ in 0..<500 {
      lines = try said().split(separator: "\n")
      if lines.count >= count { return lines }
      pass(milliseconds: 10)
    }
    Issue.record("\(lines.count) lines, not \(count): \(lines)")
    return lines
  }
}

/// Runs `body`, then ends the daemon and expects that it was well until then; kills it if `body` fails.
func ending(
  _ daemon: consuming ChildProcess, _ body: (borrowing ChildProcess) throws -> Void
) throws {
  do {
    try body(daemon)
    try daemon.send(.terminate)
  } catch {
    try daemon.send(.kill)
    _ = try daemon.wait()
    throw error
  }
  #expect(try daemon.wait() == .exited(status: 0))
}

/// Expects it to end by itself with that status within ten seconds.
func expectExit(of daemon: consuming ChildProcess, status: Int32) throws {
  for _ in 0..<1_000 {
    if let exit = try daemon.poll() {
      #expect(exit == .exited(status: status))
      return
    }
    pass(milliseconds: 10)
  }
  Issue.record("it goes on")
  try daemon.send(.kill)
  _ = try daemon.wait()
}

private func write(_ text: String, to path: String) throws {
  try #require(FileManager.default.createFile(atPath: path, contents: Data(text.utf8)))
}
