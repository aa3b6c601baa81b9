import Glibc
import LinuxIO
import Testing

@Suite struct BootIDTests {
  @Test func `it is 32 small hexadecimal digits, the same every time`() throws {
    let id = try BootID.read()
    #expect(id.utf8.count == 32)
    #expect(id.allSatisfy { $0.isHexDigit && !$0.isUppercase })
    #expect(try BootID.read() == id)
    let file = try [UInt8](contentsOfFile: "/proc/sys/kernel/random/boot_id", atMost: 100)
    #expect(String(decoding: file, as: UTF8.self).filter(\.isHexDigit) == id)
  }

  private func failure(from path: String) -> SystemCallError? {
    do throws(SystemCallError) {
      _ = try BootID.read(from: path)
      return nil
    } catch {
      return error
    }
  }

  @Test func `where there is none that is an error with a name, and zeros stand for it`() throws {
    let directory = try TemporaryDirectory(prefix: "linuxio-")
    let path = directory.path + "/boot_id"
    #expect(failure(from: path)?.name == "ENOENT")
    let id = "01234567-89ab-cdef-0123-456789abcdef"
    for text in ["", "\n", String(id.dropLast()), id + "0", id.replacing("a", with: "g")] {
      try write(text, toFile: path)
      #expect(failure(from: path) == SystemCallError(call: "read", code: EINVAL, path: path))
    }
    try write(id + "\n", toFile: path)
    #expect(try BootID.read(from: path) == "0123456789abcdef0123456789abcdef")
    #expect(BootID.unknown == "00000000000000000000000000000000")
  }
}
