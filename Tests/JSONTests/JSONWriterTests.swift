import JSON
import Testing

@Suite struct JSONWriterTests {
  private func written(_ body: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter(reusing: [])
    body(&writer)
    let count = writer.count
    let bytes = writer.take()
    #expect(bytes.count == count)
    return text(bytes)
  }

  @Test func `commas stand between values and nowhere else`() {
    let reply = written {
      $0.beginObject()
      $0.key("parameters")
      $0.beginObject()
      $0.key("created")
      $0.boolean(true)
      $0.key("list")
      $0.beginArray()
      $0.beginArray()
      $0.endArray()
      $0.integer(1 as Int64)
      $0.beginObject()
      $0.endObject()
      $0.beginObject()
      $0.key("a")
      $0.null()
      $0.endObject()
      $0.string("x")
      $0.boolean(false)
      $0.raw(bytes("[ 1 ]").span)
      $0.endArray()
      $0.key("a long name of a key")
      $0.integer(UInt64.max)
      $0.endObject()
      $0.endObject()
      $0.terminate(with: 0)
      $0.integer(-1 as Int64)
      $0.terminate(with: 0)
    }
    #expect(
      reply
        == #"{"parameters":{"created":true,"list":[[],1,{},{"a":null},"x",false,[ 1 ]],"#
        + #""a long name of a key":18446744073709551615}}"# + "\0-1\0")
  }

  @Test func `what was there before stays, and the count has it`() {
    var writer = JSONWriter(reusing: bytes("before"))
    #expect(writer.count == 6)
    writer.null()
    #expect(writer.count == 10)
    #expect(text(writer.take()) == "beforenull")
    let untouched = JSONWriter(reusing: bytes("abc"))
    #expect(text(untouched.take()) == "abc")
  }

  @Test func `what must be escaped is, and nothing else`() {
    for value in UInt8(0)...0x7F {
      var expected = String(Unicode.Scalar(value))
      switch value {
      case 0x22: expected = "\\\""
      case 0x5C: expected = "\\\\"
      case 0x08: expected = "\\b"
      case 0x09: expected = "\\t"
      case 0x0A: expected = "\\n"
      case 0x0C: expected = "\\f"
      case 0x0D: expected = "\\r"
      case 0..<0x10: expected = "\\u000" + String(value, radix: 16)
      case 0x10..<0x20: expected = "\\u00" + String(value, radix: 16)
      default: break
      }
      // At every place in a word of eight bytes, before and after.
      for before in 0...17 {
        for after in 0...17 {
          let start = String(repeating: "a", count: before)
          let end =
            String(repeating: "é", count: after / 2) + String(repeating: "b", count: after % 2)
          let input = start + String(Unicode.Scalar(value)) + end
          let output = written { $0.string(input) }
          if output != "\"\(start)\(expected)\(end)\"" { Issue.record("\(input): \(output)") }
        }
      }
    }
  }

  @Test func `bytes past 0x7F are written as they are`() {
    for text in [
      "é", "€", "😀", "\u{80}", "\u{10FFFF}", "\u{2028}", "限时抢购-一二三", "ééééééééé\"€",
    ] {
      let escaped = text.replacing("\"", with: "\\\"")
      #expect(written { $0.string(text) } == "\"\(escaped)\"")
      #expect(written { $0.key(text) } == "\"\(escaped)\":")
    }
  }

  @Test func `strings of every length are written whole`() {
    for length in 0...300 {
      let input = String((0..<length).map { Character(Unicode.Scalar(UInt8(0x61 + $0 % 26))) })
      #expect(written { $0.string(input) } == "\"\(input)\"")
      #expect(written { $0.raw(Array(input.utf8).span) } == input)
      let quotes = String(repeating: "\u{1}", count: length)
      #expect(written { $0.string(quotes) }.utf8.count == length * 6 + 2)
    }
  }

  @Test func `a prepared literal is written as its text is, whatever its length`() {
    for length in 0...40 {
      for text in [String(repeating: "k", count: length), String(repeating: "\n", count: length)] {
        let literal = JSONLiteral(text)
        #expect(literal.text == text)
        let output = written {
          $0.beginObject()
          for _ in 0..<2 {
            $0.key(literal)
            $0.string(literal)
          }
          $0.endObject()
        }
        let expected = written {
          $0.beginObject()
          for _ in 0..<2 {
            $0.key(text)
            $0.string(text)
          }
          $0.endObject()
        }
        #expect(output == expected)
      }
    }
  }

  @Test func `integers are written in full`() {
    var values: [UInt64] = [0, .max, UInt64(Int64.max), UInt64(Int64.max) + 1]
    var power: UInt64 = 1
    for _ in 0..<20 {
      values += [power &- 1, power, power &+ 1, power / 3 &* 7]
      power = power.multipliedReportingOverflow(by: 10).partialValue
    }
    for shift in 0..<64 { values += [1 << UInt64(shift), UInt64.max >> UInt64(shift)] }
    for value in values {
      #expect(written { $0.integer(value) } == "\(value)")
      let signed = Int64(bitPattern: value)
      #expect(written { $0.integer(signed) } == "\(signed)")
      #expect(written { $0.integer(0 &- signed) } == "\(0 &- signed)")
    }
    #expect(written { $0.integer(Int64.min) } == "-9223372036854775808")
  }

  @Test func `all integers of four digits are written, alone and within larger ones`() {
    for value in UInt64(0)..<10_000 {
      let output = written {
        $0.beginArray()
        $0.integer(value)
        $0.integer(10_000_000_000 + value)
        $0.integer(value * 10_000 + 7)
        $0.endArray()
      }
      if output != "[\(value),\(10_000_000_000 + value),\(value * 10_000 + 7)]" {
        Issue.record("\(value): \(output)")
      }
    }
  }

  @Test func `an array that is used again keeps its memory`() {
    var buffer: [UInt8] = []
    buffer.reserveCapacity(4096)
    let capacity = buffer.capacity
    for _ in 0..<100 {
      buffer.removeAll(keepingCapacity: true)
      var writer = JSONWriter(reusing: buffer)
      buffer = []
      writer.beginObject()
      writer.key("name")
      writer.string("order-000123")
      writer.endObject()
      buffer = writer.take()
      #expect(text(buffer) == #"{"name":"order-000123"}"#)
      #expect(buffer.capacity == capacity)
    }
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func `text to value to text to value changes nothing`(seed: UInt64) throws {
    var documents = RandomDocuments(seed: seed)
    for step in 0..<40 {
      let value = documents.value()
      let first = documents.text(of: value)
      let read = try Value(first)
      #expect(read == value, "seed \(seed), step \(step): \(text(first))")
      let second = read.written
      #expect(try Value(second) == value, "seed \(seed), step \(step): \(text(second))")
      #expect(try Value(second).written == second)
    }
  }
}
