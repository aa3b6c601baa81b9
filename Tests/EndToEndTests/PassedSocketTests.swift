import ControlClient
import Foundation
import LinuxIO
import Testing

/// A socket that the daemon was started with, as systemd starts it.
@Suite struct PassedSocketTests {
  @Test(arguments: [false, true])
  func `a passed socket is served whatever its name, and its file stays`(isToldAnother: Bool) throws
  {
    let directory = try TemporaryDirectory(prefix: "passed-")
    let path = "\(directory.path)/s"
    let other = "\(directory.path)/other"
    let log = "\(directory.path)/log"
    let listening = try ListeningSocket(bindingTo: path, mode: 0o600)
    // The shell makes descriptor 3 of it, and keeps the process that the variables name.
    let script =
      #"exec 3<&0 </dev/null; export LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=x; exec "$0" "$@""#
    var daemon = try ChildProcess(
      running: "/bin/sh",
      arguments: [
        "-c", script, "\(daemonFolder ?? ".")/countdownd", "--config", "/dev/null",
      ] + (isToldAnother ? ["--socket", other] : []),
      input: .descriptor(listening.rawValue), error: .file(path: log))
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
    // One that the command line names is neither made nor passed over in silence.
    #expect(!FileManager.default.fileExists(atPath: other))
    let warning = "--socket \(other): systemd passed a socket, which goes before it, ignoring\n"
    #expect(try readFile(log).contains(warning) == isToldAnother)
    #expect(try readFile(log).contains("--socket") == isToldAnother)
  }
}
