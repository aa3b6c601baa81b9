// SystemdSyntax: the ways of writing that systemd's users know: files of sections and assignments,
// lengths of time, sizes. It knows what is written and not what it means, neither which keys there are
// nor where files lie. Read Statement next, then TimeSpan and Quantity.

/// A section's header or an assignment, as a file in the style of systemd's units has them.
///
/// Source: systemd.syntax(7). Lines that begin with `#` or `;` are comments; white space around a line
/// and around `=` counts for nothing, nor does a carriage return; a line that ends in a backslash goes on
/// in the next one that is no comment, with a space between. Unlike systemd, which warns and goes on,
/// this refuses a line that is neither: half a configuration is worse than none.
package struct Statement: Equatable, Sendable {
  /// Where it stands.
  package let position: SourcePosition
  /// What it says.
  package let content: Content

  /// The two kinds there are.
  package enum Content: Equatable, Sendable {
    /// `[Name]`.
    case section(String)
    /// `Key=value`. The key is not empty; an empty value resets the key to its default.
    case assignment(key: String, value: String)
  }

  /// The longest file that is read, in bytes: that is also systemd's longest line.
  package static let longestFile = 1 << 20

  /// All statements of a file, in order. O(bytes).
  ///
  /// - Throws: Where something is neither, is no UTF-8 (comments may be anything), or where a NUL says
  ///   that this is no text; line 1 for a file longer than ``longestFile``.
  package static func all(in file: SourceFile) throws(SourceError) -> [Statement] {
    guard file.bytes.count <= longestFile else {
      throw SourceError(
        at: SourcePosition(file: file.name, line: 1), "the file is longer than 1 MiB")
    }
    var statements: [Statement] = []
    var line: [UInt8] = []  // What has been joined of one that goes on.
    var start: Int?
    var rest = file.bytes[...]
    if rest.starts(with: [0xef, 0xbb, 0xbf]) { rest = rest.dropFirst(3) }  // A byte order mark.
    var number = 0
    while !rest.isEmpty {
      number += 1
      let physical = rest.prefix { $0 != ASCII.lineFeed }
      rest = rest.dropFirst(physical.count + 1)
      guard !physical.contains(0) else {
        throw SourceError(
          at: SourcePosition(file: file.name, line: number), "a NUL: the file is not text")
      }
      let part = physical.trimmed()
      if let first = part.first, ASCII.comments.contains(first) { continue }
      line += part
      let first = start ?? number
      if part.reversed().prefix(while: { $0 == ASCII.backslash }).count % 2 == 1 {
        line[line.count - 1] = ASCII.space
        start = first
        continue
      }
      try append(line, at: SourcePosition(file: file.name, line: first), to: &statements)
      line.removeAll(keepingCapacity: true)
      start = nil
    }
    // A file may end in a backslash.
    if let start {
      try append(line, at: SourcePosition(file: file.name, line: start), to: &statements)
    }
    return statements
  }

  /// Reads one line, whole, and appends what it says; nothing if it is blank.
  private static func append(
    _ bytes: [UInt8], at position: SourcePosition, to statements: inout [Statement]
  ) throws(SourceError) {
    let line = bytes[...].trimmed()
    guard !line.isEmpty else { return }
    guard let text = String(validating: line, as: UTF8.self) else {
      throw SourceError(at: position, "the line is not valid UTF-8")
    }
    if line.first == ASCII.leftBracket {
      guard line.count > 2, line.last == ASCII.rightBracket else {
        throw SourceError(
          at: position,
          "\(text.shown()): a section is written [Name], with nothing behind it on its line")
      }
      let name = String(decoding: line.dropFirst().dropLast(), as: UTF8.self)
      statements.append(Statement(position: position, content: .section(name)))
      return
    }
    // By bytes, as a `=` before a combining character is no `=` to Swift.
    let key = line.prefix { $0 != ASCII.equals }
    guard key.count < line.count, !key.isEmpty else {
      throw SourceError(at: position, "\(text.shown()): write Key=value, [Section] or # comment")
    }
    let content = Content.assignment(
      key: String(decoding: key.trimmed(), as: UTF8.self),
      value: String(decoding: line.dropFirst(key.count + 1).trimmed(), as: UTF8.self))
    statements.append(Statement(position: position, content: content))
  }
}

private enum ASCII {
  static let lineFeed = UInt8(ascii: "\n")
  static let space = UInt8(ascii: " ")
  static let backslash = UInt8(ascii: "\\")
  static let leftBracket = UInt8(ascii: "[")
  static let rightBracket = UInt8(ascii: "]")
  static let equals = UInt8(ascii: "=")
  static let comments = [UInt8(ascii: "#"), UInt8(ascii: ";")]
}

extension ArraySlice<UInt8> {
  /// Without the spaces, tabs and carriage returns at both ends.
  fileprivate func trimmed() -> ArraySlice<UInt8> {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0d }
    var trimmed = self.drop(while: isBlank)
    while let last = trimmed.last, isBlank(last) { trimmed = trimmed.dropLast() }
    return trimmed
  }
}
