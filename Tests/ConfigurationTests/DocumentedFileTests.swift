import Configuration
import LinuxIO
import SystemdSyntax
import Testing

/// The file that is installed, `config/countdownd.conf`, against the table of keys.
@Suite struct DocumentedFileTests {
  private static let path: String = {
    let folders = #filePath.split(separator: "/").dropLast(3)  // Tests, this one and the file.
    return "/" + folders.joined(separator: "/") + "/config/countdownd.conf"
  }()

  private static func lines() throws -> [Substring] {
    let bytes = try [UInt8](contentsOfFile: path, atMost: Statement.longestFile)
    return String(decoding: bytes, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
  }

  /// Whether a line of the file is a key that is commented out: `#Key=…`.
  private static func isKey(_ line: Substring) -> Bool {
    line.hasPrefix("#") && line.dropFirst().first?.isLetter == true
  }

  @Test func `it has one section, and every key of the table once with its default`() throws {
    let lines = try Self.lines()
    #expect(lines.filter { $0.hasPrefix("[") } == ["[Countdownd]"])
    #expect(
      lines.filter(Self.isKey)
        == Key.all.map { "#\($0.name)=\($0.text(in: Settings()))" })
    #expect(lines.allSatisfy { $0.isEmpty || $0.hasPrefix("#") || $0 == "[Countdownd]" })
  }

  @Test func `as it is, and with every key uncommented, it changes nothing`() throws {
    let lines = try Self.lines()
    let uncommented = lines.map { Self.isKey($0) ? $0.dropFirst() : $0 }
    for text in [lines, uncommented] {
      let bytes = Array(text.joined(separator: "\n").utf8)
      let read = try Settings.read([SourceFile(name: "f", bytes: bytes)])
      #expect(read.settings == Settings())
      #expect(read.warnings == [])
    }
  }

  @Test func `above each key stand what it means and what it takes, as the table says`() throws {
    let lines = try Self.lines()
    for key in Key.all {
      let place = try #require(lines.firstIndex { $0.hasPrefix("#\(key.name)=") })
      let comment = lines[..<place].reversed().prefix { !$0.isEmpty }.reversed()
      let text = comment.map { $0.dropFirst(2) }.joined(separator: " ")
      #expect(text.hasPrefix(key.meaning), "\(key.name)")
      #expect(comment.last == "# \(key.range)", "\(key.name)")
    }
  }
}
