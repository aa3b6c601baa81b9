package import JSON

/// A JSON value that came from the daemon, as a tree.
///
/// Only what a person or a program asked for goes through here, at most 1 MiB at a time and 32 deep.
package struct ReplyValue: Sendable {
  /// A value by its kind.
  package enum Content: Sendable {
    case object([(key: String, value: ReplyValue)])
    case array([ReplyValue])
    case string(String)
    case integer(Int64)
    case boolean(Bool)
    case null
    /// A number that is no 64-bit integer.
    case otherNumber
  }

  package let content: Content

  /// The bytes it was read from, for what is passed on as it is.
  package let json: [UInt8]

  /// Reads one value that fills `bytes`.
  package init(parsing bytes: [UInt8]) throws(JSONError) {
    var scanner = JSONScanner(bytes.span)
    self = try Self.read(&scanner, from: bytes)
    try scanner.end()
  }

  private init(_ content: Content, json: [UInt8]) {
    self.content = content
    self.json = json
  }

  /// Reads the next value. Recursion is bounded by the scanner's depth.
  @_lifetime(scanner: copy scanner)
  private static func read(
    _ scanner: inout JSONScanner, from bytes: [UInt8]
  ) throws(JSONError) -> ReplyValue {
    let start = scanner.offset
    let content: Content
    switch try scanner.valueKind {
    case .object:
      var members: [(key: String, value: ReplyValue)] = []
      try scanner.beginObject()
      while let key = try scanner.nextKey() {
        members.append((scanner.text(of: key), try read(&scanner, from: bytes)))
      }
      content = .object(members)
    case .array:
      var elements: [ReplyValue] = []
      try scanner.beginArray()
      while try scanner.nextElement() { elements.append(try read(&scanner, from: bytes)) }
      content = .array(elements)
    case .string:
      let string = try scanner.readString()
      content = .string(scanner.text(of: string))
    case .number: content = try number(&scanner)
    case .boolean: content = .boolean(try scanner.readBoolean())
    case .null:
      try scanner.readNull()
      content = .null
    }
    // Objects alone are ever passed on; copying each value's bytes at each level would be quadratic.
    if case .object = content {
      return ReplyValue(content, json: Array(bytes[start..<scanner.offset]))
    }
    return ReplyValue(content, json: [])
  }

  @_lifetime(scanner: copy scanner)
  private static func number(_ scanner: inout JSONScanner) throws(JSONError) -> Content {
    do throws(JSONError) {
      return .integer(try scanner.readInteger())
    } catch {
      guard error.kind == .notAnInteger else { throw error }
      _ = try scanner.skipValue()
      return .otherNumber
    }
  }
}

/// The members of an object that the daemon sent, asked for by name. Unknown ones are let pass, and one
/// that is null counts as missing.
package struct Members: Sendable {
  private let members: [(key: String, value: ReplyValue)]

  /// The object itself, as it was sent.
  package let json: [UInt8]

  /// - Throws: `garbled`, if that is no object.
  package init(_ value: ReplyValue) throws(ClientError) {
    guard case .object(let members) = value.content else {
      throw .garbled("an object was expected")
    }
    self.members = members
    json = value.json
  }

  /// - Throws: `garbled`, if that is no JSON, or no object.
  package init(parsing bytes: [UInt8]) throws(ClientError) {
    let value: ReplyValue
    do throws(JSONError) {
      value = try ReplyValue(parsing: bytes)
    } catch {
      throw .garbled("no JSON (\(error.kind)) at byte \(error.offset)")
    }
    try self.init(value)
  }

  /// The value of that key; `nil` if it is missing or null. Keys are compared bytewise.
  private func content(_ key: String) -> ReplyValue? {
    let member = members.first { $0.key.utf8.elementsEqual(key.utf8) }
    if case .null = member?.value.content { return nil }
    return member?.value
  }

  /// An integer; `nil` if it is missing. Throws `garbled` for anything else, as all of these do.
  package func integer(_ key: String) throws(ClientError) -> Int64? {
    guard let value = content(key) else { return nil }
    guard case .integer(let integer) = value.content else { throw wrongType(key) }
    return integer
  }

  /// A string; `nil` if it is missing.
  package func string(_ key: String) throws(ClientError) -> String? {
    guard let value = content(key) else { return nil }
    guard case .string(let string) = value.content else { throw wrongType(key) }
    return string
  }

  /// A Boolean; `nil` if it is missing.
  package func boolean(_ key: String) throws(ClientError) -> Bool? {
    guard let value = content(key) else { return nil }
    guard case .boolean(let boolean) = value.content else { throw wrongType(key) }
    return boolean
  }

  /// An object; `nil` if it is missing.
  package func object(_ key: String) throws(ClientError) -> Members? {
    guard let value = content(key) else { return nil }
    return try Members(value)
  }

  /// An array of objects; `nil` if it is missing.
  package func objects(_ key: String) throws(ClientError) -> [Members]? {
    guard let value = content(key) else { return nil }
    guard case .array(let elements) = value.content else { throw wrongType(key) }
    var objects: [Members] = []
    objects.reserveCapacity(elements.count)
    for element in elements { objects.append(try Members(element)) }
    return objects
  }

  /// What must be there: `try members.required("name", members.string("name"))`.
  package func required<Value>(_ key: String, _ value: Value?) throws(ClientError) -> Value {
    guard let value else { throw .garbled("'\(key)' is missing") }
    return value
  }

  private func wrongType(_ key: String) -> ClientError { .garbled("'\(key)' is of the wrong type") }
}
