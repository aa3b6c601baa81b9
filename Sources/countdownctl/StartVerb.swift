import ControlClient
import JSON
import SystemdSyntax

extension Verb {
  static let start = Verb(
    name: "start", words: "NAME LENGTH|--until TIME",
    summary: "start a countdown of a length, or until a point in time",
    options: [
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
      Option("--durability", "WHAT", help: "memory, or synced: told only once it is on disk"),
      Option("--payload", "JSON", help: "an object that comes with the event"),
    ],
    details: [
      "keep leaves one that runs as it is and tells what remains; once does so for one that has",
      "ended too; extendOnly moves its deadline, but only later.",
    ],
    examples: [
      "start tea 3min 30s",
      "start sale --until '2026-12-24 18:00'",
      "start orders/1001 15min --payload '{\"order\":1001}'",
      "start sms/alice 60s --on-conflict keep",
    ],
    run: start)

  @Sendable private static func start(_ session: Session) throws -> Int32 {
    let call = try StartCall(session.arguments, now: session.nowUSec)
    var connection = try session.connect()
    let reply = try connection.call("Start", parameters: call.parameters)
    if session.isJSON {
      try session.write(json: reply.json)
    } else {
      try session.write(describe(StartReply(reply), of: call, in: session))
    }
    return ExitStatus.done
  }

  private static func describe(
    _ reply: StartReply, of call: StartCall, in session: Session
  ) -> String {
    let name = harmless(call.name)
    let state = session.styled(reply.state, .style(ofState: reply.state))
    guard !Countdown.isEnd(reply.state) else {
      return "\(name): \(reply.created ? "" : "already ")\(state) (revision \(reply.revision))\n"
    }
    if reply.created, reply.remainingUSec <= 0 {
      return "\(name): expires at once (revision \(reply.revision))\n"
    }
    let left = Remaining(usec: reply.remainingUSec, hasEnded: false).text(in: .seconds)
    let end = reply.deadline.map { ", ends \(session.time($0))" } ?? ""
    return "\(name): \(reply.created ? "" : "already ")\(state), \(left) left\(end)"
      + " (revision \(reply.revision))\n"
  }
}

/// What `start` asks of the daemon.
private struct StartCall {
  let name: String
  let parameters: [UInt8]

  init(_ arguments: Arguments, now: Int64) throws(ParseError) {
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
    let payload = try Self.payload(arguments["--payload"])
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
    }
  }

  /// The payload's bytes, which must be an object as the daemon takes it.
  private static func payload(_ text: String?) throws(ParseError) -> [UInt8]? {
    guard let text else { return nil }
    let bytes = Array(text.utf8)
    do throws(JSONError) {
      var scanner = JSONScanner(bytes.span)
      let range = try scanner.skipIJSONObject(maximumDepth: 16)
      try scanner.end()
      return Array(bytes[range])
    } catch {
      let place = "at byte \(error.offset)"
      throw ParseError(
        "'--payload': a JSON object is needed, at most 16 deep (\(error.kind) \(place))")
    }
  }
}
