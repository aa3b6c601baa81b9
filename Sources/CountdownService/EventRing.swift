internal import Countdowns
internal import JSON

/// The recent events of one audience, written once for all who listen, and dropped oldest first.
///
/// A subscriber keeps a position, not a queue: one that stops reading costs nobody anything, and
/// learns of a gap when what it had not read is gone. Events lie one behind the other in pieces of
/// memory of some 16 KiB, so that one takes no memory of its own and a crowd is read in a row.
///
/// Invariants:
/// - Positions grow by one with each event; `first` is that of the oldest one kept.
/// - `byteCount` is what the events kept take, each with `placeBytes` for its place.
/// - The first piece kept holds the oldest event, the last one the newest; none is kept without any.
struct EventRing: Sendable {
  /// Where an event lies: its name's bytes, for prefixes, then the event as JSON.
  private struct Place: Sendable {
    /// The number of its piece; wraps, for there are never 2^32 at once.
    let piece: UInt32
    let start: UInt32
    let length: UInt32
    /// At most 255, as a name has.
    let nameBytes: UInt8
    let kind: EventKind
  }

  /// The position of the oldest event kept.
  private(set) var first: UInt64 = 0
  /// What the events kept take, in bytes.
  private(set) var byteCount = 0
  /// Those before `firstPlace` and `firstPiece` are gone, and are cleared away together.
  private var places: [Place] = []
  private var firstPlace = 0
  private var pieces: [[UInt8]] = []
  private var firstPiece = 0
  /// The number of the piece at `pieces[0]`.
  private var firstNumber: UInt32 = 0

  /// What an event's place takes: as much again may be gone and not yet cleared away.
  static let placeBytes = 2 * MemoryLayout<Place>.stride
  /// A piece that has so many bytes takes no further event.
  private static let fullPiece = 14 << 10
  /// Room for one more that is not very long.
  private static let pieceCapacity = 16 << 10

  /// How many events are kept.
  var count: Int { places.count - firstPlace }

  /// The position that the next event will have.
  var end: UInt64 { first + UInt64(count) }

  /// Appends an event; `write` writes it as one JSON value. O(its length).
  mutating func append(
    _ kind: EventKind, name: [UInt8], _ write: (inout JSONWriter) -> Void
  ) {
    if pieces.count == firstPiece || pieces[pieces.count - 1].count >= EventRing.fullPiece {
      pieces.append([])
      // The first one grows as it must: most audiences are small.
      if count > 0 { pieces[pieces.count - 1].reserveCapacity(EventRing.pieceCapacity) }
    }
    let last = pieces.count - 1
    var bytes: [UInt8] = []
    swap(&bytes, &pieces[last])  // Moved, so that it grows in place.
    let start = bytes.count
    bytes += name
    var writer = JSONWriter(reusing: bytes)
    bytes = []
    write(&writer)
    let length = writer.count - start
    pieces[last] = writer.take()
    places.append(
      Place(
        piece: firstNumber &+ UInt32(truncatingIfNeeded: last), start: UInt32(start),
        length: UInt32(length), nameBytes: UInt8(name.count), kind: kind))
    byteCount += length + EventRing.placeBytes
  }

  /// Drops the oldest event; there must be one. O(1) on average.
  mutating func dropFirst() {
    byteCount -= Int(places[firstPlace].length) + EventRing.placeBytes
    firstPlace += 1
    first += 1
    if firstPlace == places.count {
      clear()
      return
    }
    let needed = Int(places[firstPlace].piece &- firstNumber)
    while firstPiece < needed {
      pieces[firstPiece] = []
      firstPiece += 1
    }
    if firstPlace > 64, firstPlace > places.count / 2 {
      places.removeSubrange(..<firstPlace)
      firstPlace = 0
    }
    if firstPiece > 16, firstPiece > pieces.count / 2 {
      pieces.removeSubrange(..<firstPiece)
      firstNumber &+= UInt32(truncatingIfNeeded: firstPiece)
      firstPiece = 0
    }
  }

  /// Nothing is kept any more; gives the memory back.
  private mutating func clear() {
    firstNumber &+= UInt32(truncatingIfNeeded: pieces.count)
    places = []
    pieces = []
    firstPlace = 0
    firstPiece = 0
  }

  /// The position of the first event at or after `position` that is wanted; `end` if there is none.
  /// O(events passed over).
  ///
  /// - Parameter position: From `first` to `end`.
  func firstWanted(from position: UInt64, _ kinds: EventKinds, _ prefix: [UInt8]) -> UInt64 {
    precondition(position >= first && position <= end)
    var index = firstPlace + Int(position - first)
    while index < places.count {
      let kind = places[index].kind
      if kinds.contains(kind), kind.isOfMachine || hasPrefix(places[index], prefix) { break }
      index += 1
    }
    return first + UInt64(index - firstPlace)
  }

  /// Writes the events that are wanted from `position` on, as values, until the writer has so many
  /// bytes; the last one may go beyond.
  ///
  /// - Returns: The position after the last one that was written.
  func write(
    from position: UInt64, _ kinds: EventKinds, _ prefix: [UInt8], until bytes: Int,
    to writer: inout JSONWriter
  ) -> UInt64 {
    var position = position
    while writer.count < bytes {
      position = firstWanted(from: position, kinds, prefix)
      if position == end { break }
      let place = places[firstPlace + Int(position - first)]
      let start = Int(place.start)
      let piece = pieces[Int(place.piece &- firstNumber)]
      writer.raw(
        piece.span.extracting(start + Int(place.nameBytes)..<start + Int(place.length)))
      position += 1
    }
    return position
  }

  private func hasPrefix(_ place: Place, _ prefix: [UInt8]) -> Bool {
    if prefix.isEmpty { return true }
    guard prefix.count <= Int(place.nameBytes) else { return false }
    let piece = Int(place.piece &- firstNumber)
    let start = Int(place.start)
    for index in prefix.indices where pieces[piece][start + index] != prefix[index] {
      return false
    }
    return true
  }

  /// The first invariant that does not hold, in words. O(`count`).
  func brokenInvariant() -> String? {
    var bytes = 0
    for place in places[firstPlace...] {
      bytes += Int(place.length) + EventRing.placeBytes
      let piece = Int(place.piece &- firstNumber)
      guard (firstPiece..<pieces.count).contains(piece),
        Int(place.start) + Int(place.length) <= pieces[piece].count
      else { return "an event lies nowhere" }
    }
    guard bytes == byteCount else { return "a ring has \(bytes) bytes, not \(byteCount)" }
    guard let oldest = places[firstPlace...].first, let newest = places.last else {
      return pieces.isEmpty ? nil : "an empty ring keeps memory"
    }
    guard Int(oldest.piece &- firstNumber) == firstPiece,
      Int(newest.piece &- firstNumber) == pieces.count - 1
    else { return "a ring keeps memory without events" }
    return nil
  }
}
