import SystemdSyntax
import Testing

@Suite struct CharactersTests {
  @Test func `only 0 to 9 are digits, only space and tab are space`() {
    #expect("0123456789".allSatisfy { $0.isASCIIDigit })
    #expect(!"٣３²a ".contains { $0.isASCIIDigit })
    #expect(" \t".allSatisfy { $0.isASCIISpace })
    #expect(!"\n\r\u{a0}x".contains { $0.isASCIISpace })
    #expect(Substring(" \t x y\t").trimmingSpaces() == "x y")
    #expect(Substring(" \t").trimmingSpaces() == "")
  }

  @Test(arguments: [
    ("plain é 中", "plain é 中"), ("a\nb\tc", "a\\u{a}b\\u{9}c"), ("\u{1b}[2J", "\\u{1b}[2J"),
    ("\u{9b}\u{7f}", "\\u{9b}\\u{7f}"), ("\u{202e}x\u{2066}", "\\u{202e}x\\u{2066}"),
    ("\0", "\\u{0}"),
    ("a\u{200b}b\u{feff}\u{e0041}\u{ad}", "a\\u{200b}b\\u{feff}\\u{e0041}\\u{ad}"),
    ("👩\u{200d}🚀", "👩\u{200d}🚀"),
  ])
  func `what could command a terminal is shown as an escape`(text: String, shown: String) {
    #expect(text.shown() == shown)
  }

  @Test func `a long text is cut, one that just fits is not`() {
    #expect("12345".shown(atMost: 5) == "12345")
    #expect("123456".shown(atMost: 5) == "12345…")
    #expect(String(repeating: "x", count: 81).shown() == String(repeating: "x", count: 80) + "…")
  }
}
