import Glibc

/// The address of a Unix socket: in the file system, or in the kernel's abstract namespace.
package struct SocketAddress {
  /// The longest path a Unix socket can have, in bytes: `sun_path` less its final NUL.
  package static let maximumPathBytes = 107

  private var address = sockaddr_un()
  private var length = socklen_t(MemoryLayout<sockaddr_un>.size)

  /// - Throws: ENAMETOOLONG past the maximum; EINVAL if it is empty or has a NUL within, which
  ///   would mean another kind of address.
  init(path: String, for call: String) throws(SystemCallError) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw SystemCallError(call: call, code: EINVAL, path: path)
    }
    guard path.utf8.count <= Self.maximumPathBytes else {
      throw SystemCallError(call: call, code: ENAMETOOLONG, path: path)
    }
    address.sun_family = sa_family_t(AF_UNIX)
    // SAFETY: `sun_path` has 108 bytes, all zero; at most 107 are written, within this closure.
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
      unsafe field.copyBytes(from: path.utf8)
    }
  }

  /// A name in the abstract namespace, which no file stands for.
  ///
  /// - Throws: ENAMETOOLONG past the maximum; EINVAL if it is empty.
  init(abstractName name: String, for call: String) throws(SystemCallError) {
    try self.init(path: name, for: call)
    // SAFETY: as above; the name moves up by one, behind the NUL that tells its kind.
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
      unsafe field[0] = 0
      unsafe field[1...].copyBytes(from: name.utf8)
    }
    length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
  }

  /// Lends the address to a call that takes one and its length.
  func withPointer(_ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
    // SAFETY: every socket call reads its `sockaddr` as the type its family names; the pointer is
    // valid during `body`.
    unsafe withUnsafePointer(to: address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe body(generic, length)
      }
    }
  }
}
