import LinuxIO
import Testing

@Suite("User")
struct UserTests {
  @Test func `a user is found by name and by number, and none by another`() throws {
    #expect(try User.number(of: "root") == 0)
    #expect(try User.name(of: 0) == "root")
    for name in ["no such user", "", "0"] { #expect(try User.number(of: name) == nil) }
    #expect(try User.name(of: 4_294_967_294) == nil)
  }
}
