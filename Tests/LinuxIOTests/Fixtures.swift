import Glibc
import LinuxIO
import Testing

/// Two connected, non-blocking stream sockets.
struct SocketPair: ~Copyable {
  let near: StreamSocket
  let far: StreamSocket

  init() throws {
    var ends: [Int32] = [0, 0]
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    try #require(unsafe socketpair(AF_UNIX, type | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
    near = StreamSocket(owning: FileDescriptor(owning: ends[0]))
    far = StreamSocket(owning: FileDescriptor(owning: ends[1]))
  }
}

/// Closes `socket` here and now.
func drop(_ socket: consuming StreamSocket) {}

/// Whether `fd` is closed by exec, as every descriptor here must be.
func isCloseOnExec(_ fd: Int32) -> Bool { fcntl(fd, F_GETFD) & FD_CLOEXEC != 0 }

/// Whether calls on `fd` answer at once.
func isNonBlocking(_ fd: Int32) -> Bool { fcntl(fd, F_GETFL) & O_NONBLOCK != 0 }

/// All of a file.
func contents(ofFile path: String) throws -> String {
  let fd = unsafe open(path, O_RDONLY | O_CLOEXEC)
  try #require(fd >= 0, "open \(path)")
  let descriptor = FileDescriptor(owning: fd)
  return try readToEnd(descriptor)
}

/// All that can be read from a descriptor until its end.
func readToEnd(_ descriptor: borrowing FileDescriptor) throws -> String {
  var all: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 4096)
  while true {
    let count = unsafe read(descriptor.rawValue, &buffer, buffer.count)
    try #require(count >= 0)
    if count == 0 { return String(decoding: all, as: UTF8.self) }
    all += buffer[..<count]
  }
}

/// Writes a file of one's own, replacing what is there.
func write(_ text: String, toFile path: String) throws {
  let fd = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
  try #require(fd >= 0, "open \(path)")
  let descriptor = FileDescriptor(owning: fd)
  try writeAll(text, to: descriptor.rawValue)
}

/// The kind of what is at `path` itself, such as `S_IFSOCK`, and its permissions; `nil` if nothing is.
func entry(at path: String) -> (kind: UInt32, permissions: UInt32)? {
  var status = stat()
  guard unsafe lstat(path, &status) == 0 else { return nil }
  return (status.st_mode & S_IFMT, status.st_mode & 0o7777)
}

/// Another process that reads a socket to its end. (A task would not do: a test that blocks keeps one
/// of the few threads that tasks share.)
struct ByteCounter: ~Copyable {
  private let directory: TemporaryDirectory
  private var process: ChildProcess

  init(reading socket: borrowing StreamSocket) throws {
    let directory = try TemporaryDirectory(prefix: "linuxio-")
    let fd = socket.rawValue
    try #require(fcntl(fd, F_SETFL, 0) == 0)  // It knows only to block.
    process = try ChildProcess(
      running: "wc", arguments: ["-c"], input: .descriptor(fd),
      output: .file(path: directory.path + "/count"))
    self.directory = directory
  }

  /// How many bytes it had read at the end, in decimal.
  mutating func result() throws -> Substring {
    #expect(try process.wait() == .exited(status: 0))
    return try contents(ofFile: directory.path + "/count").prefix { $0 != "\n" }
  }
}
