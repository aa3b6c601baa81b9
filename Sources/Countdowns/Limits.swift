/// What clients can make grow, and how far. Each is tested at the limit and one past it.
package struct Limits: Equatable, Sendable {
  /// Running and paused countdowns of one user; root is bound by the total only.
  package var countdownsPerUser = 1_000_000
  /// Running and paused countdowns in all.
  package var countdowns = 5_000_000
  /// Ended countdowns of one user that stay readable.
  package var retainedPerUser = 100_000
  /// How long an ended countdown stays readable, µs.
  package var retainEndedUSec: Int64 = 300_000_000
  /// Users who are known at all: only who has connected, or has something, is. Each may take 4 KB.
  package var users = 65_536
  /// Beyond so many nobody becomes known by being named in a call: room is left for who connects.
  package var namedUsers = 32_768
  /// Open connections of one user, and in all.
  package var connectionsPerUser = 1_024
  package var connections = 4_096
  /// Subscriptions and watches of one user, and in all.
  package var streamsPerUser = 64
  package var streams = 1_024
  /// Bytes of one payload, and of all that one user has stored.
  package var payloadBytes = 4_096
  package var payloadBytesPerUser = 64 << 20
  /// Bytes of one message, either way, without its NUL.
  package var messageBytes = 1 << 20
  /// Calls of one user, and of all, of which much has come and the end has not. Beyond so many the others'
  /// are not read further; but each user may always send one.
  package var longCallsPerUser = 16
  package var longCalls = 64
  /// Bytes of replies that one connection may leave unread before it is not read from any more.
  package var queuedReplyBytes = 4 << 20
  /// Bytes of replies that all connections of one user, and all of them, may leave unread before those
  /// with more than a little are not read from any more, and long replies are refused.
  package var queuedReplyBytesPerUser = 64 << 20
  package var queuedReplyBytesTotal = 256 << 20
  /// Bytes at which a list is cut and goes on in the next reply; and the longest reply while too much is
  /// unread.
  package var listBytes = 64 << 10
  /// Countdowns on one page of a list.
  package var pageLength = 10_000
  /// Names in one `GetMany`: so many countdowns with long payloads fit one message.
  package var namesPerGet = 100
  /// Names in one `Watch`.
  package var namesPerWatch = 1_000
  /// Countdowns in one `StartMany`.
  package var countdownsPerStart = 1_000
  /// Bytes of recent events kept for subscribers that read slowly: those of one user, and in all.
  package var recentEventsBytesPerUser = 16 << 20
  package var recentEventsBytes = 64 << 20

  package init() {}
}
