import ControlClient
import LinuxIO
import SystemdSyntax

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
    var daemon: PrivateDaemon
    do {
      daemon = try startDaemon()
    } catch {
      if let signal = try signals.next() { return end(by: signal) }
      throw error
    }
    do {
      try tell(daemon.socketPath, signals, session)
    } catch {
      // The daemon may have got the same signal, and have ended before we looked.
      let signal = (try? signals.next()) ?? (error as? Interruption)?.signal
      _ = try? daemon.stop()  // The error at hand says more.
      if let signal { return end(by: signal) }
      if (error as? SystemCallError)?.name == "EPIPE" { return end(by: .brokenPipe) }
      throw error
    }
    let exit = try daemon.stop()
    guard exit == .exited(status: 0) else {
      throw Failure(message: "countdownd did not end well: \(exit)")
    }
    try session.write("\nThe daemon has been stopped, and nothing is left of it.\n")
    return ExitStatus.done
  }

  /// Starts the daemon that lies beside this program, else the one in `$PATH`.
  private static func startDaemon() throws -> PrivateDaemon {
    for folder in [CurrentProcess.folder, nil] {
      do throws(ClientError) {
        return try PrivateDaemon.start(
          in: folder, options: ["--log-level", "warning"], endsWithUs: true)
      } catch .closed {
        throw Failure(
          message: "countdownd ended as soon as it was started",
          advice: "run it by hand and see what it says: countdownd --socket /tmp/countdown-test")
      } catch {
        guard case .failed(let cause) = error, cause.name == "ENOENT" else { throw error }
      }
    }
    throw Failure(
      message: "countdownd is neither beside this program nor in $PATH",
      advice: "build it with 'swift build', or install it")
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
