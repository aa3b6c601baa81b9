internal import Countdowns
internal import JSON
internal import Varlink

/// Reads a call's parameters one by one: each at most once, of its type, null for missing.
///
/// A decoder loops over ``next()``, compares with ``at(_:_:)`` and reads the value; whatever does not
/// fit becomes `InvalidParameter` with the parameter's name.
struct ParameterReader: ~Escapable {
  private var scanner: JSONScanner
  private let isEmpty: Bool
  private var hasBegun = false
  private var key: JSONString?
  private var name = ""
  private var seen: UInt32 = 0
  private var isRepeated = false
  private let scope: Method.Scope
  /// The parameters that say whose countdowns a call is about, read by ``next()``.
  private(set) var owner: Int64?
  private(set) var isAboutAll = false

  /// - Parameters:
  ///   - parameters: Where they stand in the message; `nil` for none.
  ///   - message: Checked JSON.
  ///   - scope: Which of `owner` and `allOwners` there may be.
  @_lifetime(copy message)
  init(
    _ parameters: Range<Int>?, in message: Span<UInt8>, scope: Method.Scope
  ) throws(ServiceError) {
    self.scope = scope
    isEmpty = parameters == nil
    scanner = JSONScanner(message, from: parameters?.lowerBound ?? 0)
  }

  /// Goes to the next parameter that is the method's own; false after the last.
  @_lifetime(self: copy self)
  mutating func next() throws(ServiceError) -> Bool {
    while try nextOfAny() {
      if scope != .none, at("owner", 31) {
        owner = try integer()
      } else if scope == .allOwners, at("allOwners", 30) {
        isAboutAll = try boolean() ?? false
      } else {
        return true
      }
    }
    return false
  }

  @_lifetime(self: copy self)
  private mutating func nextOfAny() throws(ServiceError) -> Bool {
    if isEmpty { return false }
    do {
      if !hasBegun {
        try scanner.beginObject()
        hasBegun = true
      }
      key = try scanner.nextKey()
    } catch {
      throw .invalidParameter("parameters")
    }
    return key != nil
  }

  /// Whether the parameter has this name.
  ///
  /// - Parameter bit: The name's number in its method, 0 … 29, to see that it comes once.
  @_lifetime(self: copy self)
  @inline(__always)
  mutating func at(_ name: String, _ bit: UInt32) -> Bool {
    guard let key, scanner.matches(key, name) else { return false }
    self.name = name
    isRepeated = seen & 1 << bit != 0
    seen |= 1 << bit
    return true
  }

  /// The error for a parameter that has none of the names.
  func unknown() -> ServiceError {
    .invalidParameter(key.map { scanner.text(of: $0) } ?? "parameters")
  }

  @_lifetime(self: copy self)
  mutating func integer() throws(ServiceError) -> Int64? {
    if try isNull() { return nil }
    do { return try scanner.readInteger() } catch { throw .invalidParameter(name) }
  }

  @_lifetime(self: copy self)
  mutating func boolean() throws(ServiceError) -> Bool? {
    if try isNull() { return nil }
    do { return try scanner.readBoolean() } catch { throw .invalidParameter(name) }
  }

  @_lifetime(self: copy self)
  mutating func string() throws(ServiceError) -> JSONString? {
    if try isNull() { return nil }
    do { return try scanner.readString() } catch { throw .invalidParameter(name) }
  }

  /// One of the words of an enumeration.
  @_lifetime(self: copy self)
  mutating func word<Word: WireNamed>(_ type: Word.Type) throws(ServiceError) -> Word? {
    if try isNull() { return nil }
    do {
      let text = try scanner.readString()
      for word in Word.allCases where scanner.matches(text, word.wireName) { return word }
    } catch {
      throw .invalidParameter(name)
    }
    throw .invalidParameter(name)
  }

  /// A list of strings; one that is none is named by its place.
  @_lifetime(self: copy self)
  mutating func strings() throws(ServiceError) -> [JSONString]? {
    if try isNull() { return nil }
    var strings: [JSONString] = []
    do { try scanner.beginArray() } catch { throw .invalidParameter(name) }
    while true {
      do {
        guard try scanner.nextElement() else { return strings }
        strings.append(try scanner.readString())
      } catch {
        throw .invalidParameter("\(name)[\(strings.count)]")
      }
    }
  }

  /// A list of objects: where each stands in the message.
  @_lifetime(self: copy self)
  mutating func objects() throws(ServiceError) -> [Range<Int>]? {
    if try isNull() { return nil }
    var objects: [Range<Int>] = []
    do { try scanner.beginArray() } catch { throw .invalidParameter(name) }
    while true {
      do {
        guard try scanner.nextElement() else { return objects }
        guard try scanner.valueKind == .object else { throw ServiceError.invalidParameter("") }
        objects.append(try scanner.skipValue())
      } catch {
        throw .invalidParameter("\(name)[\(objects.count)]")
      }
    }
  }

  /// A list of kinds of events.
  @_lifetime(self: copy self)
  mutating func kinds() throws(ServiceError) -> EventKinds? {
    guard let words = try strings() else { return nil }
    var kinds: EventKinds = []
    for (place, word) in words.enumerated() {
      let kind = EventKind.allCases.first { word.matches($0.wireName, in: scanner.bytes) }
      guard let kind else { throw .invalidParameter("\(name)[\(place)]") }
      kinds.insert(EventKinds(kind))
    }
    return kinds
  }

  /// An I-JSON object, at most 16 deep; its place in the message.
  @_lifetime(self: copy self)
  mutating func object() throws(ServiceError) -> Range<Int>? {
    if try isNull() { return nil }
    do { return try scanner.skipIJSONObject(maximumDepth: 16) } catch {
      throw .invalidParameter(name)
    }
  }

  @_lifetime(self: copy self)
  private mutating func isNull() throws(ServiceError) -> Bool {
    if isRepeated { throw .invalidParameter(name) }
    do { return try scanner.takeNull() } catch { throw .invalidParameter(name) }
  }
}
