import CLinux
import Glibc

/// A program that was started here, until it has been waited for.
///
/// Ending this value neither ends nor waits for the program.
package struct ChildProcess: ~Copyable, Sendable {
  /// What a standard descriptor of the program is.
  package enum Stream: Sendable {
    /// The one of this process.
    case inherited
    /// /dev/null.
    case null
    /// A duplicate of a descriptor of this process.
    case descriptor(Int32)
    /// The end of a file, created with mode 0644 if it is missing.
    case file(path: String)
  }

  /// How a program ended.
  package enum Exit: Equatable, Sendable {
    case exited(status: Int32)
    case killed(Signal)
  }

  package let pid: Int32
  private var exit: Exit?

  /// Starts a program. It gets no other descriptors, blocks no signals and ignores none of ours.
  ///
  /// - Parameters:
  ///   - program: A path, or a name without "/" to be sought in `$PATH`.
  ///   - arguments: Without the program's name, which it gets first.
  ///   - environment: Variables it gets besides those of this process, in their stead if of one name.
  ///   - signalAtOurEnd: What it is sent when the thread that starts it has ended, however; `nil` for
  ///     nothing.
  /// - Throws: ENOENT and EACCES of the program or of a file it was to write to.
  package init(
    running program: String, arguments: [String] = [],
    environment: [(name: String, value: String)] = [], input: Stream = .null,
    output: Stream = .inherited, error: Stream = .inherited, signalAtOurEnd: Signal? = nil
  ) throws(SystemCallError) {
    let streams = [input, output, error]
    let variables = Self.environment(adding: environment)
    // SAFETY: all strings and both arrays are alive and unmoved during the call, which keeps none.
    pid = try check("exec", path: program) {
      unsafe withCStrings([program] + arguments) { arguments in
        unsafe withCStrings(variables) { environment in
          unsafe withCStrings(streams.map(\.path)) { paths in
            let streams = unsafe streams.enumerated().map { index, stream in
              unsafe stream.described(path: paths[index])
            }
            return unsafe cl_spawn(
              arguments[0], arguments, environment, streams, signalAtOurEnd?.rawValue ?? 0)
          }
        }
      }
    }
  }

  private static func environment(adding added: [(name: String, value: String)]) -> [String] {
    var variables: [String] = []
    withEnvironment { variables.append($0) }
    variables.removeAll { old in added.contains { old.utf8.starts(with: "\($0.name)=".utf8) } }
    return variables + added.map { "\($0.name)=\($0.value)" }
  }

  /// Sends it a signal; nothing if it is known to have ended, as its number may be another's by then.
  package borrowing func send(_ signal: Signal) throws(SystemCallError) {
    guard exit == nil else { return }
    let pid = pid
    _ = try check("kill") { kill(pid, signal.rawValue) }
  }

  /// How it ended, or `nil` while it runs.
  package mutating func poll() throws(SystemCallError) -> Exit? { try wait(flags: WNOHANG) }

  /// Waits until it has ended.
  package mutating func wait() throws(SystemCallError) -> Exit {
    guard let exit = try wait(flags: 0) else { fatalError("waitpid returned without an end") }
    return exit
  }

  private mutating func wait(flags: CInt) throws(SystemCallError) -> Exit? {
    if let exit { return exit }
    let pid = pid
    var status: CInt = 0
    let ended = try check("waitpid") {
      // SAFETY: the kernel fills `status` before returning and keeps no pointer to it.
      unsafe waitpid(pid, &status, flags)
    }
    guard ended == pid else { return nil }
    // As WIFEXITED and its like take it apart: a signal in the low bits, else a status above.
    let signal = status & 0x7f
    exit = signal == 0 ? .exited(status: status >> 8 & 0xff) : .killed(Signal(rawValue: signal))
    return exit
  }
}

extension ChildProcess.Stream {
  /// What is to be opened; empty for nothing.
  fileprivate var path: String {
    switch self {
    case .null: "/dev/null"
    case .file(let path): path
    case .inherited, .descriptor: ""
    }
  }

  /// As C has it. `path` is that of this stream.
  fileprivate func described(path: UnsafePointer<CChar>?) -> cl_stream {
    switch self {
    case .inherited: unsafe cl_stream(path: nil, flags: 0, descriptor: -1)
    case .null: unsafe cl_stream(path: path, flags: O_RDWR, descriptor: -1)
    case .descriptor(let fd): unsafe cl_stream(path: nil, flags: 0, descriptor: fd)
    case .file: unsafe cl_stream(path: path, flags: O_WRONLY | O_CREAT | O_APPEND, descriptor: -1)
    }
  }
}

/// Lends `strings` as the NULL-terminated array of C strings that exec and its like want.
private func withCStrings<Result>(
  _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  // SAFETY: each copy is freed below, after `body`, which must not keep it.
  var pointers = unsafe strings.map { unsafe strdup($0) }
  unsafe pointers.append(nil)
  defer { unsafe pointers.forEach { unsafe free($0) } }
  return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
}

/// Hands each `NAME=VALUE` of this process's environment to `body`.
private func withEnvironment(_ body: (String) -> Void) {
  // SAFETY: the environment is NULL-terminated, and nothing changes it meanwhile: see
  // ``CurrentProcess/removeEnvironmentVariable(_:)``. Each string is copied before `body`.
  var entry = unsafe cl_environment()
  while let text = unsafe entry?.pointee {
    body(unsafe String(cString: text))
    unsafe entry = unsafe entry?.successor()
  }
}
