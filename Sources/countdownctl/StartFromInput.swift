import ControlClient
import JSON
import LinuxIO
import SystemdSyntax

/// `start -`: starts what stands on the standard input, a JSON object a line.
///
/// What has arrived by the time it is looked at goes as one call, up to the most that one can take: so a
/// stream that comes slowly is started as it comes, and a file in few calls.
struct StartFromInput: ~Copyable {
  private let session: Session
  private let owners: Owners
  private var connection: Connection
  /// The last line that the daemon has answered; 0 before the first.
  private var lastLine = 0
  private var hasRefusal = false

  /// - Returns: The exit status.
  static func run(_ session: Session) throws -> Int32 {
    let owners = try session.owners()
    var start = StartFromInput(session, owners, try session.connect())
    return try start.run()
  }

  private init(_ session: Session, _ owners: Owners, _ connection: consuming Connection) {
    self.session = session
    self.owners = owners
    self.connection = connection
  }

  private mutating func run() throws -> Int32 {
    var lines = StartLines()
    while !lines.isDone {
      repeat {
        var arrived: [UInt8] = []
        _ = try StandardStream.input.read(appendingTo: &arrived, atMost: 64 << 10)
        lines.append(arrived)
      } while try !lines.hasEnded && !lines.isFull
        && StandardStream.input.waitReadable(timeoutMSec: 0)
      do {
        while case let group = try lines.nextGroup(), !group.isEmpty { try start(group) }
      } catch let unusable as StartLines.Unusable {
        for line in unusable.lines {
          let isLast = line.number == unusable.lines.last?.number
          complain("line \(line.number): \(line.problem)", advice: isLast ? whatStands : nil)
        }
        return ExitStatus.usage
      }
    }
    return hasRefusal ? ExitStatus.refused : ExitStatus.done
  }

  /// What is to be known of where it stopped.
  private var whatStands: String {
    lastLine == 0
      ? "nothing was started"
      : "the lines up to \(lastLine) were carried out, and nothing after them"
  }

  /// Starts a group, and says what came of each line, in order.
  private mutating func start(_ group: [StartLines.Line]) throws {
    let parameters = encodeParameters { writer in
      writer.key("countdowns")
      writer.beginArray()
      for line in group { writer.raw(line.json.span) }
      writer.endArray()
      owners.write(to: &writer)
    }
    let reply: Members
    do {
      reply = try connection.call("StartMany", parameters: parameters)
    } catch ClientError.refused(let refusal) {
      throw failure(of: group, refusal)
    }
    let results = try reply.required("results", reply.objects("results"))
    guard results.count == group.count else {
      throw ClientError.garbled("\(results.count) results of \(group.count) lines")
    }
    var text = ""
    for (line, result) in zip(group, results) {
      if session.isJSON { text += session.line(json: result.json) }
      switch try StartResult(result) {
      case .started(let reply):
        if !session.isJSON { text += session.description(of: reply, name: harmless(line.name)) }
      case .refused(let refusal):
        hasRefusal = true
        // In the order of the lines on a terminal, where both streams meet.
        try session.write(text)
        text = ""
        let explanation = Explanation(refusal)
        complain("line \(line.number): \(explanation.message)", advice: explanation.advice)
      }
    }
    try session.write(text)
    lastLine = group[group.count - 1].number
  }

  /// The daemon refuses a whole call where one of its countdowns is not of the right form: which line
  /// that is.
  private func failure(of group: [StartLines.Line], _ refusal: CallRefusal) -> any Error {
    let explanation = Explanation(refusal)
    let parameter = try? Members(parsing: refusal.parameters).string("parameter")
    guard refusal.name == "org.varlink.service.InvalidParameter", let parameter,
      let (place, field) = Self.place(parameter), group.indices.contains(place)
    else { return Failure(message: explanation.message, advice: explanation.advice ?? whatStands) }
    return Failure(
      message: "line \(group[place].number): the daemon refuses the value of '\(field)'",
      advice: whatStands)
  }

  /// `countdowns[3].name`, taken apart.
  private static func place(_ parameter: String) -> (place: Int, field: Substring)? {
    let head = "countdowns["
    guard parameter.hasPrefix(head) else { return nil }
    let parts = parameter.dropFirst(head.count).split(separator: "]", maxSplits: 1)
    guard parts.count == 2, let place = Int(parts[0]), parts[1].hasPrefix(".") else { return nil }
    return (place, parts[1].dropFirst())
  }
}
