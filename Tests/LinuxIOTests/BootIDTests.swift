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
}
