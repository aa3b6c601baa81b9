import JSON

/// The bytes of `text`.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// The text of `bytes`.
func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// What `body` throws for a scanner of `input`; `nil` if nothing.
func failure(
  _ input: [UInt8], maximumDepth: Int = 32, _ body: (inout JSONScanner) throws(JSONError) -> Void
) -> JSONError? {
  var scanner = JSONScanner(input.span, maximumDepth: maximumDepth)
  do throws(JSONError) {
    try body(&scanner)
    return nil
  } catch {
    return error
  }
}

/// Why `input` is not a document; `nil` if it is one.
func refusal(_ input: [UInt8], maximumDepth: Int = 32) -> JSONError? {
  failure(input, maximumDepth: maximumDepth) { (scanner) throws(JSONError) in
    _ = try scanner.skipValue()
    try scanner.end()
  }
}

/// Why `input` is not a document; `nil` if it is one.
func refusal(_ input: String, maximumDepth: Int = 32) -> JSONError? {
  refusal(bytes(input), maximumDepth: maximumDepth)
}

/// Why `input` is not an I-JSON object; `nil` if it is one.
func strictRefusal(_ input: [UInt8], maximumDepth: Int = 16) -> JSONError? {
  failure(input) { (scanner) throws(JSONError) in
    _ = try scanner.skipIJSONObject(maximumDepth: maximumDepth)
    try scanner.end()
  }
}

/// Why `input` is not an I-JSON object; `nil` if it is one.
func strictRefusal(_ input: String, maximumDepth: Int = 16) -> JSONError? {
  strictRefusal(bytes(input), maximumDepth: maximumDepth)
}
