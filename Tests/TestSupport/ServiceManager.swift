import Glibc

/// The service manager's end of `$NOTIFY_SOCKET`.
package struct ServiceManager: ~Copyable {
  /// A path, or "@" and a name in the abstract namespace: what `$NOTIFY_SOCKET` has to be.
  package let address: String
  private let descriptor: Int32

  /// It listens at `address` from here on.
  package init(at address: String) {
    self.address = address
    let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let fd = socket(AF_UNIX, type, 0)
    descriptor = fd
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    // SAFETY: the field is longer than any address that tests use, and lent for the closure.
    unsafe withUnsafeMutableBytes(of: &name.sun_path) { field in
      unsafe field.copyBytes(from: address.utf8)
      if address.hasPrefix("@") { unsafe field[0] = 0 }
    }
    let length = socklen_t(2 + address.utf8.count)
    // SAFETY: the kernel copies the address during the call.
    let result = unsafe withUnsafePointer(to: name) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(fd, $0, length)
      }
    }
    guard result == 0 else { fatalError("cannot bind \(address)") }
  }

  deinit { close(descriptor) }

  /// The next message that came or comes in time, or `nil`.
  package borrowing func next(timeoutMSec: Int32 = 0) -> String? {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    var bytes = [UInt8](repeating: 0, count: 4_096)
    // SAFETY: the kernel fills the entry and the array during the calls, no more than they hold.
    guard unsafe Glibc.poll(&entry, 1, timeoutMSec) == 1 else { return nil }
    let count = unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
  }

  /// Passes over messages until one begins with `text`; `nil` if none comes in time.
  package borrowing func awaitMessage(_ text: String, timeoutMSec: Int32 = 10_000) -> String? {
    while let message = next(timeoutMSec: timeoutMSec) {
      if message.hasPrefix(text) { return message }
    }
    return nil
  }
}
