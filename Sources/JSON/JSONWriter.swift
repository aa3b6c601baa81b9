/// Writes JSON into an array of bytes that it owns for the time, one value after the other.
///
/// It puts commas where they belong and nothing else between values. It does not check that what is
/// begun is ended, nor that every key has one value: the caller writes what the scanner would read.
/// Nothing is allocated but the array's own growth, so an array used again and again costs nothing.
///
/// Invariants: `end` is at most `bytes.count`; what lies past it is room, and means nothing.
package struct JSONWriter: ~Copyable {
  private var bytes: [UInt8]

  /// Where the next byte goes.
  private var end: Int

  /// Whether a comma must come before the next key or value. One flag does for all levels: what
  /// comes first in an array, an object, or after a key needs none; whatever follows an ended value
  /// needs one.
  private var needsComma = false

  /// Appends to `bytes`, which are kept as they are.
  package init(reusing bytes: consuming [UInt8]) {
    end = bytes.count
    self.bytes = bytes
  }

  /// How many bytes there are, with those that were there before.
  package var count: Int { end }

  /// Gives the bytes back.
  package consuming func take() -> [UInt8] {
    var bytes = bytes
    bytes.removeLast(bytes.count - end)
    return bytes
  }

  /// Begins an object, to be filled by `key` and a value in turn.
  package mutating func beginObject() {
    begin(ASCII.leftBrace)
  }

  /// Ends the object begun last.
  package mutating func endObject() {
    end(ASCII.rightBrace)
  }

  /// Begins an array, to be filled by values.
  package mutating func beginArray() {
    begin(ASCII.leftBracket)
  }

  /// Ends the array begun last.
  package mutating func endArray() {
    end(ASCII.rightBracket)
  }

  /// Writes the key that the next value belongs to.
  package mutating func key(_ key: String) {
    quote(key, then: ASCII.colon)
    needsComma = false
  }

  /// Writes the key that the next value belongs to.
  package mutating func key(_ key: JSONLiteral) {
    guard key.isPrepared else { return self.key(key.text) }
    put(key, length: key.count + 3)
    needsComma = false
  }

  /// Writes a string. Its bytes must be valid UTF-8; only `"`, `\` and control bytes are escaped.
  package mutating func string(_ utf8: Span<UInt8>) {
    quote(utf8, then: nil)
    needsComma = true
  }

  /// Writes a string. Only `"`, `\` and control bytes are escaped.
  package mutating func string(_ string: String) {
    quote(string, then: nil)
    needsComma = true
  }

  /// Writes a string.
  package mutating func string(_ literal: JSONLiteral) {
    guard literal.isPrepared else { return string(literal.text) }
    put(literal, length: literal.count + 2)  // Without its colon.
    needsComma = true
  }

  /// Writes an integer in decimal.
  package mutating func integer(_ value: Int64) {
    number(value.magnitude, isNegative: value < 0)
  }

  /// Writes an integer in decimal. A reader of signed 64-bit integers takes none past `Int64.max`.
  package mutating func integer(_ value: UInt64) {
    number(value, isNegative: false)
  }

  /// Writes `true` or `false`.
  package mutating func boolean(_ value: Bool) {
    word(value ? Self.true : Self.false, length: value ? 4 : 5)
  }

  /// Writes `null`.
  package mutating func null() {
    word(Self.null, length: 4)
  }

  /// Writes one value that is JSON already, byte for byte.
  package mutating func raw(_ json: Span<UInt8>) {
    makeRoom(json.count + 16)
    var end = end
    let needsComma = needsComma
    var output = bytes.mutableSpan
    if needsComma { output.put(ASCII.comma, at: &end) }
    var at = 0
    while let word = json.word(at: at) {
      output.copy(word, length: 8, at: &end)
      at += 8
    }
    while at < json.count {
      output.put(json[at], at: &end)
      at += 1
    }
    self.end = end
    self.needsComma = true
  }

  /// Appends a byte that belongs to no value, such as the one that ends a message; a first value
  /// follows.
  package mutating func terminate(with byte: UInt8) {
    append(byte)
    needsComma = false
  }

  /// Writes the first `length` bytes of what `literal` has prepared.
  @inline(__always)
  private mutating func put(_ literal: JSONLiteral, length: Int) {
    makeRoom(1 + 32)
    var end = end
    let needsComma = needsComma
    var output = bytes.mutableSpan
    if needsComma { output.put(ASCII.comma, at: &end) }
    let last = end + length
    output.put(literal.words[0], length: 8, at: &end)
    if length > 8 { output.put(literal.words[1], length: 8, at: &end) }
    if length > 16 { output.put(literal.words[2], length: 8, at: &end) }
    if length > 24 { output.put(literal.words[3], length: 8, at: &end) }
    self.end = last
  }

  // The words' letters, the first one lowest.
  private static let `true`: UInt64 = 0x6575_7274
  private static let `false`: UInt64 = 0x65_736C_6166
  private static let null: UInt64 = 0x6C6C_756E

  /// Writes a value of `length` bytes, the lowest of `letters`.
  private mutating func word(_ letters: UInt64, length: Int) {
    makeRoom(16)
    var end = end
    let needsComma = needsComma
    var output = bytes.mutableSpan
    if needsComma { output.put(ASCII.comma, at: &end) }
    output.put(letters, length: length, at: &end)
    self.end = end
    self.needsComma = true
  }

  private mutating func begin(_ bracket: UInt8) {
    makeRoom(2)
    var end = end
    let needsComma = needsComma
    var output = bytes.mutableSpan
    if needsComma { output.put(ASCII.comma, at: &end) }
    output.put(bracket, at: &end)
    self.end = end
    self.needsComma = false
  }

  private mutating func end(_ bracket: UInt8) {
    append(bracket)
    needsComma = true
  }

  private mutating func append(_ byte: UInt8) {
    makeRoom(1)
    bytes[end] = byte
    end += 1
  }

  /// Sees to it that `length` bytes fit after `end`.
  @inline(__always)
  private mutating func makeRoom(_ length: Int) {
    if bytes.count - end < length { grow(length) }
  }

  @inline(never)
  private mutating func grow(_ length: Int) {
    // Some more at a time, not all that was reserved: what is added must be cleared.
    let more = max(length, 256)
    bytes.append(addingCapacity: more) { (room: inout OutputSpan<UInt8>) in
      room.append(repeating: 0, count: more)
    }
  }

  /// Writes `utf8` as a string token and `last` after it, with a comma before it where one is
  /// needed.
  @inline(__always)
  private mutating func quote(_ utf8: Span<UInt8>, then last: UInt8?) {
    makeRoom(utf8.count + 16)
    var end = end
    let needsComma = needsComma
    var output = bytes.mutableSpan
    if needsComma { output.put(ASCII.comma, at: &end) }
    output.put(ASCII.quote, at: &end)
    let at = output.copyPlain(from: utf8, at: 0, to: &end)
    guard at == utf8.count else {
      self.end = end
      return quoteRest(of: utf8, from: at, then: last)
    }
    output.put(ASCII.quote, at: &end)
    if let last { output.put(last, at: &end) }
    self.end = end
  }

  /// As above, byte by byte: no span of a `String` is taken, for a short one lies in registers, and the
  /// optimiser (6.3) has let the span outlive the copy of it in memory.
  private mutating func quote(_ text: String, then last: UInt8?) {
    let length = text.utf8.count
    guard length <= 256 else { return quote(Array(text.utf8).span, then: last) }
    makeRoom(length * 6 + 16)  // The longest escape has six bytes.
    var end = end
    let needsComma = needsComma
    var output = bytes.mutableSpan
    if needsComma { output.put(ASCII.comma, at: &end) }
    output.put(ASCII.quote, at: &end)
    for byte in text.utf8 {
      if byte < ASCII.space || byte == ASCII.quote || byte == ASCII.backslash {
        output.putEscape(of: byte, at: &end)
      } else {
        output.put(byte, at: &end)
      }
    }
    output.put(ASCII.quote, at: &end)
    if let last { output.put(last, at: &end) }
    self.end = end
  }

  /// Goes on where `quote` met, at `start`, the first byte that must be escaped.
  private mutating func quoteRest(of utf8: Span<UInt8>, from start: Int, then last: UInt8?) {
    makeRoom((utf8.count - start) * 6 + 16)  // The longest escape has six bytes.
    var end = end
    var output = bytes.mutableSpan
    var at = start
    while at < utf8.count {
      output.putEscape(of: utf8[at], at: &end)
      at = output.copyPlain(from: utf8, at: at + 1, to: &end)
    }
    output.put(ASCII.quote, at: &end)
    if let last { output.put(last, at: &end) }
    self.end = end
  }

  /// Writes a number, with a comma before it where one is needed.
  private mutating func number(_ magnitude: UInt64, isNegative: Bool) {
    makeRoom(32)  // A comma, a minus, three times eight digits.
    var end = end
    let needsComma = needsComma
    var output = bytes.mutableSpan
    if needsComma { output.put(ASCII.comma, at: &end) }
    if isNegative { output.put(ASCII.minus, at: &end) }
    let eight: UInt64 = 100_000_000
    if magnitude < eight {
      output.putTrimmed(magnitude, at: &end)
    } else if magnitude < eight * eight {
      output.putTrimmed(magnitude / eight, at: &end)
      output.put(digits(magnitude % eight), length: 8, at: &end)
    } else {
      output.putTrimmed(magnitude / (eight * eight), at: &end)
      output.put(digits(magnitude / eight % eight), length: 8, at: &end)
      output.put(digits(magnitude % eight), length: 8, at: &end)
    }
    self.end = end
    self.needsComma = true
  }
}

