import ControlClient
import SystemdSyntax

extension Verb {
  static let pause = moving(
    "pause", "Pause", summary: "stop countdowns for a while; what remains is kept",
    example: "pause tea")
  static let resume = moving(
    "resume", "Resume", summary: "let paused countdowns run on", example: "resume tea")
  static let restart = moving(
    "restart", "Restart", summary: "give countdowns their full length again, ended ones too",
    example: "restart tea")

  static let cancel = Verb(
    name: "cancel", words: "NAME…|--prefix PREFIX", summary: "end countdowns before they expire",
    options: [
      Option("--prefix", "PREFIX", help: "all whose names begin so, which may be many"),
      revisionOption, .owner, .allOwners,
    ],
    details: ["--all-owners goes with --prefix only."],
    examples: [
      "cancel tea", "cancel orders/1001 --revision 7", "cancel --prefix orders/ --owner alice",
    ],
    run: { session in
      if let prefix = session.arguments["--prefix"] { return try session.cancelAll(prefix) }
      return try session.callForEach("Cancel") { name, reply in
        let reply = try CancelReply(reply)
        let left = Remaining(usec: reply.remainingUSec, hasEnded: false).text(in: .seconds)
        let state = session.styled("cancelled", .style(ofState: "cancelled"))
        return "\(name): \(state), \(left) was left (revision \(reply.revision))\n"
      }
    })

  static let extend = Verb(
    name: "extend", words: "NAME [-]LENGTH|--to LENGTH",
    summary: "move a deadline by a length, or to what should remain",
    options: [
      Option("--to", "LENGTH", help: "what should remain from now on"), revisionOption, .owner,
    ],
    details: [
      "To 0 or less, a running one expires at once. 'restart' still gives its first length."
    ],
    examples: ["extend tea 30s", "extend tea -1min", "extend tea --to 5min"],
    run: extend)

  static let setPayload = Verb(
    name: "set-payload", words: "NAME [JSON|-]",
    summary: "change what comes with the event; without JSON nothing does",
    options: [revisionOption, .owner],
    details: ["With '-' the JSON stands on the standard input. The deadline stays as it is."],
    examples: [
      "set-payload orders/1001 '{\"paid\":true}'", "set-payload orders/1001 - <order.json",
      "set-payload orders/1001",
    ],
    run: setPayload)

  @Sendable private static func setPayload(_ session: Session) throws -> Int32 {
    let words = session.arguments.words
    guard let name = words.first else { throw ParseError("a name is missing") }
    guard words.count <= 2 else {
      throw ParseError("one object is enough; '\(words[2])' is too much")
    }
    let revision = try session.arguments.number("--revision")
    let owners = try session.owners()
    var object: [UInt8]?
    if words.count == 2, words[1] == "-" {
      let input = try standardInput(atMost: Connection.maximumMessageBytes)
      object = try payload(input, from: "the standard input")
    } else if words.count == 2 {
      object = try payload(Array(words[1].utf8), from: "the payload")
    }
    var connection = try session.connect()
    let reply = try connection.call(
      "SetPayload",
      parameters: encodeParameters { writer in
        writer.member("name", name)
        writer.member("payload", json: object)
        writer.member("revision", revision)
        owners.write(to: &writer)
      })
    if session.isJSON {
      try session.write(json: reply.json)
    } else {
      let what = object == nil ? "has no payload any more" : "has another payload"
      let revision = try PayloadReply(reply).revision
      try session.write("\(harmless(name)): \(what) (revision \(revision))\n")
    }
    return ExitStatus.done
  }

  private static let revisionOption = Option(
    "--revision", "N", help: "only if this is still its revision")

  /// A verb that moves countdowns and takes nothing but their names.
  private static func moving(
    _ verb: String, _ method: String, summary: String, example: String
  ) -> Verb {
    Verb(
      name: verb, words: "NAME…", summary: summary, options: [revisionOption, .owner],
      examples: [example],
      run: { session in
        try session.callForEach(method) { name, reply in
          session.description(of: try MoveReply(reply), name: name)
        }
      })
  }

