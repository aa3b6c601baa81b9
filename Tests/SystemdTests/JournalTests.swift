import Glibc
import LinuxIO
import Systemd
import Testing

@Suite("Journal")
struct JournalTests {
  private func pipeEnds() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [0, 0]
    let result = unsafe pipe(&ends)
    try #require(result == 0)
    return (ends[0], ends[1])
  }

  @Test func `without the journal an entry is one line with the message alone`() throws {
    let (reading, writing) = try pipeEnds()
    let journal = Journal(writingLinesTo: writing)
    journal.send(.warning, "late by 3 s", fields: [.init("COUNTDOWN_NAME", "orders/1")])
    journal.send(.info, "two\nlines\r\nand more")
    close(writing)
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = unsafe read(reading, &bytes, bytes.count)
    close(reading)
    #expect(
      String(decoding: bytes[..<max(count, 0)], as: UTF8.self)
        == "late by 3 s\ntwo lines and more\n")
  }

  @Test func `a reader that went loses entries and nothing else`() async {
    await #expect(processExitsWith: .success) {
      Signal.brokenPipe.ignore()
      var ends: [Int32] = [0, 0]
      let result = unsafe pipe(&ends)
      try #require(result == 0)
      close(ends[0])
      Journal(writingLinesTo: ends[1]).send(.error, "nobody reads this")
    }
  }

  @Test func `the journal is recognised by device and inode, not by the variable alone`() throws {
    let (reading, writing) = try pipeEnds()
    defer {
      close(reading)
      close(writing)
    }
    let identity = try #require(FileIdentity(ofDescriptor: writing))
    func isJournal(_ stream: String?) -> Bool {
      Journal.isJournal(stream: stream, descriptor: writing)
    }
    #expect(isJournal("\(identity.device):\(identity.inode)"))
    #expect(!isJournal("\(identity.device):\(identity.inode + 1)"))
    #expect(!isJournal("\(identity.device + 1):\(identity.inode)"))
    for nonsense in [
      nil, "", ":", "1", "\(identity.device):", "\(identity.device):\(identity.inode):",
    ] {
      #expect(!isJournal(nonsense))
    }
    #expect(!Journal.isJournal(stream: "\(identity.device):\(identity.inode)", descriptor: -1))
  }

  @Test func `priorities are those of syslog, the gravest first`() {
    #expect(Journal.Priority.emergency.rawValue == 0)
    #expect(Journal.Priority.debug.rawValue == 7)
    #expect(Journal.Priority.error < .warning)
  }

  /// Whether an entry is stored is the journal's affair; that handing it over is safe is ours.
  @Test func `with the journal, entries of any size are handed over`() async {
    await #expect(processExitsWith: .success) {
      let identity = try #require(FileIdentity(ofDescriptor: 2))
      unsafe setenv("JOURNAL_STREAM", "\(identity.device):\(identity.inode)", 1)
      let journal = Journal()
      journal.send(.info, "")
      journal.send(
        .info, String(repeating: "x", count: 100_000),
        fields: [.init("COUNTDOWN_NAME", ""), .init("LATE_USEC", "7")])
    }
  }
}
