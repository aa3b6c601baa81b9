import Glibc
import LinuxIO
import Testing

@Suite("FileIdentity")
struct FileIdentityTests {
  @Test func `two descriptors of one file have one identity, and two files have two`() throws {
    let pair = try SocketPair()
    let duplicate = FileDescriptor(owning: dup(pair.near.rawValue))
    let identity = try #require(FileIdentity(ofDescriptor: pair.near.rawValue))
    #expect(identity == FileIdentity(ofDescriptor: duplicate.rawValue))
    #expect(identity != FileIdentity(ofDescriptor: pair.far.rawValue))
    #expect(FileIdentity(ofDescriptor: -1) == nil)
  }
}
