import JSON
import TestSupport
import Testing

@Suite struct JSONScannerTests {
  @Test func `a call is read member by member, where it lies`() throws {
    let call = bytes(#" {"method" : "a.B", "parameters":{"n":[1,-2 , 3],"o":{}}, "more":true} "#)
    var scanner = JSONScanner(call.span)
    try scanner.beginObject()
    let method = try scanner.nextKey()!
    #expect(scanner.matches(method, "method") == true)
    #expect(method.range == 3..<9)
    #expect(!method.hasEscapes)
    let name = try scanner.readString()
    #expect(scanner.matches(name, "a.B") == true)
    #expect(scanner.text(of: name) == "a.B")
    let parameters = try scanner.nextKey()!
    #expect(scanner.matches(parameters, "parameters") == true)
    try scanner.beginObject()
    _ = try scanner.nextKey()
    try scanner.beginArray()
    var numbers: [Int64] = []
    while try scanner.nextElement() { numbers.append(try scanner.readInteger()) }
    #expect(numbers == [1, -2, 3])
    _ = try scanner.nextKey()
    let object = try scanner.skipValue()
    #expect(text(Array(call[object])) == "{}")
    #expect(try scanner.nextKey() == nil)
    let more = try scanner.nextKey()!
    #expect(scanner.matches(more, "more") == true)
    #expect(try scanner.readBoolean() == true)
    #expect(try scanner.nextKey() == nil)
    try scanner.end()
    #expect(scanner.offset == call.count)
  }

  @Test func `the kind of a value is told by its first byte`() throws {
    let kinds: [(String, JSONKind)] = [
      ("{", .object), ("[", .array), ("\"", .string), ("-", .number), ("0", .number),
      ("9", .number),
      ("t", .boolean), ("f", .boolean), ("n", .null), (" \t\r\n1", .number),
    ]
    for (input, kind) in kinds {
      let input = bytes(input)
      let scanner = JSONScanner(input.span)
      #expect(try scanner.valueKind == kind)
    }
    #expect(
      failure([]) { (scanner) throws(JSONError) in _ = try scanner.valueKind }
        == JSONError(.unexpectedEnd, at: 0))
    #expect(
      failure(bytes(" +1")) { (scanner) throws(JSONError) in _ = try scanner.valueKind }
        == JSONError(.unexpectedByte, at: 1))
  }

  @Test(arguments: ["{\"a\":1}", "[1]", "\"a\"", "12", "true", "false", "null"])
  func `a value of the wrong kind is reported and can be skipped`(value: String) throws {
    let input = bytes("[ \(value) , 7]")
    let first = UInt8(value.utf8.first!)
    var wrong = 0
    for reader in 0..<7 {
      var scanner = JSONScanner(input.span)
      try scanner.beginArray()
      _ = try scanner.nextElement()
      do throws(JSONError) {
        switch reader {
        case 0: try scanner.beginObject()
        case 1: try scanner.beginArray()
        case 2: _ = try scanner.readString()
        case 3: _ = try scanner.readInteger()
        case 4: _ = try scanner.readBoolean()
        case 5: try scanner.readNull()
        default: _ = try scanner.skipIJSONObject(maximumDepth: 16)
        }
      } catch {
        wrong += 1
        #expect(error == JSONError(.wrongKind, at: 2))
        #expect(scanner.offset == 2)
        let range = try scanner.skipValue()
        #expect(text(Array(input[range])) == value)
        #expect(try scanner.nextElement() == true)
        #expect(try scanner.readInteger() == 7)
        #expect(try scanner.nextElement() == false)
        try scanner.end()
      }
    }
    #expect(wrong == (first == UInt8(ascii: "{") ? 5 : 6))
  }

  @Test(arguments: [
    #""a\x""#, "\"abc", "\"\u{1}\"", "\"a\\ud800\"", "01", "-", "1.", "12.5x", "trux", "falsy",
    "nulx",
    #"{"a" 1}"#, #"{"a":1,}"#, #"{"a":1, "b" 2}"#, #"{"a":1"#, "[1,]", "[1 2]", "[", "+1", "}",
  ])
  func `whatever throws leaves the scanner where it was`(value: String) throws {
    let input = bytes("[\(value)")
    for reader in 0..<9 {
      var scanner = JSONScanner(input.span)
      try scanner.beginArray()
      _ = try scanner.nextElement()
      var before = scanner.offset
      #expect(before == 1)
      do throws(JSONError) {
        switch reader {
        case 0: _ = try scanner.readString()
        case 1: _ = try scanner.readInteger()
        case 2: _ = try scanner.readBoolean()
        case 3: try scanner.readNull()
        case 4: _ = try scanner.takeNull()
        case 5: _ = try scanner.skipValue()
        case 6: _ = try scanner.skipIJSONObject(maximumDepth: 16)
        case 7:
          try scanner.beginObject()
          before = scanner.offset
          while try scanner.nextKey() != nil {
            _ = try scanner.skipValue()
            before = scanner.offset
          }
        default:
          try scanner.beginArray()
          before = scanner.offset
          while try scanner.nextElement() {
            before = scanner.offset
            _ = try scanner.skipValue()
            before = scanner.offset
          }
        }
      } catch {
        #expect(scanner.offset == before, "reader \(reader)")
      }
    }
  }

  @Test func `an integer is read if it is written as one and fits 64 bits`() throws {
    let numbers: [(String, Int64)] = [
      ("0", 0), ("-0", 0), ("1", 1), ("-1", -1), ("10", 10), ("9007199254740991", 1 << 53 - 1),
      ("9007199254740992", 1 << 53), ("9007199254740993", 1 << 53 + 1),
      ("999999999999999999", 999_999_999_999_999_999),
      ("1000000000000000000", 1_000_000_000_000_000_000),
      ("9223372036854775806", .max - 1), ("9223372036854775807", .max),
      ("-9223372036854775807", .min + 1), ("-9223372036854775808", .min),
    ]
    for (input, value) in numbers {
      #expect(try Value(input) == .integer(value), "\(input)")
    }
  }

  @Test(arguments: [
    "9223372036854775808", "-9223372036854775809", "9999999999999999999", "-9999999999999999999",
    "10000000000000000000", "18446744073709551616", "18446744073709551617",
    "-18446744073709551616", "36893488147419103232", "123456789012345678901234567890",
    "1.0", "-0.0", "1e0", "1E3", "1e-1", "0.5", "0e0", "12345678901234567890123.5",
  ])
  func `any other number is refused as an integer, and can be skipped`(number: String) throws {
    let input = bytes(number)
    var scanner = JSONScanner(input.span)
    #expect(throws: JSONError(.notAnInteger, at: 0)) { try scanner.readInteger() }
    #expect(scanner.offset == 0)
    #expect(try scanner.skipValue() == 0..<input.count)
    try scanner.end()
  }

  @Test(arguments: [
    ("00", JSONError(.unexpectedByte, at: 1)), ("01", JSONError(.unexpectedByte, at: 1)),
    ("-01", JSONError(.unexpectedByte, at: 2)), ("-", JSONError(.unexpectedEnd, at: 1)),
    ("-a", JSONError(.unexpectedByte, at: 1)), ("--1", JSONError(.unexpectedByte, at: 1)),
  ])
  func `what is no number is no integer either`(input: String, error: JSONError) {
    let read = failure(bytes(input)) { (scanner) throws(JSONError) in
      _ = try scanner.readInteger()
    }
    #expect(read == error)
    #expect(refusal(input) == error)
  }

  @Test func `random integers are read as the standard library reads them`() throws {
    var random = SplitMix64(seed: 1)
    for _ in 0..<20_000 {
      let length = Int.random(in: 1...21, using: &random)
      var number = Bool.random(using: &random) ? "-" : ""
      for _ in 0..<length { number += "\(Int.random(in: 0...9, using: &random))" }
      let digits = number.hasPrefix("-") ? number.dropFirst() : Substring(number)
      let input = bytes(number)
      var scanner = JSONScanner(input.span)
      if digits.count > 1 && digits.hasPrefix("0") {
        #expect(refusal(input)?.kind == .unexpectedByte)
      } else if let value = Int64(number) {
        #expect(try scanner.readInteger() == value, "\(number)")
      } else {
        #expect(throws: JSONError(.notAnInteger, at: 0)) { try scanner.readInteger() }
      }
    }
  }

  @Test func `null may be taken where there is one`() throws {
    let input = bytes("[null, 0, nul]")
    var scanner = JSONScanner(input.span)
    try scanner.beginArray()
    _ = try scanner.nextElement()
    #expect(try scanner.takeNull() == true)
    _ = try scanner.nextElement()
    #expect(try scanner.takeNull() == false)
    #expect(try scanner.readInteger() == 0)
    _ = try scanner.nextElement()
    #expect(throws: JSONError(.unexpectedByte, at: 13)) { try scanner.takeNull() }
    #expect(scanner.offset == 10)
  }

  @Test func `depth counts what is open, not what there was`() throws {
    #expect(refusal("[[],[],[[]],{\"a\":[]}]", maximumDepth: 3) == nil)
    #expect(try Value(bytes("[[],[],[[]],{\"a\":[]},[[]]]"), maximumDepth: 3) != .null)
    #expect(throws: JSONError(.tooDeep, at: 2)) { try Value(bytes("[[[]]]"), maximumDepth: 2) }
    #expect(throws: JSONError(.tooDeep, at: 5)) {
      try Value(bytes("{\"a\":{}}"), maximumDepth: 1)
    }
    #expect(try Value(bytes("1"), maximumDepth: 0) == .integer(1))
    #expect(throws: JSONError(.tooDeep, at: 0)) { try Value(bytes("{}"), maximumDepth: 0) }
  }

  @Test func `a value skipped inside others may use the depth that is left`() throws {
    let input = bytes("[[[[]]]]")
    for maximumDepth in 2...5 {
      let error = failure(input, maximumDepth: maximumDepth) { (scanner) throws(JSONError) in
        try scanner.beginArray()
        _ = try scanner.nextElement()
        try scanner.beginArray()
        _ = try scanner.nextElement()
        _ = try scanner.skipValue()
      }
      #expect(error == (maximumDepth < 4 ? JSONError(.tooDeep, at: maximumDepth) : nil))
    }
  }

  @Test func `nothing but white space may follow`() {
    #expect(refusal("1 \t\r\n") == nil)
    #expect(refusal("1 \0") == JSONError(.trailingBytes, at: 2))
    #expect(refusal("{}}") == JSONError(.trailingBytes, at: 2))
  }

  @Test func `misuse by our own code traps`() async {
    await #expect(processExitsWith: .failure) {
      let input: [UInt8] = [0x5B]
      var scanner = JSONScanner(input.span)
      try scanner.beginArray()
      try scanner.end()
    }
    await #expect(processExitsWith: .failure) {
      let input: [UInt8] = [0x5D]
      var scanner = JSONScanner(input.span)
      _ = try scanner.nextElement()
    }
    await #expect(processExitsWith: .failure) {
      let input: [UInt8] = []
      _ = JSONScanner(input.span, maximumDepth: 65).offset
    }
  }
}
