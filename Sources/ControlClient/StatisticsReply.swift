/// The reply to `GetStatistics`.
package struct StatisticsReply: Equatable, Sendable {
  /// How often things happened.
  package struct Tally: Equatable, Sendable {
    package let started: Int64
    package let expired: Int64
    package let missed: Int64
    package let cancelled: Int64
    package let calls: Int64

    /// Reads it.
    package init(_ members: Members) throws(ClientError) {
      started = try members.required("started", members.integer("started"))
      expired = try members.required("expired", members.integer("expired"))
      missed = try members.required("missed", members.integer("missed"))
      cancelled = try members.required("cancelled", members.integer("cancelled"))
      calls = try members.required("calls", members.integer("calls"))
    }
  }

  /// How many expired by no more than this, and more than the bucket before.
  package struct Bucket: Equatable, Sendable {
    /// `nil` of the last.
    package let upToUSec: Int64?
    package let count: Int64

    /// Reads it.
    package init(_ members: Members) throws(ClientError) {
      upToUSec = try members.integer("upToUSec")
      count = try members.required("count", members.integer("count"))
    }
  }

  /// What only administrators are told.
  package struct Daemon: Equatable, Sendable {
    package let version: String
    package let uptimeUSec: Int64
    package let users: Int64
    /// Bytes, by what they are for, in the order in which they are shown.
    package let memory: [Figure]
    package let residentBytes: Int64?
    package let limits: [Figure]

    /// Reads it.
    package init(_ members: Members) throws(ClientError) {
      version = try members.required("version", members.string("version"))
      uptimeUSec = try members.required("uptimeUSec", members.integer("uptimeUSec"))
      users = try members.required("users", members.integer("users"))
      let bytes = try members.required("memory", members.object("memory"))
      var memory: [Figure] = []
      for (name, key) in Self.memoryKeys {
        memory.append(Figure(name: name, value: try bytes.required(key, bytes.integer(key))))
      }
      self.memory = memory
      residentBytes = try bytes.integer("residentBytes")
      var limits: [Figure] = []
      for limit in try members.required("limits", members.objects("limits")) {
        limits.append(
          Figure(
            name: try limit.required("name", limit.string("name")),
            value: try limit.required("value", limit.integer("value"))))
      }
      self.limits = limits
    }

    private static let memoryKeys = [
      ("wheel", "wheelBytes"), ("records", "recordBytes"), ("names", "nameBytes"),
      ("payloads", "payloadBytes"), ("events", "eventBytes"), ("replies", "replyBytes"),
    ]
  }

  /// A number with a name.
  package struct Figure: Equatable, Sendable {
    package let name: String
    package let value: Int64

    package init(name: String, value: Int64) {
      self.name = name
      self.value = value
    }
  }

  package let running: Int64
  package let paused: Int64
  package let ended: Int64
  package let payloadBytes: Int64
  package let connections: Int64
  package let streams: Int64
  package let unreadReplyBytes: Int64
  package let sinceStart: Tally
  package let lastMinute: Tally
  /// In ascending order.
  package let lateness: [Bucket]
  package let worstLateUSec: Int64
  package let oldestOverdueUSec: Int64?
  package let daemon: Daemon?

  /// Reads it. Throws `garbled`.
  package init(_ members: Members) throws(ClientError) {
    func integer(_ key: String) throws(ClientError) -> Int64 {
      try members.required(key, members.integer(key))
    }
    running = try integer("running")
    paused = try integer("paused")
    ended = try integer("ended")
    payloadBytes = try integer("payloadBytes")
    connections = try integer("connections")
    streams = try integer("streams")
    unreadReplyBytes = try integer("unreadReplyBytes")
    sinceStart = try Tally(members.required("sinceStart", members.object("sinceStart")))
    lastMinute = try Tally(members.required("lastMinute", members.object("lastMinute")))
    var buckets: [Bucket] = []
    for bucket in try members.required("lateness", members.objects("lateness")) {
      buckets.append(try Bucket(bucket))
    }
    lateness = buckets
    worstLateUSec = try integer("worstLateUSec")
    oldestOverdueUSec = try members.integer("oldestOverdueUSec")
    if let object = try members.object("daemon") {
      daemon = try Daemon(object)
    } else {
      daemon = nil
    }
  }
}
