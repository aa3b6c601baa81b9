/// The bytes that mean something to JSON's grammar.
enum ASCII {
  static let tab: UInt8 = 0x09
  static let lineFeed: UInt8 = 0x0A
  static let carriageReturn: UInt8 = 0x0D
  static let space: UInt8 = 0x20
  static let quote: UInt8 = 0x22
  static let comma: UInt8 = 0x2C
  static let minus: UInt8 = 0x2D
  static let zero: UInt8 = 0x30
  static let colon: UInt8 = 0x3A
  static let leftBracket: UInt8 = 0x5B
  static let backslash: UInt8 = 0x5C
  static let rightBracket: UInt8 = 0x5D
  static let leftBrace: UInt8 = 0x7B
  static let rightBrace: UInt8 = 0x7D
}

// The grammar's tokens, each as one function from where it begins to where it ends. None keeps
// state, none allocates, and none reads past the bytes' end.
extension Span<UInt8> {
  /// Where the first byte at or after `start` stands that is not white space; the count if none is.
  @inline(__always)
  func endOfWhiteSpace(at start: Int) -> Int {
    // Messages between programs seldom have any.
    if start < count, self[start] > ASCII.space { return start }
    return endOfLongWhiteSpace(at: start)
  }

  @inline(never)
  private func endOfLongWhiteSpace(at start: Int) -> Int {
    var at = start
    while at < count {
      switch self[at] {
      case ASCII.space, ASCII.lineFeed, ASCII.carriageReturn, ASCII.tab: at += 1
      default: return at
      }
    }
    return at
  }

  /// The error for a byte at `offset` that is missing or does not belong there.
  func unexpected(at offset: Int) -> JSONError {
    JSONError(offset < count ? .unexpectedByte : .unexpectedEnd, at: offset)
  }

  /// The string whose opening quote stands at `start`: well-formed escapes, valid UTF-8, no control
  /// bytes.
  ///
  /// The byte after its closing quote is at `range.upperBound + 1`. O(length).
  func string(at start: Int) throws(JSONError) -> JSONString {
    guard start < count, self[start] == ASCII.quote else { throw unexpected(at: start) }
    let first = start + 1
    var at = endOfPlain(at: first)
    var hasEscapes = false
    while at < count {
      let byte = self[at]
      if byte == ASCII.quote {
        return JSONString(range: first..<at, hasEscapes: hasEscapes)
      } else if byte == ASCII.backslash {
        hasEscapes = true
        at = try escape(at: at).end
      } else if byte < ASCII.space {
        throw JSONError(.unexpectedByte, at: at)
      } else {
        at = try scalar(at: at).end
      }
      at = endOfPlain(at: at)
    }
    throw JSONError(.unexpectedEnd, at: count)
  }

