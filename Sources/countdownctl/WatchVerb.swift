import ControlClient
import LinuxIO
import SystemdSyntax

extension Verb {
  static let watch = Verb(
    name: "watch", words: "[NAME…]",
    summary: "show countdowns as they run down, until q is pressed",
    options: [
      Option("--prefix", "PREFIX", help: "all whose names begin so, and those that are started"),
      Option("--interval", "LENGTH", help: "the smallest step shown (default 1s; at least 50ms)"),
      .owner,
    ],
    details: [
      "Without a name it shows all there are, the next to end first; of more than 1000 that run or are",
      "paused, the first by name. Where the output is no terminal names are needed; each change, and",
      "each step of what remains, is a line then.",
    ],
    examples: ["watch", "watch tea eggs --interval 100ms", "watch --prefix orders/"],
    run: watch)

  @Sendable private static func watch(_ session: Session) throws -> Int32 {
    let names = session.arguments.words
    let prefix = session.arguments["--prefix"]
    let interval = try session.arguments.length("--interval") ?? 1_000_000
    let owners = try session.owners()
    guard names.isEmpty || prefix == nil else {
      throw ParseError("names and a prefix: one of the two is enough")
    }
    guard names.count <= 1_000 else { throw ParseError("at most 1000 names, not \(names.count)") }
    guard interval >= 50_000 else { throw ParseError("'--interval' must be at least 50ms") }
    if !session.isJSON, session.canRedraw {
      var screen = try LiveScreen(
        session, names: names, prefix: prefix, of: owners, intervalUSec: interval)
      return try screen.run()
    }
    guard !names.isEmpty else {
      let place = session.isJSON ? "with --json" : "without a terminal"
      throw ParseError("\(place) it needs names; 'subscribe' shows all that happens")
    }
    return try printLines(names, of: owners, intervalUSec: interval, session)
  }

  /// A line for each change and each step, until interrupted.
  private static func printLines(
    _ names: [String], of owners: Owners, intervalUSec: Int64, _ session: Session
  ) throws -> Int32 {
    var connection = try session.connect()
    try connection.beginWatching(names, of: owners, intervalUSec: intervalUSec)
    let unit = Remaining.Unit(refreshedEveryUSec: intervalUSec)
    while true {
      guard let message = try connection.nextReply(timeoutMSec: nil) else { continue }
      let members = try Members(parsing: message.parameters)
      if session.isJSON {
        try session.write(json: members.json)
      } else {
        let reply = try WatchReply(members)
        for countdown in reply.countdowns {
          try session.write(session.line(for: countdown, at: reply.now, in: unit))
        }
      }
      guard message.continues else { throw ClientError.closed }
    }
  }
}

extension Connection {
  /// Watches these; with an interval also at each multiple of it of what remains.
  mutating func beginWatching(
    _ names: [String], of owners: Owners, intervalUSec: Int64?
  ) throws(ClientError) {
    try begin(
      "Watch",
      parameters: encodeParameters { writer in
        writer.member("names", names)
        writer.member("intervalUSec", intervalUSec)
        owners.write(to: &writer)
      })
  }
}

extension Session {
  /// Whether what was written can be written over.
  var canRedraw: Bool {
    StandardStream.output.isTerminal && CurrentProcess.environmentVariable("TERM") != "dumb"
  }

  /// A countdown in one line: `18:03:12  running    0:09  tea`.
  fileprivate func line(
    for countdown: WatchedCountdown, at now: Timestamp, in unit: Remaining.Unit
  ) -> String {
    // The longest state has nine letters; one that is longer only moves the rest of its line.
    let state = harmless(countdown.state)
    let space = String(repeating: " ", count: max(0, 9 - columns(of: state)))
    var parts = [time(now), styled(state, .style(ofState: countdown.state)) + space]
    if let left = countdown.remainingUSec {
      let hasEnded = Countdown.isEnd(countdown.state)
      parts.append(Remaining(usec: left, hasEnded: hasEnded).text(in: unit))
    }
    parts.append(harmless(countdown.name))
    if let late = countdown.lateUSec { parts.append("\(latenessText(late)) late") }
    return parts.joined(separator: "  ") + "\n"
  }
}
