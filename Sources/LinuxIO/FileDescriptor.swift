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

/// What makes two names the same file: the device it is on and its number there.
package struct FileIdentity: Equatable, Sendable {
  package let device: UInt64
  package let inode: UInt64

  /// An identity known from elsewhere, an environment variable for one.
  package init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }

  /// That of an open descriptor; `nil` if there is none of that number.
  package init?(ofDescriptor fd: Int32) {
    var status = stat()
    // SAFETY: the kernel fills `status` before returning and keeps no pointer to it.
    guard uninterrupted({ unsafe fstat(fd, &status) }).code == 0 else { return nil }
    self.init(status)
  }

  init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }
}
