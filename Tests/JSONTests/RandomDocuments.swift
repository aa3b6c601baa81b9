import TestSupport

/// Documents at random, each as a value and as one of the many texts that mean it.
struct RandomDocuments {
  var random: SplitMix64

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  /// A value of at most `depth` arrays and objects inside each other, keys of an object all
  /// different.
  mutating func value(depth: Int = 4) -> Value {
    switch Int.random(in: 0..<(depth > 0 ? 10 : 7), using: &random) {
    case 0: return .null
    case 1: return .boolean(Bool.random(using: &random))
    case 2:
      return .integer(Int64(bitPattern: random.next()) >> Int64.random(in: 0...63, using: &random))
    case 3: return .number(number())
    case 4...6: return .string(string())
    case 7, 8:
      var members: [Value.Member] = []
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        let key = string()
        if members.contains(where: {
          String(decoding: $0.key, as: UTF8.self) == String(decoding: key, as: UTF8.self)
        }) {
          continue
        }
        members.append(Value.Member(key: key, value: value(depth: depth - 1)))
      }
      return .object(members)
    default:
      return .array(
        (0..<Int.random(in: 0...4, using: &random)).map { _ in value(depth: depth - 1) })
    }
  }

  /// A text that means `value`: white space, escapes and notation at random.
  mutating func text(of value: Value) -> [UInt8] {
    var output: [UInt8] = []
    append(value, to: &output)
    space(&output)
    return output
  }

  private mutating func append(_ value: Value, to output: inout [UInt8]) {
    space(&output)
    switch value {
    case .null: output += Array("null".utf8)
    case .boolean(let value): output += Array("\(value)".utf8)
    case .integer(let value): output += Array("\(value)".utf8)
    case .number(let text): output += Array(text.utf8)
    case .string(let bytes): append(string: bytes, to: &output)
    case .array(let elements):
      output.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        append(element, to: &output)
        space(&output)
      }
      if elements.isEmpty { space(&output) }
      output.append(UInt8(ascii: "]"))
    case .object(let members):
      output.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        space(&output)
        append(string: member.key, to: &output)
        space(&output)
        output.append(UInt8(ascii: ":"))
        append(member.value, to: &output)
        space(&output)
      }
      if members.isEmpty { space(&output) }
      output.append(UInt8(ascii: "}"))
    }
  }

  private mutating func append(string: [UInt8], to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    for scalar in String(decoding: string, as: UTF8.self).unicodeScalars {
      let mustEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
      if !mustEscape && Int.random(in: 0..<8, using: &random) > 0 {
        output += Array(String(scalar).utf8)
      } else if let short = Self.shortEscapes[scalar], Bool.random(using: &random) {
        output += Array("\\\(short)".utf8)
      } else {
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16, uppercase: Bool.random(using: &random))
          output += Array("\\u".utf8) + Array(repeating: UInt8(ascii: "0"), count: 4 - digits.count)
          output += Array(digits.utf8)
        }
      }
    }
    output.append(UInt8(ascii: "\""))
  }

  private static let shortEscapes: [Unicode.Scalar: String] = [
    "\"": "\"", "\\": "\\", "/": "/", "\u{8}": "b", "\u{C}": "f", "\n": "n", "\r": "r", "\t": "t",
  ]

  private mutating func space(_ output: inout [UInt8]) {
    while Int.random(in: 0..<6, using: &random) == 0 {
      output.append([0x20, 0x09, 0x0A, 0x0D].randomElement(using: &random)!)
    }
  }

  private mutating func string() -> [UInt8] {
    var text = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...20, using: &random) {
      let reach: Range<UInt32> = [
        0..<0x20, 0x20..<0x80, 0x20..<0x80, 0x20..<0x80, 0x22..<0x23, 0x5C..<0x5D, 0x80..<0x800,
        0x800..<0xD800, 0xE000..<0x1_0000, 0x1_0000..<0x11_0000,
      ].randomElement(using: &random)!
      text.append(Unicode.Scalar(UInt32.random(in: reach, using: &random))!)
    }
    return Array(String(text).utf8)
  }

  /// A number that is not a 64-bit integer as the scanner reads one.
  private mutating func number() -> String {
    let whole = "\(Int.random(in: -999...999, using: &random))"
    let fraction = ".\(Int.random(in: 0...99999, using: &random))"
    let exponent =
      ["e", "E"].randomElement(using: &random)! + ["", "+", "-"].randomElement(using: &random)!
      + "\(Int.random(in: 0...30, using: &random))"
    switch Int.random(in: 0..<3, using: &random) {
    case 0: return whole + fraction
    case 1: return whole + exponent
    default: return whole + fraction + exponent
    }
  }
}
