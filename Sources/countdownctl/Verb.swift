import ControlClient

/// Something to do: what it takes, what its help says, and how it is carried out.
struct Verb: Sendable {
  let name: String
  /// What follows its name: `NAME LENGTH`.
  let words: String
  /// One line for the overview.
  let summary: String
  var options: [Option] = []
  /// Lines of its own help, between its options and its examples.
  var details: [String] = []
  let examples: [String]
  /// Returns the exit status.
  let run: @Sendable (Session) throws -> Int32

  /// What `countdownctl VERB --help` prints.
  var help: String {
    let usage = "countdownctl \(name) \(words)".trimmedEnd
    var text = "\(usage)\(options.isEmpty ? "" : " [OPTION…]")\n\n  \(summary)\n"
    if !options.isEmpty { text += "\nOptions\n" + optionTable(options) }
    if !details.isEmpty { text += "\n" + details.map { $0.isEmpty ? "\n" : "  \($0)\n" }.joined() }
    text += "\nExample\(examples.count == 1 ? "" : "s")\n"
    text += examples.map { "  countdownctl \($0)\n" }.joined()
    return text
  }
}

/// What `countdownctl help` prints.
var overview: String {
  var table = Table([("", .left), ("", .left)], hasHeadings: false)
  for verb in verbs {
    table.add([.init("  \(verb.name) \(verb.words)".trimmedEnd), .init(verb.summary)])
  }
  table.add([.init("  help [VERB]"), .init("this, or what a verb takes, with an example")])
  return """
    countdownctl: start, watch and stop countdowns that countdownd holds.

    Verbs
    \(table.text(withStyles: false))
    Options of all verbs
    \(optionTable(globalOptions))
    Lengths are written 90s, 15min, 1h 30min, 1.5s; a bare number is seconds. Points in time are
    \(PointInTime.forms).

    Exit status: 0 done, 1 refused by the daemon, 2 bad usage, 3 cannot reach the daemon; and for
    'wait' 4 cancelled, 5 missed.

    """
}

private func optionTable(_ options: [Option]) -> String {
  var table = Table([("", .left), ("", .left)], hasHeadings: false)
  for option in options {
    let value = option.value.map { " \($0)" } ?? ""
    table.add([.init("  \(option.name)\(value)"), .init(option.help)])
  }
  return table.text(withStyles: false)
}

extension String {
  fileprivate var trimmedEnd: String { hasSuffix(" ") ? String(dropLast()) : self }
}
