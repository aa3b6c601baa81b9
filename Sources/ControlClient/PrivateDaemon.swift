package import LinuxIO

/// A daemon of one's own in a temporary directory: for demonstrations, measurements and tests.
///
/// Whatever happens, ``stop()`` must be called; the directory goes with this value.
package struct PrivateDaemon: ~Copyable {
  package let socketPath: String
  private let directory: TemporaryDirectory
  private var process: ChildProcess

  /// Starts the daemon that lies in `folder`, and waits until it lets clients in.
  ///
  /// - Parameters:
  ///   - folder: Where the program `countdownd` is; `nil` for `$PATH`.
  ///   - options: What it gets besides where to listen.
  ///   - log: Where its messages go.
  ///   - endsWithUs: It stops when the thread that called this has ended, however.
  /// - Throws: `failed` with ENOENT if there is no such program; `silent` if it does not answer in 5 s,
  ///   `closed` if it ended: none is left running then.
  package static func start(
    in folder: String?, options: [String] = [], log: ChildProcess.Stream = .inherited,
    endsWithUs: Bool = false
  ) throws(ClientError) -> PrivateDaemon {
    var daemon: PrivateDaemon
    do throws(SystemCallError) {
      daemon = try PrivateDaemon(folder, options, log, endsWithUs)
    } catch {
      throw .failed(error)
    }
    do throws(ClientError) {
      try daemon.waitUntilReady()
    } catch {
      _ = try? daemon.stop()  // The error at hand says more.
      throw error
    }
    return daemon
  }

  private init(
    _ folder: String?, _ options: [String], _ log: ChildProcess.Stream, _ endsWithUs: Bool
  ) throws(SystemCallError) {
    let directory = try TemporaryDirectory(prefix: "countdownd-")
    let socketPath = "\(directory.path)/socket"
    let process = try ChildProcess(
      running: folder.map { "\($0)/countdownd" } ?? "countdownd",
      // What is configured on this machine is for its own daemon.
      arguments: ["--config", "/dev/null", "--socket", socketPath] + options, error: log,
      signalAtOurEnd: endsWithUs ? .terminate : nil)
    self.socketPath = socketPath
    self.directory = directory
    self.process = process
  }

  private mutating func waitUntilReady() throws(ClientError) {
    for _ in 0..<500 {
      do throws(ClientError) {
        _ = try Connection(to: socketPath)
        return
      } catch {
        guard case .unreachable = error else { throw error }
      }
      if case .some(.some) = try? process.poll() { throw .closed }
      Clocks.sleep(untilBoottimeNSec: Clocks.boottimeNSec() + 10_000_000)
    }
    throw .silent(seconds: 5)
  }

  package var pid: Int32 { process.pid }

  /// Sends it a signal.
  package func send(_ signal: Signal) throws(SystemCallError) { try process.send(signal) }

  /// Asks it to end and waits until it has; one that does not within 5 s is killed.
  package mutating func stop() throws(SystemCallError) -> ChildProcess.Exit {
    if let exit = try process.poll() { return exit }
    try process.send(.terminate)
    for _ in 0..<500 {
      if let exit = try process.poll() { return exit }
      Clocks.sleep(untilBoottimeNSec: Clocks.boottimeNSec() + 10_000_000)
    }
    try process.send(.kill)
    return try process.wait()
  }
}
