internal import Countdowns
package import SystemdSyntax

/// A key of the configuration: its name, what it means and which values it takes.
///
/// ``all`` is the one list of them: files are read by it, and the documented file is tested against it.
/// A key's default is what ``Settings`` has from the start.
package struct Key: Sendable {
  /// As in a file, without its `=`.
  package let name: String
  /// What it is, in words for an administrator, in one line.
  package let meaning: String
  private let kind: Kind

  private enum Kind: Sendable {
    /// A number of things: `K` is a thousand.
    case count(any WritableKeyPath<Settings, Int> & Sendable, ClosedRange<Int>)
    /// A number of bytes: `K` is 1024.
    case bytes(any WritableKeyPath<Settings, Int> & Sendable, ClosedRange<Int>)
    /// A length of time, µs.
    case length(any WritableKeyPath<Settings, Int64> & Sendable, ClosedRange<Int64>)
    case socketMode
    case adminGroup
    case logLevel
  }

  private init(_ name: String, _ kind: Kind, _ meaning: String) {
    self.name = name
    self.meaning = meaning
    self.kind = kind
  }

  /// The key of that name, which is compared exactly; `nil` if there is none.
  package static func named(_ name: String) -> Key? { all.first { $0.name == name } }

  /// Every key, in the order of the documented file.
  package static let all: [Key] = [
    // A hundred million take some 10 GB of memory.
    Key(
      "MaxCountdownsPerUser", .count(\.limits.countdownsPerUser, 1...100_000_000),
      "Countdowns, running and paused, that one user may have."),
    Key(
      "MaxCountdowns", .count(\.limits.countdowns, 1...100_000_000),
      "Countdowns, running and paused, of all users together."),
    // At least one: an ended one is what a retry learns its outcome from.
    Key(
      "RetainEndedMax", .count(\.limits.retainedPerUser, 1...10_000_000),
      "Ended countdowns of one user that can still be read; the oldest goes first."),
    Key(
      "RetainEndedSec", .length(\.limits.retainEndedUSec, 1_000_000...31_536_000_000_000),
      "How long an ended countdown can still be read."),
    // The kernel gives no process more than 2^20 descriptors.
    Key(
      "MaxConnectionsPerUser", .count(\.limits.connectionsPerUser, 1...1_000_000),
      "Connections that one user may have open."),
    Key(
      "MaxConnections", .count(\.limits.connections, 1...1_000_000),
      "Connections of all users together."),
    Key(
      "MaxStreamsPerUser", .count(\.limits.streamsPerUser, 1...1_000_000),
      "Subscriptions and watches that one user may have open."),
    Key(
      "MaxStreams", .count(\.limits.streams, 1...1_000_000),
      "Subscriptions and watches of all users together."),
    // A hundred of them, each with a name and what else is told of a countdown, must fit the longest
    // message: that is what GetMany answers with.
    Key(
      "MaxPayloadBytes", .bytes(\.limits.payloadBytes, 0...8 << 10),
      "Length of the payload of one countdown; with 0 there can be none."),
    Key(
      "MaxPayloadBytesPerUser", .bytes(\.limits.payloadBytesPerUser, 0...1 << 40),
      "Length of all payloads of one user together."),
    // No message is longer than 1 MiB; one with the longest name has to fit.
    Key(
      "MaxMessageBytes", .bytes(\.limits.messageBytes, 4 << 10...1 << 20),
      "Length of one call. A longer one ends the connection."),
    Key(
      "MaxQueuedReplyBytes", .bytes(\.limits.queuedReplyBytes, 8 << 10...1 << 30),
      "Replies that a client may leave unread before it is not listened to any more."),
    Key(
      "MaxQueuedReplyBytesPerUser", .bytes(\.limits.queuedReplyBytesPerUser, 0...1 << 40),
      "Unread replies of all clients of one user together."),
    Key(
      "MaxQueuedReplyBytesTotal", .bytes(\.limits.queuedReplyBytesTotal, 0...1 << 40),
      "Unread replies of all clients of all users together."),
    // At least as much as one reply of a stream holds.
    Key(
      "RecentEventsBytesPerUser", .bytes(\.limits.recentEventsBytesPerUser, 64 << 10...1 << 40),
      "Recent events of one user kept in memory for subscribers that read slowly."),
    Key(
      "RecentEventsBytes", .bytes(\.limits.recentEventsBytes, 64 << 10...1 << 40),
      "Recent events of all users together."),
    Key(
      "SocketMode", .socketMode,
      "Permissions of the socket, where systemd does not pass one."),
    Key(
      "AdminGroup", .adminGroup,
      "Group whose members may act for other users, as root may. By default there is none."),
    Key(
      "LogLateSec", .length(\.logLateUSec, 0...31_536_000_000_000),
      "Countdowns that expire later than this are logged, at most one line a second."),
    Key("LogLevel", .logLevel, "What is less urgent is not logged."),
  ]

  /// Which values it takes, in words: `1 to 100M`.
  package var range: String {
    switch kind {
    case .count(_, let range): Self.words(range, kilo: .decimal)
    case .bytes(_, let range): Self.words(range, kilo: .binary)
    case .length(_, let range):
      "\(TimeSpan(usec: range.lowerBound).text) to \(TimeSpan(usec: range.upperBound).text)"
    case .socketMode: "0200 to 0777"
    case .adminGroup: "the name of a group"
    case .logLevel: LogLevel.allCases.map(\.rawValue).joined(separator: ", ")
    }
  }

  private static func words(_ range: ClosedRange<Int>, kilo: Quantity.Kilo) -> String {
    let bounds = [range.lowerBound, range.upperBound].map { Quantity(UInt64($0), kilo: kilo).text }
    return bounds.joined(separator: " to ")
  }

  /// Its value in `settings`, as it would be written in a file; empty where there is none.
  package func text(in settings: Settings) -> String {
    switch kind {
    case .count(let path, _): Quantity(UInt64(settings[keyPath: path]), kilo: .decimal).text
    case .bytes(let path, _): Quantity(UInt64(settings[keyPath: path]), kilo: .binary).text
    case .length(let path, _): TimeSpan(usec: settings[keyPath: path]).text
    case .socketMode:
      "0" + String(settings.socketMode, radix: 8)
    case .adminGroup: settings.adminGroup ?? ""
    case .logLevel: settings.logLevel.rawValue
    }
  }

  /// Sets it in `settings` to what is written; to its default for an empty text.
  ///
  /// - Throws: What is wrong with the text and what would be right; `settings` are as before then.
  package func set(_ text: String, in settings: inout Settings) throws(ParseError) {
    let text = text.isEmpty ? self.text(in: Settings()) : text
    switch kind {
    case .count(let path, let range):
      settings[keyPath: path] = try quantity(text, kilo: .decimal, within: range)
    case .bytes(let path, let range):
      settings[keyPath: path] = try quantity(text, kilo: .binary, within: range)
    case .length(let path, let range):
      let usec = try TimeSpan(parsing: text).usec
      guard range.contains(usec) else { throw outOfRange(text) }
      settings[keyPath: path] = usec
    case .socketMode: settings.socketMode = try Self.socketMode(text)
    case .adminGroup: settings.adminGroup = try Self.groupName(text)
    case .logLevel:
      guard let level = LogLevel(rawValue: text) else {
        throw ParseError(in: text, "must be one of \(range)")
      }
      settings.logLevel = level
    }
  }

  private func outOfRange(_ text: String) -> ParseError {
    ParseError(in: text, "out of range; it may be \(range)")
  }

  private func quantity(
    _ text: String, kilo: Quantity.Kilo, within range: ClosedRange<Int>
  ) throws(ParseError) -> Int {
    let value = try Quantity(parsing: text, kilo: kilo).value
    guard let value = Int(exactly: value), range.contains(value) else { throw outOfRange(text) }
    return value
  }

  /// Permissions in octal digits. To connect takes the permission to write, so at least the owner has it.
  private static func socketMode(_ text: String) throws(ParseError) -> UInt32 {
    let isOctal = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) }
    guard isOctal, let mode = UInt32(text, radix: 8), mode <= 0o777 else {
      throw ParseError(in: text, "permissions are octal, 0200 to 0777, such as 0660")
    }
    guard mode & 0o200 != 0 else {
      throw ParseError(in: text, "nobody could connect: that takes permission to write, as in 0660")
    }
    return mode
  }

  /// As wide as systemd's rules for names from directories of users, but no number: which group is
  /// meant would depend on whether one has that name. `nil` for an empty text.
  private static func groupName(_ text: String) throws(ParseError) -> String? {
    guard !text.isEmpty else { return nil }
    let isNumber = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    let isFit = text.unicodeScalars.allSatisfy {
      $0.value >= 0x20 && !(0x7f..<0xa0).contains($0.value) && $0 != ":" && $0 != "/"
    }
    guard !isNumber, isFit, text.utf8.count <= 255, text != ".", text != ".." else {
      throw ParseError(in: text, "the name of one group is needed, such as countdownd")
    }
    return text
  }
}
