import ControlClient
import Testing

@Suite struct CountdownTests {
  static func members(_ text: String) throws(ClientError) -> Members {
    try Members(parsing: Array(text.utf8))
  }

  private static let whole = #"""
    {"name":"te\u0061","owner":7,"state":"running","clock":"boottime","durationUSec":5,
     "remainingUSec":4,"deadline":{"boottimeUSec":9,"realtimeUSec":-1500000},
     "startedAt":{"realtimeUSec":3},"revision":12,"catchUp":"skip","graceUSec":2,"repeatUSec":8,
     "durability":"synced","payload":{ "k" : [1.50] },"endedAt":null,"lateUSec":null,"lateReason":null,
     "provisional":true,"unheardOf":[{"name":5}]}
    """#

  @Test func `all of a countdown is read, and what is unknown is let pass`() throws {
    let countdown = try Countdown(Self.members(Self.whole))
    #expect(countdown.name == "tea")
    #expect(countdown.owner == 7)
    #expect(countdown.state == "running")
    #expect(countdown.clock == "boottime")
    #expect(countdown.durationUSec == 5)
    #expect(countdown.remainingUSec == 4)
    #expect(countdown.deadline?.boottimeUSec == 9)
    #expect(countdown.deadline?.monotonicUSec == nil)
    #expect(countdown.deadline?.unixSeconds == -2)
    #expect(countdown.startedAt?.realtimeUSec == 3)
    #expect(countdown.revision == 12)
    #expect(countdown.catchUp == "skip")
    #expect(countdown.graceUSec == 2)
    #expect(countdown.repeatUSec == 8)
    #expect(countdown.durability == "synced")
    #expect(countdown.payload.map { String(decoding: $0, as: UTF8.self) } == #"{ "k" : [1.50] }"#)
    #expect(countdown.endedAt == nil)
    #expect(countdown.lateUSec == nil && countdown.lateReason == nil)
    #expect(!countdown.hasEnded)
  }

  @Test(arguments: [("expired", "0:00"), ("missed", "–"), ("cancelled", "–")])
  func `of the ended, 0:00 is for those that have expired`(state: String, text: String) throws {
    let countdown = try Countdown(Self.minimal(state: state))
    #expect(countdown.hasEnded)
    #expect(countdown.remainingText == text)
  }

  @Test func `a state from a newer daemon is kept as it came, and is no end`() throws {
    let countdown = try Countdown(Self.minimal(state: "frozen"))
    #expect(countdown.state == "frozen")
    #expect(!countdown.hasEnded)
    #expect(countdown.remainingText == "0:01")
  }

  @Test(arguments: ["name", "state", "clock", "durationUSec", "remainingUSec", "revision"])
  func `a field that must be there is missed by name`(field: String) {
    let text = Self.whole.replacing("\"\(field)\":", with: "\"no\":", maxReplacements: 1)
    #expect(throws: ClientError.garbled("'\(field)' is missing")) {
      try Countdown(Self.members(text))
    }
  }

  @Test(arguments: [
    (#""name":"te\u0061""#, #""name":5"#), (#""durationUSec":5"#, #""durationUSec":"5""#),
    (#""durationUSec":5"#, #""durationUSec":5.0"#),
    (#""revision":12"#, #""revision":99999999999999999999"#),
    (#""deadline":{"#, #""deadline":[],"x":{"#), (#""boottimeUSec":9"#, #""boottimeUSec":true"#),
    (#""payload":{"#, #""payload":7,"x":{"#), (#""state":"running""#, #""state":{}"#),
  ])
  func `a field of the wrong type is garbage and no trap`(good: String, bad: String) {
    let text = Self.whole.replacing(good, with: bad, maxReplacements: 1)
    #expect(text != Self.whole)
    #expect(isGarbled { () throws(ClientError) in try Countdown(Self.members(text)) })
  }

  @Test func `numbers at the ends of 64 bits are read and shown without a trap`() throws {
    for number in ["-9223372036854775808", "9223372036854775807"] {
      let text = Self.whole.replacing("\"remainingUSec\":4", with: "\"remainingUSec\":\(number)")
        .replacing("-1500000", with: number)
      let countdown = try Countdown(Self.members(text))
      _ = countdown.remainingText
      #expect(countdown.deadline?.unixSeconds != nil)
    }
  }

  @Test func `keys are compared bytewise`() throws {
    // The same to Swift, not to the interface: e with an accent in one scalar and in two.
    let members = try Self.members(#"{"caf\u00e9":1}"#)
    #expect(try members.integer("caf\u{e9}") == 1)
    #expect(try members.integer("cafe\u{301}") == nil)
  }

  static func minimal(
    name: String = "tea", state: String, revision: Int64 = 1
  ) throws(ClientError) -> Members {
    try members(
      #"{"name":"\#(name)","state":"\#(state)","clock":"boottime","durationUSec":5,"#
        + #""remainingUSec":4,"revision":\#(revision)}"#)
  }
}
