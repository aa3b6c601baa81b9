import ControlClient
import SystemdSyntax

extension Verb {
  static let start = Verb(
    name: "start", words: "NAME LENGTH|--until TIME, or -",
    summary: "start a countdown of a length, or until a point in time",
    options: startOptions + [.owner],
    details: [
      "keep leaves one that runs as it is and tells what remains; once does so for one that has",
      "ended too; extendOnly moves its deadline, but only later.",
      "",
      "With '-' alone it starts what stands on the standard input, as it comes: on each line a JSON",
      "object with the parameters of Start, {\"name\":\"orders/1002\",\"durationUSec\":900000000}. What",
      "became of each is told in their order. They are started together as they come, up to 1000 at",
      "once; a line that makes no sense ends it, and none of its group is started.",
    ],
    examples: [
      "start tea 3min 30s",
      "start sale --until '2026-12-24 18:00'",
      "start orders/1001 15min --payload '{\"order\":1001}'",
      "start sms/alice 60s --on-conflict keep",
      "start - <orders.jsonl",
    ],
    run: start)

  /// Those that say what a countdown is to be.
  private static let startOptions = [
    Option("--until", "TIME", help: "end at that time of the wall clock"),
    Option("--past", help: "accept a TIME that is over: it expires at once"),
    Option(
      "--clock", "CLOCK", help: "boottime (sleep counts; default) or monotonic (it does not)"),
    Option(
      "--on-conflict", "WHAT",
      help: "if it runs already: fail (default), keep, once, replace or extendOnly"),
    Option("--revision", "N", help: "with --on-conflict replace: only if this is its revision"),
    Option(
      "--catch-up", "WHAT", help: "if nobody could look in time: fire late (default) or skip"),
    Option("--grace", "LENGTH", help: "with --catch-up skip: how late is too late (1min)"),
    Option("--repeat", "LENGTH", help: "expire again and again at this interval"),
    Option(
      "--durability", "WHAT",
      help: "memory (default); synced is refused (ENOTSUP): nothing is stored"),
    Option("--payload", "JSON", help: "an object that comes with the event"),
  ]

  @Sendable private static func start(_ session: Session) throws -> Int32 {
    if session.arguments.words == ["-"] {
      for option in startOptions where session.arguments.has(option.name) {
        throw ParseError("'\(option.name)' does not go with '-': each line says what it wants")
      }
      return try StartFromInput.run(session)
    }
    let call = try StartCall(session.arguments, now: session.nowUSec, of: session.owners())
    var connection = try session.connect()
    let reply = try connection.call("Start", parameters: call.parameters)
    if session.isJSON {
      try session.write(json: reply.json)
    } else {
      try session.write(session.description(of: StartReply(reply), name: harmless(call.name)))
    }
    return ExitStatus.done
  }
}

extension Session {
  /// What became of a start. `name` must be harmless.
  func description(of reply: StartReply, name: String) -> String {
    let state = styled(reply.state, .style(ofState: reply.state))
    guard !Countdown.isEnd(reply.state) else {
      return "\(name): \(reply.created ? "" : "already ")\(state) (revision \(reply.revision))\n"
    }
    if reply.created, reply.remainingUSec <= 0 {
      return "\(name): expires at once (revision \(reply.revision))\n"
    }
    let left = Remaining(usec: reply.remainingUSec, hasEnded: false).text(in: .seconds)
    let end = reply.deadline.map { ", ends \(time($0))" } ?? ""
    return "\(name): \(reply.created ? "" : "already ")\(state), \(left) left\(end)"
      + " (revision \(reply.revision))\n"
  }
}

/// What `start` asks of the daemon.
private struct StartCall {
  let name: String
  let parameters: [UInt8]

  init(_ arguments: Arguments, now: Int64, of owners: Owners) throws(ParseError) {
    guard let name = arguments.words.first else { throw ParseError("a name is missing") }
    self.name = name
    // The shell takes 1h 30min apart; here it becomes one length again.
    let length = arguments.words.dropFirst().joined(separator: " ")
    let until = arguments["--until"]
    guard length.isEmpty != (until == nil) else {
      throw ParseError(
        until == nil ? "a length is missing, or --until TIME" : "a length or --until, not both")
    }
    guard until != nil || !arguments.has("--past") else {
      throw ParseError("--past goes with --until")
    }
    let clock = try arguments.choice("--clock", among: ["boottime", "monotonic", "realtime"])
    guard clock == nil || (clock == "realtime") == (until != nil) else {
      throw ParseError(
        until == nil
          ? "a length is measured on boottime or monotonic; realtime goes with --until"
          : "--until is a point on the clock realtime, whichever way that is set")
    }
    let deadline = try until.map { text throws(ParseError) in
      try PointInTime(
        parsing: text, now: now, in: .local, allowsPast: arguments.has("--past")
      ).realtimeUSec
    }
    let duration = length.isEmpty ? nil : try TimeSpan(parsing: length).usec
    let conflict = try arguments.choice(
      "--on-conflict", among: ["fail", "keep", "once", "replace", "extendOnly"])
    let revision = try arguments.number("--revision")
    guard revision == nil || conflict == "replace" else {
      throw ParseError("--revision goes with --on-conflict replace")
    }
    let catchUp = try arguments.choice("--catch-up", among: ["fire", "skip"])
    let grace = try arguments.length("--grace")
    guard grace == nil || catchUp == "skip" else {
      throw ParseError("--grace goes with --catch-up skip")
    }
    let interval = try arguments.length("--repeat")
    let durability = try arguments.choice("--durability", among: ["memory", "synced"])
    let payload = try arguments["--payload"].map { text throws(ParseError) in
      try countdownctl.payload(Array(text.utf8), from: "'--payload'")
    }
    parameters = encodeParameters { writer in
      writer.member("name", name)
      writer.member("durationUSec", duration)
      writer.member("deadlineUSec", deadline)
      writer.member("clock", clock)
      writer.member("onConflict", conflict)
      writer.member("catchUp", catchUp)
      writer.member("graceUSec", grace)
      writer.member("repeatUSec", interval)
      writer.member("durability", durability)
      writer.member("payload", json: payload)
      writer.member("revision", revision)
      owners.write(to: &writer)
    }
  }
}
