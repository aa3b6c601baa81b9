import Glibc

/// An open descriptor and the duty to close it.
package struct FileDescriptor: ~Copyable, Sendable {
  /// The number the kernel knows it by; valid while this value lives.
  package let rawValue: Int32

  /// Takes over `rawValue`: nobody else may close it from here on.
  package init(owning rawValue: Int32) { self.rawValue = rawValue }

  /// Opens a file, close-on-exec.
  init(
    opening path: String, flags: CInt, mode: mode_t = 0
  ) throws(SystemCallError) {
    rawValue = try check("open", path: path) {
      // SAFETY: the kernel reads the path, which Swift keeps alive, during the call only.
      unsafe open(path, flags | O_CLOEXEC, mode)
    }
  }

  /// Gives the number away, with the duty to close it.
  package consuming func take() -> Int32 {
    let rawValue = rawValue
    discard self
    return rawValue
  }

  /// Makes calls on it answer at once, as those of an event loop must.
  borrowing func setNonBlocking() throws(SystemCallError) {
    let fd = rawValue
    let flags = try check("fcntl") { fcntl(fd, F_GETFL) }
    _ = try check("fcntl") { fcntl(fd, F_SETFL, flags | O_NONBLOCK) }
  }

  deinit {
    // Never repeated after EINTR: Linux has closed it by then, and the number may be in use again.
    _ = close(rawValue)
  }
}
