import Countdowns
import Testing

@Suite struct NameTests {
  private func problem(in bytes: [UInt8]) -> Name.Problem? { Name.problem(in: bytes.span) }

  @Test func `a name has 1 to 255 bytes`() {
    #expect(problem(in: []) == .empty)
    #expect(problem(in: [0x61]) == nil)
    #expect(problem(in: [UInt8](repeating: 0x61, count: 255)) == nil)
    #expect(problem(in: [UInt8](repeating: 0x61, count: 256)) == .tooLong)
    #expect(problem(in: [UInt8](repeating: 0, count: 1_000_000)) == .tooLong)
  }

  @Test func `the length is counted in bytes, not in characters`() {
    let letters = [UInt8](String(repeating: "\u{e9}", count: 127).utf8)
    #expect(problem(in: letters) == nil)
    #expect(problem(in: letters + [0x61]) == nil)
    #expect(problem(in: letters + [0xC3, 0xA9]) == .tooLong)
  }

  @Test func `every scalar but the control characters may stand in a name`() {
    for value: UInt32 in 0...0x10FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let isControl = value < 0x20 || (0x7F...0x9F).contains(value)
      let found = problem(in: Array(String(scalar).utf8))
      if found != (isControl ? .controlCharacter : nil) {
        Issue.record("U+\(String(value, radix: 16)): \(String(describing: found))")
      }
    }
  }

  @Test(
    arguments: [
      [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xE0, 0x80, 0x80],
      [0xE0, 0x9F, 0xBF], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
      [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80],
      [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
    ] as [[UInt8]])
  func `what is not UTF-8 is not a name`(bytes: [UInt8]) {
    #expect(problem(in: bytes) == .notUTF8)
    #expect(problem(in: [0x61] + bytes) == .notUTF8)
    #expect(problem(in: bytes + [0x61]) == .notUTF8)
  }

  @Test func `control characters are found at either end`() {
    for control: [UInt8] in [[0x00], [0x1F], [0x7F], [0xC2, 0x80], [0xC2, 0x9F]] {
      #expect(problem(in: control) == .controlCharacter)
      #expect(problem(in: control + [0x61]) == .controlCharacter)
      #expect(problem(in: [0x61] + control) == .controlCharacter)
    }
    #expect(problem(in: [0x20]) == nil)
    #expect(problem(in: [0x7E]) == nil)
    #expect(problem(in: [0xC2, 0xA0]) == nil)
  }

  @Test func `names that look alike are different names`() {
    let combining = Array("e\u{301}".utf8)
    let precomposed = Array("\u{e9}".utf8)
    #expect("e\u{301}" == "\u{e9}")  // To Swift's strings they are equal.
    var names = StoredNames()
    #expect(names.insert(owner: 1, combining) == .inserted)
    #expect(names.insert(owner: 1, precomposed) == .inserted)
    #expect(names.find(owner: 1, combining) == 0)
    #expect(names.find(owner: 1, precomposed) == 1)
  }
}
