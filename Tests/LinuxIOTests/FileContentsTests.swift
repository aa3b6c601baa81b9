import Glibc
import LinuxIO
import Testing

@Suite("FileContents")
struct FileContentsTests {
  private static func code(_ path: String, atMost limit: Int = 100) -> SystemCallError? {
    do throws(SystemCallError) {
      _ = try [UInt8](contentsOfFile: path, atMost: limit)
      return nil
    } catch {
      return error
    }
  }

  @Test func `a file is read whole, and no further than allowed`() throws {
    let directory = try TemporaryDirectory(prefix: "linuxio-")
    let path = directory.path + "/file"
    try write("", toFile: path)
    #expect(try [UInt8](contentsOfFile: path, atMost: 0) == [])
    try write("0123456789", toFile: path)
    #expect(try [UInt8](contentsOfFile: path, atMost: 10) == Array("0123456789".utf8))
    #expect(Self.code(path, atMost: 9) == SystemCallError(call: "read", code: EFBIG, path: path))
    let long = String(repeating: "0123456789", count: 20_000)  // Several reads.
    try write(long, toFile: path)
    #expect(try [UInt8](contentsOfFile: path, atMost: 200_000) == Array(long.utf8))
    #expect(Self.code(path, atMost: 199_999)?.code == EFBIG)
  }

  @Test func `files without a size are read: the end counts`() throws {
    #expect(try [UInt8](contentsOfFile: "/dev/null", atMost: 0) == [])
    #expect(try [UInt8](contentsOfFile: "/proc/self/comm", atMost: 100).last == 10)
    #expect(Self.code("/dev/zero", atMost: 1 << 20)?.code == EFBIG)
  }

  @Test func `what is no file is told by its name`() throws {
    let directory = try TemporaryDirectory(prefix: "linuxio-")
    let none = directory.path + "/none"
    #expect(Self.code(none) == SystemCallError(call: "open", code: ENOENT, path: none))
    #expect(
      Self.code(directory.path)
        == SystemCallError(call: "read", code: EISDIR, path: directory.path))
  }

  @Test func `a pipe that nobody has finished writing is refused, not waited for`() throws {
    var ends: [Int32] = [0, 0]
    try #require(unsafe pipe(&ends) == 0)
    let reading = FileDescriptor(owning: ends[0])
    let writing = FileDescriptor(owning: ends[1])
    try writeAll("half", to: writing.rawValue)
    #expect(Self.code("/proc/self/fd/\(reading.rawValue)")?.code == EAGAIN)
  }
}
