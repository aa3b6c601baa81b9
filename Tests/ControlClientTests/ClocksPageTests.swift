import ControlClient
import Testing

@Suite struct ClocksPageTests {
  private func page(_ discontinuities: String, synchronized: Bool = true, slept: Int64 = 0) throws
    -> String
  {
    let text = #"""
      {"now":{"realtimeUSec":1796056063000001,"boottimeUSec":7200000000,"monotonicUSec":1},
       "bootID":"0123456789abcdef0123456789abcdef","synchronized":\#(synchronized),
       "sleptUSec":\#(slept),"discontinuities":[\#(discontinuities)]}
      """#
    let reply = try ClocksReply(CountdownTests.members(text))
    return ClocksPage(reply, in: .utc).text(withStyles: false)
  }

  @Test func `a machine on which nothing happened`() throws {
    #expect(
      try page("") == """
        wall clock    2026-11-30T16:27:43+00:00
        synchronized  yes
        since boot    2h
        of it asleep  never
        boot          0123456789abcdef0123456789abcdef

        Nothing has happened to the clocks since the daemon started.

        """)
  }

  @Test func `each kind in words, with when it was noticed`() throws {
    let at = #""at":{"realtimeUSec":1796056060000000}"#
    let yesterday = #""at":{"realtimeUSec":1795956060000000}"#
    let text = try page(
      [
        #"{"kind":"slept",\#(yesterday),"sleptUSec":28800000000,"expired":12,"missed":3}"#,
        #"{"kind":"stepped",\#(at),"steppedUSec":3600000000}"#,
        #"{"kind":"stepped",\#(at),"steppedUSec":-1000000}"#,
        #"{"kind":"sleptAndStepped",\#(at),"sleptUSec":5000000,"steppedUSec":-2000}"#,
        #"{"kind":"stalled",\#(at),"awayUSec":213964}"#,
        #"{"kind":"dreamt",\#(at),"ofUSec":1}"#,
        #"{"kind":"slept","at":{}}"#,
      ].joined(separator: ","), synchronized: false, slept: 28_805_000_000)
    #expect(text.contains("synchronized  no\n") && text.contains("of it asleep  8h 5s\n"))
    let lines = text.split(separator: "\n").dropFirst(5)
    #expect(
      Array(lines) == [
        "WHEN                 LATE  MISSED  WHAT HAPPENED",
        "2026-11-29 12:41:00    12       3  the machine slept for 8h",
        "16:27:40                –       –  the wall clock was set forward by 1h",
        "16:27:40                –       –  the wall clock was set back by 1s",
        "16:27:40                –       –  the machine slept for 5s, and the wall clock was set back by 2ms",
        "16:27:40                –       –  the daemon was away for 213ms 964us",
        "16:27:40                –       –  dreamt",
        "–                       –       –  slept",
      ])
  }

  @Test func `numbers that can be no length do no harm`() throws {
    let text = try page(
      #"{"kind":"stepped","at":{},"steppedUSec":-9223372036854775808}"#, slept: .min)
    #expect(text.contains("the wall clock was set back by ?"))
    #expect(text.contains("of it asleep  never"))
  }

  @Test func `words from elsewhere cannot command the terminal, and colours are asked for`() throws
  {
    let reply = try ClocksReply(
      CountdownTests.members(
        #"{"now":{},"bootID":"\u001b[2J","synchronized":true,"sleptUSec":0,"#
          + #""discontinuities":[{"kind":"\u001b[31m","at":{}}]}"#))
    let plain = ClocksPage(reply, in: .utc).text(withStyles: false)
    #expect(!plain.contains("\u{1b}"))
    #expect(ClocksPage(reply, in: .utc).text(withStyles: true).contains("\u{1b}[32myes\u{1b}[0m"))
  }

  @Test(arguments: ["now", "bootID", "synchronized", "sleptUSec", "discontinuities", "kind", "at"])
  func `a reply that lacks what it promises is garbage`(field: String) {
    let text =
      #"{"now":{},"bootID":"a","synchronized":true,"sleptUSec":0,"#
      + #""discontinuities":[{"kind":"slept","at":{}}]}"#
    #expect(throws: ClientError.garbled("'\(field)' is missing")) {
      try ClocksReply(
        CountdownTests.members(text.replacing("\"\(field)\":", with: "\"no\":")))
    }
  }
}
