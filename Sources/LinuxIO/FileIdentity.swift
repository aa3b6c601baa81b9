import Glibc

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
