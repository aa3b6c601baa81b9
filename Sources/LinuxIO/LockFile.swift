import CLinux
import Glibc

/// Why something could not be made one's own.
package enum OwnershipError: Error, Equatable, CustomStringConvertible {
  /// Another process holds the lock: the one that wrote `pid` there, if it did.
  case alreadyRunning(lockPath: String, pid: Int32?)
  /// What is at `path` is no socket. It was left alone.
  case occupied(path: String)
  /// A step on the way failed.
  case systemCall(SystemCallError)

  package var description: String {
    switch self {
    case .alreadyRunning(let lockPath, let pid):
      let holder = pid.map { "process \($0)" } ?? "another process"
      return "already running: \(holder) holds the lock \(lockPath)"
    case .occupied(let path):
      return "\(path) exists and is not a socket; move it away, it was not touched"
    case .systemCall(let error): return error.description
    }
  }
}

/// Does what the acquisition of a path consists of, and says so in its error.
func owning<Result: ~Copyable>(
  _ step: () throws(SystemCallError) -> Result
) throws(OwnershipError) -> Result {
  do throws(SystemCallError) { return try step() } catch { throw .systemCall(error) }
}

/// Ownership of a path, as an exclusive lock on the file `PATH.lock` beside it.
///
/// The kernel ends the lock with the process, however that dies. The file stays: removing it would
/// let two processes hold locks on two files of one name.
package struct LockFile: ~Copyable, Sendable {
  private let descriptor: FileDescriptor

  /// Takes the lock of `path`, at once or not at all, and writes this process's number into it.
  ///
  /// - Throws: `alreadyRunning` if it is held, by this process too.
  package init(of path: String) throws(OwnershipError) {
    let lockPath = path + ".lock"
    let descriptor = try owning { () throws(SystemCallError) in
      try FileDescriptor(
        opening: lockPath, flags: O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode: 0o600)
    }
    let fd = descriptor.rawValue
    let (_, code) = uninterrupted { flock(fd, LOCK_EX | LOCK_NB) }
    switch code {
    case 0: Self.writeHolder(to: fd)
    case EWOULDBLOCK:
      throw .alreadyRunning(lockPath: lockPath, pid: Self.readHolder(from: fd))
    default: throw .systemCall(SystemCallError(call: "flock", code: code, path: lockPath))
    }
    self.descriptor = descriptor
  }

  /// The number is for people to read, so a full disk may lose it.
  private static func writeHolder(to fd: CInt) {
    let line = Array("\(getpid())\n".utf8)
    _ = uninterrupted { ftruncate(fd, 0) }
    // SAFETY: the kernel reads the array's bytes during the call only.
    _ = uninterrupted { unsafe pwrite(fd, line, line.count, 0) }
  }

  private static func readHolder(from fd: CInt) -> Int32? {
    var bytes = [UInt8](repeating: 0, count: 16)
    // SAFETY: the kernel writes at most the array's length, during the call only.
    let (count, _) = uninterrupted { unsafe pread(fd, &bytes, 16, 0) }
    guard count > 0 else { return nil }
    return Int32(String(decoding: bytes[..<count].prefix { $0 != 10 }, as: UTF8.self))
  }
}