/// The eight decimal digits of `value`, which is below 10^8, as ASCII, the first one lowest.
///
/// Splits fours, twos and ones side by side in one word.
/// Source: P. Khuong, "How to print integers really fast" (2017).
private func digits(_ value: UInt64) -> UInt64 {
  zeros | digitValues(value)
}

/// Eight times "0".
private let zeros: UInt64 = 0x3030_3030_3030_3030

private func digitValues(_ value: UInt64) -> UInt64 {
  // None of these overflows its part of the word, so the checks would find nothing.
  let fours = value / 10_000 | (value % 10_000) << 32
  let hundreds = (fours &* 10_486) >> 20 & 0x7F_0000_007F  // Exact below 10^4.
  let twos = hundreds | (fours &- hundreds &* 100) << 16
  let tens = (twos &* 103) >> 10 & 0x000F_000F_000F_000F  // Exact below 10^2.
  return tens | (twos &- tens &* 10) << 8
}

/// How many bytes of `word` come before the first that must be escaped; 8 if none must.
///
/// The test of `endOfPlain`, but that bytes past 0x7F are plain here.
@inline(__always)
private func plainLength(_ word: UInt64) -> Int {
  let ones: UInt64 = 0x0101_0101_0101_0101
  let quotes = word ^ (ones &* UInt64(ASCII.quote))
  let backslashes = word ^ (ones &* UInt64(ASCII.backslash))
  let controls = word &- ones &* UInt64(ASCII.space)
  let suspects =
    (controls | (quotes &- ones) | (backslashes &- ones)) & ~word & (ones &* 0x80)
  return suspects.trailingZeroBitCount >> 3
}

