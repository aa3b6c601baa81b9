/// The reply to `Start`.
package struct StartReply: Equatable, Sendable {
  /// False if `keep` or `once` found one, or `extendOnly` moved nothing new into being.
  package let created: Bool
  package let revision: Int64
  package let remainingUSec: Int64
  package let deadline: Timestamp?
  package let now: Timestamp
  package let state: String

  /// Reads it. Throws `garbled`, as the initialisers below do.
  package init(_ members: Members) throws(ClientError) {
    created = try members.required("created", members.boolean("created"))
    revision = try members.required("revision", members.integer("revision"))
    remainingUSec = try members.required("remainingUSec", members.integer("remainingUSec"))
    deadline = try members.timestamp("deadline")
    now = try members.required("now", members.timestamp("now"))
    state = try members.required("state", members.string("state"))
  }
}

/// The reply to `Pause`, `Resume`, `Restart` and `Extend`.
package struct MoveReply: Equatable, Sendable {
  package let revision: Int64
  package let remainingUSec: Int64
  /// Missing of one that is paused.
  package let deadline: Timestamp?
  package let now: Timestamp

  /// Reads it.
  package init(_ members: Members) throws(ClientError) {
    revision = try members.required("revision", members.integer("revision"))
    remainingUSec = try members.required("remainingUSec", members.integer("remainingUSec"))
    deadline = try members.timestamp("deadline")
    now = try members.required("now", members.timestamp("now"))
  }
}

/// The reply to `Cancel`.
package struct CancelReply: Equatable, Sendable {
  package let remainingUSec: Int64
  package let revision: Int64

  /// Reads it.
  package init(_ members: Members) throws(ClientError) {
    remainingUSec = try members.required("remainingUSec", members.integer("remainingUSec"))
    revision = try members.required("revision", members.integer("revision"))
  }
}

/// The reply to `CancelMany`: how many there were of each.
package struct CancelManyReply: Equatable, Sendable {
  package let cancelled: Int64
  /// They had ended before.
  package let ended: Int64

  /// Reads it.
  package init(_ members: Members) throws(ClientError) {
    cancelled = try members.required("cancelled", members.integer("cancelled"))
    ended = try members.required("ended", members.integer("ended"))
  }
}

/// The reply to `SetPayload`.
package struct PayloadReply: Equatable, Sendable {
  package let revision: Int64

  /// Reads it.
  package init(_ members: Members) throws(ClientError) {
    revision = try members.required("revision", members.integer("revision"))
  }
}

/// The reply to `Count`.
package struct CountReply: Equatable, Sendable {
  package let running: Int64
  package let paused: Int64
  package let ended: Int64

  /// Reads it.
  package init(_ members: Members) throws(ClientError) {
    running = try members.required("running", members.integer("running"))
    paused = try members.required("paused", members.integer("paused"))
    ended = try members.required("ended", members.integer("ended"))
  }
}

/// The reply to `Get`.
package struct GetReply: Equatable, Sendable {
  package let countdown: Countdown
  package let now: Timestamp

  /// Reads it.
  package init(_ members: Members) throws(ClientError) {
    countdown = try Countdown(members.required("countdown", members.object("countdown")))
    now = try members.required("now", members.timestamp("now"))
  }
}

/// One reply to `List`.
package struct ListReply: Equatable, Sendable {
  package let countdowns: [Countdown]
  package let next: String?
  package let now: Timestamp

  /// Reads it.
  package init(_ members: Members) throws(ClientError) {
    countdowns = try members.required("countdowns", members.countdowns())
    next = try members.string("next")
    now = try members.required("now", members.timestamp("now"))
  }
}

/// A countdown as it is told to who watches it.
package struct WatchedCountdown: Equatable, Sendable {
  package let name: String
  /// `running`, `paused`, `expired`, `missed`, `cancelled`, or `absent` if there is none.
  package let state: String
  package let remainingUSec: Int64?
  package let deadline: Timestamp?
  package let durationUSec: Int64?
  package let lateUSec: Int64?
  /// `none`, `suspend`, `clockStep`, `storage`, `overload`; or one that this program does not know yet.
  package let lateReason: String?

  /// Reads it. Throws `garbled`.
  package init(_ members: Members) throws(ClientError) {
    name = try members.required("name", members.string("name"))
    state = try members.required("state", members.string("state"))
    remainingUSec = try members.integer("remainingUSec")
    deadline = try members.timestamp("deadline")
    durationUSec = try members.integer("durationUSec")
    lateUSec = try members.integer("lateUSec")
    lateReason = try members.string("lateReason")
  }
}

/// One reply to `Watch`; a heartbeat has no countdowns.
package struct WatchReply: Equatable, Sendable {
  package let now: Timestamp
  package let countdowns: [WatchedCountdown]

  /// Reads it.
  package init(_ members: Members) throws(ClientError) {
    now = try members.required("now", members.timestamp("now"))
    var countdowns: [WatchedCountdown] = []
    for object in try members.objects("countdowns") ?? [] {
      countdowns.append(try WatchedCountdown(object))
    }
    self.countdowns = countdowns
  }
}
