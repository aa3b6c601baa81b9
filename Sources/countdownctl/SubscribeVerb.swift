import ControlClient
import SystemdSyntax

extension Verb {
  static let subscribe = Verb(
    name: "subscribe", words: "", summary: "show what happens, as it happens, until interrupted",
    options: [
      Option("--prefix", "PREFIX", help: "only to countdowns whose names begin so"),
      Option("--kinds", "A,B", help: "only these kinds (default: how they end, and the machine's)"),
      Option("--state", help: "show first what there is"), .owner, .allOwners,
    ],
    details: [
      "Kinds: \(Event.kinds.joined(separator: ", ")).",
      "The last two are the machine's, and come whatever the prefix.",
    ],
    examples: [
      "subscribe --prefix orders/", "subscribe --kinds started,expired --json",
      "subscribe --all-owners",
    ],
    run: subscribe)

  @Sendable private static func subscribe(_ session: Session) throws -> Int32 {
    guard session.arguments.words.isEmpty else {
      throw ParseError("it takes no name; a prefix is given with --prefix")
    }
    let kinds = try kinds(session.arguments["--kinds"])
    let owners = try session.owners()
    var connection = try session.connect()
    try connection.begin(
      "Subscribe",
      parameters: encodeParameters { writer in
        writer.member("prefix", session.arguments["--prefix"])
        writer.member("kinds", kinds)
        writer.member("includeState", session.arguments.has("--state"))
        owners.write(to: &writer)
      })
    var table = CountdownTable(session, showsOwners: owners.areAll)
    var names = UserNames()
    while true {
      guard let message = try connection.nextReply(timeoutMSec: nil) else { continue }
      let members = try Members(parsing: message.parameters)
      if session.isJSON {
        try session.write(json: members.json)
      } else {
        try show(SubscriptionReply(members), &table, session) { event in
          owners.areAll ? names.name(of: event.owner) : nil
        }
      }
      guard message.continues else { throw ClientError.closed }
    }
  }

  private static func show(
    _ reply: SubscriptionReply, _ table: inout CountdownTable, _ session: Session,
    ownerOf: (Event) -> String?
  ) throws {
    for countdown in reply.countdowns { try table.add(countdown) }
    if reply.isReady {
      try table.finish()
      if table.count > 0 { try session.write("\n") }
    }
    if reply.hasGap {
      try session.write(session.styled("some events were passed over here", .yellow) + "\n")
    }
    for event in reply.events where event.kind != "heartbeat" {
      try session.write(session.line(for: event, owner: ownerOf(event)))
    }
  }

  private static func kinds(_ text: String?) throws(ParseError) -> [String]? {
    guard let text else { return nil }
    let kinds = text.split(separator: ",").map(String.init)
    guard !kinds.isEmpty else { throw ParseError("'--kinds' is empty") }
    for kind in kinds where !Event.kinds.contains(kind) {
      let near = suggestion(for: kind, among: Event.kinds)
      throw ParseError("'\(kind)' is no kind of event\(near)")
    }
    return kinds
  }
}

extension Session {
  /// An event in one line: `18:03:12  expired    tea  54 µs late`.
  ///
  /// - Parameter owner: The name of the user whose it is, to be shown; `nil` where that is known.
  func line(for event: Event, owner: String? = nil) -> String {
    // The longest kind has nine letters; one that is longer only moves the rest of its line.
    let kind = harmless(event.kind)
    let space = String(repeating: " ", count: max(0, 9 - columns(of: kind)))
    if let text = event.machineText {
      return "\(time(event.at))  \(styled(kind, .yellow))\(space)  \(text)\n"
    }
    var parts = [
      time(event.at), styled(kind, .style(ofState: event.kind)) + space,
      harmless(event.name ?? "–"),
    ]
    if let owner { parts.insert(harmless(owner), at: 2) }
    if let late = event.lateUSec {
      parts.append(latenessText(late, " late", because: event.lateReason))
    }
    if let occurrence = event.occurrence { parts.append("occurrence \(occurrence)") }
    if let missed = event.missedOccurrences, missed > 0 { parts.append("\(missed) passed over") }
    if let left = event.remainingUSec, event.kind != "expired" {
      parts.append("\(Remaining(usec: left, hasEnded: false).text(in: .seconds)) left")
    }
    if let replacement = event.replacedBy { parts.append("replaced by revision \(replacement)") }
    if let payload = event.payload {
      parts.append(styled(oneLine(json: payload, escapingControls: true), .dim))
    }
    return parts.joined(separator: "  ") + "\n"
  }
}
