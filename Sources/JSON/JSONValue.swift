/// Which arrays and objects are open, innermost first: one bit of a word for each level, so that
/// depth costs no stack and no input can exhaust it.
struct OpenLevels {
  /// How many are open, 0…64.
  private(set) var count = 0

  /// Bit 0 is the innermost: set for an object.
  private var objects: UInt64 = 0

  /// Whether the innermost is an object. Meaningless where `count` is 0.
  var innermostIsObject: Bool { objects & 1 == 1 }

  /// Opens one more inside.
  mutating func open(isObject: Bool) {
    count += 1
    objects = objects << 1 | (isObject ? 1 : 0)
  }

  /// Closes the innermost.
  mutating func close() {
    count -= 1
    objects >>= 1
  }
}

// A whole value, checked in one pass.
extension Span<UInt8> {
  /// Where the value that begins at `start` ends. O(length) without `check`.
  ///
  /// - Parameters:
  ///   - maximumDepth: How many arrays and objects may stand inside each other in this value, 0…64.
  ///   - check: Is shown every string, every key, and the end of every object; `nil` where RFC 8259
  ///     is all.
  func endOfValue(
    at start: Int, maximumDepth: Int, check: inout IJSONCheck?
  ) throws(JSONError) -> Int {
    var levels = OpenLevels()
    var at = start
    while true {
      // A value begins at `at`.
      guard at < count else { throw JSONError(.unexpectedEnd, at: count) }
      switch self[at] {
      case ASCII.quote:
        let string = try string(at: at)
        try check?.string(string, in: self)
        at = string.range.upperBound + 1
      case ASCII.leftBrace:
        guard levels.count < maximumDepth else { throw JSONError(.tooDeep, at: at) }
        levels.open(isObject: true)
        at = endOfWhiteSpace(at: at + 1)
        if at < count, self[at] == ASCII.rightBrace { break }
        at = try endOfKey(at: at, level: levels.count, check: &check)
        continue
      case ASCII.leftBracket:
        guard levels.count < maximumDepth else { throw JSONError(.tooDeep, at: at) }
        levels.open(isObject: false)
        at = endOfWhiteSpace(at: at + 1)
        if at < count, self[at] == ASCII.rightBracket { break }
        continue
      case ASCII.minus, UInt8(ascii: "0")...UInt8(ascii: "9"): at = try endOfNumber(at: at)
      case UInt8(ascii: "t"): at = try endOfLiteral(.true, at: at)
      case UInt8(ascii: "f"): at = try endOfLiteral(.false, at: at)
      case UInt8(ascii: "n"): at = try endOfLiteral(.null, at: at)
      default: throw JSONError(.unexpectedByte, at: at)
      }
      // A value has ended before `at`, or an empty array's or object's closing bracket is there.
      while true {
        if levels.count == 0 { return at }
        at = endOfWhiteSpace(at: at)
        guard at < count else { throw JSONError(.unexpectedEnd, at: count) }
        if self[at] == ASCII.comma {
          at = endOfWhiteSpace(at: at + 1)
          if levels.innermostIsObject {
            at = try endOfKey(at: at, level: levels.count, check: &check)
          }
          break
        }
        let closing = levels.innermostIsObject ? ASCII.rightBrace : ASCII.rightBracket
        guard self[at] == closing else { throw JSONError(.unexpectedByte, at: at) }
        if levels.innermostIsObject { try check?.endObject(level: levels.count, in: self) }
        levels.close()
        at += 1
      }
    }
  }

  /// Where the value begins that belongs to the key at `start`.
  private func endOfKey(
    at start: Int, level: Int, check: inout IJSONCheck?
  ) throws(JSONError) -> Int {
    let key = try string(at: start)
    try check?.key(key, level: level, in: self)
    return try endOfColon(at: key.range.upperBound + 1)
  }

  /// Where the value after a colon begins; the colon stands at `start` or after white space.
  func endOfColon(at start: Int) throws(JSONError) -> Int {
    let colon = endOfWhiteSpace(at: start)
    guard colon < count, self[colon] == ASCII.colon else { throw unexpected(at: colon) }
    return endOfWhiteSpace(at: colon + 1)
  }
}
