import ControlClient
import JSON
import LinuxIO
import SystemdSyntax

/// A payload as it was given: its bytes, which must be an object as the daemon takes it.
///
/// - Parameter source: What the error names: an option, or a word.
func payload(_ bytes: [UInt8], from source: String) throws(ParseError) -> [UInt8] {
  do throws(JSONError) {
    var scanner = JSONScanner(bytes.span)
    let range = try scanner.skipIJSONObject(maximumDepth: 16)
    try scanner.end()
    return Array(bytes[range])
  } catch {
    let place = "at byte \(error.offset)"
    throw ParseError(
      "\(source): a JSON object is needed, at most 16 deep (\(error.kind) \(place))")
  }
}

/// All of the standard input, at most so many bytes.
func standardInput(atMost limit: Int) throws -> [UInt8] {
  var bytes: [UInt8] = []
  while bytes.count <= limit {
    if try StandardStream.input.read(appendingTo: &bytes, atMost: 64 << 10) == 0 { return bytes }
  }
  throw ClientError.oversized
}
