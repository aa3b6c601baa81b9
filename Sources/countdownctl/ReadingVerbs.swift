import ControlClient
import SystemdSyntax

extension Verb {
  static let get = Verb(
    name: "get", words: "NAME", summary: "show all there is to know of a countdown",
    examples: ["get tea", "get tea --json"],
    run: { session in
      let name = try session.onlyName()
      var connection = try session.connect()
      let reply = try connection.call(
        "Get", parameters: encodeParameters { $0.member("name", name) })
      if session.isJSON {
        try session.write(json: reply.json)
      } else {
        try session.write(session.description(of: GetReply(reply).countdown))
      }
      return ExitStatus.done
    })

  static let list = Verb(
    name: "list", words: "[PREFIX]", summary: "show all countdowns, or those whose names begin so",
    options: [
      Option("--state", "STATE", help: "only those running, paused, expired, missed or cancelled")
    ],
    details: ["Ended ones can be read for a while."],
    examples: ["list", "list orders/ --state running"],
    run: list)

  @Sendable private static func list(_ session: Session) throws -> Int32 {
    guard session.arguments.words.count < 2 else { throw ParseError("one prefix is enough") }
    let prefix = session.arguments.words.first
    let states = ["running", "paused", "expired", "missed", "cancelled"]
    let state = try session.arguments.choice("--state", among: states)
    var connection = try session.connect()
    try connection.begin(
      "List",
      parameters: encodeParameters { writer in
        writer.member("prefix", prefix)
        writer.member("state", state)
      })
    var table = CountdownTable(session)
    var continues = true
    while continues {
      guard let reply = try connection.nextReply(timeoutMSec: session.patienceMSec) else {
        throw ClientError.silent(seconds: Connection.patienceSeconds)
      }
      continues = reply.continues
      let members = try Members(parsing: reply.parameters)
      if session.isJSON {
        try session.write(json: members.json)
      } else {
        for countdown in try ListReply(members).countdowns { try table.add(countdown) }
      }
    }
    try table.finish()
    if table.count == 0, !session.isJSON {
      try session.write(state.map { "No countdown is \($0).\n" } ?? "There are no countdowns.\n")
    }
    return ExitStatus.done
  }

  static let count = Verb(
    name: "count", words: "", summary: "tell how many countdowns you have", examples: ["count"],
    run: { session in
      guard session.arguments.words.isEmpty else { throw ParseError("it takes no name") }
      var connection = try session.connect()
      let reply = try connection.call("Count")
      if session.isJSON {
        try session.write(json: reply.json)
        return ExitStatus.done
      }
      let counts = try CountReply(reply)
      var table = Table([("", .left), ("", .right)], hasHeadings: false)
      table.add([.init("running", .style(ofState: "running")), .init("\(counts.running)")])
      table.add([.init("paused", .style(ofState: "paused")), .init("\(counts.paused)")])
      table.add([.init("ended"), .init("\(counts.ended)")])
      try session.write(table.text(withStyles: session.hasColor))
      return ExitStatus.done
    })
}

/// A table of countdowns that is written as it fills, so that a million of them need no memory.
struct CountdownTable {
  private static let headings: [(text: String, side: Table.Side)] = [
    ("NAME", .left), ("STATE", .left), ("REMAINING", .right), ("ENDS", .left), ("LENGTH", .left),
  ]
  /// Rows that are aligned with each other.
  private static let rowsAtOnce = 5_000

  private let session: Session
  private var table = Table(headings)
  private var rows = 0
  private(set) var count = 0

  init(_ session: Session) { self.session = session }

  mutating func add(_ countdown: Countdown) throws {
    let style = TextStyle.style(ofState: countdown.state)
    table.add([
      .init(countdown.name), .init(countdown.state, style),
      .init(countdown.remainingText),
      .init(session.time(countdown.hasEnded ? countdown.endedAt : countdown.deadline)),
      .init(session.length(of: countdown)),
    ])
    rows += 1
    count += 1
    if rows == Self.rowsAtOnce {
      try finish()
      table = Table(Self.headings, hasHeadings: false)
    }
  }

  /// Writes what has not been written.
  mutating func finish() throws {
    guard rows > 0 else { return }
    try session.write(table.text(withStyles: session.hasColor))
    rows = 0
  }
}

extension Session {
  /// How long to wait for the next reply of a list.
  var patienceMSec: Int32 { Int32(Connection.patienceSeconds * 1_000) }

  /// `30min`, or `30min, then every 1h`.
  func length(of countdown: Countdown) -> String {
    let length = Self.length(countdown.durationUSec)
    guard let interval = countdown.repeatUSec else { return length }
    return "\(length), then every \(Self.length(interval))"
  }

  /// A length that came from the daemon, which may be anything.
  static func length(_ usec: Int64) -> String {
    usec.magnitude <= TimeSpan.limitUSec.magnitude ? TimeSpan(usec: usec).briefText : "?"
  }

  /// All there is to know of a countdown, a line for each thing.
  func description(of countdown: Countdown) -> String {
    var table = Table([("", .left), ("", .left)], hasHeadings: false)
    func add(_ label: String, _ text: String?, _ style: TextStyle = .plain) {
      if let text { table.add([.init(label, .dim), .init(text, style)]) }
    }
    add("name", countdown.name, .bold)
    add("state", countdown.state, .style(ofState: countdown.state))
    add("remaining", countdown.hasEnded ? nil : countdown.remainingText)
    add("ends", countdown.hasEnded ? nil : countdown.deadline.map(time))
    add("started", countdown.startedAt.map(time))
    add("ended", countdown.endedAt.map(time))
    add("late", countdown.lateUSec.map(Self.lateness))
    add("length", length(of: countdown))
    add("clock", countdown.clock)
    let grace = countdown.graceUSec.map { " after \(Self.length($0))" } ?? ""
    add("catch-up", countdown.catchUp.map { $0 + grace })
    add("durability", countdown.durability)
    add("revision", "\(countdown.revision)")
    add("payload", countdown.payload.map { oneLine(json: $0, escapingControls: true) })
    return table.text(withStyles: hasColor)
  }

  /// `54 µs`, `1.204 ms`, `2s 100ms`: how late something was.
  static func lateness(_ usec: Int64) -> String {
    switch usec {
    case ..<1_000: "\(usec) µs"
    case ..<1_000_000: "\(usec / 1_000).\((usec % 1_000).padded(toDigits: 3)) ms"
    default: length(usec)
    }
  }
}

extension Int64 {
  /// In decimal, with zeros before it; not negative.
  func padded(toDigits count: Int) -> String {
    let digits = String(self)
    return String(repeating: "0", count: Swift.max(0, count - digits.count)) + digits
  }
}
