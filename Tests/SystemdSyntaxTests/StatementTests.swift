import SystemdSyntax
import TestSupport
import Testing

@Suite struct StatementTests {
  /// What a file says, a line each: `2 [Section]`, `3 Key|value`; else the error.
  private static func read(_ bytes: [UInt8]) -> [String] {
    do throws(SourceError) {
      return try Statement.all(in: SourceFile(name: "f", bytes: bytes)).map { statement in
        switch statement.content {
        case .section(let name): "\(statement.position.line) [\(name)]"
        case .assignment(let key, let value): "\(statement.position.line) \(key)|\(value)"
        }
      }
    } catch {
      return [error.description]
    }
  }

  private static func read(_ text: String) -> [String] { read(Array(text.utf8)) }

  @Test(arguments: [
    ("", []), ("\n\n", []), ("[A]", ["1 [A]"]), ("[A]\nB=1\n", ["1 [A]", "2 B|1"]),
    ("B=1", ["1 B|1"]), ("  B  =  1 2  ", ["1 B|1 2"]), ("\tB\t=\t1\t", ["1 B|1"]),
    ("B=", ["1 B|"]), ("B= \n", ["1 B|"]), ("B==1=2", ["1 B|=1=2"]), ("B=[A]", ["1 B|[A]"]),
    ("  [A]  ", ["1 [A]"]), ("[A b/c]", ["1 [A b/c]"]), ("[[A]]", ["1 [[A]]"]),
    ("B='x' \"y\"", ["1 B|'x' \"y\""]), ("B=é", ["1 B|é"]),
    ("B=\u{338}x", ["1 B|\u{338}x"]),  // To Swift `=` and the stroke are one character, ≠.
  ])
  func `sections and assignments are read, white space around them is not`(
    text: String, expected: [String]
  ) {
    #expect(Self.read(text) == expected)
  }

  @Test(arguments: [
    ("# B=1\n;C=2\n  # D=3\nE=4", ["4 E|4"]), ("B=1 # no comment", ["1 B|1 # no comment"]),
    ("#\\\nB=1", ["2 B|1"]),  // A comment does not go on.
  ])
  func `a line that begins with # or ; is a comment, and only such a line`(
    text: String, expected: [String]
  ) {
    #expect(Self.read(text) == expected)
  }

  @Test(arguments: [
    ("B=1 \\\n2\nC=3", ["1 B|1  2", "3 C|3"]), ("B=1\\\n  2", ["1 B|1 2"]),
    ("\nB=\\\n\\\n1", ["2 B|1"]), ("B=1\\\n# comment\n; other\n2", ["1 B|1 2"]),
    ("B=1\\\n\nC=2", ["1 B|1", "3 C|2"]), ("B=1\\", ["1 B|1"]), ("\\", []), ("B=1\\\n", ["1 B|1"]),
    ("B=1\\\\\nC=2", ["1 B|1\\\\", "2 C|2"]), ("B=1\\\\\\\nC=2", ["1 B|1\\\\ C=2"]),
    ("B=a\\b", ["1 B|a\\b"]), ("B=1\\ \n2", ["1 B|1 2"]), ("B\\\n=1", ["1 B|1"]),
    ("\\\n# c\n[A]", ["1 [A]"]),
  ])
  func `a line that ends in a backslash goes on after a space, comments in between apart`(
    text: String, expected: [String]
  ) {
    #expect(Self.read(text) == expected)
  }

  @Test func `carriage returns and a byte order mark count for nothing`() {
    #expect(Self.read("[A]\r\nB=1\r\n\r\nC=2\\\r\n3\r\n") == ["1 [A]", "2 B|1", "4 C|2 3"])
    #expect(Self.read("\u{feff}[A]\n") == ["1 [A]"])
    #expect(Self.read("\u{feff}") == [])
    #expect(Self.read("[A]\n\u{feff}B=1") == ["1 [A]", "2 \u{feff}B|1"])
  }

