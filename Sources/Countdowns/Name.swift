/// The rule of names: valid UTF-8, 1 to 255 bytes, no control characters.
///
/// Names are bytes and are compared bytewise: `e` with a combining accent and the precomposed letter
/// are two names. The rule leaves two byte values free that the rest of this module builds on: NUL
/// (it ends a key in ``NameIndex``) and 0xFF (it ends a free block in ``NameStore``).
package enum Name {
  /// The lengths a name may have, in bytes.
  package static let lengths = 1...255

  /// What is wrong with some bytes that were meant as a name.
  package enum Problem: Error, Equatable {
    case empty
    /// More than 255 bytes.
    case tooLong
    case notUTF8
    /// C0 with NUL, DEL, or C1 (U+0080 to U+009F).
    case controlCharacter
  }

  /// The first rule that `bytes` breaks, in the order of ``Problem``; `nil` for a name.
  ///
  /// - Complexity: O(length), and O(1) for bytes that are too long.
  package static func problem(in bytes: Span<UInt8>) -> Problem? {
    if bytes.isEmpty { return .empty }
    if bytes.count > lengths.upperBound { return .tooLong }
    // Most names are printable ASCII, and then nothing else needs a look.
    var isPlain = true
    for index in bytes.indices { isPlain = isPlain && (0x20..<0x7F).contains(bytes[index]) }
    if isPlain { return nil }

    guard (try? UTF8Span(validating: bytes)) != nil else { return .notUTF8 }
    for index in bytes.indices {
      switch bytes[index] {
      case 0..<0x20, 0x7F: return .controlCharacter
      // In valid UTF-8, 0xC2 leads the code points U+0080 to U+00BF.
      case 0xC2 where bytes[index + 1] < 0xA0: return .controlCharacter
      default: break
      }
    }
    return nil
  }
}
