internal import ControlInterface
internal import Countdowns
internal import JSON
internal import Varlink

/// How much of everything there is, how often it happens, and how late.
extension Service {
  /// The reply to `GetStatistics`. O(1), and of all owners O(users), which the turn is charged for.
  mutating func writeStatistics(of owners: Owners, to index: Int) {
    let isAdmin = connections[index].isAdmin
    let overdue = scheduler.oldestOverdueUSec()
    if owners == .all { callBudget -= tallies.count }
    write(to: index) { service, writer in
      let tally = service.tally(of: owners)
      writer.beginReply()
      service.writeUse(of: owners, to: &writer)
      writer.tally(.sinceStart, tally.total)
      writer.tally(.lastMinute, service.tallies.lastMinute(of: tally))
      writer.lateness(tally.lateness)
      if let overdue { writer.field(.oldestOverdueUSec, overdue) }
      if isAdmin { service.writeDaemon(to: &writer) }
      writer.endReply()
    }
  }

  private func tally(of owners: Owners) -> Tally {
    switch owners {
    case .all: tallies.tallyOfAll
    case .one(let user): tallies.tally(of: user)
    }
  }

  /// What there is of the owner's, or everybody's.
  private func writeUse(of owners: Owners, to writer: inout JSONWriter) {
    let counts = counts(of: owners)
    writer.field(.running, Int64(counts.running))
    writer.field(.paused, Int64(counts.paused))
    writer.field(.ended, Int64(counts.ended))
    let use = use(of: owners)
    writer.field(.payloadBytes, Int64(use.payloadBytes))
    writer.field(.connections, Int64(use.connections))
    writer.field(.streams, Int64(use.streams))
    writer.field(.unreadReplyBytes, Int64(use.unreadBytes))
  }

  private struct Use {
    var payloadBytes: Int
    var connections: Int
    var streams: Int
    /// As counted, not as they stand: the caller's own are moved out while its reply is written.
    var unreadBytes: Int
  }

  /// What else the owner uses, or everybody. O(1).
  private func use(of owners: Owners) -> Use {
    switch owners {
    case .all:
      return Use(
        payloadBytes: scheduler.users.payloadBytes, connections: connectionCount,
        streams: streamCount, unreadBytes: unreadBytes)
    case .one(let user):
      let usage = scheduler.users.usage(of: user)
      return Use(
        payloadBytes: usage.payloadBytes, connections: usage.connections, streams: usage.streams,
        unreadBytes: usage.unreadBytes)
    }
  }

  /// How many countdowns the owner has, or everybody. O(1).
  func counts(of owners: Owners) -> (running: Int, paused: Int, ended: Int) {
    switch owners {
    case .all: return scheduler.users.counts
    case .one(let user):
      let usage = scheduler.users.usage(of: user)
      return (usage.running, usage.paused, usage.ended)
    }
  }

  /// What only those may know who may name other owners.
  private func writeDaemon(to writer: inout JSONWriter) {
    let footprint = scheduler.footprint
    writer.key(.daemon)
    writer.beginObject()
    writer.field(.version, identity.version)
    writer.field(.uptimeUSec, scheduler.now.boottime - startedAt)
    writer.field(.users, Int64(scheduler.users.count))
    writer.key(.memory)
    writer.beginObject()
    writer.field(.wheelBytes, Int64(footprint.wheelBytes))
    writer.field(.recordBytes, Int64(footprint.recordBytes))
    writer.field(.nameBytes, Int64(footprint.nameBytes + footprint.indexBytes))
    writer.field(.payloadBytes, Int64(scheduler.users.payloadBytes))
    writer.field(.eventBytes, Int64(recent.byteCount))
    writer.field(.replyBytes, Int64(unreadBytes))
    if let bytes = machine.residentBytes { writer.field(.residentBytes, Int64(bytes)) }
    writer.endObject()
    writer.key(.limits)
    writer.beginArray()
    for (name, value) in limits.named {
      writer.beginObject()
      writer.field(.name, name)
      writer.field(.value, value)
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
  }
}

extension JSONWriter {
  fileprivate mutating func tally(_ key: JSONLiteral, _ counts: Tally.Counts) {
    self.key(key)
    beginObject()
    field(.started, Int64(counts[.started]))
    field(.expired, Int64(counts[.expired]))
    field(.missed, Int64(counts[.missed]))
    field(.cancelled, Int64(counts[.cancelled]))
    field(.calls, Int64(counts[.calls]))
    endObject()
  }

  fileprivate mutating func lateness(_ lateness: Lateness) {
    key(.lateness)
    beginArray()
    for bucket in lateness.counts.indices {
      beginObject()
      if bucket < Lateness.bounds.count { field(.upToUSec, Lateness.bounds[bucket]) }
      field(.count, Int64(lateness.counts[bucket]))
      endObject()
    }
    endArray()
    field(.worstLateUSec, lateness.worstUSec)
  }
}

extension Limits {
  /// Those with a key in the configuration, under its name and in the order of the keys; lengths in µs.
  fileprivate var named: [(String, Int64)] {
    [
      ("MaxCountdownsPerUser", Int64(countdownsPerUser)), ("MaxCountdowns", Int64(countdowns)),
      ("RetainEndedMax", Int64(retainedPerUser)), ("RetainEndedSec", retainEndedUSec),
      ("MaxConnectionsPerUser", Int64(connectionsPerUser)),
      ("MaxConnections", Int64(connections)), ("MaxStreamsPerUser", Int64(streamsPerUser)),
      ("MaxStreams", Int64(streams)), ("MaxPayloadBytes", Int64(payloadBytes)),
      ("MaxPayloadBytesPerUser", Int64(payloadBytesPerUser)),
      ("MaxMessageBytes", Int64(messageBytes)), ("MaxQueuedReplyBytes", Int64(queuedReplyBytes)),
      ("MaxQueuedReplyBytesPerUser", Int64(queuedReplyBytesPerUser)),
      ("MaxQueuedReplyBytesTotal", Int64(queuedReplyBytesTotal)),
      ("RecentEventsBytesPerUser", Int64(recentEventsBytesPerUser)),
      ("RecentEventsBytes", Int64(recentEventsBytes)),
    ]
  }
}
