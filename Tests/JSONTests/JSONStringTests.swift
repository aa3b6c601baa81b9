import JSON
import Testing

@Suite struct JSONStringTests {
  private func decoded(_ token: String) throws -> [UInt8] {
    let input = bytes(token)
    var scanner = JSONScanner(input.span)
    let string = try scanner.readString()
    try scanner.end()
    var output: [UInt8] = [0x3E]  // What is there before stays.
    string.appendDecoded(from: input.span, to: &output)
    #expect(output.first == 0x3E)
    return Array(output.dropFirst())
  }

  @Test func `escapes stand for their characters`() throws {
    #expect(try decoded(#""\"\\\/\b\f\n\r\t""#) == [0x22, 0x5C, 0x2F, 8, 12, 10, 13, 9])
    #expect(try decoded(#""\u0000\u0041\u007f""#) == [0, 0x41, 0x7F])
    #expect(try decoded(#""\u0080\u07FF""#) == bytes("\u{80}\u{7FF}"))
    #expect(try decoded(#""\u0800\ud7ff\ue000\uFFFF""#) == bytes("\u{800}\u{D7FF}\u{E000}\u{FFFF}"))
    #expect(try decoded(#""a\u00e9b\u20aCc""#) == bytes("aéb€c"))
  }

  @Test func `a surrogate pair stands for one character`() throws {
    #expect(try decoded(#""\ud83d\ude00""#) == bytes("😀"))
    #expect(try decoded(#""\uD800\uDC00""#) == bytes("\u{10000}"))
    #expect(try decoded(#""\uDBFF\uDFFF""#) == bytes("\u{10FFFF}"))
    #expect(try decoded(#""x\ud83d\ude00\ud83d\ude01y""#) == bytes("x😀😁y"))
  }

  @Test(arguments: [
    (#""\ud800""#, 1), (#""a\ud800b""#, 2), (#""\udc00""#, 1), (#""\ud800\ud800""#, 1),
    (#""\ud800\n""#, 1), (#""\ud800\u0041""#, 1), (#""\ud83d\ude00\ude00""#, 13),
  ])
  func `half a pair is refused`(token: String, offset: Int) {
    #expect(refusal(token) == JSONError(.loneSurrogate, at: offset))
  }

  @Test(arguments: [
    (#""\x""#, 1), (#""\u12g4""#, 5), (#""\u 123""#, 3), (#""\U0041""#, 1), (#""\'""#, 1),
    (#""\ud83d\u12""#, 11),
  ])
  func `a backslash before anything else is refused`(token: String, offset: Int) {
    #expect(refusal(token) == JSONError(.invalidEscape, at: offset))
  }

  @Test func `a string is compared by value, whichever characters are escaped`() throws {
    for token in [#""name""#, #""na\u006de""#, #""\u006e\u0061\u006D\u0065""#, #""n\u0061me""#] {
      let input = bytes(token)
      var scanner = JSONScanner(input.span)
      let string = try scanner.readString()
      #expect(string.hasEscapes == (token.utf8.count > 6))
      #expect(scanner.matches(string, "name") == true)
      for other in ["", "n", "nam", "names", "nome", "Name", "namf", "\\u006eame", "name\0"] {
        #expect(scanner.matches(string, other) == false, "\(token) \(other)")
      }
    }
  }

  @Test func `every length compares by all of its bytes`() throws {
    for length in 0...40 {
      let plain = String(repeating: "abcdefg", count: 6).prefix(length)
      for escaped in [false, true] where length > 0 || !escaped {
        let token = escaped ? "\"\\u0061\(plain.dropFirst())\"" : "\"\(plain)\""
        let input = bytes(token)
        var scanner = JSONScanner(input.span)
        let string = try scanner.readString()
        #expect(scanner.matches(string, String(plain)) == true)
        for index in 0..<length {
          var other = bytes(String(plain))
          other[index] = UInt8(ascii: "z")
          #expect(scanner.matches(string, text(other)) == false, "\(token) \(text(other))")
        }
        #expect(scanner.matches(string, plain + "a") == false)
        if length > 0 { #expect(scanner.matches(string, String(plain.dropLast())) == false) }
      }
    }
  }

  @Test func `characters of every length in bytes match`() throws {
    let input = bytes(#""\u00e9\u20ac\ud83d\ude00é€😀""#)
    var scanner = JSONScanner(input.span)
    let string = try scanner.readString()
    #expect(scanner.matches(string, "é€😀é€😀") == true)
    #expect(scanner.matches(string, "é€😀é€😁") == false)
    #expect(scanner.matches(string, "é€") == false)
    #expect(scanner.text(of: string) == "é€😀é€😀")
  }

  @Test func `canonically equivalent strings are different strings`() throws {
    let input = bytes("\"\u{E9}\"")
    var scanner = JSONScanner(input.span)
    let string = try scanner.readString()
    #expect(scanner.matches(string, "\u{E9}") == true)
    #expect(scanner.matches(string, "e\u{301}") == false)
  }

  @Test func `a string used with other bytes traps`() async {
    await #expect(processExitsWith: .failure) {
      let input = bytes(#""a\n""#)
      var scanner = JSONScanner(input.span)
      let string = try scanner.readString()
      var output: [UInt8] = []
      string.appendDecoded(from: bytes(#""a\x""#).span, to: &output)
    }
  }
}
