import ControlClient
import SystemdSyntax

extension Verb {
  static let get = Verb(
    name: "get", words: "NAME", summary: "show all there is to know of a countdown",
    options: [.owner], examples: ["get tea", "get tea --json"],
    run: { session in
      let name = try session.onlyName()
      let owners = try session.owners()
      var connection = try session.connect()
      let reply = try connection.call(
        "Get",
        parameters: encodeParameters { writer in
          writer.member("name", name)
          owners.write(to: &writer)
        })
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
      Option("--state", "STATE", help: "only those running, paused, expired, missed or cancelled"),
      .owner, .allOwners,
    ],
    details: ["Ended ones can be read for a while."],
    examples: ["list", "list orders/ --state running", "list --all-owners"],
    run: list)

  @Sendable private static func list(_ session: Session) throws -> Int32 {
    guard session.arguments.words.count < 2 else { throw ParseError("one prefix is enough") }
    let prefix = session.arguments.words.first
    let states = ["running", "paused", "expired", "missed", "cancelled"]
    let state = try session.arguments.choice("--state", among: states)
    let owners = try session.owners()
    var connection = try session.connect()
    try connection.begin(
      "List",
      parameters: encodeParameters { writer in
        writer.member("prefix", prefix)
        writer.member("state", state)
        owners.write(to: &writer)
      })
    var table = CountdownTable(session, showsOwners: owners.areAll)
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
    name: "count", words: "", summary: "tell how many countdowns you have",
    options: [.owner, .allOwners], examples: ["count", "count --all-owners"],
    run: { session in
      guard session.arguments.words.isEmpty else { throw ParseError("it takes no name") }
      let owners = try session.owners()
      var connection = try session.connect()
      let reply = try connection.call(
        "Count", parameters: encodeParameters { owners.write(to: &$0) })
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
  private let showsOwners: Bool
  private var names = UserNames()
  private var table: Table
  private var rows = 0
  private(set) var count = 0

  /// - Parameter showsOwners: It has a column for them.
  init(_ session: Session, showsOwners: Bool = false) {
    self.session = session
    self.showsOwners = showsOwners
    table = Self.table(hasHeadings: true, showsOwners)
  }

  private static func table(hasHeadings: Bool, _ showsOwners: Bool) -> Table {
    Table((showsOwners ? [("OWNER", .left)] : []) + headings, hasHeadings: hasHeadings)
  }

  mutating func add(_ countdown: Countdown) throws {
    let style = TextStyle.style(ofState: countdown.state)
    let owner = showsOwners ? [Table.Cell(names.name(of: countdown.owner))] : []
    table.add(
      owner + [
        .init(countdown.name), .init(countdown.state, style),
        .init(countdown.remainingText),
        .init(session.time(countdown.hasEnded ? countdown.endedAt : countdown.deadline)),
        .init(session.length(of: countdown)),
      ])
    rows += 1
    count += 1
    if rows == Self.rowsAtOnce {
      try finish()
      table = Self.table(hasHeadings: false, showsOwners)
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
    let length = lengthText(countdown.durationUSec)
    guard let interval = countdown.repeatUSec else { return length }
    return "\(length), then every \(lengthText(interval))"
  }

  /// All there is to know of a countdown, a line for each thing.
  func description(of countdown: Countdown) -> String {
    var table = Table([("", .left), ("", .left)], hasHeadings: false)
    func add(_ label: String, _ text: String?, _ style: TextStyle = .plain) {
      if let text { table.add([.init(label, .dim), .init(text, style)]) }
    }
    add("name", countdown.name, .bold)
    var names = UserNames()
    add("owner", countdown.owner.map { names.name(of: $0) })
    add("state", countdown.state, .style(ofState: countdown.state))
    add("remaining", countdown.hasEnded ? nil : countdown.remainingText)
    add("ends", countdown.hasEnded ? nil : countdown.deadline.map(time))
    add("started", countdown.startedAt.map(time))
    add("ended", countdown.endedAt.map(time))
    add("late", countdown.lateUSec.map { latenessText($0, because: countdown.lateReason) })
    add("length", length(of: countdown))
    add("clock", countdown.clock)
    let grace = countdown.graceUSec.map { " after \(lengthText($0))" } ?? ""
    add("catch-up", countdown.catchUp.map { $0 + grace })
    add("durability", countdown.durability)
    add("revision", "\(countdown.revision)")
    add("payload", countdown.payload.map { oneLine(json: $0, escapingControls: true) })
    return table.text(withStyles: hasColor)
  }
}
