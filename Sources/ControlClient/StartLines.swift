internal import JSON

/// Countdowns to be started, a JSON object a line, as they arrive; and cut into groups of which each
/// fits one `StartMany`.
package struct StartLines: Sendable {
  /// A line that can be sent.
  package struct Line: Equatable, Sendable {
    /// From 1; empty lines are passed over, and count.
    package let number: Int
    package let name: String
    /// The object.
    package let json: [UInt8]
  }

  /// Lines that cannot: the number of each and what is wrong with it.
  package struct Unusable: Error {
    package let lines: [(number: Int, problem: String)]
  }

  /// So many countdowns one call may start.
  package static let linesPerGroup = 1_000
  /// Bytes of a group, each line with a byte to part it from the next: the rest of the longest message is
  /// for its envelope.
  package static let bytesPerGroup = Connection.maximumMessageBytes - 1_024

  /// What arrived. The first `start` bytes of it are taken, those from `searched` on not looked at.
  private var bytes: [UInt8] = []
  private var start = 0
  private var searched = 0
  /// Lines before `searched` that are whole and were not taken.
  private var wholeLines = 0
  private var takenLines = 0
  /// Whether the end has come.
  package private(set) var hasEnded = false

  package init() {}

  /// Takes in more; no bytes are the end, with which the last line is whole.
  package mutating func append(_ arrived: [UInt8]) {
    hasEnded = arrived.isEmpty
    if start > 0 {
      bytes.removeFirst(start)
      searched -= start
      start = 0
    }
    bytes += arrived
    if hasEnded, bytes.last.map({ $0 != Self.newline }) ?? false { bytes.append(Self.newline) }
    for index in searched..<bytes.count where bytes[index] == Self.newline { wholeLines += 1 }
    searched = bytes.count
  }

  /// Whether what waits fills a group, or can never be one: there is no use in waiting for more.
  package var isFull: Bool {
    wholeLines >= Self.linesPerGroup || bytes.count - start >= Self.bytesPerGroup
  }

  /// Whether nothing more can come.
  package var isDone: Bool { hasEnded && wholeLines == 0 }

  /// The next lines that fit one call; none as long as no whole line waits.
  ///
  /// - Throws: All of them that cannot be sent; the others of the group are not to be sent, either.
  package mutating func nextGroup() throws(Unusable) -> [Line] {
    var group: [Line] = []
    var problems: [(number: Int, problem: String)] = []
    var groupBytes = 0
    while wholeLines > 0, group.count + problems.count < Self.linesPerGroup {
      guard let end = bytes[start...].firstIndex(of: Self.newline) else { break }
      let text = Array(bytes[start..<end])
      guard groupBytes == 0 || groupBytes + text.count < Self.bytesPerGroup else { break }
      start = end + 1
      wholeLines -= 1
      takenLines += 1
      if text.allSatisfy({ Self.whiteSpace.contains($0) }) { continue }
      groupBytes += text.count + 1
      do throws(Problem) {
        group.append(try Self.line(text, number: takenLines))
      } catch {
        problems.append((takenLines, error.text))
      }
    }
    if wholeLines == 0, group.isEmpty, problems.isEmpty,
      bytes.count - start >= Self.bytesPerGroup
    {
      problems.append((takenLines + 1, Self.tooLong.text))
    }
    guard problems.isEmpty else { throw Unusable(lines: problems) }
    return group
  }

  private struct Problem: Error { let text: String }

  private static let tooLong = Problem(text: "longer than a call may be, 1 MiB")

  /// The daemon would refuse the whole call, and not say which line, or end the connection.
  private static func line(_ text: [UInt8], number: Int) throws(Problem) -> Line {
    guard text.count < bytesPerGroup else { throw tooLong }
    do throws(JSONError) {
      var scanner = JSONScanner(text.span)
      _ = try scanner.skipIJSONObject(maximumDepth: 17)  // A payload may be 16 deep.
      try scanner.end()
    } catch {
      throw Problem(text: "a JSON object is needed (\(error.kind) at byte \(error.offset))")
    }
    guard let name = try? Members(parsing: text).string("name") else {
      throw Problem(text: "'name' is missing, or no string")
    }
    return Line(number: number, name: name, json: text)
  }

  private static let newline = UInt8(ascii: "\n")
  private static let whiteSpace: [UInt8] = Array(" \t\r".utf8)
}

/// What became of one of the countdowns of a `StartMany`.
package enum StartResult: Sendable {
  case started(StartReply)
  case refused(CallRefusal)

  /// Reads it. Throws `garbled`.
  package init(_ members: Members) throws(ClientError) {
    if let error = try members.string("error") {
      let parameters = try members.object("errorParameters")?.json ?? Array("{}".utf8)
      self = .refused(CallRefusal(name: error, parameters: parameters))
    } else {
      self = .started(try StartReply(members))
    }
  }
}