extension MutableSpan<UInt8> {
  /// Puts one byte at `end` and moves it on.
  @inline(__always)
  fileprivate mutating func put(_ byte: UInt8, at end: inout Int) {
    self[end] = byte
    end += 1
  }

  /// Puts the `length` lowest bytes of `word` at `end`, the lowest first, and moves it on.
  ///
  /// There must be room for all eight. Written out like this, the compiler makes one store of it.
  @inline(__always)
  fileprivate mutating func put(_ word: UInt64, length: Int, at end: inout Int) {
    precondition(end >= 0 && end < count - 7)
    self[end] = UInt8(truncatingIfNeeded: word)
    self[end + 1] = UInt8(truncatingIfNeeded: word >> 8)
    self[end + 2] = UInt8(truncatingIfNeeded: word >> 16)
    self[end + 3] = UInt8(truncatingIfNeeded: word >> 24)
    self[end + 4] = UInt8(truncatingIfNeeded: word >> 32)
    self[end + 5] = UInt8(truncatingIfNeeded: word >> 40)
    self[end + 6] = UInt8(truncatingIfNeeded: word >> 48)
    self[end + 7] = UInt8(truncatingIfNeeded: word >> 56)
    end += length
  }

  /// As `put`, for a word that was read from bytes: where the compiler sees both ends, it moves the
  /// bytes one by one.
  @inline(never)
  fileprivate mutating func copy(_ word: UInt64, length: Int, at end: inout Int) {
    put(word, length: length, at: &end)
  }

  /// Puts the decimal digits of `value`, which is below 10^8, without leading zeros.
  @inline(__always)
  fileprivate mutating func putTrimmed(_ value: UInt64, at end: inout Int) {
    let values = digitValues(value)
    let leading = min(values.trailingZeroBitCount >> 3, 7)  // One zero remains of 0.
    put((values | zeros) >> UInt64(leading * 8), length: 8 - leading, at: &end)
  }

  /// Copies from `utf8` until a byte that must be escaped, and says where that is, or its count.
  @inline(__always)
  fileprivate mutating func copyPlain(
    from utf8: Span<UInt8>, at start: Int, to end: inout Int
  ) -> Int {
    var at = start
    let left = utf8.count - start
    if left < 8 {
      let word = utf8.extracting(droppingFirst: start).shortWord()
      let length = min(plainLength(word), left)
      copy(word, length: length, at: &end)
      return start + length
    }
    repeat {
      // The last word begins before `at` if it must, and overwrites what is there with the same.
      let first = min(at, utf8.count - 8)
      guard let word = utf8.word(at: first) else { break }
      let length = plainLength(word)
      end -= at - first
      copy(word, length: length, at: &end)
      at = first + length
      if length < 8 { break }
    } while at < utf8.count
    return at
  }

  /// Puts the escape for a quote, a backslash or a control byte.
  fileprivate mutating func putEscape(of byte: UInt8, at end: inout Int) {
    put(ASCII.backslash, at: &end)
    switch byte {
    case ASCII.quote, ASCII.backslash: put(byte, at: &end)
    case 0x08: put(UInt8(ascii: "b"), at: &end)
    case 0x09: put(UInt8(ascii: "t"), at: &end)
    case 0x0A: put(UInt8(ascii: "n"), at: &end)
    case 0x0C: put(UInt8(ascii: "f"), at: &end)
    case 0x0D: put(UInt8(ascii: "r"), at: &end)
    default:
      put(UInt8(ascii: "u"), at: &end)
      put(ASCII.zero, at: &end)
      put(ASCII.zero, at: &end)
      put(ASCII.zero + byte >> 4, at: &end)
      let low = byte & 0x0F
      put(low < 10 ? ASCII.zero + low : UInt8(ascii: "a") + low - 10, at: &end)
    }
  }
}
