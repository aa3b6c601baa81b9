/// What a JSON value is, told by its first byte.
package enum JSONKind: Equatable, Sendable {
  case object, array, string, number, boolean, null
}

/// Reads JSON from bytes, one value at a time, as its caller asks for it.
///
/// The caller says what it expects and the scanner checks: `beginObject()`, then `nextKey()` until
/// it answers `nil`, with exactly one value read or skipped after each key; likewise `beginArray()`
/// and `nextElement()`; in the end `end()`. Nothing is copied and nothing is allocated.
///
/// Whatever throws leaves the scanner where it was. Where a value was asked for that is the value,
/// so a caller who learns that it is of the wrong kind can note that, and go on with `skipValue()`.
///
/// Invariants: `offset` is within the bytes or at their end; where a value is expected next, it is
/// at the first byte of that value, past white space; `depth` is the number of arrays and objects
/// begun and not ended, and at most `maximumDepth`.
@usableFromInline package struct JSONScanner: ~Escapable {
  /// The bytes it reads.
  @usableFromInline package let bytes: Span<UInt8>

  /// Index of the next byte to read; after an error of a value, of that value's first byte.
  package private(set) var offset: Int

  /// How many arrays and objects may stand inside each other.
  let maximumDepth: Int

  private var depth = 0

  /// Whether the array or object begun last has had no element yet. One flag does for all levels:
  /// an outer one has had an element once an inner one begins.
  private var isFirst = false

  /// The deepest nesting that can be allowed: one bit of a word for each level.
  package static let deepest = 64

  /// Begins before the first byte at or after `start` that is not white space.
  ///
  /// - Parameters:
  ///   - start: 0…count; what it reports are still indices into all of `bytes`.
  ///   - maximumDepth: How many arrays and objects may stand inside each other, 0…64: with 1, `[]`
  ///     is read and `[[]]` is refused.
  @_lifetime(copy bytes)
  package init(_ bytes: Span<UInt8>, from start: Int = 0, maximumDepth: Int = 32) {
    precondition((0...Self.deepest).contains(maximumDepth))
    self.bytes = bytes
    self.maximumDepth = maximumDepth
    offset = bytes.endOfWhiteSpace(at: start)
  }

  /// What the next value is, by its first byte alone; the rest of it may still be refused.
  package var valueKind: JSONKind {
    get throws(JSONError) {
      guard offset < bytes.count else { throw JSONError(.unexpectedEnd, at: offset) }
      switch bytes[offset] {
      case ASCII.quote: return .string
      case ASCII.leftBrace: return .object
      case ASCII.leftBracket: return .array
      case ASCII.minus, UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
      case UInt8(ascii: "t"), UInt8(ascii: "f"): return .boolean
      case UInt8(ascii: "n"): return .null
      default: throw JSONError(.unexpectedByte, at: offset)
      }
    }
  }

  /// Enters an object; then ask for `nextKey()`.
  @_lifetime(self: copy self)
  package mutating func beginObject() throws(JSONError) {
    try begin(ASCII.leftBrace)
  }

  /// Goes to the next member of the object entered last and gives its key; `nil` leaves the object.
  ///
  /// The scanner is then at the member's value, which must be read or skipped before the next key.
  @_lifetime(self: copy self)
  package mutating func nextKey() throws(JSONError) -> JSONString? {
    guard let start = try next(ASCII.rightBrace) else { return nil }
    let key = try bytes.string(at: start)
    offset = try bytes.endOfColon(at: key.range.upperBound + 1)
    isFirst = false
    return key
  }

  /// Enters an array; then ask for `nextElement()`.
  @_lifetime(self: copy self)
  package mutating func beginArray() throws(JSONError) {
    try begin(ASCII.leftBracket)
  }

  /// Goes to the next element of the array entered last; `false` leaves the array.
  ///
  /// The scanner is then at the element, which must be read or skipped before the next.
  @_lifetime(self: copy self)
  package mutating func nextElement() throws(JSONError) -> Bool {
    guard let start = try next(ASCII.rightBracket) else { return false }
    offset = start
    isFirst = false
    return true
  }

  /// Reads a string: checks it and tells where it stands.
  @_lifetime(self: copy self)
  package mutating func readString() throws(JSONError) -> JSONString {
    guard offset < bytes.count, bytes[offset] == ASCII.quote else { throw wrongKind() }
    let string = try bytes.string(at: offset)
    offset = string.range.upperBound + 1
    return string
  }

  /// Reads a number that is written as an integer, `-?(0|[1-9][0-9]*)`, and fits 64 bits.
  ///
  /// Throws `notAnInteger` for any other number, `1.0`, `1e3` and 2^63 among them. What it throws
  /// that for has been looked at only as far as needed; `skipValue()` checks the rest.
  @_lifetime(self: copy self)
  package mutating func readInteger() throws(JSONError) -> Int64 {
    let start = offset
    guard start < bytes.count else { throw wrongKind() }
    let isNegative = bytes[start] == ASCII.minus
    guard isNegative || bytes.isDigit(at: start) else { throw wrongKind() }
    var at = isNegative ? start + 1 : start
    let first = at
    var magnitude: UInt64 = 0
    // 19 digits fit UInt64 (10^19 − 1 < 2^64), so nothing wraps; 20 without a leading zero fit no
    // Int64.
    while at < bytes.count, bytes.isDigit(at: at) {
      guard at - first < 19 else { throw JSONError(.notAnInteger, at: start) }
      magnitude = magnitude &* 10 &+ UInt64(bytes[at] &- ASCII.zero)
      at += 1
    }
    guard at > first else { throw bytes.unexpected(at: at) }
    if bytes[first] == ASCII.zero, at > first + 1 {
      throw JSONError(.unexpectedByte, at: first + 1)  // A leading zero.
    }
    if at < bytes.count, bytes[at] == UInt8(ascii: ".") || bytes[at] | 0x20 == UInt8(ascii: "e") {
      throw JSONError(.notAnInteger, at: start)
    }
    guard magnitude <= (isNegative ? Int64.min.magnitude : Int64.max.magnitude) else {
      throw JSONError(.notAnInteger, at: start)
    }
    offset = at
    // Wraps for −2^63 alone, whose bits are those of its magnitude.
    let bits = Int64(bitPattern: magnitude)
    return isNegative ? 0 &- bits : bits
  }

  /// Reads `true` or `false`.
  @_lifetime(self: copy self)
  package mutating func readBoolean() throws(JSONError) -> Bool {
    guard offset < bytes.count else { throw wrongKind() }
    switch bytes[offset] {
    case UInt8(ascii: "t"):
      offset = try bytes.endOfLiteral(.true, at: offset)
      return true
    case UInt8(ascii: "f"):
      offset = try bytes.endOfLiteral(.false, at: offset)
      return false
    default: throw wrongKind()
    }
  }

  /// Reads `null`.
  @_lifetime(self: copy self)
  package mutating func readNull() throws(JSONError) {
    guard offset < bytes.count, bytes[offset] == UInt8(ascii: "n") else { throw wrongKind() }
    offset = try bytes.endOfLiteral(.null, at: offset)
  }

  /// Reads `null` if that is the next value, and says whether it was; else changes nothing.
  ///
  /// Throws where the value begins as `null` does but is not.
  @_lifetime(self: copy self)
  package mutating func takeNull() throws(JSONError) -> Bool {
    guard offset < bytes.count, bytes[offset] == UInt8(ascii: "n") else { return false }
    offset = try bytes.endOfLiteral(.null, at: offset)
    return true
  }

  /// Checks the whole next value, whatever it is, and goes past it: its syntax, UTF-8 and depth.
  ///
  /// Gives where it stands, from its first byte to its last, for a caller who keeps its bytes as
  /// they are. O(length), without recursion.
  @_lifetime(self: copy self)
  package mutating func skipValue() throws(JSONError) -> Range<Int> {
    var check: IJSONCheck?
    let end = try bytes.endOfValue(
      at: offset, maximumDepth: maximumDepth - depth, check: &check)
    defer { offset = end }
    return offset..<end
  }

  /// Checks that the next value is an I-JSON object (RFC 7493, sections 2.1 and 2.3), and goes past
  /// it.
  ///
  /// Beyond what `skipValue()` checks: it is an object, no object in it has a key twice (`"a"` and
  /// `"\u0061"` are the same key), and no string or key contains a noncharacter. Depth is counted
  /// from the value itself. Number values are not judged: section 2.2 only advises. O(n log n) for
  /// n bytes, without recursion; allocates where more than 16 keys are open at once.
  ///
  /// - Parameter maximumDepth: How many arrays and objects may stand inside each other, 1…64: with
  ///   1, `{"a":1}` is accepted and `{"a":{}}` is refused.
  @_lifetime(self: copy self)
  package mutating func skipIJSONObject(maximumDepth: Int) throws(JSONError) -> Range<Int> {
    precondition((1...Self.deepest).contains(maximumDepth))
    guard offset < bytes.count, bytes[offset] == ASCII.leftBrace else { throw wrongKind() }
    var check: IJSONCheck? = IJSONCheck()
    let end = try bytes.endOfValue(at: offset, maximumDepth: maximumDepth, check: &check)
    defer { offset = end }
    return offset..<end
  }

  /// Checks that nothing but white space follows.
  @_lifetime(self: copy self)
  package mutating func end() throws(JSONError) {
    precondition(depth == 0, "an array or object is not read to its end")
    let end = bytes.endOfWhiteSpace(at: offset)
    guard end == bytes.count else { throw JSONError(.trailingBytes, at: end) }
    offset = end
  }

  /// Whether the value of `string` is exactly `text`, byte for byte; without allocating.
  @inlinable @inline(__always)
  package func matches(_ string: JSONString, _ text: String) -> Bool {
    string.matches(text, in: bytes)
  }

  /// The value of `string`, decoded.
  package func text(of string: JSONString) -> String {
    var decoded: [UInt8] = []
    string.appendDecoded(from: bytes, to: &decoded)
    return String(decoding: decoded, as: UTF8.self)
  }

  @_lifetime(self: copy self)
  private mutating func begin(_ opening: UInt8) throws(JSONError) {
    guard offset < bytes.count, bytes[offset] == opening else { throw wrongKind() }
    guard depth < maximumDepth else { throw JSONError(.tooDeep, at: offset) }
    depth += 1
    offset += 1
    isFirst = true
  }

  /// Where the next element or key begins, with a comma before it unless it is the first; `nil`
  /// where `closing` stands instead, which is passed.
  @_lifetime(self: copy self)
  private mutating func next(_ closing: UInt8) throws(JSONError) -> Int? {
    precondition(depth > 0, "no array or object has been begun")
    let start = bytes.endOfWhiteSpace(at: offset)
    guard start < bytes.count else { throw JSONError(.unexpectedEnd, at: start) }
    if bytes[start] == closing {
      offset = start + 1
      depth -= 1
      isFirst = false
      return nil
    }
    if isFirst { return start }
    guard bytes[start] == ASCII.comma else { throw JSONError(.unexpectedByte, at: start) }
    return bytes.endOfWhiteSpace(at: start + 1)
  }

  /// The error for a value that is not what was asked for: its syntax, if not even its first byte
  /// is right.
  private func wrongKind() -> JSONError {
    do throws(JSONError) {
      _ = try valueKind
      return JSONError(.wrongKind, at: offset)
    } catch {
      return error
    }
  }
}
