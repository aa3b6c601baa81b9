import Glibc

/// The terminal on the standard input, told to hand over each key at once and to show none.
///
/// What was set before comes back with ``restore()``, and at the end of this value. Keys that make
/// signals go on to make them.
package struct TerminalInput: ~Copyable {
  private let before: termios

  /// - Throws: ENOTTY if the standard input is no terminal.
  package init() throws(SystemCallError) {
    var settings = termios()
    _ = try check("tcgetattr") {
      // SAFETY: the call fills `settings`, which outlives it.
      unsafe tcgetattr(StandardStream.input.rawValue, &settings)
    }
    let before = settings
    try Self.takeKeys(from: before)
    self.before = before
  }

  /// Takes the keys again, after ``restore()``.
  package func takeKeys() throws(SystemCallError) { try Self.takeKeys(from: before) }

  private static func takeKeys(from before: termios) throws(SystemCallError) {
    var settings = before
    settings.c_lflag &= ~(tcflag_t(ICANON) | tcflag_t(ECHO))
    try set(settings)
  }

  /// The terminal as it was found.
  package func restore() throws(SystemCallError) { try Self.set(before) }

  private static func set(_ settings: termios) throws(SystemCallError) {
    var settings = settings
    _ = try check("tcsetattr") {
      // SAFETY: the call reads `settings`, which outlives it.
      unsafe tcsetattr(StandardStream.input.rawValue, TCSANOW, &settings)
    }
  }

  /// For ``Epoll``.
  package var rawValue: Int32 { StandardStream.input.rawValue }

  /// The bytes of the keys that were pressed, some at least: to be called when it is readable. Empty if
  /// the terminal is gone.
  package func keys() throws(SystemCallError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 64)
    // SAFETY: the kernel writes into the array, alive during this closure, no more than it holds.
    let (count, code) = unsafe bytes.withUnsafeMutableBytes { buffer in
      uninterrupted { unsafe read(StandardStream.input.rawValue, buffer.baseAddress, buffer.count) }
    }
    if code == EIO { return [] }
    guard code == 0 else { throw SystemCallError(call: "read", code: code) }
    return Array(bytes.prefix(count))
  }

  // The terminal may be gone; then there is nothing to restore.
  deinit { try? Self.set(before) }
}
