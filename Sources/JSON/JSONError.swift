// JSON (RFC 8259) over bytes, as a daemon's protocol needs it: a pull parser that is bounded in
// depth and never recurses, a writer, and the check that a value is an I-JSON object (RFC 7493).
// The module builds no tree, knows no protocol, and never copies a value that can stay in its
// buffer. It reads UTF-8 only, without a byte order mark. Read next: JSONScanner.swift.

/// Why bytes were refused, and where.
package struct JSONError: Error, Equatable {
  /// What was wrong.
  package enum Kind: Equatable, Sendable {
    /// The bytes end inside a value, or where one had to begin.
    case unexpectedEnd
    /// A byte that the grammar does not allow there; also a control byte inside a string.
    case unexpectedByte
    /// Not UTF-8: a stray, overlong or missing byte, a surrogate, or something past U+10FFFF.
    case invalidUTF8
    /// A backslash that does not begin one of the escapes of RFC 8259, section 7.
    case invalidEscape
    /// A `\u` escape for one half of a surrogate pair without the other: no character, and no
    /// UTF-8.
    case loneSurrogate
    /// More arrays and objects inside each other than allowed.
    case tooDeep
    /// The value is sound so far, but not of the kind that was asked for.
    case wrongKind
    /// A number with a fraction or an exponent, or one that does not fit 64 bits.
    case notAnInteger
    /// An object has the same key twice. Only the check for I-JSON looks for it.
    case duplicateKey
    /// A character that Unicode reserves for internal use. Only the check for I-JSON looks for it.
    case noncharacter
    /// Something other than white space follows the value.
    case trailingBytes
  }

  /// What was wrong.
  package var kind: Kind

  /// Index of the byte at fault, from the start of the scanned bytes; where the whole value is at
  /// fault (its kind, depth, key) that of its first byte, and at an unexpected end the bytes'
  /// count.
  package var offset: Int

  /// An error of this kind at this byte.
  package init(_ kind: Kind, at offset: Int) {
    self.kind = kind
    self.offset = offset
  }
}
