package import JSON

/// What a call says before its parameters are looked at.
package struct CallEnvelope: Sendable {
  /// The method's full name, as it stands in the message.
  package let method: JSONString
  /// Where the value of `parameters` stands; `nil` where it is missing or null.
  package let parameters: Range<Int>?
  package let flags: Flags

  /// How the caller wants to be answered.
  package struct Flags: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Not at all.
    package static let oneway = Flags(rawValue: 1)
    /// By as many replies as there are.
    package static let more = Flags(rawValue: 2)
    /// And then no Varlink any more.
    package static let upgrade = Flags(rawValue: 4)
  }

  /// Why the bytes are no call. The connection that sent them ends: where a peer does not speak the
  /// protocol, nothing that follows can be trusted to be a message.
  package enum Malformed: Error, Equatable {
    case notJSON(JSONError)
    /// A member of the envelope is missing, twice there, or of the wrong type.
    case member(String)
    /// Two flags at once.
    case flags
  }

  /// Reads the envelope and checks the whole message: JSON, UTF-8, and the depth.
  ///
  /// - Parameter message: Without its NUL.
  /// - Complexity: O(bytes).
  package static func read(_ message: Span<UInt8>) throws(Malformed) -> CallEnvelope {
    do {
      return try readEnvelope(message)
    } catch let error as Malformed {
      throw error
    } catch let error as JSONError {
      throw .notJSON(error)
    } catch {
      throw .member("")
    }
  }

  private static func readEnvelope(_ message: Span<UInt8>) throws -> CallEnvelope {
    var scanner = JSONScanner(message)
    guard try scanner.valueKind == .object else { throw Malformed.member("") }
    try scanner.beginObject()
    var method: JSONString?
    var parameters: Range<Int>?
    var flags: Flags = []
    var seen: UInt8 = 0
    func note(_ bit: UInt8, _ member: String) throws(Malformed) {
      if seen & bit != 0 { throw .member(member) }
      seen |= bit
    }
    while let key = try scanner.nextKey() {
      if scanner.matches(key, "method") {
        try note(1, "method")
        guard try scanner.valueKind == .string else { throw Malformed.member("method") }
        method = try scanner.readString()
      } else if scanner.matches(key, "parameters") {
        try note(2, "parameters")
        if try scanner.takeNull() { continue }
        parameters = try scanner.skipValue()
      } else if let flag = flag(key, in: scanner) {
        try note(flag.bit << 2, flag.name)
        if try scanner.takeNull() { continue }
        guard try scanner.valueKind == .boolean else { throw Malformed.member(flag.name) }
        if try scanner.readBoolean() { flags.insert(Flags(rawValue: flag.bit)) }
      } else {
        _ = try scanner.skipValue()
      }
    }
    try scanner.end()
    guard let method else { throw Malformed.member("method") }
    guard flags.rawValue.nonzeroBitCount <= 1 else { throw Malformed.flags }
    return CallEnvelope(method: method, parameters: parameters, flags: flags)
  }

  private static func flag(
    _ key: JSONString, in scanner: borrowing JSONScanner
  ) -> (bit: UInt8, name: String)? {
    if scanner.matches(key, "more") { return (Flags.more.rawValue, "more") }
    if scanner.matches(key, "oneway") { return (Flags.oneway.rawValue, "oneway") }
    if scanner.matches(key, "upgrade") { return (Flags.upgrade.rawValue, "upgrade") }
    return nil
  }
}