  @Test(arguments: [
    ("[A]\nword\n", "f:2: word: write Key=value, [Section] or # comment"),
    ("=1", "f:1: =1: write Key=value, [Section] or # comment"),
    (" = 1", "f:1: = 1: write Key=value, [Section] or # comment"),
    ("B=1\n[A", "f:2: [A: a section is written [Name], with nothing behind it on its line"),
    ("[]", "f:1: []: a section is written [Name], with nothing behind it on its line"),
    ("[", "f:1: [: a section is written [Name], with nothing behind it on its line"),
    ("[A] # x", "f:1: [A] # x: a section is written [Name], with nothing behind it on its line"),
    ("\n\nwo\\\nrd", "f:3: wo rd: write Key=value, [Section] or # comment"),
    ("\u{1b}[31m\u{202e}", "f:1: \\u{1b}[31m\\u{202e}: write Key=value, [Section] or # comment"),
    ("B=1\0", "f:1: a NUL: the file is not text"), ("#\0\nx", "f:1: a NUL: the file is not text"),
    ("B=1\\\n\0", "f:2: a NUL: the file is not text"),
  ])
  func `what is neither is refused, with its line`(text: String, error: String) {
    #expect(Self.read(text) == [error])
  }

  @Test(
    arguments: [
      [0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80],
    ] as [[UInt8]])
  func `what is no UTF-8 is refused, but in comments`(bytes: [UInt8]) {
    #expect(
      Self.read(Array("\nB=".utf8) + bytes) == ["f:2: the line is not valid UTF-8"])
    #expect(Self.read(Array("# ".utf8) + bytes + Array("\nB=1".utf8)) == ["2 B|1"])
  }

  @Test func `a file may be a megabyte long, and no longer`() {
    let line = Array("B=".utf8)
    let longest = line + [UInt8](repeating: UInt8(ascii: "x"), count: Statement.longestFile - 2)
    #expect(Self.read(longest).first?.utf8.count == Statement.longestFile - 2 + 4)
    #expect(Self.read(longest + [10]) == ["f:1: the file is longer than 1 MiB"])
  }

  @Test func `a megabyte of lines that all go on is one line, and none if blank`() {
    let blank = String(repeating: "\\\n", count: Statement.longestFile / 2)
    #expect(Self.read(blank) == [])
    #expect(Self.read(String(blank.dropLast(4)) + "B=1\n") == ["1 B|1"])
  }

  @Test func `every beginning of a file is read or refused`() {
    let text = "\u{feff}[A]\r\nB=1 \\\r\n# é\n  2\n;\nC=é\\\\\n\n[D]\nE="
    let bytes = Array(text.utf8)
    for count in 0...bytes.count {
      let read = Self.read(Array(bytes.prefix(count)))
      let isRefused = read.first?.hasPrefix("f:") == true
      #expect(isRefused || read.count <= 5, "\(count)")
    }
    #expect(Self.read(bytes) == ["1 [A]", "2 B|1  2", "6 C|é\\\\", "8 [D]", "9 E|"])
  }

  @Test(arguments: 0..<500 as Range<UInt64>)
  func `no bytes are too strange`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let common = Array("[]=\\#; \t\r\n\nAB".utf8) + [0xc3, 0xa9]
    let bytes = (0..<Int.random(in: 0...200, using: &random)).map { _ in
      Int.random(in: 0..<60, using: &random) == 0
        ? UInt8.random(in: 0...255, using: &random) : common.randomElement(using: &random)!
    }
    let lines = bytes.count { $0 == 10 } + 1
    do throws(SourceError) {
      let statements = try Statement.all(in: SourceFile(name: "f", bytes: bytes))
      let numbers = statements.map(\.position.line)
      #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed)")
      #expect(numbers.allSatisfy { (1...lines).contains($0) }, "seed \(seed)")
    } catch {
      #expect((1...lines).contains(error.position.line), "seed \(seed): \(error)")
    }
  }
}
