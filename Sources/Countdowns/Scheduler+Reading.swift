package import TimingWheel

/// A countdown as a caller sees it, all times in µs.
package struct CountdownView: Sendable {
  package let id: EntryID
  package let user: UInt32
  package let state: CountdownState
  package let clock: CountdownClock
  package let lengthUSec: Int64
  package let remainingUSec: Int64
  /// On `clock`; of those that run or came to their deadline.
  package let deadline: Int64?
  package let startedAt: Int64
  package let revision: Int64
  package let catchUp: CatchUp
  package let graceUSec: Int64?
  package let repeatUSec: Int64?
  package let durability: Durability
  package let payload: [UInt8]?
  package let endedAt: Int64?
  package let lateUSec: Int64?
  package let lateReason: LateReason?
}

/// Looking: what stands at the turn's reading.
extension Scheduler {
  /// One countdown. O(1).
  package func view(of id: EntryID) -> CountdownView {
    let record = table[id.index]
    let extra = record.extra.map { extras[$0] }
    let cameToDeadline = record.state == .expired || record.state == .missed
    return CountdownView(
      id: id, user: record.user, state: record.state, clock: record.clock,
      lengthUSec: record.lengthUSec, remainingUSec: remainingUSec(of: record),
      deadline: cameToDeadline || record.state == .running ? record.time : nil,
      startedAt: extra?.startedAt ?? record.plainStartedAt, revision: record.revision,
      catchUp: record.catchUp, graceUSec: extra.flatMap { $0.graceUSec > 0 ? $0.graceUSec : nil },
      repeatUSec: extra.flatMap { $0.repeatUSec > 0 ? $0.repeatUSec : nil },
      durability: record.durability, payload: extra?.payload,
      endedAt: record.state.isEnded ? extra?.endedAt : nil,
      lateUSec: cameToDeadline ? extra?.lateUSec : nil,
      lateReason: cameToDeadline ? extra?.lateReason : nil)
  }

  /// The state alone. O(1).
  package func state(of id: EntryID) -> CountdownState { table[id.index].state }

  /// What remains alone, µs. O(1).
  package func remainingUSec(of id: EntryID) -> Int64 { remainingUSec(of: table[id.index]) }

  /// The revision alone. O(1).
  package func revision(of id: EntryID) -> Int64 { table[id.index].revision }

  /// Whether a change of it is with the ledger. O(1).
  package func isLocked(_ id: EntryID) -> Bool { table[id.index].isLocked }

  /// The name's bytes; good until the countdown is removed. O(1).
  @_lifetime(borrow self)
  package borrowing func name(of id: EntryID) -> Span<UInt8> {
    table.names.bytes(of: table[id.index].name)
  }

  /// A copy of the name, for what outlives the countdown. O(length).
  package func nameBytes(of id: EntryID) -> [UInt8] {
    let name = name(of: id)
    return name.copy(of: name.indices)
  }

  /// What is kept with it; `nil` without a payload. O(1).
  package func payload(of id: EntryID) -> [UInt8]? {
    table[id.index].extra.flatMap { extras[$0].payload }
  }

  /// What the arenas take, the free places in them included; flat where as much ends as begins. O(1).
  package struct Footprint: Equatable, Sendable {
    package var entries: Int
    package var nameBytes: Int
    package var indexBytes: Int
    package var extras: Int

    /// Of the wheel's cells: two words and a generation each.
    package var wheelBytes: Int { entries * 20 }
    /// Of the records, and of what only some countdowns have; payloads apart.
    package var recordBytes: Int {
      entries * MemoryLayout<Record>.stride + extras * MemoryLayout<Extra>.stride
    }
  }

  /// What the arenas take now. O(1).
  package var footprint: Footprint {
    Footprint(
      entries: wheel.capacityInUse, nameBytes: table.names.arenaBytes,
      indexBytes: index.arenaBytes, extras: extras.capacityInUse)
  }

  /// What remains, never negative; nothing of one that has ended.
  func remainingUSec(of record: Record) -> Int64 {
    switch record.state {
    case .running: min(max(record.time - now.value(of: record.clock), 0), Bounds.longest)
    case .paused: record.time
    case .expired, .missed, .cancelled: 0
    }
  }

  /// Countdowns in bytewise order of names, as they stand now.
  ///
  /// - Parameters:
  ///   - after: The name to go on after, which need not exist any more; `nil` for the beginning.
  ///   - page: Appended to, at most `limit`.
  /// - Complexity: O(length of the names + `limit`).
  package func collect(
    user: UInt32, prefix: Span<UInt8>, after: Span<UInt8>?, limit: Int, into page: inout [EntryID]
  ) {
    var places: [UInt32] = []
    if let after {
      index.collect(
        from: .after(NameKey(owner: user, name: after)), owner: user, prefix: prefix, limit: limit,
        in: table, into: &places)
    } else {
      index.collect(owner: user, prefix: prefix, limit: limit, in: table, into: &places)
    }
    for place in places {
      if let id = wheel.id(at: place) { page.append(id) }
    }
  }
}
