internal import ControlInterface

/// A Varlink interface file, read: the tests' oracle for what may be asked and answered.
package struct InterfaceDescription: Sendable {
  package struct Field: Hashable, Sendable {
    package let name: String
    package let type: Kind
  }

  package indirect enum Kind: Hashable, Sendable {
    case boolean, integer, float, string, object, any
    case named(String)
    case optional(Kind)
    case array(Kind)
    case dictionary(Kind)
    case structure([Field])
    case enumeration([String])
  }

  package struct Method: Hashable, Sendable {
    package let parameters: [Field]
    package let reply: [Field]
  }

  package private(set) var name = ""
  package private(set) var types: [String: Kind] = [:]
  package private(set) var methods: [String: Method] = [:]
  package private(set) var errors: [String: [Field]] = [:]

  /// Ours.
  package static let countdown = parsed(InterfaceFile.text)

  private static func parsed(_ text: [UInt8]) -> InterfaceDescription {
    do {
      return try InterfaceDescription(String(decoding: text, as: UTF8.self))
    } catch {
      fatalError("the interface file cannot be read: \(error)")
    }
  }

  /// What was expected where.
  package struct ParseError: Error, Equatable {
    package let expected: String
    package let found: String
  }

  package init(_ text: String) throws(ParseError) {
    var parser = Parser(text)
    try parser.expect("interface")
    name = try parser.word("the interface's name")
    while let keyword = parser.next() {
      let name = try parser.word("a name")
      guard name.first?.isUppercase == true else {
        throw ParseError(expected: "an upper-case name", found: name)
      }
      guard types[name] == nil, methods[name] == nil, errors[name] == nil else {
        throw ParseError(expected: "a new name", found: name)
      }
      switch keyword {
      case "type": types[name] = try parser.structureOrEnumeration()
      case "error": errors[name] = try parser.fields()
      case "method":
        let parameters = try parser.fields()
        try parser.expect("->")
        methods[name] = Method(parameters: parameters, reply: try parser.fields())
      default: throw ParseError(expected: "type, method or error", found: keyword)
      }
    }
  }

  // MARK: Asking it

  /// What is wrong with a value that should be of this type; `nil` if nothing.
  package func problem(in value: JSONTree, as kind: Kind, at path: String) -> String? {
    switch (kind, value) {
    case (.optional, .null), (.any, _), (.boolean, .boolean), (.integer, .integer),
      (.float, .fraction), (.float, .integer), (.string, .string), (.object, .object):
      return nil
    case (.optional(let inner), _): return problem(in: value, as: inner, at: path)
    case (.named(let name), _):
      guard let kind = types[name] else { return "\(path): no type \(name)" }
      return problem(in: value, as: kind, at: path)
    case (.array(let element), .array(let list)):
      for (index, item) in list.enumerated() {
        if let problem = problem(in: item, as: element, at: "\(path)[\(index)]") { return problem }
      }
      return nil
    case (.dictionary(let element), .object(let members)):
      for (key, item) in members {
        if let problem = problem(in: item, as: element, at: "\(path).\(key)") { return problem }
      }
      return nil
    case (.structure(let fields), .object(let members)):
      return problem(in: members, fields: fields, at: path)
    case (.enumeration(let words), .string(let word)):
      return words.contains(word) ? nil : "\(path): \(word) is none of \(words)"
    default: return "\(path): \(value.text) is not \(kind)"
    }
  }

  /// What is wrong with an object that should have these fields; `nil` if nothing.
  package func problem(
    in members: [String: JSONTree], fields: [Field], at path: String
  ) -> String? {
    for field in fields {
      guard let value = members[field.name] else {
        if case .optional = field.type { continue }
        return "\(path).\(field.name) is missing"
      }
      if let problem = problem(in: value, as: field.type, at: "\(path).\(field.name)") {
        return problem
      }
    }
    let known = Set(fields.map(\.name))
    let unknown = members.keys.filter { !known.contains($0) }.sorted()
    return unknown.isEmpty ? nil : "\(path): \(unknown) are not declared"
  }
}

/// Words and signs, comments left out; then the grammar by descent.
private struct Parser {
  private typealias Failure = InterfaceDescription.ParseError
  private var tokens: ArraySlice<String>

  init(_ text: String) {
    var tokens: [String] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      var word = ""
      var rest = line.prefix { $0 != "#" }[...]
      while let character = rest.first {
        if rest.hasPrefix("->") || rest.hasPrefix("[]") {
          if !word.isEmpty { tokens.append(word) }
          tokens.append(String(rest.prefix(2)))
          (word, rest) = ("", rest.dropFirst(2))
        } else if "():,?".contains(character) || character.isWhitespace {
          if !word.isEmpty { tokens.append(word) }
          if !character.isWhitespace { tokens.append(String(character)) }
          (word, rest) = ("", rest.dropFirst())
        } else {
          word.append(character)
          rest = rest.dropFirst()
        }
      }
      if !word.isEmpty { tokens.append(word) }
    }
    self.tokens = tokens[...]
  }

  mutating func next() -> String? { tokens.popFirst() }

  mutating func expect(_ token: String) throws(InterfaceDescription.ParseError) {
    let found = tokens.popFirst() ?? "the end"
    if found != token { throw Failure(expected: token, found: found) }
  }

  mutating func word(_ what: String) throws(InterfaceDescription.ParseError) -> String {
    let found = tokens.popFirst() ?? "the end"
    let isWord = found.allSatisfy { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" }
    guard isWord, !found.isEmpty else { throw Failure(expected: what, found: found) }
    return found
  }

  mutating func fields() throws(InterfaceDescription.ParseError) -> [InterfaceDescription.Field] {
    guard case .structure(let fields) = try structureOrEnumeration() else {
      throw Failure(expected: "fields", found: "words")
    }
    return fields
  }

  mutating func structureOrEnumeration()
    throws(InterfaceDescription.ParseError) -> InterfaceDescription.Kind
  {
    try expect("(")
    if tokens.first == ")" {
      try expect(")")
      return .structure([])
    }
    let first = try word("a field or a word")
    if tokens.first == ":" {
      try expect(":")
      var fields = [InterfaceDescription.Field(name: first, type: try kind())]
      while tokens.first == "," {
        try expect(",")
        let name = try word("a field")
        if fields.contains(where: { $0.name == name }) {
          throw Failure(expected: "a new field", found: name)
        }
        try expect(":")
        fields.append(InterfaceDescription.Field(name: name, type: try kind()))
      }
      try expect(")")
      return .structure(fields)
    }
    var words = [first]
    while tokens.first == "," {
      try expect(",")
      words.append(try word("a word"))
    }
    try expect(")")
    return .enumeration(words)
  }

  private mutating func kind() throws(InterfaceDescription.ParseError) -> InterfaceDescription.Kind
  {
    switch tokens.first {
    case "?":
      try expect("?")
      return .optional(try kind())
    case "[]":
      try expect("[]")
      return .array(try kind())
    case "[string]":
      try expect("[string]")
      return .dictionary(try kind())
    case "(": return try structureOrEnumeration()
    default:
      switch try word("a type") {
      case "bool": return .boolean
      case "int": return .integer
      case "float": return .float
      case "string": return .string
      case "object": return .object
      case "any": return .any
      case let name: return .named(name)
      }
    }
  }
}
