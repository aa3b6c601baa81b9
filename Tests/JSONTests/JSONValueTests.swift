import JSON
import TestSupport
import Testing

@Suite struct JSONValueTests {
  @Test
  func `B50: 100 000 opening brackets and 10 000 nested objects are refused, not recursed into`() {
    let brackets = [UInt8](repeating: UInt8(ascii: "["), count: 100_000)
    #expect(refusal(brackets) == JSONError(.tooDeep, at: 32))
    #expect(refusal(brackets, maximumDepth: 64) == JSONError(.tooDeep, at: 64))
    #expect(brokenProperty(of: brackets) == nil)

    var call = bytes(#"{"method":"a.B","parameters":"#)
    for _ in 0..<10_000 { call += bytes(#"{"a":"#) }
    call += bytes("1") + [UInt8](repeating: UInt8(ascii: "}"), count: 10_000) + bytes("}")
    // The call's object is the first level, so the 32nd inside it is one too many.
    #expect(refusal(call) == JSONError(.tooDeep, at: 29 + 31 * 5))
    #expect(brokenProperty(of: call) == nil)
    let parameters = failure(call) { (scanner) throws(JSONError) in
      try scanner.beginObject()
      _ = try scanner.nextKey()
      _ = try scanner.readString()
      _ = try scanner.nextKey()
      _ = try scanner.skipIJSONObject(maximumDepth: 16)
    }
    #expect(parameters == JSONError(.tooDeep, at: 29 + 16 * 5))
  }

  @Test(arguments: [1, 2, 16, 32, 63, 64])
  func `a value as deep as allowed is read, one deeper is not`(depth: Int) {
    for (opening, closing) in [("[", "]"), (#"{"a":"#, "}"), (#"[{"a":"#, "}]")] {
      let levels = opening.utf8.first == UInt8(ascii: "[") && opening.utf8.count > 1 ? 2 : 1
      let fits = depth / levels
      let nest = { (count: Int) in
        String(repeating: opening, count: count) + "1" + String(repeating: closing, count: count)
      }
      #expect(refusal(nest(fits), maximumDepth: depth) == nil)
      #expect(refusal(nest(fits + 1), maximumDepth: depth)?.kind == .tooDeep)
      #expect(brokenProperty(of: bytes(nest(fits + 1)), maximumDepth: depth) == nil)
    }
  }

  @Test func `a skipped value's range has its bytes and no others`() throws {
    for value in ["{\"a\" : [1, 2]}", "[ ]", "\"a\\n\"", "-1.5e3", "true", "null"] {
      let input = bytes("{\"k\" : \(value) \t, \"l\":0}")
      var scanner = JSONScanner(input.span)
      try scanner.beginObject()
      _ = try scanner.nextKey()
      let range = try scanner.skipValue()
      #expect(text(Array(input[range])) == value)
      #expect(try scanner.nextKey() != nil)
    }
  }

  @Test func `brackets must close in the order in which they were opened`() {
    #expect(refusal("[{]}") == JSONError(.unexpectedByte, at: 2))
    #expect(refusal("[{\"a\":1]}") == JSONError(.unexpectedByte, at: 7))
    #expect(refusal("{\"a\":[}]") == JSONError(.unexpectedByte, at: 6))
    #expect(refusal("[[1}") == JSONError(.unexpectedByte, at: 3))
  }

  @Test func `every prefix of a good message is refused`() {
    let messages = [
      #"{"method":"io.countdownd.Countdown.Start","parameters":{"name":"order-000123","durationUSec":900000000,"onConflict":"keep"}}"#,
      #"{"parameters":{"a":[1,-2.5e+3,true,false,null],"b":"é€😀\u00e9\ud83d\ude00\\\n","c":{}},"more":true}"#,
      #"[[],{},"",[[{"a":[0]}]]]"#,
    ]
    for message in messages {
      let message = bytes(message)
      #expect(refusal(message) == nil)
      for length in 0..<message.count {
        let prefix = Array(message[..<length])
        #expect(refusal(prefix) == JSONError(.unexpectedEnd, at: length))
        if let broken = brokenProperty(of: prefix) { Issue.record("\(text(prefix)): \(broken)") }
      }
    }
  }

  @Test func `one byte changed, removed or doubled breaks no property`() {
    let message = bytes(
      #"{"method":"a.B","parameters":{"n":"é😀\u00e9\ud83d\ude00\n","d":-90.5e1,"l":[1,{}]}}"#)
    for index in message.indices {
      for byte in UInt8.min...UInt8.max {
        var changed = message
        changed[index] = byte
        if let broken = brokenProperty(of: changed) { Issue.record("\(changed): \(broken)") }
      }
      var removed = message
      removed.remove(at: index)
      if let broken = brokenProperty(of: removed) { Issue.record("\(removed): \(broken)") }
      var doubled = message
      doubled.insert(message[index], at: index)
      if let broken = brokenProperty(of: doubled) { Issue.record("\(doubled): \(broken)") }
    }
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `random documents, changed at random, break no property`(seed: UInt64) {
    var documents = RandomDocuments(seed: seed)
    for step in 0..<100 {
      let value = documents.value()
      var document = documents.text(of: value)
      if let broken = brokenProperty(of: document) { Issue.record("\(seed), \(step): \(broken)") }
      for _ in 0..<10 {
        for _ in 0...Int.random(in: 0..<3, using: &documents.random) where !document.isEmpty {
          let index = Int.random(in: document.indices, using: &documents.random)
          document[index] = interesting.randomElement(using: &documents.random)!
        }
        if let broken = brokenProperty(of: document, maximumDepth: 4) {
          Issue.record("\(seed), \(step): \(broken): \(document)")
        }
      }
    }
  }

  /// Bytes that mean something to the grammar, or almost do.
  private let interesting =
    bytes("{}[]:,\"\\ \t\n\r\0/bfnrtu0123456789-+.eEaDdx") + [
      0x80, 0xBF, 0xC2, 0xE2, 0xED, 0xF0, 0xF4, 0xFF, 0x1F, 0x7F,
    ]
}
