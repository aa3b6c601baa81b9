import Glibc

/// The address of a Unix socket in the file system.
package struct SocketAddress {
  /// The longest path a Unix socket can have, in bytes: `sun_path` less its final NUL.
  package static let maximumPathBytes = 107

  private var address = sockaddr_un()

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

  /// Lends the address to a call that takes one and its length.
  func withPointer(_ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
    // SAFETY: every socket call reads its `sockaddr` as the type its family names; the pointer is
    // valid during `body`.
    unsafe withUnsafePointer(to: address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe body(generic, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
