import ControlClient
import Testing

@Suite struct StatisticsPageTests {
  private static let none = #"{"started":0,"expired":0,"missed":0,"cancelled":0,"calls":0}"#

  private static func reply(_ lateness: String, _ more: String = "") -> String {
    #"""
    {"running":12,"paused":3,"ended":1,"payloadBytes":1536,"connections":2,"streams":1,
     "unreadReplyBytes":0,
     "sinceStart":{"started":1234,"expired":1000,"missed":1,"cancelled":200,"calls":98765},
     "lastMinute":\#(none),"lateness":[\#(lateness)],"worstLateUSec":1204\#(more)}
    """#
  }

  private static let buckets =
    #"{"upToUSec":100,"count":0},{"upToUSec":200,"count":800},{"upToUSec":500,"count":0},"#
    + #"{"upToUSec":1000,"count":100},{"upToUSec":3600000000,"count":1},{"count":0}"#

  private func text(_ text: String, width: Int = 80, withStyles: Bool = false) throws -> String {
    try StatisticsPage(StatisticsReply(CountdownTests.members(text)), width: width)
      .text(withStyles: withStyles)
  }

  @Test func `what a user is told, with bars from the first bucket that has some to the last`()
    throws
  {
    let bar = String(repeating: "█", count: 40)
    #expect(
      try text(Self.reply(Self.buckets)) == """
        running              12
        paused                3
        ended                 1
        payloads        1.5 KiB
        connections           2
        streams               1
        unread replies      0 B

                   LAST MINUTE  SINCE START
        started              0         1234
        expired              0         1000
        missed               0            1
        cancelled            0          200
        calls                0        98765

        LATE BY UP TO  EXPIRED
                200us      800  \(bar)
                500us        0
                  1ms      100  █████
                   1h        1  ▏
        The worst was 1.204 ms late.

        """)
  }

  @Test func `without an expiry there is no histogram`() throws {
    let page = try text(Self.reply(#"{"upToUSec":100,"count":0},{"count":0}"#))
    #expect(page.hasSuffix("Nothing has expired since the daemon started.\n"))
    #expect(try text(Self.reply("")).hasSuffix("Nothing has expired since the daemon started.\n"))
  }

  @Test(arguments: [(200, 40), (64, 40), (63, 39), (28, 4), (27, 0), (1, 0)])
  func `bars are as long as there is room, and none where there is too little`(
    width: Int, longest: Int
  ) throws {
    let lines = try text(Self.reply(Self.buckets), width: width).split(separator: "\n")
    #expect(lines.map { $0.count { $0 == "█" } }.max() == longest)
    let histogram = lines.drop { !$0.hasPrefix("LATE") }.prefix(5)
    #expect(histogram.allSatisfy { $0.count <= max(width, 22) })
  }

  @Test func `one of very many is still seen`() throws {
    let page = try text(
      Self.reply(#"{"upToUSec":100,"count":1000000000},{"upToUSec":200,"count":1}"#))
    #expect(page.contains("1  ▏\n"))
  }

  @Test func `what is late beyond all bounds says so`() throws {
    let page = try text(Self.reply(#"{"upToUSec":3600000000,"count":0},{"count":7}"#))
    #expect(page.contains("more than 1h        7  █"))
    #expect(try text(Self.reply(#"{"count":7}"#)).contains("more        7  █"))
  }

  @Test func `a backlog is told`() throws {
    let page = try text(Self.reply(Self.buckets, #","oldestOverdueUSec":500000"#))
    #expect(page.hasSuffix("The first of those that are due now has waited for 500.000 ms.\n"))
  }

  private static let daemon = #"""
    ,"daemon":{"version":"1.2","uptimeUSec":3600000000,"users":1,
     "memory":{"wheelBytes":20,"recordBytes":2048,"nameBytes":3,"payloadBytes":4,"eventBytes":5,
     "replyBytes":6,"residentBytes":10485760},
     "limits":[{"name":"MaxCountdowns","value":5000000},{"name":"RetainEndedSec","value":300000000},
     {"name":"MaxMessageBytes","value":1048576},{"name":"MaxDreams","value":-1}]}
    """#

  @Test func `what an administrator is told of the daemon`() throws {
    let page = try text(Self.reply(Self.buckets, Self.daemon))
    #expect(
      page.contains(
        """

        countdownd 1.2, up 1h, 1 user, 10.0 MiB of memory

        MEMORY FOR
        wheel          20 B
        records     2.0 KiB
        names           3 B
        payloads        4 B
        events          5 B
        replies         6 B

        LIMIT
        MaxCountdowns      5M
        RetainEndedSec   5min
        MaxMessageBytes    1M
        MaxDreams          -1

        """))
    let old = Self.daemon.replacing(#","residentBytes":10485760"#, with: "")
    #expect(try text(Self.reply(Self.buckets, old)).contains("up 1h, 1 user\n"))
  }

  @Test func `numbers that make no sense do no harm, and words cannot command the terminal`() throws
  {
    let page = try text(
      Self.reply(
        #"{"upToUSec":-9223372036854775808,"count":-5},{"upToUSec":5,"count":9223372036854775807}"#,
        Self.daemon.replacing("1.2", with: #"\u001b[2J"#)))
    #expect(!page.contains("\u{1b}") && page.contains("9223372036854775807"))
    #expect(try text(Self.reply(Self.buckets), withStyles: true).contains("\u{1b}[36m█"))
  }

  @Test(arguments: [
    "running", "payloadBytes", "sinceStart", "lastMinute", "lateness", "worstLateUSec", "calls",
    "count", "version", "memory", "wheelBytes", "limits", "name", "value", "uptimeUSec", "users",
  ])
  func `a reply that lacks what it promises is garbage`(field: String) {
    let text = Self.reply(Self.buckets, Self.daemon).replacing("\"\(field)\":", with: "\"no\":")
    #expect(throws: ClientError.garbled("'\(field)' is missing")) {
      try StatisticsReply(CountdownTests.members(text))
    }
  }
}
