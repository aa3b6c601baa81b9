import DaemonHost
import LinuxIO
import Testing

/// The kinds of entries against the catalog that is installed, systemd/catalog/countdownd.catalog.
@Suite struct EntryKindTests {
  private static func catalog() throws -> [Substring] {
    let folders = #filePath.split(separator: "/").dropLast(3)  // Tests, this one and the file.
    let path = "/" + folders.joined(separator: "/") + "/systemd/catalog/countdownd.catalog"
    let bytes = try [UInt8](contentsOfFile: path, atMost: 1 << 20)
    return String(decoding: bytes, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false)
  }

  @Test func `ids are 128 bits in small hexadecimal digits, each its own`() {
    let ids = EntryKind.allCases.map(\.rawValue)
    #expect(Set(ids).count == ids.count)
    for id in ids {
      #expect(id.utf8.count == 32)
      #expect(id.allSatisfy { $0.isHexDigit && !$0.isUppercase })
    }
  }

  @Test func `the catalog has each kind once, with a subject and a text`() throws {
    let lines = try Self.catalog()
    let heads = lines.indices.filter { lines[$0].hasPrefix("-- ") }
    #expect(heads.map { lines[$0].dropFirst(3) } == EntryKind.allCases.map { $0.rawValue[...] })
    for head in heads {
      try #require(lines.count > head + 4)
      #expect(lines[head + 1].hasPrefix("Subject: "))
      #expect(lines[head + 2] == "Defined-By: countdownd")
      #expect(lines[head + 3].isEmpty && !lines[head + 4].isEmpty)
    }
  }
}
