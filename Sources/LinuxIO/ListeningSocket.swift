import CLinux
import Glibc

/// A Unix stream socket that accepts connections, non-blocking.
///
/// One that was bound here is owned by its ``LockFile`` and its file is removed at the end; one that
/// was passed in is neither.
package struct ListeningSocket: ~Copyable, Sendable {
  private let descriptor: FileDescriptor
  private let binding: Binding

  /// Binds a socket at `path` and listens.
  ///
  /// Who holds the lock `PATH.lock` owns the path, so a socket left over there is replaced, without
  /// asking whether anybody answers. Anything else there is kept: a file, a directory, a symbolic
  /// link even to a socket.
  ///
  /// - Parameters:
  ///   - path: 1 to 107 bytes.
  ///   - mode: The permissions of the socket's file, whatever the umask. It has them before anybody
  ///     can connect.
  ///   - makingParent: Creates the directory it is in, mode 0755, if that is missing; no others.
  package init(
    bindingTo path: String, mode: UInt32, makingParent: Bool = false
  ) throws(OwnershipError) {
    let address = try owning { () throws(SystemCallError) in
      let address = try SocketAddress(path: path, for: "bind")  // Before anything is created.
      if makingParent { try makeParent(of: path) }
      return address
    }
    let lock = try LockFile(of: path)
    try removeLeftOver(at: path)
    let descriptor = try owning { () throws(SystemCallError) in
      try StreamSocket.makeDescriptor(flags: CInt(SOCK_NONBLOCK.rawValue))
    }
    let fd = descriptor.rawValue
    _ = try owning { () throws(SystemCallError) in
      try check("bind", path: path) {
        // SAFETY: the kernel copies the address, which is lent for the call.
        unsafe address.withPointer { unsafe bind(fd, $0, $1) }
      }
    }
    let binding = Binding(path: path, lock: lock)  // Ours now: it goes if a later step throws.
    _ = try owning { () throws(SystemCallError) in
      // SAFETY: the kernel reads the path, which Swift keeps alive, during the call only.
      _ = try check("chmod", path: path) { unsafe chmod(path, mode) }
      return try check("listen", path: path) { listen(fd, SOMAXCONN) }
    }
    self.descriptor = descriptor
    self.binding = binding
  }

  /// Takes over a listening socket that was passed in. Its file is never removed.
  package init(adopting descriptor: consuming FileDescriptor) throws(SystemCallError) {
    try descriptor.setNonBlocking()
    self.descriptor = descriptor
    binding = Binding()
  }

  /// For ``Epoll``.
  package var rawValue: Int32 { descriptor.rawValue }

  /// The next connection, non-blocking, or `nil` if none waits.
  ///
  /// - Throws: EMFILE and ENFILE when out of descriptors: the connection goes on waiting, and the
  ///   listening socket stays readable.
  package borrowing func accept() throws(SystemCallError) -> StreamSocket? {
    let fd = descriptor.rawValue
    let flags = CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    let (connection, code) = uninterrupted { cl_accept4(fd, flags) }
    switch code {
    case 0: return StreamSocket(owning: FileDescriptor(owning: connection))
    case EAGAIN: return nil
    default: throw SystemCallError(call: "accept4", code: code)
    }
  }
}

/// What is to be undone when a listening socket ends: nothing, or the file it was bound to.
struct Binding: ~Copyable, Sendable {
  private let bound: (path: String, identity: FileIdentity)?
  private let lock: LockFile?

  /// Nothing.
  init() {
    bound = nil
    lock = nil
  }

  /// The file that was just bound at `path` under `lock`.
  init(path: String, lock: consuming LockFile) {
    bound = status(ofEntry: path).map { (path, FileIdentity($0)) }
    self.lock = consume lock
  }

  deinit {
    // Whatever else has come to that path meanwhile is not ours to remove.
    guard let (path, identity) = bound, let now = status(ofEntry: path),
      FileIdentity(now) == identity
    else { return }
    // SAFETY: the kernel reads the path, which Swift keeps alive, during the call only.
    _ = unsafe unlink(path)
  }
}

/// Removes the socket at `path`, if there is one; throws `occupied` for anything but a socket.
private func removeLeftOver(at path: String) throws(OwnershipError) {
  guard let found = status(ofEntry: path) else { return }  // What else is wrong, bind(2) will say.
  guard found.st_mode & S_IFMT == S_IFSOCK else { throw .occupied(path: path) }
  _ = try owning { () throws(SystemCallError) in
    // SAFETY: the kernel reads the path, which Swift keeps alive, during the call only.
    try check("unlink", path: path) { unsafe unlink(path) }
  }
}

/// Looks at a directory's entry itself, not at what a symbolic link there leads to.
private func status(ofEntry path: String) -> stat? {
  var status = stat()
  // SAFETY: the kernel reads the path and fills `status` during the call only.
  let (_, code) = uninterrupted { unsafe lstat(path, &status) }
  return code == 0 ? status : nil
}

/// Creates the directory `path` lies in, mode 0755 less the umask, unless it is there.
private func makeParent(of path: String) throws(SystemCallError) {
  guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
  let parent = String(path[..<slash])
  // SAFETY: the kernel reads the path, which Swift keeps alive, during the call only.
  let (_, code) = uninterrupted { unsafe mkdir(parent, 0o755) }
  guard code == 0 || code == EEXIST else {
    throw SystemCallError(call: "mkdir", code: code, path: parent)
  }
}
