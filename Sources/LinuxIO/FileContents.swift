import Glibc

extension [UInt8] {
  /// All bytes of a file, whatever its size is said to be beforehand: an empty one, or `/dev/null`, has
  /// none.
  ///
  /// It never waits: of a pipe nothing is read unless all of it is there.
  ///
  /// - Parameter limit: The most there may be, in bytes.
  /// - Throws: EFBIG if there is more, EISDIR for a directory.
  package init(contentsOfFile path: String, atMost limit: Int) throws(SystemCallError) {
    let descriptor = try FileDescriptor(
      opening: path, flags: O_RDONLY | O_NONBLOCK | O_NOCTTY)
    let fd = descriptor.rawValue
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    var contents: [UInt8] = []
    while true {
      let count = try check("read", path: path) {
        // SAFETY: the kernel writes at most the array's length, during the call only.
        unsafe read(fd, &buffer, buffer.count)
      }
      guard count > 0 else { break }
      contents += buffer[..<count]
      guard contents.count <= limit else {
        throw SystemCallError(call: "read", code: EFBIG, path: path)
      }
    }
    self = contents
  }
}
