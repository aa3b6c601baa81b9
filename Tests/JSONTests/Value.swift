import JSON
import TestSupport

/// A whole document as a tree: what the tests compare, and what the daemon never builds.
///
/// Strings are bytes, since `String` takes canonically equivalent ones for equal.
enum Value: Equatable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case number(String)  // As written, where it is no 64-bit integer.
  case string([UInt8])
  case array([Value])
  case object([Member])

  struct Member: Equatable {
    var key: [UInt8]
    var value: Value
  }

  static func string(_ text: String) -> Value { .string(Array(text.utf8)) }

  /// The value that `bytes` are, and nothing after it.
  init(_ bytes: [UInt8], maximumDepth: Int = 32) throws(JSONError) {
    var scanner = JSONScanner(bytes.span, maximumDepth: maximumDepth)
    self = try Value(from: &scanner)
    try scanner.end()
  }

  init(_ text: String) throws(JSONError) { try self.init(Array(text.utf8)) }

  private init(from scanner: inout JSONScanner) throws(JSONError) {
    switch try scanner.valueKind {
    case .null:
      try scanner.readNull()
      self = .null
    case .boolean: self = .boolean(try scanner.readBoolean())
    case .string:
      let string = try scanner.readString()
      self = .string(Value.decoded(string, in: scanner))
    case .number:
      do throws(JSONError) {
        self = .integer(try scanner.readInteger())
      } catch {
        guard error.kind == .notAnInteger else { throw error }
        let range = try scanner.skipValue()
        let bytes = range.map { scanner.bytes[$0] }
        self = .number(String(decoding: bytes, as: UTF8.self))
      }
    case .array:
      var elements: [Value] = []
      try scanner.beginArray()
      while try scanner.nextElement() { elements.append(try Value(from: &scanner)) }
      self = .array(elements)
    case .object:
      var members: [Member] = []
      try scanner.beginObject()
      while let key = try scanner.nextKey() {
        let decoded = Value.decoded(key, in: scanner)
        members.append(Member(key: decoded, value: try Value(from: &scanner)))
      }
      self = .object(members)
    }
  }

  private static func decoded(_ string: JSONString, in scanner: borrowing JSONScanner) -> [UInt8] {
    var decoded: [UInt8] = []
    string.appendDecoded(from: scanner.bytes, to: &decoded)
    return decoded
  }

  /// What the writer makes of it.
  var written: [UInt8] {
    var writer = JSONWriter(reusing: [])
    write(to: &writer)
    return writer.take()
  }

  private func write(to writer: inout JSONWriter) {
    switch self {
    case .null: writer.null()
    case .boolean(let value): writer.boolean(value)
    case .integer(let value): writer.integer(value)
    case .number(let text): writer.raw(text.utf8Span.span)
    case .string(let bytes): writer.string(bytes.span)
    case .array(let elements):
      writer.beginArray()
      for element in elements { element.write(to: &writer) }
      writer.endArray()
    case .object(let members):
      writer.beginObject()
      for member in members {
        writer.key(String(decoding: member.key, as: UTF8.self))
        member.value.write(to: &writer)
      }
      writer.endObject()
    }
  }
}

/// Documents at random, each as a value and as one of the many texts that mean it.
struct RandomDocuments {
  var random: SplitMix64

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  /// A value of at most `depth` arrays and objects inside each other, keys of an object all different.
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
