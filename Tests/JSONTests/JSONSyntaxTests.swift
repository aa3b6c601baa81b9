import JSON
import Testing

@Suite struct JSONSyntaxTests {
  @Test func `all characters are read, at every place in a word of eight bytes`() {
    // Every length in bytes, the first and last of each row of the Unicode Standard's table 3-7.
    let edges: [UInt32] = [
      0x20, 0x21, 0x23, 0x5B, 0x5D, 0x7F, 0x80, 0x7FF, 0x800, 0xFFF, 0x1000, 0xCFFF, 0xD000, 0xD7FF,
      0xE000, 0xFFFF, 0x1_0000, 0x3_FFFF, 0x4_0000, 0xF_FFFF, 0x10_0000, 0x10_FFFF,
    ]
    for value in edges {
      let character = Array(String(Unicode.Scalar(value)!).utf8)
      for before in 0...17 {
        for after in [0, 1, 7, 8, 9] {
          let input =
            bytes("\"" + String(repeating: "a", count: before)) + character
            + bytes(String(repeating: "b", count: after) + "\"")
          #expect(refusal(input) == nil, "U+\(String(value, radix: 16)) after \(before)")
        }
      }
    }
  }

  @Test func `every sequence of two bytes is UTF-8 or refused`() {
    for first in UInt8.min...UInt8.max {
      for second in UInt8.min...UInt8.max {
        agree(Array("\"abcdef".utf8) + [first, second] + Array("ghi\"".utf8), first, second)
      }
    }
  }

  @Test func `every lead byte of three and four refuses what is not UTF-8`() {
    let edges: [UInt8] = [0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]
    for first in UInt8(0xDF)...0xFF {
      for second in edges {
        for third in edges {
          agree([0x22, first, second, third, 0x22], first, second)
          for fourth in edges { agree([0x22, first, second, third, fourth, 0x22], first, second) }
        }
      }
    }
  }

  /// The bytes are a JSON string exactly if they are UTF-8 without control bytes, quotes or
  /// backslashes.
  private func agree(_ token: [UInt8], _ first: UInt8, _ second: UInt8) {
    let inside = token.dropFirst().dropLast()
    guard !inside.contains(0x22), !inside.contains(0x5C) else { return }
    let isText = String(validating: inside, as: UTF8.self) != nil
    let expected = isText && !inside.contains { $0 < 0x20 }
    if (refusal(token) == nil) != expected {
      Issue.record("\(token), expected \(expected)")
    }
  }

  @Test func `a control byte is refused raw, at every place, and read as an escape`() {
    for control in UInt8(0)..<0x20 {
      for before in 0...17 {
        let start = bytes("\"" + String(repeating: "a", count: before))
        for after in [0, 3, 8] {
          let end = bytes(String(repeating: "b", count: after) + "\"")
          #expect(refusal(start + [control] + end) == JSONError(.unexpectedByte, at: before + 1))
          let digits = String(control, radix: 16)
          let escape = "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
          #expect(refusal(start + bytes(escape) + end) == nil)
        }
      }
    }
  }

  @Test func `only the four bytes of RFC 8259 are white space`() {
    for byte in UInt8.min...UInt8.max {
      let isSpace = [0x20, 0x09, 0x0A, 0x0D].contains(byte)
      #expect((refusal([byte] + bytes("[1]")) == nil) == isSpace)
      #expect((refusal(bytes("[1,") + [byte] + bytes("{}]")) == nil) == isSpace)
      #expect((refusal(bytes("{}") + [byte]) == nil) == isSpace)
    }
  }

  @Test(arguments: [
    ("tru", JSONError(.unexpectedEnd, at: 3)), ("trux", JSONError(.unexpectedByte, at: 3)),
    ("falsy", JSONError(.unexpectedByte, at: 4)), ("nULL", JSONError(.unexpectedByte, at: 1)),
    ("truee", JSONError(.trailingBytes, at: 4)), ("1.", JSONError(.unexpectedEnd, at: 2)),
    ("1.x", JSONError(.unexpectedByte, at: 2)), ("1e", JSONError(.unexpectedEnd, at: 2)),
    ("1e+", JSONError(.unexpectedEnd, at: 3)), ("[1e]", JSONError(.unexpectedByte, at: 3)),
    (".5", JSONError(.unexpectedByte, at: 0)), ("+1", JSONError(.unexpectedByte, at: 0)),
    ("{\"a\" 1}", JSONError(.unexpectedByte, at: 5)), ("{a:1}", JSONError(.unexpectedByte, at: 1)),
    ("[1,]", JSONError(.unexpectedByte, at: 3)), ("{\"a\":1,}", JSONError(.unexpectedByte, at: 7)),
    ("\"abc", JSONError(.unexpectedEnd, at: 4)), ("\u{FEFF}1", JSONError(.unexpectedByte, at: 0)),
  ])
  func `an error says what and where`(input: String, error: JSONError) {
    #expect(refusal(input) == error)
  }
}
