// What must hold for any bytes whatever. The tests ask it of their documents and of bytes changed
// at random, the fuzzer of whatever it comes up with: both compile this file.
#if !FUZZING
  import JSON
#endif

/// The first property that does not hold for `bytes`, in words; `nil` when all hold.
///
/// - Parameter maximumDepth: As the scanner takes it.
func brokenProperty(of bytes: [UInt8], maximumDepth: Int = 32) -> String? {
  var whole = JSONScanner(bytes.span, maximumDepth: maximumDepth)
  let wholeError = error(of: &whole) { (scanner) throws(JSONError) in
    let range = try scanner.skipValue()
    guard range.upperBound == scanner.offset else { fatalError("skipValue ends elsewhere") }
    try scanner.end()
  }

  // Read piece by piece and written again.
  var pieces = JSONScanner(bytes.span, maximumDepth: maximumDepth)
  var transcript = Transcript()
  let piecesError = error(of: &pieces) { (scanner) throws(JSONError) in
    try transcript.copyDocument(from: &scanner)
  }
  if wholeError != piecesError {
    return "skipped: \(String(describing: wholeError)), read: \(String(describing: piecesError))"
  }

  var strict = JSONScanner(bytes.span, maximumDepth: maximumDepth)
  let strictError = error(of: &strict) { (scanner) throws(JSONError) in
    _ = try scanner.skipIJSONObject(maximumDepth: max(1, maximumDepth))
    try scanner.end()
  }

  if let wholeError {
    if wholeError.offset < 0 || wholeError.offset > bytes.count { return "an offset outside" }
    if wholeError.kind == .unexpectedEnd && wholeError.offset != bytes.count {
      return "an unexpected end before the end"
    }
    if maximumDepth > 0 && strictError == nil { return "I-JSON, but not JSON: \(wholeError)" }
    return nil
  }

  // Accepted: it must be UTF-8, and I-JSON exactly if a naive look at it says so.
  if String(validating: bytes, as: UTF8.self) == nil { return "accepted, but not UTF-8" }
  let isStrict = transcript.isObject && !transcript.hasDuplicates && !transcript.hasNoncharacters
  if isStrict != (strictError == nil) {
    return "I-JSON: \(isStrict), but \(String(describing: strictError))"
  }

  // Written again and read again, it is the same.
  let written = transcript.take()
  var again = JSONScanner(written.span, maximumDepth: maximumDepth)
  var second = Transcript()
  let againError = error(of: &again) { (scanner) throws(JSONError) in
    try second.copyDocument(from: &scanner)
  }
  if let againError { return "written as what is not read: \(againError)" }
  return second.take() == written ? nil : "written differently the second time"
}

/// The error that `body` ends with; `nil` if it does not throw.
private func error(
  of scanner: inout JSONScanner, _ body: (inout JSONScanner) throws(JSONError) -> Void
) -> JSONError? {
  do throws(JSONError) {
    try body(&scanner)
    return nil
  } catch {
    return error
  }
}

/// A document read piece by piece and written again, with a slow but plain look at its keys and
/// strings.
private struct Transcript: ~Copyable {
  private var writer = JSONWriter(reusing: [])
  private(set) var isObject = false
  private(set) var hasDuplicates = false
  private(set) var hasNoncharacters = false

  consuming func take() -> [UInt8] { writer.take() }

  /// Without recursion, as the scanner promises to work.
  mutating func copyDocument(from scanner: inout JSONScanner) throws(JSONError) {
    var open: [Set<[UInt8]>?] = []  // An object's keys so far; nil for an array.
    isObject = try scanner.valueKind == .object
    try copyValue(from: &scanner, open: &open)
    while let keys = open.last {
      if var keys {
        guard let key = try scanner.nextKey() else {
          writer.endObject()
          open.removeLast()
          continue
        }
        let decoded = decode(key, in: scanner)
        if !keys.insert(decoded).inserted { hasDuplicates = true }
        open[open.count - 1] = keys
        writer.key(String(decoding: decoded, as: UTF8.self))
      } else if try !scanner.nextElement() {
        writer.endArray()
        open.removeLast()
        continue
      }
      try copyValue(from: &scanner, open: &open)
    }
    try scanner.end()
  }

  /// Copies a value, or the opening bracket of one.
  private mutating func copyValue(
    from scanner: inout JSONScanner, open: inout [Set<[UInt8]>?]
  ) throws(JSONError) {
    switch try scanner.valueKind {
    case .object:
      try scanner.beginObject()
      writer.beginObject()
      open.append(.some([]))
    case .array:
      try scanner.beginArray()
      writer.beginArray()
      open.append(.none)
    case .string:
      let string = try scanner.readString()
      writer.string(decode(string, in: scanner).span)
    case .number:
      let start = scanner.offset
      if let integer = try? scanner.readInteger() {
        writer.integer(integer)
      } else {
        guard scanner.offset == start else { fatalError("an error moved the scanner") }
        let range = try scanner.skipValue()
        writer.raw(scanner.bytes.extracting(range))
      }
    case .boolean: writer.boolean(try scanner.readBoolean())
    case .null:
      try scanner.readNull()
      writer.null()
    }
  }

  private mutating func decode(_ string: JSONString, in scanner: borrowing JSONScanner) -> [UInt8] {
    var decoded: [UInt8] = []
    string.appendDecoded(from: scanner.bytes, to: &decoded)
    let text = String(decoding: decoded, as: UTF8.self)
    guard Array(text.utf8) == decoded else { fatalError("decoded to what is not UTF-8") }
    guard scanner.matches(string, text) else { fatalError("a string does not match itself") }
    guard !scanner.matches(string, text + "x") else { fatalError("it matches a longer one") }
    if text.unicodeScalars.contains(where: { $0.properties.isNoncharacterCodePoint }) {
      hasNoncharacters = true
    }
    return decoded
  }
}
