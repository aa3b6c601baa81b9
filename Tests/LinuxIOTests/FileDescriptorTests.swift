import Glibc
import LinuxIO
import Testing

@Suite("FileDescriptor")
struct FileDescriptorTests {
  /// A pipe whose far end tells whether the near one is closed: descriptor numbers are reused by
  /// tests that run meanwhile, so asking about the number proves nothing.
  private func pipeEnds() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [0, 0]
    try #require(unsafe pipe(&ends) == 0)
    return (ends[0], ends[1])
  }

  private func isAtEnd(_ fd: Int32) -> Bool {
    var byte: UInt8 = 0
    _ = fcntl(fd, F_SETFL, O_NONBLOCK)
    return unsafe read(fd, &byte, 1) == 0
  }

  @Test func `it closes its descriptor when it ends`() throws {
    let (reading, writing) = try pipeEnds()
    do {
      let descriptor = FileDescriptor(owning: writing)
      #expect(descriptor.rawValue == writing)
      #expect(!isAtEnd(reading))
    }
    #expect(isAtEnd(reading))
    close(reading)
  }

  @Test func `a descriptor that was taken stays open`() throws {
    let (reading, writing) = try pipeEnds()
    let taken = FileDescriptor(owning: writing).take()
    #expect(taken == writing)
    #expect(!isAtEnd(reading))
    close(taken)
    #expect(isAtEnd(reading))
    close(reading)
  }
}
