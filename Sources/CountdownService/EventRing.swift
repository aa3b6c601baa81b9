internal import Countdowns

/// The recent events, written once for everybody who listens, and dropped oldest first.
///
/// A subscriber keeps a position, not a queue: one that stops reading costs nobody anything, and
/// learns of a gap when what it had not read is gone.
///
/// Invariants:
/// - Positions grow by one with each event; `first` is that of the oldest one kept.
/// - The bytes of the events kept are at most `limit`, but for a single one that is larger; after it
///   was lowered, from the next event on.
struct EventRing: ~Copyable {
  /// An event, ready to be sent.
  struct Entry: Sendable {
    let kind: EventKind
    let user: UInt32
    /// The name's bytes, for prefixes; then the event as JSON.
    let bytes: [UInt8]
    let nameBytes: Int

    func hasPrefix(_ prefix: [UInt8]) -> Bool {
      guard prefix.count <= nameBytes else { return false }
      for index in prefix.indices where bytes[index] != prefix[index] { return false }
      return true
    }

    /// The event itself.
    var json: Range<Int> { nameBytes..<bytes.count }
  }

  /// The position of the oldest event kept.
  private(set) var first: UInt64 = 0
  private var entries: [Entry?] = []
  private var head = 0
  private(set) var count = 0
  private(set) var byteCount = 0
  /// Bytes of all events that were ever appended.
  private(set) var appendedBytes = 0
  var limit: Int

  init(limit: Int) { self.limit = limit }

  /// The position that the next event will have.
  var end: UInt64 { first + UInt64(count) }

  /// Appends an event, and drops the oldest ones that no longer fit beside it.
  mutating func append(_ entry: Entry) {
    while count > 0, byteCount + entry.bytes.count > limit { dropFirst() }
    if count == entries.count { grow() }
    entries[(head + count) % entries.count] = entry
    count += 1
    byteCount += entry.bytes.count
    appendedBytes += entry.bytes.count
  }

  /// The event at a position from `first` to before `end`.
  subscript(position: UInt64) -> Entry {
    precondition(position >= first && position < end)
    guard let entry = entries[(head + Int(position - first)) % entries.count] else {
      fatalError("the ring of events has a hole")
    }
    return entry
  }

  /// Forgets all events, because nobody is there to read them. Positions go on.
  mutating func removeAll() {
    while count > 0 { dropFirst() }
  }

  private mutating func dropFirst() {
    byteCount -= entries[head]?.bytes.count ?? 0
    entries[head] = nil
    head = (head + 1) % entries.count
    count -= 1
    first += 1
  }

  private mutating func grow() {
    var larger: [Entry?] = []
    larger.reserveCapacity(max(64, 2 * entries.count))
    for index in 0..<count { larger.append(entries[(head + index) % entries.count]) }
    while larger.count < max(64, 2 * entries.count) { larger.append(nil) }
    entries = larger
    head = 0
  }
}
