import JSON

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
    case .number(let text): writer.raw(Array(text.utf8).span)
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
