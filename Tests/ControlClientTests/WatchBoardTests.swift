import ControlClient
import TestSupport
import Testing

@Suite struct WatchBoardTests {
  private static func moment(_ boottime: Int64) -> WatchBoard.Moment {
    WatchBoard.Moment(
      boottimeUSec: boottime, monotonicUSec: boottime - 1_000_000,
      realtimeUSec: boottime + 1_700_000_000_000_000)
  }

  private static func told(_ json: String) throws -> WatchedCountdown {
    try WatchedCountdown(Members(parsing: Array(json.utf8)))
  }

  private static func running(
    _ name: String, until deadline: String, of length: Int64 = 10_000_000
  ) throws -> WatchedCountdown {
    try told(
      #"{"name":"\#(name)","state":"running","remainingUSec":\#(length),"durationUSec":\#(length),"#
        + #""deadline":{\#(deadline)}}"#)
  }

  private static func lines(
    _ board: inout WatchBoard, at boottime: Int64, columns: Int = 80, height: Int = 10,
    isStyled: Bool = false
  ) -> [String] {
    board.lines(
      columns: columns, height: height, isStyled: isStyled, hasKeys: true, at: moment(boottime)
    ) { _ in
      "18:00:00"
    }
  }

  @Test func `a named one stands there before anything is known of it`() {
    var board = WatchBoard(names: ["tea", "eggs", "tea"], unit: .seconds)
    #expect(board.names == ["tea", "eggs"])
    #expect(
      Self.lines(&board, at: 0) == [
        "NAME  STATE  REMAINING                                  ENDS", "tea                  –",
        "eggs                 –", "q quits",
      ])
  }

