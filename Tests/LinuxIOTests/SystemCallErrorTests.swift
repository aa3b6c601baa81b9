import Glibc
import LinuxIO
import Testing

@Suite("SystemCallError")
struct SystemCallErrorTests {
  @Test func `an error reads as call, path and text`() {
    let error = SystemCallError(call: "connect", code: ECONNREFUSED, path: "/run/x")
    #expect(error.description == "connect /run/x: Connection refused")
    #expect(error.name == "ECONNREFUSED")
  }

  @Test func `without a path the call stands alone`() {
    #expect(
      SystemCallError(call: "accept4", code: EMFILE).description == "accept4: Too many open files")
  }

  @Test(arguments: [-1, 4095, .max, .min] as [Int32])
  func `a code nobody knows still has a name and a text`(code: Int32) {
    let error = SystemCallError(call: "read", code: code)
    #expect(error.name == "E\(code)")
    #expect(error.description == "read: E\(code)")
  }
}
