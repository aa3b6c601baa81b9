internal import SystemdSyntax

/// What `countdownctl statistics` shows people.
package struct StatisticsPage: Sendable {
  private let reply: StatisticsReply
  private let width: Int

  /// - Parameter width: Columns there are for a line; where that is little, bars are left out.
  package init(_ reply: StatisticsReply, width: Int) {
    self.reply = reply
    self.width = width
  }

  /// All of it, in lines.
  package func text(withStyles: Bool) -> String {
    var parts = [use(withStyles), tallies(withStyles), lateness(withStyles)]
    if let daemon = reply.daemon { parts += [text(of: daemon, withStyles)] }
    return parts.joined(separator: "\n")
  }

  private func use(_ withStyles: Bool) -> String {
    var table = Table([("", .left), ("", .right)], hasHeadings: false)
    func add(_ label: String, _ text: String, _ style: TextStyle = .plain) {
      table.add([.init(label, .dim), .init(text, style)])
    }
    add("running", "\(reply.running)", .style(ofState: "running"))
    add("paused", "\(reply.paused)", .style(ofState: "paused"))
    add("ended", "\(reply.ended)")
    add("payloads", bytesText(reply.payloadBytes))
    add("connections", "\(reply.connections)")
    add("streams", "\(reply.streams)")
    add("unread replies", bytesText(reply.unreadReplyBytes))
    return table.text(withStyles: withStyles)
  }

  private func tallies(_ withStyles: Bool) -> String {
    var table = Table([("", .left), ("LAST MINUTE", .right), ("SINCE START", .right)])
    func add(_ label: String, _ count: (StatisticsReply.Tally) -> Int64) {
      table.add([
        .init(label, .dim), .init("\(count(reply.lastMinute))"),
        .init("\(count(reply.sinceStart))"),
      ])
    }
    add("started") { $0.started }
    add("expired") { $0.expired }
    add("missed") { $0.missed }
    add("cancelled") { $0.cancelled }
    add("calls") { $0.calls }
    return table.text(withStyles: withStyles)
  }

  // MARK: Lateness

  private func lateness(_ withStyles: Bool) -> String {
    var text = ""
    let told = reply.lateness.indices.filter { reply.lateness[$0].count > 0 }
    if let first = told.first, let last = told.last {
      text += histogram(first...last, withStyles)
      text += "The worst was \(latenessText(reply.worstLateUSec)) late.\n"
    } else {
      text += "Nothing has expired since the daemon started.\n"
    }
    if let overdue = reply.oldestOverdueUSec {
      let line = "The first of those that are due now has waited for \(latenessText(overdue))."
      text += (withStyles ? TextStyle.red.applied(to: line) : line) + "\n"
    }
    return text
  }

  private func histogram(_ shown: ClosedRange<Int>, _ withStyles: Bool) -> String {
    let most = shown.map { reply.lateness[$0].count }.max() ?? 0
    let labels = shown.map { label(of: $0) }
    let headings = ("LATE BY UP TO", "EXPIRED")
    let counts = shown.map { columns(of: "\(reply.lateness[$0].count)") }
    let taken =
      max(columns(of: headings.0), labels.map(columns).max() ?? 0)
      + max(columns(of: headings.1), counts.max() ?? 0) + 4  // Two gaps.
    let room = min(40, width - taken)
    var table = Table([(headings.0, .right), (headings.1, .right), ("", .left)])
    for (place, label) in zip(shown, labels) {
      let count = reply.lateness[place].count
      let bar = room < 4 ? "" : Self.bar(count, of: most, columns: room)
      table.add([.init(label), .init("\(count)"), .init(bar, .cyan)])
    }
    return table.text(withStyles: withStyles)
  }

  private func label(of bucket: Int) -> String {
    if let bound = reply.lateness[bucket].upToUSec { return lengthText(bound) }
    let before = bucket > 0 ? reply.lateness[bucket - 1].upToUSec : nil
    return before.map { "more than \(lengthText($0))" } ?? "more"
  }

  /// A bar in eighths of a column; of what is not nothing at least one.
  private static func bar(_ count: Int64, of most: Int64, columns: Int) -> String {
    guard count > 0, most > 0 else { return "" }
    let eighths = max(1, Int((Double(count) / Double(most) * Double(columns * 8)).rounded()))
    let ends = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
    return String(repeating: "█", count: eighths / 8) + ends[eighths % 8]
  }

  // MARK: The daemon

  private func text(of daemon: StatisticsReply.Daemon, _ withStyles: Bool) -> String {
    let resident = daemon.residentBytes.map { ", \(bytesText($0)) of memory" } ?? ""
    let users = "\(daemon.users) \(daemon.users == 1 ? "user" : "users")"
    var text = "countdownd \(harmless(daemon.version)), up \(lengthText(daemon.uptimeUSec))"
    text += ", \(users)\(resident)\n\n"
    var memory = Table([("MEMORY FOR", .left), ("", .right)])
    for part in daemon.memory {
      memory.add([.init(part.name, .dim), .init(bytesText(part.value))])
    }
    var limits = Table([("LIMIT", .left), ("", .right)])
    for limit in daemon.limits {
      limits.add([.init(limit.name, .dim), .init(Self.text(of: limit))])
    }
    return text + memory.text(withStyles: withStyles) + "\n" + limits.text(withStyles: withStyles)
  }

  /// As the configuration has it: a key's name says what it counts.
  private static func text(of limit: StatisticsReply.Figure) -> String {
    guard let value = UInt64(exactly: limit.value) else { return "\(limit.value)" }
    if limit.name.hasSuffix("Sec") { return lengthText(limit.value) }
    let isBytes = limit.name.contains("Bytes")
    return Quantity(value, kilo: isBytes ? .binary : .decimal).text
  }
}
