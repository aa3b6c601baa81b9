import ControlClient
import Testing

@Suite struct DisplayTextTests {
  @Test(arguments: [
    ("tea", "tea"), ("té 茶 🍵", "té 茶 🍵"), ("a\u{1b}[31mb", "a\\u{1b}[31mb"),
    ("a\r\nb\tc\u{7f}", "a\\u{d}\\u{a}b\\u{9}c\\u{7f}"), ("\u{9b}31m", "\\u{9b}31m"),
    ("a\u{202e}cba", "a\\u{202e}cba"), ("a\u{2028}b", "a\\u{2028}b"),
  ])
  func `what could command a terminal is written as an escape`(text: String, shown: String) {
    #expect(harmless(text) == shown)
  }

  @Test func `JSON becomes one line and means the same`() {
    let json = Array("{\"a\":\n \"\u{9b}\u{202e}\",\r\n\t\"b\":1}".utf8)
    #expect(
      oneLine(json: json, escapingControls: true) == "{\"a\":  \"\\u009b\\u202e\",  \t\"b\":1}")
    #expect(
      oneLine(json: json, escapingControls: false) == "{\"a\":  \"\u{9b}\u{202e}\",  \t\"b\":1}")
    let tag = Array("{\"a\":\"\u{e0041}\"}".utf8)
    #expect(oneLine(json: tag, escapingControls: true) == "{\"a\":\"\\udb40\\udc41\"}")
  }

  @Test(arguments: [
    ("", 0), ("abc", 3), ("té", 2), ("te\u{301}", 2), ("茶", 2), ("🍵x", 3), ("ｱ", 1),
  ])
  func `columns are those of a terminal`(text: String, count: Int) {
    #expect(columns(of: text) == count)
  }

  @Test func `columns are as wide as their widest cell, with no space at an end`() {
    var table = Table([("NAME", .left), ("LEFT", .right), ("ENDS", .left)])
    table.add([.init("tea"), .init("0:05", .green), .init("18:00")])
    table.add([.init("茶の時間だ"), .init("12:34:56"), .init("")])
    table.add([.init("x\n"), .init(""), .init("–")])
    let expected = """
      NAME            LEFT  ENDS
      tea             0:05  18:00
      茶の時間だ  12:34:56
      x\\u{a}                –

      """
    #expect(table.text(withStyles: false) == expected)
  }

  @Test func `styles change no alignment`() {
    var table = Table([("A", .right), ("B", .left)])
    table.add([.init("1", .red), .init("b", .bold)])
    table.add([.init("22"), .init("c")])
    let styled = table.text(withStyles: true)
    #expect(styled.contains(" \u{1b}[31m1\u{1b}[0m  \u{1b}[1mb\u{1b}[0m\n"))
    let bare = styled.replacing(/\u{1b}\[[0-9]*m/, with: "")
    #expect(bare == table.text(withStyles: false))
    #expect(table.text(withStyles: false) == " A  B\n 1  b\n22  c\n")
  }
}
