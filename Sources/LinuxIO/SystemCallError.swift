// LinuxIO: descriptors, clocks, timers, signals, Unix sockets and processes, each as a Swift type
// that owns what it opened. It knows Linux and nothing of countdowns, messages or systemd. Every
// descriptor is close-on-exec; those of an event loop are non-blocking too. Read FileDescriptor
// next, then StreamSocket.

import CLinux
import Glibc

/// A system call that failed: which one, why, and on what.
package struct SystemCallError: Error, Equatable, CustomStringConvertible {
  /// The call's name in C: "connect".
  package let call: String
  /// Its `errno`.
  package let code: Int32
  /// The file it was about, where there was one.
  package let path: String?

  /// Describes a failure that was seen elsewhere, by libsystemd for one.
  package init(call: String, code: Int32, path: String? = nil) {
    self.call = call
    self.code = code
    self.path = path
  }

  /// The symbol of ``code``: "ECONNREFUSED", or "E4095" if it has none.
  package var name: String {
    // SAFETY: the C library returns a string in static memory, or null.
    guard let name = unsafe cl_error_name(code) else { return "E\(code)" }
    return unsafe String(cString: name)
  }

  /// "connect /run/x: Connection refused", in English whatever the locale.
  package var description: String {
    // SAFETY: the C library returns a string in static memory, or null.
    let text = unsafe cl_error_description(code).map { unsafe String(cString: $0) }
    let subject = path.map { "\(call) \($0)" } ?? call
    return "\(subject): \(text ?? name)"
  }
}

/// Makes a system call again until no signal interrupts it: the one place that knows `EINTR`.
///
/// - Returns: The call's own result, and its `errno`, which is 0 if the result is not negative.
@inline(__always)
func uninterrupted<Result: SignedInteger>(_ call: () -> Result) -> (result: Result, code: CInt) {
  while true {
    let result = call()
    let code = errno
    if result >= 0 { return (result, 0) }
    if code != EINTR { return (result, code) }
  }
}

/// Makes a system call as ``uninterrupted(_:)`` does and throws if it failed.
@inline(__always)
func check<Result: SignedInteger>(
  _ name: StaticString, path: String? = nil, _ call: () -> Result
) throws(SystemCallError) -> Result {
  let (result, code) = uninterrupted(call)
  guard code == 0 else {
    throw SystemCallError(call: name.description, code: code, path: path)
  }
  return result
}
