import Glibc
import LinuxIO
import Testing

@Suite("SocketAddress")
struct SocketAddressTests {
  @Test(arguments: ["", "\0abstract", "/tmp/a\0b"])
  func `a path that would mean another kind of address is refused`(path: String) {
    #expect(throws: SystemCallError(call: "connect", code: EINVAL, path: path)) {
      _ = try StreamSocket(connectingTo: path)
    }
  }

  @Test func `connecting to a path of 107 bytes is tried, and of 108 is refused`() throws {
    let longest = "/" + String(repeating: "x", count: 106)
    #expect(throws: SystemCallError(call: "connect", code: ENOENT, path: longest)) {
      _ = try StreamSocket(connectingTo: longest)
    }
    #expect(throws: SystemCallError(call: "connect", code: ENAMETOOLONG, path: longest + "x")) {
      _ = try StreamSocket(connectingTo: longest + "x")
    }
  }
}
