/// What I-JSON (RFC 7493) demands beyond RFC 8259: no key twice in an object (section 2.3), no
/// noncharacter in a string or key (section 2.1; surrogates never get as far as here).
///
/// A walk over a value shows it what it passes. Keys of the objects that are open stand on one
/// stack, and an object's keys are looked at together when it ends: a few are compared in pairs,
/// more are sorted, so that 100 000 of them cost O(n log n) and not its square.
struct IJSONCheck {
  private struct Key {
    let string: JSONString
    let level: Int
  }

  /// The first few keys, so that a small value needs no memory of its own.
  private var few: [16 of Key] = .init(
    repeating: Key(string: JSONString(range: 0..<0, hasEscapes: false), level: 0))
  private var fewCount = 0

  /// The keys after those; an object's may begin in `few` and end here.
  private var many: [Key] = []

  private var count: Int { fewCount + many.count }

  init() {}

  /// A string that is a value.
  mutating func string(_ string: JSONString, in bytes: Span<UInt8>) throws(JSONError) {
    try bytes.refuseNoncharacters(in: string.range)
  }

  /// A key of the innermost object, which is the `level`th open array or object.
  mutating func key(_ key: JSONString, level: Int, in bytes: Span<UInt8>) throws(JSONError) {
    try bytes.refuseNoncharacters(in: key.range)
    let key = Key(string: key, level: level)
    if fewCount < few.count {
      few[fewCount] = key
      fewCount += 1
    } else {
      many.append(key)
    }
  }

  /// The innermost object ends: no two of its keys may be equal.
  mutating func endObject(level: Int, in bytes: Span<UInt8>) throws(JSONError) {
    if many.isEmpty {
      // Inner objects took their keys off when they ended, so this one's are on top.
      var first = fewCount
      while first > 0, few[first - 1].level == level {
        first -= 1
        for other in (first + 1)..<max(fewCount, first + 1) {
          let (key, later) = (few[first].string, few[other].string)
          if bytes.order(key, later) == 0 { throw Self.duplicate(later) }
        }
      }
      fewCount = first
    } else {
      var keys: [JSONString] = []
      while let last = many.last, last.level == level {
        keys.append(last.string)
        many.removeLast()
      }
      while many.isEmpty, fewCount > 0, few[fewCount - 1].level == level {
        fewCount -= 1
        keys.append(few[fewCount].string)
      }
      // Equal keys by place, so that the later one is named.
      keys.sort {
        let order = bytes.order($0, $1)
        return order < 0 || order == 0 && $0.range.lowerBound < $1.range.lowerBound
      }
      for index in keys.indices.dropFirst() where bytes.order(keys[index - 1], keys[index]) == 0 {
        throw Self.duplicate(keys[index])
      }
    }
  }

  private static func duplicate(_ key: JSONString) -> JSONError {
    JSONError(.duplicateKey, at: key.range.lowerBound - 1)  // Its opening quote.
  }
}

extension Span<UInt8> {
  /// How the values of two checked strings compare: negative, 0 for equal, positive.
  ///
  /// By code points, which is the order of their UTF-8 bytes as well.
  fileprivate func order(_ one: JSONString, _ other: JSONString) -> Int {
    var (left, right) = (one.range.lowerBound, other.range.lowerBound)
    if !one.hasEscapes && !other.hasEscapes {
      while left < one.range.upperBound, right < other.range.upperBound {
        if self[left] != self[right] { return Int(self[left]) - Int(self[right]) }
        left += 1
        right += 1
      }
    } else {
      while left < one.range.upperBound, right < other.range.upperBound {
        let (leftScalar, leftEnd) = character(at: left)
        let (rightScalar, rightEnd) = character(at: right)
        if leftScalar != rightScalar { return Int(leftScalar) - Int(rightScalar) }
        (left, right) = (leftEnd, rightEnd)
      }
    }
    return (left < one.range.upperBound ? 1 : 0) - (right < other.range.upperBound ? 1 : 0)
  }

  /// Throws for the first character within `range`, the inside of a checked string, that is a
  /// noncharacter.
  fileprivate func refuseNoncharacters(in range: Range<Int>) throws(JSONError) {
    var at = endOfPlain(at: range.lowerBound)
    while at < range.upperBound {
      let (scalar, end) = character(at: at)
      // U+FDD0…U+FDEF, and the last two of each plane.
      if (0xFDD0...0xFDEF).contains(scalar) || scalar & 0xFFFE == 0xFFFE {
        throw JSONError(.noncharacter, at: at)
      }
      at = endOfPlain(at: end)
    }
  }

  /// The character at `start`, within a checked string, escaped or not, and where it ends.
  private func character(at start: Int) -> (value: UInt32, end: Int) {
    let byte = self[start]
    if byte < 0x80 && byte != ASCII.backslash { return (UInt32(byte), start + 1) }
    guard let character = try? byte < 0x80 ? escape(at: start) : scalar(at: start) else {
      fatalError("a string is not what it was when it was checked")
    }
    return character
  }
}
