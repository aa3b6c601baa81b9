import Glibc
import LinuxIO
import Testing

@Suite("ChildProcess")
struct ChildProcessTests {
  /// Runs a shell command and returns what it wrote and how it ended.
  private func output(
    of command: String, environment: [(name: String, value: String)] = []
  ) throws -> (text: String, exit: ChildProcess.Exit) {
    let directory = try TemporaryDirectory(prefix: "linuxio-")
    let path = directory.path + "/log"
    var child = try ChildProcess(
      running: "sh", arguments: ["-c", command], environment: environment,
      output: .file(path: path), error: .file(path: path))
    let exit = try child.wait()
    return (try contents(ofFile: path), exit)
  }

  @Test func `it gets its arguments, and its streams append to one file`() throws {
    let (text, exit) = try output(of: "echo \"$0\" 1; echo 2 >&2; echo 3; exit 7")
    #expect(text == "sh 1\n2\n3\n")
    #expect(exit == .exited(status: 7))
  }

  @Test func `its standard input is empty unless it is given one`() throws {
    #expect(try output(of: "cat").text == "")
    let pair = try SocketPair()
    #expect(try pair.far.send(Array("for me".utf8).span) == .moved(6))
    pair.far.shutDownSending()
    var child = try ChildProcess(
      running: "/bin/sh", arguments: ["-c", "test \"$(cat)\" = 'for me'"],
      input: .descriptor(pair.near.rawValue), output: .null, error: .null)
    #expect(try child.wait() == .exited(status: 0))
  }

  @Test func `variables are added to its environment, and replace those of one name`() throws {
    let (text, _) = try output(
      of: "echo \"$HOME|$TZ|$PATH\"",
      environment: [("HOME", "/nowhere"), ("TZ", "Europe/Dublin")])
    let path = CurrentProcess.environmentVariable("PATH") ?? ""
    #expect(text == "/nowhere|Europe/Dublin|\(path)\n")
  }

  @Test func `it inherits no descriptor of ours but the three`() throws {
    let pair = try SocketPair()
    let listing = try output(of: "ls -l /proc/$$/fd").text
    #expect(listing.contains("/dev/null"))
    for fd in [pair.near.rawValue, pair.far.rawValue] {
      let identity = try #require(FileIdentity(ofDescriptor: fd))
      #expect(!listing.contains("socket:[\(identity.inode)]"))
    }
  }

  @Test func `it blocks no signal and ignores no broken pipe`() async {
    await #expect(processExitsWith: .success) {
      Signal.brokenPipe.ignore()
      let signals = try SignalDescriptor([.terminate])
      for signal in [Signal.terminate, .brokenPipe] {
        var child = try ChildProcess(
          running: "sh", arguments: ["-c", "kill -\(signal.rawValue) $$; exit 0"])
        let exit = try child.wait()
        try #require(exit == .killed(signal))
      }
      withExtendedLifetime(signals.rawValue) {}
    }
  }

  @Test func `it can be asked while it runs, and killed, and its end is remembered`() throws {
    var child = try ChildProcess(running: "sleep", arguments: ["1000"])
    #expect(try child.poll() == nil)
    try child.send(.kill)
    #expect(try child.wait() == .killed(.kill))
    #expect(try child.wait() == .killed(.kill))
    #expect(try child.poll() == .killed(.kill))
    try child.send(.kill)  // Its number may be another's by now: nothing is sent.
  }

  @Test func `a file that it cannot write to is an error of this process`() {
    #expect(throws: SystemCallError(call: "exec", code: ENOENT, path: "true")) {
      _ = try ChildProcess(running: "true", output: .file(path: "/none/such"))
    }
  }

  /// In a process of its own, for what counts is the end of the thread that started it.
  @Test func `it may be sent a signal at our end, whatever that is`() async throws {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory(prefix: "linuxio-")
      let begun = directory.path + "/begun"
      let ended = directory.path + "/ended"
      let script = "trap 'echo >$1; exit' TERM; echo >$0; while :; do sleep 0.01; done"
      try Thread.start {
        _ = try? ChildProcess(
          running: "sh", arguments: ["-c", script, begun, ended], signalAtOurEnd: .terminate)
        while unsafe access(begun, F_OK) != 0 { sched_yield() }
        // It is alive as long as this thread is.
        Clocks.sleep(untilBoottimeNSec: Clocks.boottimeNSec() + 100_000_000)
        if unsafe access(ended, F_OK) == 0 { exit(1) }
      }
      for _ in 0..<1_000 where unsafe access(ended, F_OK) != 0 { usleep(10_000) }
      try #require(unsafe access(ended, F_OK) == 0)
    }
  }

  @Test(arguments: ["/none/such", "no-such-program-anywhere"])
  func `a program that does not exist is an error of this process`(program: String) {
    #expect(throws: SystemCallError(call: "exec", code: ENOENT, path: program)) {
      _ = try ChildProcess(running: program)
    }
  }
}