  @Sendable private static func extend(_ session: Session) throws -> Int32 {
    guard let name = session.arguments.words.first else { throw ParseError("a name is missing") }
    let length = session.arguments.words.dropFirst().joined(separator: " ")
    let target = try session.arguments.length("--to")
    guard length.isEmpty != (target == nil) else {
      throw ParseError(
        target == nil ? "a length is missing, or --to LENGTH" : "a length or --to, not both")
    }
    let change = length.isEmpty ? nil : try TimeSpan(parsing: length, allowsSign: true).usec
    let revision = try session.arguments.number("--revision")
    let owners = try session.owners()
    var connection = try session.connect()
    let reply = try connection.call(
      "Extend",
      parameters: encodeParameters { writer in
        writer.member("name", name)
        writer.member("byUSec", change)
        writer.member("toRemainingUSec", target)
        writer.member("revision", revision)
        owners.write(to: &writer)
      })
    if session.isJSON {
      try session.write(json: reply.json)
    } else {
      try session.write(session.description(of: MoveReply(reply), name: harmless(name)))
    }
    return ExitStatus.done
  }
}

extension Session {
  /// Calls `method` for each name typed, and says what came of it.
  ///
  /// What the daemon refuses for one name does not keep the others from being tried.
  fileprivate func callForEach(
    _ method: String, describe: (_ name: String, Members) throws -> String
  ) throws -> Int32 {
    let names = try names()
    let revision = try arguments.number("--revision")
    guard revision == nil || names.count == 1 else {
      throw ParseError("--revision goes with one name only")
    }
    let owners = try owners()
    guard !owners.areAll else { throw ParseError("--all-owners goes with --prefix only") }
    var connection = try connect()
    var status = ExitStatus.done
    for name in names {
      let parameters = encodeParameters { writer in
        writer.member("name", name)
        writer.member("revision", revision)
        owners.write(to: &writer)
      }
      do {
        let reply = try connection.call(method, parameters: parameters)
        try isJSON ? write(json: reply.json) : write(describe(harmless(name), reply))
      } catch ClientError.refused(let refusal) {
        let explanation = Explanation(refusal)
        complain(explanation.message, advice: explanation.advice)
        if isJSON { printRefusal(refusal) }
        status = ExitStatus.refused
      }
    }
    return status
  }

  /// Cancels all whose names begin so, and says how many that were.
  fileprivate func cancelAll(_ prefix: String) throws -> Int32 {
    guard arguments.words.isEmpty else { throw ParseError("names or --prefix, not both") }
    guard !arguments.has("--revision") else {
      throw ParseError("--revision goes with one name only")
    }
    let owners = try owners()
    var connection = try connect()
    let reply = try connection.call(
      "CancelMany",
      parameters: encodeParameters { writer in
        writer.member("prefix", prefix)
        owners.write(to: &writer)
      })
    if isJSON {
      try write(json: reply.json)
    } else {
      let reply = try CancelManyReply(reply)
      let state = styled("cancelled", .style(ofState: "cancelled"))
      try write("\(reply.cancelled) \(state); \(reply.ended) had ended before\n")
    }
    return ExitStatus.done
  }

  /// How a countdown stands after it was moved. `name` must be harmless.
  fileprivate func description(of reply: MoveReply, name: String) -> String {
    let left = Remaining(usec: reply.remainingUSec, hasEnded: false).text(in: .seconds)
    let revision = "(revision \(reply.revision))"
    guard let deadline = reply.deadline else {
      return "\(name): \(styled("paused", .style(ofState: "paused"))), \(left) left \(revision)\n"
    }
    if reply.remainingUSec <= 0 { return "\(name): expires at once \(revision)\n" }
    let state = styled("running", .style(ofState: "running"))
    return "\(name): \(state), \(left) left, ends \(time(deadline)) \(revision)\n"
  }
}
