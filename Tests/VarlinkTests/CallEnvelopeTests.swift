import JSON
import TestSupport
import Testing
import Varlink

@Suite("CallEnvelope")
struct CallEnvelopeTests {
  private func read(_ text: String) throws(CallEnvelope.Malformed) -> (
    String, String?, CallEnvelope.Flags
  ) {
    let bytes = Array(text.utf8)
    let envelope = try CallEnvelope.read(bytes.span)
    var method: [UInt8] = []
    envelope.method.appendDecoded(from: bytes.span, to: &method)
    let parameters = envelope.parameters.map { String(decoding: bytes[$0], as: UTF8.self) }
    return (String(decoding: method, as: UTF8.self), parameters, envelope.flags)
  }

  @Test func `a method alone is a call`() throws {
    let (method, parameters, flags) = try read(#"{"method":"a.B"}"#)
    #expect(method == "a.B")
    #expect(parameters == nil)
    #expect(flags == [])
  }

  @Test func `members come in any order, and unknown ones pass`() throws {
    let (method, parameters, flags) = try read(
      #" { "x": [{"method":1}], "more" : true, "parameters" : {"a": [1, {}]}, "method":"a\u002eB" } "#
    )
    #expect(method == "a.B")
    #expect(parameters == #"{"a": [1, {}]}"#)
    #expect(flags == .more)
  }

  @Test func `null and false count as missing`() throws {
    let (_, parameters, flags) = try read(
      #"{"method":"a","parameters":null,"more":null,"oneway":false,"upgrade":false}"#)
    #expect(parameters == nil)
    #expect(flags == [])
  }

  @Test(arguments: [("more", CallEnvelope.Flags.more), ("oneway", .oneway), ("upgrade", .upgrade)])
  func `each flag is read`(name: String, flag: CallEnvelope.Flags) throws {
    #expect(try read(#"{"method":"a","\#(name)":true}"#).2 == flag)
  }

  @Test(arguments: [
    #"{"method":"a","more":true,"oneway":true}"#, #"{"method":"a","more":true,"upgrade":true}"#,
    #"{"upgrade":true,"oneway":true,"method":"a"}"#,
    #"{"method":"a","more":true,"oneway":true,"upgrade":true}"#,
  ])
  func `two flags at once are malformed`(text: String) {
    #expect(throws: CallEnvelope.Malformed.flags) { try read(text) }
  }

  @Test(arguments: [
    ("{}", "method"), (#"{"parameters":{}}"#, "method"), (#"{"method":1}"#, "method"),
    (#"{"method":null}"#, "method"), (#"{"method":"a","method":"a"}"#, "method"),
    (#"{"method":"a","more":1}"#, "more"), (#"{"method":"a","more":"true"}"#, "more"),
    (#"{"method":"a","oneway":{}}"#, "oneway"), (#"{"method":"a","upgrade":[]}"#, "upgrade"),
    (#"{"method":"a","more":true,"more":true}"#, "more"),
    (#"{"method":"a","parameters":null,"parameters":{}}"#, "parameters"),
    ("[1]", ""), ("1", ""), (#""a""#, ""), ("null", ""), ("true", ""),
  ])
  func `a member that is missing, repeated or of the wrong type is malformed`(
    text: String, member: String
  ) {
    #expect(throws: CallEnvelope.Malformed.member(member)) { try read(text) }
  }

  @Test(arguments: [
    "", " ", "{", #"{"method":"a""#, #"{"method":"a"} x"#, #"{"method":"a"}{}"#, "\u{FEFF}{}",
  ])
  func `what is no JSON is malformed`(text: String) {
    #expect {
      try read(text)
    } throws: {
      if case CallEnvelope.Malformed.notJSON = $0 { true } else { false }
    }
  }

  @Test(
    arguments: [
      [0xFF, 0xFE], Array(#"{"method":"a","x":""#.utf8) + [0xC0, 0x80] + Array(#""}"#.utf8),
      Array(#"{"method":""#.utf8) + [0xED, 0xA0, 0x80] + Array(#""}"#.utf8),
    ] as [[UInt8]])
  func `what is no UTF-8 is malformed`(bytes: [UInt8]) {
    #expect(throws: CallEnvelope.Malformed.self) { try CallEnvelope.read(bytes.span) }
  }

  @Test func `every prefix of a call is malformed`() {
    let bytes = Array(#"{"method":"a.b.C","parameters":{"x":[1,"é\n",null]},"more":true}"#.utf8)
    for length in 0..<bytes.count {
      let prefix = Array(bytes.prefix(length))
      #expect(throws: CallEnvelope.Malformed.self) { try CallEnvelope.read(prefix.span) }
    }
    #expect(throws: Never.self) { try CallEnvelope.read(bytes.span) }
  }

  /// The envelope is the first of the 32 levels.
  @Test func `a call is at most 32 deep`() {
    func call(_ depth: Int) -> String {
      #"{"method":"a","parameters":"#
        + String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1) + "}"
    }
    #expect(throws: Never.self) { try read(call(32)) }
    #expect(throws: CallEnvelope.Malformed.self) { try read(call(33)) }
    #expect(throws: CallEnvelope.Malformed.self) { try read(call(100_000)) }
  }
}
