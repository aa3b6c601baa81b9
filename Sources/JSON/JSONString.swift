/// A string as it stands in the scanned bytes, already checked: a place, not a copy.
///
/// It means something only together with the bytes it was scanned from; with others its methods
/// give a wrong answer or trap.
@usableFromInline package struct JSONString: Equatable, Sendable {
  /// Where it stands, without its quotes.
  @usableFromInline package let range: Range<Int>

  /// Whether a backslash is in it, so that it has to be decoded; without one its bytes are its
  /// value.
  @usableFromInline package let hasEscapes: Bool

  init(range: Range<Int>, hasEscapes: Bool) {
    self.range = range
    self.hasEscapes = hasEscapes
  }

  /// Appends its value as UTF-8, escapes decoded, to `output`. O(length).
  ///
  /// - Parameter bytes: Those it was scanned from.
  package func appendDecoded(from bytes: Span<UInt8>, to output: inout [UInt8]) {
    // Decoding never makes a string longer: an escape of six bytes stands for three at most.
    let token = bytes.extracting(range)
    // Appending nothing would still write to the storage that all empty arrays share.
    guard !token.isEmpty else { return }
    output.append(addingCapacity: token.count) { (output: inout OutputSpan<UInt8>) in
      var at = 0
      while at < token.count {
        guard token[at] == ASCII.backslash else {
          output.append(token[at])
          at += 1
          continue
        }
        let character = token.decodedEscape(at: at)
        for index in 0..<character.length { output.append(character.utf8[index]) }
        at = character.end
      }
    }
  }

  /// Whether its value is exactly `text`, byte for byte, whichever characters it writes as escapes.
  ///
  /// O(length of `text`) however long the string is; without allocating.
  ///
  /// - Parameter bytes: Those it was scanned from.
  @inlinable @inline(__always)
  package func matches(_ text: String, in bytes: Span<UInt8>) -> Bool {
    // In a chain of comparisons most end here: the length of a literal is a constant.
    if range.count != text.utf8.count && !hasEscapes { return false }
    return isEqual(to: text, in: bytes)
  }

  /// As `matches`.
  @usableFromInline
  func isEqual(to text: String, in bytes: Span<UInt8>) -> Bool {
    // Byte by byte, as in the writer: no span of a `String` is taken.
    if hasEscapes { return isEqualDecoded(to: text, in: bytes) }
    guard range.count == text.utf8.count else { return false }
    var at = range.lowerBound
    for byte in text.utf8 {
      guard bytes[at] == byte else { return false }
      at += 1
    }
    return true
  }

  /// As `matches`, for a string with escapes.
  private func isEqualDecoded(to text: String, in bytes: Span<UInt8>) -> Bool {
    var expected = text.utf8.makeIterator()
    let token = bytes.extracting(range)
    var at = 0
    while at < token.count {
      guard token[at] == ASCII.backslash else {
        guard token[at] == expected.next() else { return false }
        at += 1
        continue
      }
      let character = token.decodedEscape(at: at)
      for index in 0..<character.length {
        guard character.utf8[index] == expected.next() else { return false }
      }
      at = character.end
    }
    return expected.next() == nil
  }
}

extension Span<UInt8> {
  /// The UTF-8 of the character that a checked escape at `start` stands for, and where the escape
  /// ends.
  fileprivate func decodedEscape(at start: Int) -> (utf8: [4 of UInt8], length: Int, end: Int) {
    guard let (value, end) = try? escape(at: start) else {
      fatalError("a JSONString was used with bytes that it was not scanned from")
    }
    let last = UInt8(truncatingIfNeeded: value & 0x3F) | 0x80
    let third = UInt8(truncatingIfNeeded: value >> 6 & 0x3F) | 0x80
    let second = UInt8(truncatingIfNeeded: value >> 12 & 0x3F) | 0x80
    switch value {
    case 0..<0x80: return ([UInt8(value), 0, 0, 0], 1, end)
    case 0x80..<0x800: return ([UInt8(value >> 6) | 0xC0, last, 0, 0], 2, end)
    case 0x800..<0x1_0000: return ([UInt8(value >> 12) | 0xE0, third, last, 0], 3, end)
    default: return ([UInt8(value >> 18) | 0xF0, second, third, last], 4, end)
    }
  }
}
