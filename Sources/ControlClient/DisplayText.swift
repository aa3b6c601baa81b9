import SystemdSyntax

/// `text` with whatever could command a terminal, or make it show something else, written as an escape.
///
/// Those are control characters, and the marks that turn the direction of what follows.
package func harmless(_ text: String) -> String {
  guard text.unicodeScalars.contains(where: \.isHarmful) else { return text }
  var result = ""
  for scalar in text.unicodeScalars {
    if scalar.isHarmful {
      result += "\\u{\(String(scalar.value, radix: 16))}"
    } else {
      result.unicodeScalars.append(scalar)
    }
  }
  return result
}

/// JSON on one line: line ends between its values, the only ones there can be, become spaces.
///
/// - Parameter escapingControls: Also writes what stands raw in strings and could command a terminal as
///   JSON's own escapes, so that it still means the same.
package func oneLine(json: [UInt8], escapingControls: Bool) -> String {
  let line = json.map { $0 == 0x0a || $0 == 0x0d ? 0x20 : $0 }
  let text = String(decoding: line, as: UTF8.self)
  guard escapingControls, text.unicodeScalars.contains(where: \.isHarmful) else { return text }
  var result = ""
  for scalar in text.unicodeScalars {
    if scalar.isHarmful, scalar != "\t" {
      for unit in String(scalar).utf16 {
        let digits = String(unit, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }
    } else {
      result.unicodeScalars.append(scalar)
    }
  }
  return result
}

/// How many columns a terminal needs for `text`: two for wide characters, none for marks on others.
package func columns(of text: String) -> Int {
  text.reduce(0) { $0 + columns(of: $1) }
}

private func columns(of character: Character) -> Int {
  guard let first = character.unicodeScalars.first else { return 0 }
  if first.properties.generalCategory == .nonspacingMark { return 0 }
  // East Asian wide and full-width letters, and what is shown as an emoji.
  let isEmoji =
    first.properties.isEmojiPresentation
    || character.unicodeScalars.contains { $0.value == 0xfe0f }
  let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115f, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0x9fff,
    0xa000...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60,
    0xffe0...0xffe6, 0x20000...0x3fffd,
  ]
  return isEmoji || wide.contains { $0.contains(first.value) } ? 2 : 1
}

/// A colour, or another way in which a terminal can show text.
package enum TextStyle: String, Sendable {
  case plain = ""
  case bold = "1"
  case dim = "2"
  case red = "31"
  case green = "32"
  case yellow = "33"
  case cyan = "36"

  /// The colour of a state, or of an event's kind.
  package static func style(ofState state: String) -> TextStyle {
    switch state {
    case "running", "started", "resumed": .green
    case "paused": .yellow
    case "expired": .cyan
    case "missed": .red
    case "cancelled": .dim
    default: .plain
    }
  }

  /// `text` in this style. It must be ``harmless(_:)``.
  package func applied(to text: String) -> String {
    self == .plain || text.isEmpty ? text : "\u{1b}[\(rawValue)m\(text)\u{1b}[0m"
  }
}

/// Rows of cells in columns as wide as their widest cell.
package struct Table: Sendable {
  /// What stands in one place.
  package struct Cell: Sendable {
    fileprivate let text: String
    fileprivate let style: TextStyle
    fileprivate let width: Int

    /// - Parameter text: Anything; it is made harmless.
    package init(_ text: String, _ style: TextStyle = .plain) {
      self.text = harmless(text)
      self.style = style
      width = columns(of: self.text)
    }
  }

  /// On which side of a column its cells stand.
  package enum Side: Sendable { case left, right }

  private let sides: [Side]
  private var rows: [[Cell]] = []

  /// Begins with a heading for each column; an empty list of headings has none.
  package init(_ headings: [(text: String, side: Side)], hasHeadings: Bool = true) {
    sides = headings.map(\.side)
    if hasHeadings { rows.append(headings.map { Cell($0.text, .dim) }) }
  }

  /// Adds a row: a cell for each column.
  package mutating func add(_ cells: [Cell]) {
    precondition(cells.count == sides.count)
    rows.append(cells)
  }

  /// All rows, each ended by a line end; columns two spaces apart, and no space at an end.
  package func text(withStyles: Bool) -> String {
    let widths = sides.indices.map { column in rows.map { $0[column].width }.max() ?? 0 }
    var text = ""
    for row in rows {
      var spaces = 0  // Written only before something.
      for (column, cell) in row.enumerated() {
        let room = widths[column] - cell.width
        if sides[column] == .right { spaces += room }
        if !cell.text.isEmpty {
          text += String(repeating: " ", count: spaces)
          text += withStyles ? cell.style.applied(to: cell.text) : cell.text
          spaces = 0
        } else {
          spaces += cell.width
        }
        if sides[column] == .left { spaces += room }
        spaces += 2
      }
      text += "\n"
    }
    return text
  }
}
