import JSON
import TestSupport
import Testing

@Suite struct IJSONCheckTests {
  @Test func `a payload is an object and its bytes are kept`() throws {
    let input = bytes(#"{"payload": { "a" : [1, {"b":"\u00fc"}], "c":{"a":1.50} } ,"x":1}"#)
    var scanner = JSONScanner(input.span)
    try scanner.beginObject()
    _ = try scanner.nextKey()
    let range = try scanner.skipIJSONObject(maximumDepth: 16)
    #expect(text(Array(input[range])) == #"{ "a" : [1, {"b":"\u00fc"}], "c":{"a":1.50} }"#)
    #expect(try scanner.nextKey() != nil)
  }

  @Test(arguments: ["[]", "1", "\"a\"", "null", "true"])
  func `anything but an object is refused`(input: String) {
    #expect(strictRefusal(input) == JSONError(.wrongKind, at: 0))
  }

  @Test(arguments: [
    (#"{"a":1,"a":2}"#, 7), (#"{"a":1,"b":2,"a":3}"#, 13), (#"{"":1,"":2}"#, 6),
    (#"{"a":1,"\u0061":2}"#, 7), (#"{"\u0061":1,"a":2}"#, 12), (#"{"\u0061":1,"\u0061":2}"#, 12),
    (#"{"é":1,"\u00e9":2}"#, 8), (#"{"😀":1,"\ud83d\ude00":2}"#, 10), (#"{"/":1,"\/":2}"#, 7),
    (#"{"x":{"a":1,"a":2}}"#, 12), (#"{"x":[1,{"a":1,"a":2}]}"#, 15),
    (#"{"a":{"a":1},"a":2}"#, 13), (#"{"a":[{"a":1}],"b":{},"a":2}"#, 22),
  ])
  func `a key twice is refused, at any level and however written`(input: String, offset: Int) {
    #expect(strictRefusal(input) == JSONError(.duplicateKey, at: offset))
    #expect(refusal(input) == nil)
  }

  @Test(arguments: [
    #"{}"#, #"{"a":1}"#, #"{"a":{"a":{"a":1}}}"#, #"{"a":[{"b":1},{"b":2}],"b":{"b":3}}"#,
    #"{"a":1,"A":2,"aa":3,"":4,"ab":5}"#, #"{"é":1,"e\u0301":2}"#, #"{"\u0000":1,"":2}"#,
    #"{"x":{"a":1},"y":{"a":1},"a":1}"#,
  ])
  func `the same key in different objects is well`(input: String) {
    #expect(strictRefusal(input) == nil)
  }

  @Test(arguments: [1, 2, 15, 16, 17, 18, 40, 1000])
  func `a key twice is found wherever the two stand`(count: Int) {
    var random = SplitMix64(seed: UInt64(count))
    for _ in 0..<20 {
      // Keys before, so that the object's own begin anywhere among those that stand by themselves.
      let outer = Int.random(in: 0...20, using: &random)
      let before = (0..<outer).map { "\"o\($0)\":0," }.joined()
      var keys = (0..<count).map { "\"k\($0)\"" }
      keys.shuffle(using: &random)
      let members = { (keys: [String]) in keys.map { $0 + ":1" }.joined(separator: ",") }
      #expect(strictRefusal("{\(before)\"in\":{\(members(keys))}}") == nil)
      let twice = keys.randomElement(using: &random)!
      let at = Int.random(in: 0...keys.count, using: &random)
      keys.insert(twice, at: at)
      let input = "{\(before)\"in\":{\(members(keys))}}"
      let error = strictRefusal(input)
      #expect(error?.kind == .duplicateKey)
      // The later of the two is named.
      let later = keys.lastIndex(of: twice)!
      let offset = before.utf8.count + 7 + keys[..<later].reduce(0) { $0 + $1.utf8.count + 3 }
      #expect(error?.offset == offset, "\(input)")
    }
  }

  @Test func `keys that were looked at are forgotten, also past the first sixteen`() {
    let many = (0..<30).map { "\"k\($0)\":0" }.joined(separator: ",")
    #expect(strictRefusal("{\"a\":{\(many)},\"b\":{\(many)},\"k1\":0,\"k29\":{\(many)}}") == nil)
    #expect(strictRefusal("{\(many),\"a\":{\(many)},\"k30\":0}") == nil)
    #expect(strictRefusal("{\(many),\"a\":{\(many)},\"k3\":0}")?.kind == .duplicateKey)
    #expect(strictRefusal("{\(many),\"a\":{\(many)},\"k29\":0}")?.kind == .duplicateKey)
  }

  @Test func `100 000 keys are checked in no more than n log n steps`() {
    // Long common beginnings, ascending, descending: a square of them would take minutes.
    let keys = (0..<100_000).map { "\"key-\($0 &* 7919 % 100_000)\"" }
    let input = "{" + keys.joined(separator: ":0,") + ":0}"
    #expect(strictRefusal(input) == nil)
    #expect(strictRefusal(input.dropLast() + ",\"key-5\":1}")?.kind == .duplicateKey)
  }

  @Test(
    arguments: [
      0xFDD0, 0xFDEF, 0xFFFE, 0xFFFF, 0x1_FFFE, 0x8_FFFF, 0x10_FFFE, 0x10_FFFF,
    ] as [UInt32])
  func `a noncharacter is refused in keys and strings, raw or escaped`(value: UInt32) {
    let character = String(Unicode.Scalar(value)!)
    let escaped = character.utf16.map { "\\u" + String($0, radix: 16) }.joined()
    for written in [character, escaped] {
      #expect(strictRefusal("{\"a\":\"abcdefgh\(written)\"}") == JSONError(.noncharacter, at: 14))
      #expect(strictRefusal("{\"a\(written)\":1}") == JSONError(.noncharacter, at: 3))
      #expect(strictRefusal("{\"a\":[\"\(written)\"]}") == JSONError(.noncharacter, at: 7))
      #expect(refusal("{\"a\(written)\":\"\(written)\"}") == nil)
    }
  }

  @Test func `the neighbours of noncharacters are well`() {
    for character in ["\u{FDCF}", "\u{FDF0}", "\u{FFFD}", "\u{10000}", "\u{1FFFD}", "\u{10FFFD}"] {
      #expect(strictRefusal("{\"a\":\"\(character)\"}") == nil)
    }
  }

  @Test func `depth is counted from the value itself`() {
    let nest = { (count: Int) in
      String(repeating: "{\"a\":", count: count) + "1" + String(repeating: "}", count: count)
    }
    #expect(strictRefusal(nest(16), maximumDepth: 16) == nil)
    #expect(strictRefusal(nest(17), maximumDepth: 16) == JSONError(.tooDeep, at: 80))
    #expect(strictRefusal(nest(1), maximumDepth: 1) == nil)
    #expect(strictRefusal(nest(2), maximumDepth: 1)?.kind == .tooDeep)
    let inside = "[[" + nest(16) + "]]"
    let error = failure(bytes(inside), maximumDepth: 2) { (scanner) throws(JSONError) in
      try scanner.beginArray()
      _ = try scanner.nextElement()
      try scanner.beginArray()
      _ = try scanner.nextElement()
      _ = try scanner.skipIJSONObject(maximumDepth: 16)
      _ = try scanner.nextElement()
      _ = try scanner.nextElement()
      try scanner.end()
    }
    #expect(error == nil)
  }

  @Test func `after an error the scanner is still at the value`() throws {
    let input = bytes(#"[{"a":1,"a":2},3]"#)
    var scanner = JSONScanner(input.span)
    try scanner.beginArray()
    _ = try scanner.nextElement()
    #expect(throws: JSONError(.duplicateKey, at: 8)) {
      try scanner.skipIJSONObject(maximumDepth: 16)
    }
    #expect(try scanner.skipValue() == 1..<14)
    #expect(try scanner.nextElement() == true)
  }
}