  /// Where the first byte at or after `start` stands that is not plain: a quote, a backslash, a
  /// control byte or part of a longer character. The count if all are plain: ASCII that stands for
  /// itself in a string.
  ///
  /// Source: the zero-byte test of A. Mycroft (1987), `(x - 0x01…) & ~x & 0x80…`, on eight bytes at
  /// once. The high bits of the bytes themselves are suspect as well, so the lowest suspect is
  /// never a false alarm: a borrow can add one above a true one only.
  @inline(__always)
  func endOfPlain(at start: Int) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    var at = start
    while let word = word(at: at) {
      let quotes = word ^ (ones &* UInt64(ASCII.quote))
      let backslashes = word ^ (ones &* UInt64(ASCII.backslash))
      // Differences wrap where a byte is too small, which is what the test looks for.
      let controls = word &- ones &* UInt64(ASCII.space)
      let suspects =
        (controls | (quotes &- ones) | (backslashes &- ones) | word) & (ones &* 0x80)
      if suspects != 0 { return at + suspects.trailingZeroBitCount >> 3 }
      at += 8
    }
    while at < count {
      let byte = self[at]
      guard byte >= ASCII.space, byte < 0x80, byte != ASCII.quote, byte != ASCII.backslash else {
        break
      }
      at += 1
    }
    return at
  }

  /// The eight bytes from `start` on, the first one lowest; `nil` where fewer are left.
  @inline(__always)
  func word(at start: Int) -> UInt64? {
    let rest = extracting(droppingFirst: start)
    guard rest.count >= 8 else { return nil }
    // The compiler makes one load of it.
    let low = UInt64(rest[0]) | UInt64(rest[1]) << 8 | UInt64(rest[2]) << 16 | UInt64(rest[3]) << 24
    let high =
      UInt64(rest[4]) | UInt64(rest[5]) << 8 | UInt64(rest[6]) << 16 | UInt64(rest[7]) << 24
    return low | high << 32
  }

  /// All bytes of a span that has fewer than eight, the first one lowest, filled up with zeros.
  @inline(__always)
  func shortWord() -> UInt64 {
    if count >= 4 {
      // Two halves that may overlap, where they agree.
      let rest = extracting(droppingFirst: count - 4)
      let low =
        UInt64(self[0]) | UInt64(self[1]) << 8 | UInt64(self[2]) << 16 | UInt64(self[3]) << 24
      let high =
        UInt64(rest[0]) | UInt64(rest[1]) << 8 | UInt64(rest[2]) << 16 | UInt64(rest[3]) << 24
      return low | high << UInt64((count - 4) * 8)
    }
    var word: UInt64 = 0
    for index in 0..<count { word |= UInt64(self[index]) << UInt64(index * 8) }
    return word
  }

  /// The character of more than one byte that begins at `start`, and where it ends.
  ///
  /// Source: The Unicode Standard, table 3-7 (well-formed UTF-8 byte sequences).
  func scalar(at start: Int) throws(JSONError) -> (value: UInt32, end: Int) {
    let lead = self[start]
    var value: UInt32
    var allowed: ClosedRange<UInt8> = 0x80...0xBF  // What the second byte may be.
    let length: Int
    switch lead {
    case 0xC2...0xDF: (length, value) = (2, UInt32(lead & 0x1F))
    case 0xE0...0xEF:
      (length, value) = (3, UInt32(lead & 0x0F))
      if lead == 0xE0 { allowed = 0xA0...0xBF }  // Else overlong.
      if lead == 0xED { allowed = 0x80...0x9F }  // Else a surrogate.
    case 0xF0...0xF4:
      (length, value) = (4, UInt32(lead & 0x07))
      if lead == 0xF0 { allowed = 0x90...0xBF }  // Else overlong.
      if lead == 0xF4 { allowed = 0x80...0x8F }  // Else past U+10FFFF.
    default: throw JSONError(.invalidUTF8, at: start)
    }
    for at in (start + 1)..<(start + length) {
      guard at < count else { throw JSONError(.unexpectedEnd, at: count) }
      guard allowed.contains(self[at]) else { throw JSONError(.invalidUTF8, at: at) }
      value = value << 6 | UInt32(self[at] & 0x3F)
      allowed = 0x80...0xBF
    }
    return (value, start + length)
  }

  /// The character that the escape with its backslash at `start` stands for, and where the escape
  /// ends; two escapes where they are a surrogate pair.
  func escape(at start: Int) throws(JSONError) -> (value: UInt32, end: Int) {
    guard start + 1 < count else { throw JSONError(.unexpectedEnd, at: count) }
    let value: UInt32
    switch self[start + 1] {
    case UInt8(ascii: "\""): value = 0x22
    case UInt8(ascii: "\\"): value = 0x5C
    case UInt8(ascii: "/"): value = 0x2F
    case UInt8(ascii: "b"): value = 0x08
    case UInt8(ascii: "f"): value = 0x0C
    case UInt8(ascii: "n"): value = 0x0A
    case UInt8(ascii: "r"): value = 0x0D
    case UInt8(ascii: "t"): value = 0x09
    case UInt8(ascii: "u"):
      let unit = try hexadecimal(at: start + 2)
      guard (0xD800...0xDFFF).contains(unit) else { return (unit, start + 6) }
      guard unit < 0xDC00 else { throw JSONError(.loneSurrogate, at: start) }
      guard start + 6 < count else { throw JSONError(.unexpectedEnd, at: count) }
      guard self[start + 6] == ASCII.backslash else { throw JSONError(.loneSurrogate, at: start) }
      guard start + 7 < count else { throw JSONError(.unexpectedEnd, at: count) }
      guard self[start + 7] == UInt8(ascii: "u") else { throw JSONError(.loneSurrogate, at: start) }
      let second = try hexadecimal(at: start + 8)
      guard (0xDC00...0xDFFF).contains(second) else { throw JSONError(.loneSurrogate, at: start) }
      return (0x1_0000 + (unit - 0xD800) << 10 + (second - 0xDC00), start + 12)
    default: throw JSONError(.invalidEscape, at: start)
    }
    return (value, start + 2)
  }

  /// The four hexadecimal digits at `start`, either case.
  private func hexadecimal(at start: Int) throws(JSONError) -> UInt32 {
    var value: UInt32 = 0
    for at in start..<(start + 4) {
      guard at < count else { throw JSONError(.unexpectedEnd, at: count) }
      switch self[at] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        value = value << 4 | UInt32(self[at] - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"):
        value = value << 4 | UInt32(self[at] - UInt8(ascii: "a") + 10)
      case UInt8(ascii: "A")...UInt8(ascii: "F"):
        value = value << 4 | UInt32(self[at] - UInt8(ascii: "A") + 10)
      default: throw JSONError(.invalidEscape, at: at)
      }
    }
    return value
  }

  /// Where the number that begins at `start` ends:
  /// `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`.
  func endOfNumber(at start: Int) throws(JSONError) -> Int {
    var at = start
    if at < count, self[at] == ASCII.minus { at += 1 }
    if at < count, self[at] == ASCII.zero { at += 1 } else { at = try endOfDigits(at: at) }
    if at < count, isDigit(at: at) { throw JSONError(.unexpectedByte, at: at) }  // A leading zero.
    if at < count, self[at] == UInt8(ascii: ".") { at = try endOfDigits(at: at + 1) }
    if at < count, self[at] | 0x20 == UInt8(ascii: "e") {
      at += 1
      if at < count, self[at] == ASCII.minus || self[at] == UInt8(ascii: "+") { at += 1 }
      at = try endOfDigits(at: at)
    }
    return at
  }

  /// Where the digits at `start` end; there must be one at least.
  private func endOfDigits(at start: Int) throws(JSONError) -> Int {
    var at = start
    while at < count, isDigit(at: at) { at += 1 }
    guard at > start else { throw unexpected(at: at) }
    return at
  }

  /// Whether a decimal digit stands at `offset`, which is within the bytes.
  @inline(__always)
  func isDigit(at offset: Int) -> Bool {
    self[offset] &- ASCII.zero < 10  // Wraps to a large number below "0".
  }

  /// Where `true`, `false` or `null` at `start` ends, of which the first letter has been seen.
  func endOfLiteral(_ literal: StaticLiteral, at start: Int) throws(JSONError) -> Int {
    let letters = literal.letters
    for index in 0..<literal.length {
      guard start + index < count, self[start + index] == letters[index] else {
        throw unexpected(at: start + index)
      }
    }
    return start + literal.length
  }
}

/// The three values that JSON writes as words.
enum StaticLiteral {
  case `true`, `false`, null

  /// How many letters the word has.
  var length: Int { self == .false ? 5 : 4 }

  /// The word, filled up with zeros.
  var letters: [5 of UInt8] {
    switch self {
    case .true: [0x74, 0x72, 0x75, 0x65, 0]
    case .false: [0x66, 0x61, 0x6C, 0x73, 0x65]
    case .null: [0x6E, 0x75, 0x6C, 0x6C, 0]
    }
  }
}