  @Test(arguments: [
    (#""boottimeUSec":13400000"#, "0:04"),
    (#""monotonicUSec":12400000,"realtimeUSec":0"#, "0:04"),
    (#""realtimeUSec":1700000013400000"#, "0:04"),
    (#""boottimeUSec":9000000"#, "0:01"),
  ])
  func `what remains is counted by the clock that it is measured on`(
    deadline: String, text: String
  ) throws {
    var board = WatchBoard(names: ["tea"], unit: .seconds)
    board.note(try Self.running("tea", until: deadline), at: Self.moment(10_000_000))
    let line = try #require(Self.lines(&board, at: 10_000_000).dropFirst().first)
    #expect(line.hasPrefix("tea   running       \(text)  "), "\(line)")
  }

  @Test func `the bar is as long as its share of the whole, and empty only at the end`() throws {
    var board = WatchBoard(names: ["tea"], unit: .seconds)
    board.note(
      try Self.running("tea", until: #""boottimeUSec":10000000"#), at: Self.moment(0))
    func filled(at boottime: Int64) -> Int {
      Self.lines(&board, at: boottime)[1].filter { $0 == "█" }.count
    }
    let whole = filled(at: 0)
    #expect(whole == 30)
    #expect(filled(at: 5_000_000) == 15)
    #expect(filled(at: 9_999_999) == 1)
    #expect(filled(at: 10_000_000) == 0)
  }

  @Test func `those that were not named come by what remains, paused ones and ended ones after`()
    throws
  {
    var board = WatchBoard(names: [], unit: .seconds)
    board.note(
      try Self.told(#"{"name":"over","state":"expired","remainingUSec":0}"#), at: Self.moment(0))
    board.note(
      try Self.told(#"{"name":"held","state":"paused","remainingUSec":1}"#), at: Self.moment(0))
    board.note(try Self.running("later", until: #""boottimeUSec":9000000"#), at: Self.moment(0))
    board.note(try Self.running("soon", until: #""boottimeUSec":4000000"#), at: Self.moment(0))
    _ = Self.lines(&board, at: 0)
    #expect(board.names == ["soon", "later", "held", "over"])
  }

  @Test func `one that was not named and has ended goes after ten seconds, or when it is absent`()
    throws
  {
    var board = WatchBoard(names: [], unit: .seconds)
    board.note(
      try Self.told(#"{"name":"over","state":"expired","remainingUSec":0}"#), at: Self.moment(0))
    board.note(try Self.told(#"{"name":"gone","state":"absent"}"#), at: Self.moment(0))
    #expect(board.untilChange(at: Self.moment(4_000_000)) == 6_000_000)
    _ = Self.lines(&board, at: 9_999_999)
    #expect(board.names == ["over"])
    _ = Self.lines(&board, at: 10_000_000)
    #expect(board.names == [])
    #expect(board.untilChange(at: Self.moment(10_000_000)) == nil)
  }

  @Test func `a named one stays, whatever becomes of it`() throws {
    var board = WatchBoard(names: ["b", "a"], unit: .seconds)
    board.note(try Self.told(#"{"name":"a","state":"absent"}"#), at: Self.moment(0))
    board.note(
      try Self.told(#"{"name":"b","state":"cancelled","remainingUSec":5}"#), at: Self.moment(0))
    _ = Self.lines(&board, at: 60_000_000)
    #expect(board.names == ["b", "a"])
    #expect(board.untilChange(at: Self.moment(60_000_000)) == nil)
  }

  @Test func `it changes next when the first of its texts does`() throws {
    var board = WatchBoard(names: ["a", "b"], unit: .tenths)
    board.note(try Self.running("a", until: #""boottimeUSec":9050000"#), at: Self.moment(0))
    board.note(try Self.running("b", until: #""boottimeUSec":9030000"#), at: Self.moment(0))
    #expect(board.untilChange(at: Self.moment(1_000_000)) == 30_000)
    // In its last tenth nothing but the news of its end changes it.
    #expect(board.untilChange(at: Self.moment(9_000_000)) == nil)
  }

  @Test func `those that do not fit are counted`() throws {
    var board = WatchBoard(names: (0..<20).map { "c\($0)" }, unit: .seconds)
    let lines = Self.lines(&board, at: 0, height: 6)
    #expect(lines.count == 6)
    #expect(lines.last == "16 more below; q quits")
  }

  @Test func `one too many finds no place, and that is said`() throws {
    var board = WatchBoard(names: [], unit: .seconds)
    for name in ["a", "b", "b"] { board.expect(name, atMost: 2) }
    #expect(!board.isPartial)
    board.expect("c", atMost: 2)
    #expect(board.names == ["a", "b"])
    #expect(Self.lines(&board, at: 0).last == "not all there are; q quits")
  }

  @Test func `where there is no room, one that has ended gives way`() throws {
    var board = WatchBoard(names: [], unit: .seconds)
    for name in ["a", "b"] { board.expect(name, atMost: 2) }
    board.note(
      try Self.told(#"{"name":"a","state":"expired","remainingUSec":0}"#), at: Self.moment(0))
    board.expect("c", atMost: 2)
    #expect(board.names == ["b", "c"] && !board.isPartial)
    board.expect("d", atMost: 2)
    #expect(board.isPartial)
    board.beginListing()
    #expect(!board.isPartial)
  }

  @Test(arguments: [0, 1, 8, 20, 30, 40, 50, 64, 80, 200])
  func `no line is wider than the terminal`(width: Int) throws {
    var board = WatchBoard(names: ["日本語の名前がとても長いもの", "short"], unit: .tenths)
    board.note(
      try Self.running("short", until: #""boottimeUSec":9007199254740991"#), at: Self.moment(0))
    board.note(
      try Self.running("日本語の名前がとても長いもの", until: #""boottimeUSec":4000000"#),
      at: Self.moment(0))
    for line in Self.lines(&board, at: 0, columns: width, height: 4) {
      #expect(columns(of: line) <= width, "\(line)")
    }
  }

  @Test func `where there is little room the bar goes first, then the end, and the name is cut`()
    throws
  {
    var board = WatchBoard(names: ["orders/1001/payment"], unit: .seconds)
    board.note(
      try Self.running("orders/1001/payment", until: #""boottimeUSec":10000000"#),
      at: Self.moment(0))
    #expect(
      Self.lines(&board, at: 0, columns: 50)[1]
        == "orders/1001/payment  running       0:10  18:00:00"
    )
    #expect(Self.lines(&board, at: 0, columns: 30)[1] == "orders/10…  running       0:10")
  }

  @Test func `two names that Swift takes for equal are two`() throws {
    let board = WatchBoard(names: ["caf\u{e9}", "cafe\u{301}"], unit: .seconds)
    #expect(board.names.count == 2)
  }

  @Test func `what a name says to a terminal is shown, not done`() throws {
    var board = WatchBoard(names: ["a\u{1b}[2Jb"], unit: .seconds)
    #expect(Self.lines(&board, at: 0)[1].hasPrefix(#"a\u{1b}[2Jb"#))
    #expect(!Self.lines(&board, at: 0).joined().contains("\u{1b}"))
    #expect(Self.lines(&board, at: 0, isStyled: true)[0].hasPrefix("\u{1b}[2m"))
  }
}
