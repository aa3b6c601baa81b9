import LinuxIO
import Testing

@Suite("Group")
struct GroupTests {
  @Test func `a group is found by its name, and none by another`() throws {
    #expect(try Group.number(of: "root") == 0)
    #expect(try Group.number(of: "no such group") == nil)
    #expect(try Group.number(of: "") == nil)
  }
}
