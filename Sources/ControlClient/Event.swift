/// What happened, as the daemon tells it.
package struct Event: Equatable, Sendable {
  /// `expired`, `missed`, `cancelled`, `started`, `changed`, `paused`, `resumed`, `clockStepped`, `slept`,
  /// `heartbeat`; or one that this program does not know yet.
  package let kind: String
  package let name: String?
  /// The number of the user whose it is.
  package let owner: UInt32?
  package let revision: Int64?
  package let occurrence: Int64?
  package let at: Timestamp?
  package let deadline: Timestamp?
  package let lateUSec: Int64?
  /// `none`, `suspend`, `clockStep`, `storage`, `overload`; or one that this program does not know yet.
  package let lateReason: String?
  package let remainingUSec: Int64?
  /// A JSON object, as it was sent.
  package let payload: [UInt8]?
  package let missedOccurrences: Int64?
  package let replacedBy: Int64?
  /// How long the machine slept, or how far its wall clock was set.
  package let byUSec: Int64?

  /// Reads an `Event`. Throws `garbled`.
  package init(_ members: Members) throws(ClientError) {
    kind = try members.required("kind", members.string("kind"))
    name = try members.string("name")
    owner = try members.integer("owner").flatMap { UInt32(exactly: $0) }
    revision = try members.integer("revision")
    occurrence = try members.integer("occurrence")
    at = try members.timestamp("at")
    deadline = try members.timestamp("deadline")
    lateUSec = try members.integer("lateUSec")
    lateReason = try members.string("lateReason")
    remainingUSec = try members.integer("remainingUSec")
    payload = try members.object("payload")?.json
    missedOccurrences = try members.integer("missedOccurrences")
    replacedBy = try members.integer("replacedBy")
    byUSec = try members.integer("byUSec")
  }

  /// The kinds that can be asked for.
  package static let kinds = [
    "started", "changed", "paused", "resumed", "expired", "missed", "cancelled", "clockStepped",
    "slept",
  ]

  /// What happened to the machine, in words; `nil` of a countdown's.
  package var machineText: String? {
    guard let byUSec else { return nil }
    switch kind {
    case "slept": return sleepText(byUSec)
    case "clockStepped": return stepText(byUSec)
    default: return nil
    }
  }
}

/// One reply of a subscription: state, the mark that it is complete, or events.
package struct SubscriptionReply: Equatable, Sendable {
  package let countdowns: [Countdown]
  package let isReady: Bool
  package let events: [Event]
  /// Whether events were passed over before these.
  package let hasGap: Bool

  /// Reads a reply to `Subscribe`. Throws `garbled`.
  package init(_ members: Members) throws(ClientError) {
    countdowns = try members.countdowns() ?? []
    isReady = try members.boolean("ready") ?? false
    var events: [Event] = []
    for object in try members.objects("events") ?? [] { events.append(try Event(object)) }
    self.events = events
    hasGap = try members.boolean("gap") ?? false
  }
}
