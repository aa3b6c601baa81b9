import ControlClient
import Foundation
import LinuxIO
import Testing

/// A socket that the daemon was started with, as systemd starts it.
@Suite struct PassedSocketTests {
  @Test func `a passed socket is served whatever its name, and its file stays`() throws {
    let directory = try TemporaryDirectory(prefix: "passed-")
    let path = "\(directory.path)/s"
    let listening = try ListeningSocket(bindingTo: path, mode: 0o600)
    // The shell makes descriptor 3 of it, and keeps the process that the variables name.
    let script =
      #"exec 3<&0 </dev/null; export LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=x; exec "$0" "$@""#
    var daemon = try ChildProcess(
      running: "/bin/sh",
      arguments: [
        "-c", script, "\(CurrentProcess.folder ?? ".")/countdownd", "--config", "/dev/null",
      ],
      input: .descriptor(listening.rawValue), error: .null)
    do {
      try awaitService(at: path)
    } catch {
      try daemon.send(.kill)
      _ = try daemon.wait()
      throw error
    }
    try daemon.send(.terminate)
    #expect(try daemon.wait() == .exited(status: 0))
    #expect(FileManager.default.fileExists(atPath: path))
  }
}
