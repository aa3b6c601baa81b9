/// Writes JSON into an array of bytes that it owns for the time, one value after the other.
///
/// It puts commas where they belong and nothing else between values. It does not check that what is begun is
/// ended, nor that every key has one value: the caller writes what the scanner would read.
/// Nothing is allocated but the array's own growth, so an array that is used again and again costs nothing.
package struct JSONWriter: ~Copyable {
  private var bytes: [UInt8]

  /// Whether a comma must come before the next key or value. One flag does for all levels: what comes first in
  /// an array, an object, or after a key needs none, and whatever follows an ended value needs one.
  private var needsComma = false

  /// Appends to `bytes`, which are kept as they are.
  package init(reusing bytes: consuming [UInt8]) {
    self.bytes = bytes
  }

  /// How many bytes there are, with those that were there before.
  package var count: Int { bytes.count }

  /// Gives the bytes back.
  package consuming func take() -> [UInt8] { bytes }

  /// Begins an object, to be filled by `key` and a value in turn.
  package mutating func beginObject() {
    separate()
    bytes.append(ASCII.leftBrace)
    needsComma = false
  }

  /// Ends the object begun last.
  package mutating func endObject() {
    bytes.append(ASCII.rightBrace)
    needsComma = true
  }

  /// Begins an array, to be filled by values.
  package mutating func beginArray() {
    separate()
    bytes.append(ASCII.leftBracket)
    needsComma = false
  }

  /// Ends the array begun last.
  package mutating func endArray() {
    bytes.append(ASCII.rightBracket)
    needsComma = true
  }

  /// Writes the key that the next value belongs to.
  package mutating func key(_ key: String) {
    separate()
    quote(key.utf8Span.span)
    bytes.append(ASCII.colon)
    needsComma = false
  }

  /// Writes a string. Its bytes must be valid UTF-8; only `"`, `\` and control bytes are escaped.
  package mutating func string(_ utf8: Span<UInt8>) {
    separate()
    quote(utf8)
    needsComma = true
  }

  /// Writes a string. Only `"`, `\` and control bytes are escaped.
  package mutating func string(_ string: String) {
    self.string(string.utf8Span.span)
  }

  /// Writes an integer in decimal.
  package mutating func integer(_ value: Int64) {
    separate()
    if value < 0 { bytes.append(ASCII.minus) }
    digits(value.magnitude)
    needsComma = true
  }

  /// Writes an integer in decimal. A reader of signed 64-bit integers cannot take more than `Int64.max`.
  package mutating func integer(_ value: UInt64) {
    separate()
    digits(value)
    needsComma = true
  }

  /// Writes `true` or `false`.
  package mutating func boolean(_ value: Bool) {
    raw((value ? "true" : "false").utf8Span.span)
  }

  /// Writes `null`.
  package mutating func null() {
    raw("null".utf8Span.span)
  }

  /// Writes one value that is JSON already, byte for byte.
  package mutating func raw(_ json: Span<UInt8>) {
    separate()
    append(json)
    needsComma = true
  }

  /// Appends a byte that is not part of any value, such as what ends a message; the next value is a first one.
  package mutating func terminate(with byte: UInt8) {
    bytes.append(byte)
    needsComma = false
  }

  private mutating func separate() {
    if needsComma { bytes.append(ASCII.comma) }
  }

  private mutating func append(_ span: Span<UInt8>) {
    bytes.append(addingCapacity: span.count) { (output: inout OutputSpan<UInt8>) in
      for index in span.indices { output.append(span[index]) }
    }
  }

  /// Appends `utf8` as a string token.
  private mutating func quote(_ utf8: Span<UInt8>) {
    // The longest escape has six bytes.
    bytes.append(addingCapacity: utf8.count * 6 + 2) { (output: inout OutputSpan<UInt8>) in
      output.append(ASCII.quote)
      for index in utf8.indices {
        let byte = utf8[index]
        if byte >= ASCII.space && byte != ASCII.quote && byte != ASCII.backslash {
          output.append(byte)
        } else {
          output.appendEscape(of: byte)
        }
      }
      output.append(ASCII.quote)
    }
  }

  /// Appends the decimal digits of `value`.
  private mutating func digits(_ value: UInt64) {
    var reversed = [20 of UInt8](repeating: 0)
    var rest = value
    var count = 0
    repeat {
      let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
      reversed[count] = ASCII.zero + UInt8(truncatingIfNeeded: digit)
      count += 1
      rest = quotient
    } while rest > 0
    bytes.append(addingCapacity: count) { (output: inout OutputSpan<UInt8>) in
      while count > 0 {
        count -= 1
        output.append(reversed[count])
      }
    }
  }
}

extension OutputSpan<UInt8> {
  /// Appends the escape for a quote, a backslash or a control byte.
  fileprivate mutating func appendEscape(of byte: UInt8) {
    append(ASCII.backslash)
    switch byte {
    case ASCII.quote, ASCII.backslash: append(byte)
    case 0x08: append(UInt8(ascii: "b"))
    case 0x09: append(UInt8(ascii: "t"))
    case 0x0A: append(UInt8(ascii: "n"))
    case 0x0C: append(UInt8(ascii: "f"))
    case 0x0D: append(UInt8(ascii: "r"))
    default:
      append(UInt8(ascii: "u"))
      append(ASCII.zero)
      append(ASCII.zero)
      append(ASCII.zero + byte >> 4)
      let low = byte & 0x0F
      append(low < 10 ? ASCII.zero + low : UInt8(ascii: "a") + low - 10)
    }
  }
}
