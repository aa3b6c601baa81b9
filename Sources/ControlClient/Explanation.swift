import LinuxIO
import SystemdSyntax

/// What went wrong, in a sentence for people, and what they could do next.
package struct Explanation: Equatable, Sendable {
  package let message: String
  /// `nil` where there is nothing to advise.
  package let advice: String?

  private init(_ message: String, advice: String? = nil) {
    self.message = message
    self.advice = advice
  }

  /// Explains an error of the client.
  ///
  /// - Parameter source: What named the daemon's socket, `--socket`; `nil` for the usual one.
  package init(_ error: ClientError, socketNamedBy source: String? = nil) {
    switch error {
    case .unreachable(let path, let cause): self = Self.unreachable(path, cause, source)
    case .refused(let refusal): self.init(refusal)
    case .closed:
      self.init(
        "the daemon ended the connection",
        advice: "see what it says: journalctl -u countdownd -n 20")
    case .silent(let seconds):
      self.init(
        "the daemon did not answer within \(seconds) s",
        advice: "see whether it is well: systemctl status countdownd")
    case .garbled(let what):
      self.init(
        "what answered is not countdownd, or of another version: \(what)",
        advice: "check the socket: --socket, or $COUNTDOWND_SOCKET")
    case .oversized:
      self.init("a message is longer than 1 MiB, more than the daemon exchanges")
    case .failed(let cause): self.init("the connection failed: \(cause)")
    }
  }

  private static func unreachable(
    _ path: String, _ cause: SystemCallError, _ source: String?
  ) -> Explanation {
    let path = harmless(path)
    switch cause.name {
    case "ENOENT", "ECONNREFUSED":
      let usual = "start it with 'systemctl start countdownd', or name another with --socket"
      return Explanation(
        "no daemon listens at \(path)",
        // The service listens elsewhere: to start it would change nothing.
        advice: source.map { "check \($0), or start a daemon there: countdownd --socket \(path)" }
          ?? usual)
    case "EACCES", "EPERM":
      return Explanation(
        "you may not connect to \(path)",
        advice: "become a member of the group that owns it: ls -l \(path)")
    default:
      return Explanation(
        "cannot connect to \(path): \(cause)", advice: "name another with --socket")
    }
  }

  /// Explains an error that the daemon answered with.
  package init(_ refusal: CallRefusal) {
    // An explanation is worth having even where a field is missing or odd.
    let fields = try? Members(parsing: refusal.parameters)
    let name = harmless(fields.text("name") ?? "it")
    let state = harmless(fields.text("state") ?? "ended")
    let revision = fields.number("revision").map { "\($0)" } ?? "another"
    let prefix = "\(Connection.interface)."
    switch refusal.name.hasPrefix(prefix) ? String(refusal.name.dropFirst(prefix.count)) : nil {
    case "NoSuchCountdown":
      self.init(
        "there is no countdown named '\(name)'",
        advice: "see what there is with 'countdownctl list'")
    case "CountdownExists":
      let left = Remaining(usec: fields.number("remainingUSec") ?? 0, hasEnded: false)
      self.init(
        "'\(name)' is \(state) already, with \(left.text(in: .seconds)) left",
        advice: "replace it with --on-conflict replace, or leave it with --on-conflict keep")
    case "AlreadyExpired":
      let verb = state == "missed" ? "was missed" : "has \(state)"
      self.init(
        "too late: '\(name)' \(verb) already (revision \(revision))",
        advice: "give it its full length again with 'countdownctl restart'")
    case "WrongState":
      self.init("that cannot be done to '\(name)': it is \(state)")
    case "WrongClock":
      let clock = harmless(fields.text("clock") ?? "another clock")
      self.init("that cannot be done to '\(name)': it runs on the clock \(clock)")
    case "RevisionMismatch":
      self.init(
        "'\(name)' was changed meanwhile: its revision is now \(revision)",
        advice: "look at it with 'countdownctl get', then decide anew")
    case "DurationOutOfRange": self = Self.outOfRange(fields)
    case "QuotaExceeded" where Self.sizes[fields.text("resource") ?? ""] != nil:
      let resource = fields.text("resource") ?? ""
      let used = fields.number("used").map { "\($0)" } ?? "too many"
      let limit = fields.number("limit").map { "\($0)" } ?? "fewer"
      self.init(
        "\(Self.sizes[resource] ?? resource) has \(used) bytes, and the daemon takes at most \(limit)",
        advice: "shorten it, or have \(resource)= raised in countdownd.conf")
    case "QuotaExceeded" where Self.perCall[fields.text("resource") ?? ""] != nil:
      let things = Self.perCall[fields.text("resource") ?? ""] ?? "things"
      let used = fields.number("used").map { "\($0)" } ?? "too many"
      let limit = fields.number("limit").map { "\($0)" } ?? "fewer"
      self.init("\(used) \(things) in one call are too many", advice: "\(limit) is the most")
    case "QuotaExceeded" where fields.text("resource") == "NameBytes":
      self.init(
        "the daemon's memory for names is used up", advice: "cancel what is not needed")
    case "QuotaExceeded":
      let resource = harmless(fields.text("resource") ?? "a limit")
      let limit = fields.number("limit").map { " of \($0)" } ?? ""
      let used = fields.number("used").map { ", \($0) in use" } ?? ""
      self.init(
        "the daemon's limit \(resource)=\(limit) is reached\(used)",
        advice: "cancel what is not needed, or have it raised in countdownd.conf")
    case "StorageFailed" where fields.text("errnoName") == "ENOTSUP":
      self.init(
        "this daemon stores nothing, so it can promise nothing that outlives it",
        advice: "do without --durability synced")
    case "StorageFailed":
      let cause = harmless(fields.text("errnoName") ?? "an error")
      let isUnknown = (try? fields?.boolean("outcomeUnknown")) == true
      self.init(
        "the daemon could not store it (\(cause)); "
          + (isUnknown ? "whether it was done is unknown" : "nothing was done"),
        advice: "look at its disk, then try again")
    default: self = Self.standard(refusal, fields)
    }
  }

  /// What a single call may hold only so many of, by the resource's name.
  private static let perCall = ["NamesPerCall": "names", "CountdownsPerCall": "countdowns"]

  /// What the limits are about that bound the size of a single thing, by the resource's name.
  private static let sizes = ["MaxPayloadBytes": "the payload", "MaxMessageBytes": "the call"]

  /// A bound that was left, in people's units; instants as Unix time.
  private static func outOfRange(_ fields: Members?) -> Explanation {
    let parameter = fields.text("parameter") ?? "a length"
    let name = parameterNames[parameter] ?? harmless(parameter)
    func text(_ usec: Int64?) -> String {
      guard let usec, usec.magnitude <= TimeSpan.limitUSec.magnitude else { return "?" }
      if parameter == "deadlineUSec" { return Zone.utc.rfc3339(usec / 1_000_000) }
      return TimeSpan(usec: usec).text
    }
    let minimum = text(fields.number("minimumUSec"))
    let maximum = text(fields.number("maximumUSec"))
    return Explanation("\(name) is out of range: it must be from \(minimum) to \(maximum)")
  }

  /// What people call the parameters that are lengths or instants.
  private static let parameterNames = [
    "durationUSec": "the length", "deadlineUSec": "the point in time", "graceUSec": "the grace",
    "repeatUSec": "the interval", "byUSec": "the length", "toRemainingUSec": "what should remain",
    "heartbeatUSec": "the heartbeat", "intervalUSec": "the interval",
  ]

  /// The errors that every Varlink service has, and any that this program does not know.
  private static func standard(_ refusal: CallRefusal, _ fields: Members?) -> Explanation {
    let older = "the daemon may be older than this program: countdownd --version"
    switch refusal.name {
    case "org.varlink.service.InvalidParameter":
      let parameter = harmless(fields.text("parameter") ?? "a parameter")
      let isName = parameter == "name" || parameter == "prefix"
      return Explanation(
        "the daemon refuses the value of '\(parameter)'",
        advice: isName ? "a name has 1 to 255 bytes and no control characters" : nil)
    case "org.varlink.service.PermissionDenied":
      return Explanation(
        "you have no right to do that",
        advice: "only root and the members of AdminGroup= (countdownd.conf) act for other users")
    case "org.varlink.service.MethodNotFound", "org.varlink.service.MethodNotImplemented":
      let method = harmless(fields.text("method") ?? "that method")
      return Explanation("the daemon does not know \(method)", advice: older)
    case "org.varlink.service.InterfaceNotFound":
      return Explanation("this is not countdownd", advice: "name its socket with --socket")
    default:
      let parameters = harmless(oneLine(json: refusal.parameters, escapingControls: false))
      return Explanation(
        "the daemon refused: \(harmless(refusal.name)) \(parameters)", advice: older)
    }
  }
}

extension Members? {
  fileprivate func text(_ key: String) -> String? { (try? self?.string(key)) ?? nil }
  fileprivate func number(_ key: String) -> Int64? { (try? self?.integer(key)) ?? nil }
}
