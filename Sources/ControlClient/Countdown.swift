/// A point in time as the daemon tells it, in microseconds of up to three clocks.
package struct Timestamp: Equatable, Sendable {
  /// Since 1970.
  package let realtimeUSec: Int64?
  /// Of CLOCK_BOOTTIME.
  package let boottimeUSec: Int64?
  /// Of CLOCK_MONOTONIC.
  package let monotonicUSec: Int64?

  /// Reads a `Timestamp`. Throws `garbled`, as the initialisers below do.
  package init(_ members: Members) throws(ClientError) {
    realtimeUSec = try members.integer("realtimeUSec")
    boottimeUSec = try members.integer("boottimeUSec")
    monotonicUSec = try members.integer("monotonicUSec")
  }

  /// Seconds since 1970, rounded down.
  package var unixSeconds: Int64? {
    realtimeUSec.map { $0.flooredQuotientAndRemainder(dividingBy: 1_000_000).0 }
  }
}

extension Members {
  /// A `Timestamp`; `nil` if it is missing.
  package func timestamp(_ key: String) throws(ClientError) -> Timestamp? {
    guard let members = try object(key) else { return nil }
    return try Timestamp(members)
  }
}

/// A countdown as the daemon tells it. Words it may learn one day are kept as they came.
package struct Countdown: Equatable, Sendable {
  package let name: String
  /// The number of the user whose it is.
  package let owner: UInt32?
  /// `running`, `paused`, `expired`, `missed` or `cancelled`.
  package let state: String
  /// `boottime`, `monotonic` or `realtime`.
  package let clock: String
  package let durationUSec: Int64
  package let remainingUSec: Int64
  package let deadline: Timestamp?
  package let startedAt: Timestamp?
  package let endedAt: Timestamp?
  package let revision: Int64
  package let catchUp: String?
  package let graceUSec: Int64?
  package let repeatUSec: Int64?
  package let durability: String?
  /// A JSON object, as it was sent.
  package let payload: [UInt8]?
  package let lateUSec: Int64?
  /// `none`, `suspend`, `clockStep`, `storage`, `overload`; or one that this program does not know yet.
  package let lateReason: String?

  /// Reads a `Countdown`.
  package init(_ members: Members) throws(ClientError) {
    name = try members.required("name", members.string("name"))
    owner = try members.integer("owner").flatMap { UInt32(exactly: $0) }
    state = try members.required("state", members.string("state"))
    clock = try members.required("clock", members.string("clock"))
    durationUSec = try members.required("durationUSec", members.integer("durationUSec"))
    remainingUSec = try members.required("remainingUSec", members.integer("remainingUSec"))
    deadline = try members.timestamp("deadline")
    startedAt = try members.timestamp("startedAt")
    endedAt = try members.timestamp("endedAt")
    revision = try members.required("revision", members.integer("revision"))
    catchUp = try members.string("catchUp")
    graceUSec = try members.integer("graceUSec")
    repeatUSec = try members.integer("repeatUSec")
    durability = try members.string("durability")
    payload = try members.object("payload")?.json
    lateUSec = try members.integer("lateUSec")
    lateReason = try members.string("lateReason")
  }

  /// Whether it has expired, was missed or cancelled.
  package var hasEnded: Bool { Self.isEnd(state) }

  /// Whether `state` is one that a countdown stays in.
  package static func isEnd(_ state: String) -> Bool {
    ["expired", "missed", "cancelled"].contains(state)
  }

  /// What remains, to be shown in seconds: `0:00` of one that has expired, and a dash of one that was
  /// missed or cancelled and never will.
  package var remainingText: String {
    if hasEnded, state != "expired" { return "–" }
    return Remaining(usec: remainingUSec, hasEnded: hasEnded).text(in: .seconds)
  }
}

extension Members {
  /// An array of countdowns; `nil` if it is missing.
  package func countdowns(_ key: String = "countdowns") throws(ClientError) -> [Countdown]? {
    guard let objects = try objects(key) else { return nil }
    var countdowns: [Countdown] = []
    countdowns.reserveCapacity(objects.count)
    for object in objects { countdowns.append(try Countdown(object)) }
    return countdowns
  }
}
