import ControlClient
import Testing

@Suite struct ReplyMessageTests {
  private static func message(_ text: String) throws(ClientError) -> ReplyMessage {
    try ReplyMessage(parsing: Array(text.utf8))
  }

  @Test func `a reply gives its parameters as they were sent`() throws {
    let reply = try Self.message(#" {"parameters": {"a" : 1.50}, "continues": true, "new": [{}]} "#)
    #expect(String(decoding: reply.parameters, as: UTF8.self) == #"{"a" : 1.50}"#)
    #expect(reply.continues)
  }

  @Test(arguments: ["{}", #"{"parameters":null,"continues":null,"error":null}"#])
  func `a reply may leave everything out`(text: String) throws {
    let reply = try Self.message(text)
    #expect(reply.parameters == Array("{}".utf8))
    #expect(!reply.continues)
  }

  @Test func `an error is thrown with its parameters`() {
    let refusal = CallRefusal(name: "a.b.C", parameters: Array(#"{"x":1}"#.utf8))
    #expect(throws: ClientError.refused(refusal)) {
      try Self.message(#"{"error":"a.b.C","parameters":{"x":1}}"#)
    }
    let bare = CallRefusal(name: "a.b.C", parameters: Array("{}".utf8))
    #expect(throws: ClientError.refused(bare)) { try Self.message(#"{"error":"a.b.C"}"#) }
  }

  @Test(arguments: [
    "", " ", "x", "[1]", "null", "1", #""text""#, "{", #"{"parameters":}"#, #"{"parameters":[]}"#,
    #"{"parameters":1}"#, #"{"continues":"yes"}"#, #"{"error":5}"#, "{}{}", #"{"a":"\ud800"}"#,
    "\u{feff}{}",
  ])
  func `anything else is garbage and no trap`(text: String) {
    #expect(isGarbled { () throws(ClientError) in try Self.message(text) })
  }

  @Test func `bytes that are no text are garbage`() {
    #expect(isGarbled { () throws(ClientError) in try ReplyMessage(parsing: [0xff, 0xfe]) })
    #expect(
      isGarbled { () throws(ClientError) in
        try ReplyMessage(parsing: Array(#"{"error":""#.utf8) + [0xc3] + Array(#""}"#.utf8))
      })
  }

  @Test func `deep nesting is garbage and no trap`() {
    let deep = String(repeating: "[", count: 100_000)
    #expect(isGarbled { () throws(ClientError) in try Self.message(deep) })
    let objects = String(repeating: #"{"a":"#, count: 100_000)
    #expect(isGarbled { () throws(ClientError) in try Self.message(#"{"parameters":"# + objects) })
  }

  @Test func `every prefix of a good message is refused`() throws {
    let good =
      #"{"parameters":{"name":"té","payload":{"a":[1,-2.5e3,null,true]}},"continues":true}"#
    let bytes = Array(good.utf8)
    _ = try ReplyMessage(parsing: bytes)
    for count in 0..<bytes.count {
      #expect(
        isGarbled { () throws(ClientError) in
          try ReplyMessage(parsing: Array(bytes.prefix(count)))
        }, "\(count) bytes")
    }
  }

  @Test func `a call is one message, ended by a NUL`() {
    let parameters = encodeParameters { writer in
      writer.member("name", "a\"b")
      writer.member("durationUSec", 5)
      writer.member("clock", nil as String?)
      writer.member("revision", nil as Int64?)
      writer.member("includeState", false)
      writer.member("kinds", ["x", "y"])
      writer.member("payload", json: Array(#"{"k" : 1}"#.utf8))
    }
    let call = encodeCall("a.B", parameters: parameters, wantsMore: true)
    let expected =
      #"{"method":"a.B","parameters":{"name":"a\"b","durationUSec":5,"kinds":["x","y"],"#
      + #""payload":{"k" : 1}},"more":true}"# + "\0"
    #expect(String(decoding: call, as: UTF8.self) == expected)
    let plain = encodeCall("a.B", parameters: encodeParameters { _ in }, wantsMore: false)
    #expect(String(decoding: plain, as: UTF8.self) == #"{"method":"a.B","parameters":{}}"# + "\0")
  }
}

/// Whether that threw `garbled`.
func isGarbled<Value>(_ body: () throws(ClientError) -> Value) -> Bool {
  do throws(ClientError) {
    _ = try body()
    return false
  } catch {
    if case .garbled = error { return true }
    return false
  }
}
