import ControlClient

extension Verb {
  static let wait = Verb(
    name: "wait", words: "NAME…", summary: "wait until all of these have expired",
    options: [.owner],
    details: [
      "One that repeats is waited for until it expires next; one that is replaced or restarted is",
      "waited for anew. Exit status: 0 all have expired, 4 one was cancelled, 5 one was missed.",
    ],
    examples: ["wait tea && notify-send 'Tea is ready'", "wait orders/1001 orders/1002"],
    run: wait)

  @Sendable private static func wait(_ session: Session) throws -> Int32 {
    var list = WaitList(try session.names())
    let owners = try session.owners()
    // What there is and what happens come on one stream, so nothing falls between the two.
    var connection = try session.connect()
    let prefix = list.commonPrefix
    try connection.begin(
      "Subscribe",
      parameters: encodeParameters { writer in
        writer.member("prefix", prefix.isEmpty ? nil : prefix)
        writer.member("kinds", ["expired", "missed", "cancelled"])
        writer.member("includeState", true)
        owners.write(to: &writer)
      })
    while list.outcome == nil {
      guard let message = try connection.nextReply(timeoutMSec: nil) else { continue }
      let members = try Members(parsing: message.parameters)
      let reply = try SubscriptionReply(members)
      for countdown in reply.countdowns { list.note(countdown) }
      var isNews = false
      for event in reply.events where list.note(event) {
        isNews = true
        if !session.isJSON { try session.write(session.line(for: event)) }
      }
      if isNews, session.isJSON { try session.write(json: members.json) }
      if reply.isReady {
        // One that was not told as running may have ended a while ago, or be no more.
        try ask(about: list.unknownNames, of: owners, &list, session)
      } else if reply.hasGap {
        try ask(about: list.pendingNames, of: owners, &list, session)
      }
      guard message.continues || list.outcome != nil else { throw ClientError.closed }
    }
    return try status(of: list, in: session)
  }

  /// Asks how those stand, on a connection of its own: that of a stream is taken.
  private static func ask(
    about names: [String], of owners: Owners, _ list: inout WaitList, _ session: Session
  ) throws {
    guard list.outcome == nil, !names.isEmpty else { return }
    var connection = try session.connect()
    for name in names {
      let parameters = encodeParameters { writer in
        writer.member("name", name)
        owners.write(to: &writer)
      }
      list.note(try GetReply(connection.call("Get", parameters: parameters)).countdown)
    }
  }

  private static func status(of list: WaitList, in session: Session) throws -> Int32 {
    switch list.outcome {
    case nil, .allExpired:
      let text = list.names.count == 1 ? "It has expired." : "All have expired."
      if !session.isJSON { try session.write("\(text)\n") }
      return ExitStatus.done
    case .cancelled(let name):
      complain("'\(name)' was cancelled", advice: nil)
      return ExitStatus.cancelled
    case .missed(let name):
      complain("'\(name)' was missed", advice: nil)
      return ExitStatus.missed
    }
  }
}
