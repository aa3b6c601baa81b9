import ControlClient
import JSON
import Testing

@Suite struct StartLinesTests {
  private static func lines(_ text: String, hasEnded: Bool = true) -> StartLines {
    var lines = StartLines()
    if !text.isEmpty { lines.append(Array(text.utf8)) }
    if hasEnded { lines.append([]) }
    return lines
  }

  private static func problems(
    _ lines: inout StartLines
  ) -> [(number: Int, problem: String)]? {
    do {
      _ = try lines.nextGroup()
      return nil
    } catch {
      return error.lines
    }
  }

  @Test func `each line is one, with its number; empty ones are passed over`() throws {
    var lines = Self.lines(
      "{\"name\":\"a\"}\n\n \t\r\n { \"name\" : \"\\u0062\" } \r\n{\"name\":\"c\"}")
    let group = try lines.nextGroup()
    #expect(group.map(\.name) == ["a", "b", "c"])
    #expect(group.map(\.number) == [1, 4, 5])
    #expect(group[1].json == Array(" { \"name\" : \"\\u0062\" } \r".utf8))
    #expect(lines.isDone)
    #expect(try lines.nextGroup() == [])
  }

  @Test func `nothing at all is no line`() throws {
    for text in ["", "\n", "\n\n  \n"] {
      var lines = Self.lines(text)
      #expect(try lines.nextGroup() == [])
      #expect(lines.isDone)
    }
  }

  @Test func `what has not come whole waits, however it is cut`() throws {
    let text = Array("{\"name\":\"a\"}\n{\"name\":\"b\"}\n".utf8)
    var lines = StartLines()
    var names: [String] = []
    for byte in text {
      lines.append([byte])
      names += try lines.nextGroup().map(\.name)
      #expect(names.count == (lines.hasEnded ? 2 : names.count))
      #expect(!lines.isFull)
    }
    #expect(names == ["a", "b"])
    lines.append(Array("{\"name\":\"c\"}".utf8))
    #expect(try lines.nextGroup() == [])
    #expect(!lines.isDone)
    lines.append([])
    #expect(!lines.isDone)
    let last = try lines.nextGroup()
    #expect(last.map(\.number) == [3])
    #expect(lines.isDone)
  }

  @Test func `all lines of a group that make no sense are named, and none of it is given`() throws {
    var lines = Self.lines(
      "{\"name\":\"a\"}\n[]\n{\"name\":1}\n{\"durationUSec\":1}\n{\"name\":\"a\",\"name\":\"b\"}\n"
        + "{\"name\":\"b\"} x\n{\"name\":\"\u{0}\"}\n{\"name\":null}\n{\"name\":\"b\"}\n")
    let problems = try #require(Self.problems(&lines))
    #expect(problems.map(\.number) == [2, 3, 4, 5, 6, 7, 8])
    #expect(problems[0].problem.hasPrefix("a JSON object is needed ("))
    #expect(problems[1].problem == "'name' is missing, or no string")
  }

  @Test func `a payload may be 16 deep, and no deeper`() throws {
    func line(_ depth: Int) -> String {
      let inner =
        String(repeating: "{\"a\":", count: depth - 1) + "{}"
        + String(repeating: "}", count: depth - 1)
      return "{\"name\":\"a\",\"payload\":\(inner)}"
    }
    var fits = Self.lines(line(16))
    #expect(try fits.nextGroup().count == 1)
    var deeper = Self.lines(line(17))
    #expect(Self.problems(&deeper)?.map(\.number) == [1])
  }

  @Test func `a call takes 1000 lines, and what is more waits for the next`() throws {
    var lines = StartLines()
    let text = Array("{\"name\":\"a\"}\n".utf8)
    for _ in 0..<999 { lines.append(text) }
    #expect(!lines.isFull)
    for _ in 0..<2 { lines.append(text) }
    #expect(lines.isFull)
    #expect(try lines.nextGroup().map(\.number) == Array(1...1_000))
    #expect(try lines.nextGroup().map(\.number) == [1_001])
    #expect(try lines.nextGroup() == [])
  }

  /// As long as that, with its line end.
  private static func line(bytes: Int) -> [UInt8] {
    let head = Array("{\"name\":\"a\",\"payload\":{\"a\":\"".utf8)
    let tail = Array("\"}}\n".utf8)
    return head + Array(repeating: UInt8(ascii: "x"), count: bytes - head.count - tail.count) + tail
  }

  @Test func `long lines make smaller groups, so that a call is never longer than it may be`()
    throws
  {
    let limit = StartLines.bytesPerGroup
    var lines = StartLines()
    let sizes = [limit / 2, limit - limit / 2, 100, limit - 100, 200, limit, limit, 50]
    for size in sizes { lines.append(Self.line(bytes: size)) }
    lines.append([])
    var groups: [[Int]] = []
    while case let group = try lines.nextGroup(), !group.isEmpty {
      groups.append(group.map { $0.json.count + 1 })
      let call = encodeCall(
        "io.countdownd.Countdown.StartMany",
        parameters: encodeParameters { writer in
          writer.key("countdowns")
          writer.beginArray()
          for line in group { writer.raw(line.json.span) }
          writer.endArray()
          writer.member("owner", 4_294_967_294 as Int64)
        }, wantsMore: false)
      #expect(call.count <= Connection.maximumMessageBytes)
    }
    #expect(
      groups == [
        [limit / 2, limit - limit / 2], [100, limit - 100], [200], [limit], [limit], [50],
      ])
  }

  @Test func `a line that no call can hold is told, even before its end has come`() throws {
    let limit = StartLines.bytesPerGroup
    var whole = StartLines()
    whole.append(Array("{\"name\":\"a\"}\n".utf8))
    whole.append(Self.line(bytes: limit + 1))
    #expect(try whole.nextGroup().count == 1)
    let problems = try #require(Self.problems(&whole))
    #expect(problems.map(\.number) == [2])
    #expect(problems[0].problem == "longer than a call may be, 1 MiB")

    var endless = StartLines()
    endless.append(Array("\n".utf8))
    while !endless.isFull { endless.append(Array(repeating: UInt8(ascii: "["), count: 60_000)) }
    #expect(Self.problems(&endless)?.map(\.number) == [2])
  }
}
