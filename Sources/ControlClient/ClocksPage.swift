/// What `countdownctl clocks` shows people.
package struct ClocksPage: Sendable {
  private let reply: ClocksReply
  private let zone: Zone

  /// - Parameter zone: That of the times shown.
  package init(_ reply: ClocksReply, in zone: Zone) {
    self.reply = reply
    self.zone = zone
  }

  /// All of it, in lines.
  package func text(withStyles: Bool) -> String {
    var clocks = Table([("", .left), ("", .left)], hasHeadings: false)
    func add(_ label: String, _ text: String, _ style: TextStyle = .plain) {
      clocks.add([.init(label, .dim), .init(text, style)])
    }
    add("wall clock", reply.now.unixSeconds.map(zone.rfc3339) ?? "–")
    add(
      "synchronized", reply.isSynchronized ? "yes" : "no", reply.isSynchronized ? .green : .yellow)
    add("since boot", reply.now.boottimeUSec.map(lengthText) ?? "–")
    add("of it asleep", reply.sleptUSec > 0 ? lengthText(reply.sleptUSec) : "never")
    add("boot", reply.bootID)
    return clocks.text(withStyles: withStyles) + "\n" + history(withStyles: withStyles)
  }

  private func history(withStyles: Bool) -> String {
    guard !reply.discontinuities.isEmpty else {
      return "Nothing has happened to the clocks since the daemon started.\n"
    }
    var table = Table([
      ("WHEN", .left), ("LATE", .right), ("MISSED", .right), ("WHAT HAPPENED", .left),
    ])
    for one in reply.discontinuities {
      let when = one.at.unixSeconds.map {
        zone.shortText(of: $0, today: reply.now.unixSeconds ?? $0)
      }
      table.add([
        .init(when ?? "–"), .init(one.expired.map { "\($0)" } ?? "–"),
        .init(one.missed.map { "\($0)" } ?? "–"), .init(Self.text(of: one), Self.style(of: one)),
      ])
    }
    return table.text(withStyles: withStyles)
  }

  /// By what there is to tell of it, so that a kind from a newer daemon says something as well.
  private static func text(of one: ClocksReply.Discontinuity) -> String {
    var parts: [String] = []
    if let usec = one.sleptUSec { parts.append(sleepText(usec)) }
    if let usec = one.steppedUSec { parts.append(stepText(usec)) }
    if let usec = one.awayUSec { parts.append("the daemon was away for \(lengthText(usec))") }
    return parts.isEmpty ? one.kind : parts.joined(separator: ", and ")
  }

  private static func style(of one: ClocksReply.Discontinuity) -> TextStyle {
    switch one.kind {
    case "slept": .cyan
    case "stepped", "sleptAndStepped": .yellow
    case "stalled": .red
    default: .plain
    }
  }
}
