import ControlClient
import LinuxIO

extension Verb {
  static let demo = Verb(
    name: "demo", words: "", summary: "see what countdowns are for, in fifteen seconds",
    details: [
      "It starts a daemon of its own in a temporary directory, tells three short stories with it,",
      "shows how late each countdown expired, and leaves nothing behind.",
    ],
    examples: ["demo"],
    run: demo)

  @Sendable private static func demo(_ session: Session) throws -> Int32 {
    guard session.arguments.words.isEmpty else { throw ParseError("it takes no name") }
    guard !session.isJSON, !session.arguments.has("--socket") else {
      throw ParseError("it has a daemon of its own and is for people: no --json, no --socket")
    }
    // A reader that goes away, as `demo | head` does, must not leave the daemon running.
    Signal.brokenPipe.ignore()
    let signals = try SignalDescriptor([.interrupt, .terminate, .hangup])
    var daemon = try DemoDaemon()
    do {
      try daemon.waitUntilReady(signals)
      try tell(daemon.socketPath, signals, session)
      try daemon.stop()
    } catch {
      // The daemon may have got the same signal, and have ended before we looked.
      let signal = (try? signals.next()) ?? (error as? Interruption)?.signal
      try? daemon.stop()  // The error at hand says more.
      if let signal { return end(by: signal) }
      if (error as? SystemCallError)?.name == "EPIPE" { return end(by: .brokenPipe) }
      throw error
    }
    try session.write("\nThe daemon has been stopped, and nothing is left of it.\n")
    return ExitStatus.done
  }

  /// The exit status of a program that a signal ends, as shells tell it.
  private static func end(by signal: Signal) -> Int32 {
    if signal != .brokenPipe {
      // A line may be half written.
      if StandardStream.error.isTerminal { try? StandardStream.error.write("\n") }
      complain("interrupted; the daemon has been stopped", advice: nil)
    }
    return 128 + signal.rawValue
  }

  private static func tell(
    _ socketPath: String, _ signals: borrowing SignalDescriptor, _ session: Session
  ) throws {
    var stage = try DemoStage(socketPath, signals, session)
    try stage.write("A daemon was started for this, at \(harmless(socketPath)).\n")
    try tellFlashSale(on: &stage, signals)
    try stage.pauseForReading(signals)
    try tellUnpaidOrder(on: &stage, signals)
    try stage.pauseForReading(signals)
    try tellSMSCode(on: &stage, signals)
    try stage.writeLateness()
  }
}

/// Somebody wants this program to end.
struct Interruption: Error {
  let signal: Signal
}

/// A daemon in a temporary directory of its own.
struct DemoDaemon: ~Copyable {
  let socketPath: String
  private let directory: TemporaryDirectory
  private var process: ChildProcess

  /// Starts it. Whatever happens then, ``stop()`` must be called.
  init() throws {
    let directory = try TemporaryDirectory(prefix: "countdown-demo-")
    let socketPath = "\(directory.path)/socket"
    let process = try Self.start(socketPath)
    self.socketPath = socketPath
    self.directory = directory
    self.process = process
  }

  /// Runs the daemon that lies beside this program, else the one in `$PATH`.
  private static func start(_ socketPath: String) throws -> ChildProcess {
    let own = CurrentProcess.arguments.first ?? ""
    let folder = own.lastIndex(of: "/").map { String(own[...$0]) }
    let arguments = ["--socket", socketPath, "--log-level", "warning"]
    if let folder {
      do throws(SystemCallError) {
        return try ChildProcess(running: "\(folder)countdownd", arguments: arguments)
      } catch {
        guard error.name == "ENOENT" else { throw error }
      }
    }
    do throws(SystemCallError) {
      return try ChildProcess(running: "countdownd", arguments: arguments)
    } catch {
      guard error.name == "ENOENT" else { throw error }
      throw Failure(
        message: "countdownd is neither beside this program nor in $PATH",
        advice: "build it with 'swift build', or install it")
    }
  }

  /// Waits, at most 5 s, until it lets clients in.
  mutating func waitUntilReady(_ signals: borrowing SignalDescriptor) throws {
    for _ in 0..<250 {
      if let signal = try signals.next() { throw Interruption(signal: signal) }
      if (try? Connection(to: socketPath)) != nil { return }
      if let exit = try process.poll() {
        throw Failure(
          message: "countdownd ended at once: \(exit)", advice: "see what it says above")
      }
      Clocks.sleep(untilBoottimeNSec: Clocks.boottimeNSec() + 20_000_000)
    }
    throw Failure(message: "countdownd does not answer", advice: nil)
  }

  /// Asks it to end and waits until it has; one that does not within 5 s is killed.
  mutating func stop() throws {
    try process.send(.terminate)
    for _ in 0..<500 {
      if let exit = try process.poll() {
        guard exit == .exited(status: 0) else {
          throw Failure(message: "countdownd did not end well: \(exit)", advice: nil)
        }
        return
      }
      Clocks.sleep(untilBoottimeNSec: Clocks.boottimeNSec() + 10_000_000)
    }
    try process.send(.kill)
    _ = try process.wait()
    throw Failure(message: "countdownd did not end within 5 s and was killed", advice: nil)
  }
}
