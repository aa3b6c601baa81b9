// Configuration: what an administrator can set, read from the text of files. It knows the keys, their
// ranges and defaults, and nothing of where files lie or what is done with the settings. Read Settings
// next, then Key.

package import Countdowns
package import SystemdSyntax

/// Everything that can be configured, with the defaults in place.
package struct Settings: Equatable, Sendable {
  /// What clients can make grow, and how far.
  package var limits = Limits()
  /// Permissions of a socket that the daemon binds itself, 0…0777.
  package var socketMode: UInt32 = 0o660
  /// The group whose members may act for other users; `nil` for none.
  package var adminGroup: String?
  /// Expiries later than this are logged, µs.
  package var logLateUSec: Int64 = 1_000_000
  /// What is less urgent is not logged.
  package var logLevel = LogLevel.info

  /// The defaults.
  package init() {}

  /// The one section there is.
  package static let section = "Countdownd"

  /// Reads files, of which a later one wins, key by key; so does a later line of one file. An empty
  /// value resets a key to its default.
  ///
  /// As with systemd, what begins with `X-`, a key or a section, is for others and passed over.
  ///
  /// - Throws: The first thing that is wrong, also where a later line would have overridden it.
  package static func read(_ files: [SourceFile]) throws(SourceError) -> SettingsRead {
    var read = SettingsRead()
    var queuedReplyBytesAt: SourcePosition?
    for file in files {
      var section: String?
      for statement in try Statement.all(in: file) {
        switch statement.content {
        case .section(let name):
          section = name
          guard name != Self.section, !name.hasPrefix("X-") else { continue }
          read.warn("\(statement.position): unknown section [\(name.shown())], ignoring")
        case .assignment(let name, let value):
          guard let section else {
            let needed = "[\(Self.section)]"
            read.warn("\(statement.position): \(name.shown())= is not below \(needed), ignoring")
            continue
          }
          guard section == Self.section, !name.hasPrefix("X-") else { continue }
          guard let key = Key.named(name) else {
            read.warn("\(statement.position): unknown key \(name.shown())=, ignoring")
            continue
          }
          do throws(ParseError) {
            try key.set(value, in: &read.settings)
          } catch {
            throw SourceError(
              at: statement.position,
              "\(name)=\(value.shown()): \(error.problem.shown(atMost: 400))")
          }
          if key.name == "MaxQueuedReplyBytes" { queuedReplyBytesAt = statement.position }
        }
      }
    }
    // Only where it was set can it be too small: the default is enough for the longest messages.
    if let position = queuedReplyBytesAt { try read.settings.checkReplies(setAt: position) }
    return read
  }

  /// A connection's calls are handled while less than its limit of replies waits, less the longest
  /// message: with less than two it would be served by one call a turn.
  private func checkReplies(setAt position: SourcePosition) throws(SourceError) {
    guard limits.queuedReplyBytes < 2 * limits.messageBytes else { return }
    func text(_ bytes: Int) -> String { Quantity(UInt64(bytes), kilo: .binary).text }
    throw SourceError(
      at: position,
      "MaxQueuedReplyBytes=\(text(limits.queuedReplyBytes)): must be at least twice"
        + " MaxMessageBytes=\(text(limits.messageBytes)), so \(text(2 * limits.messageBytes))"
        + " or more")
  }
}

/// What files say: the settings, and what in them was passed over.
package struct SettingsRead: Equatable, Sendable {
  /// The defaults, and over them what the files set.
  package fileprivate(set) var settings = Settings()
  /// Each a line for the log, in order: file, line, and what was ignored there. The first
  /// ``warningLimit``, then how many more there were.
  package var warnings: [String] {
    kept + (dropped > 0 ? ["\(dropped) more lines of the configuration were ignored"] : [])
  }

  /// What no files say: all is as by default.
  package init() {}

  private var kept: [String] = []
  private var dropped = 0

  /// A file of another program, taken by mistake, must not fill the log.
  package static let warningLimit = 20

  fileprivate mutating func warn(_ text: String) {
    if kept.count < Self.warningLimit { kept.append(text) } else { dropped += 1 }
  }
}

/// How urgent a log entry has to be.
package enum LogLevel: String, CaseIterable, Sendable {
  case error, warning, info, debug
}
