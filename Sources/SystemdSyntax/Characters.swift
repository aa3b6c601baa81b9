extension Character {
  /// `0` to `9`: not the digits of other scripts.
  package var isASCIIDigit: Bool { isASCII && self >= "0" && self <= "9" }

  /// A space or a tab.
  package var isASCIISpace: Bool { self == " " || self == "\t" }
}

extension Substring {
  /// Without the spaces and tabs at both ends.
  package func trimmingSpaces() -> Substring {
    var trimmed = self.drop { $0.isASCIISpace }
    while trimmed.last?.isASCIISpace == true { trimmed.removeLast() }
    return trimmed
  }
}

extension Unicode.Scalar {
  /// Whether it could command a terminal or make it show something else: a control character, or a mark
  /// that turns the direction of what follows.
  package var isHarmful: Bool {
    switch value {
    case 0..<0x20, 0x7f..<0xa0, 0x2028...0x202e, 0x2066...0x2069, 0x200e, 0x200f, 0x61c: true
    // What shows nothing and changes what stands beside it; but a joiner makes one emoji of several.
    default: value >= 0xad && value != 0x200d && properties.generalCategory == .format
    }
  }
}

extension String {
  /// Fit for a message of one line: cut after so many scalars, and what is harmful written as an escape.
  package func shown(atMost limit: Int = 80) -> String {
    var text = ""
    for scalar in unicodeScalars.prefix(limit) {
      if scalar.isHarmful {
        text += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return unicodeScalars.dropFirst(limit).isEmpty ? text : text + "…"
  }
}
