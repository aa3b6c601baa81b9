internal import Countdowns
internal import JSON

/// What happened lately, kept for those who listen: a ring for each owner that is listened to, and one
/// for those who listen to everybody.
///
/// Memory is bounded for each ring and in all. Beyond the first bound a ring loses its own oldest
/// events. Beyond the second the ring that has the most loses some: who has no more than an equal share
/// loses nothing for another's noise. Those who listen to everybody count as one more owner.
///
/// Invariants:
/// - A ring has at most `limitPerOwner` bytes, but for its only event. All together have at most `limit`,
///   but for what they have when the largest has only one.
/// - `heap` has each audience with listeners, none with fewer bytes than the two below it.
struct RecentEvents: ~Copyable {
  private var audiences: [Audience] = []
  private var freeSlots: [Int] = []
  /// By user, the slot of the audience; -1 where nobody listens.
  private var slotOfUser: [Int32] = []
  private var slotOfEverybody: Int?
  /// Slots of audiences, and by slot the place of each in there.
  private var heap: [Int] = []
  private var heapPlaces: [Int] = []
  /// Groups that something came for since they were served, in the order of that.
  private var marked: [Seat] = []
  private var nextMarked = 0

  /// Bytes that all rings have together.
  private(set) var byteCount = 0
  /// Bytes of all events that were ever appended.
  private(set) var appendedBytes = 0
  /// How many listen.
  private(set) var count = 0
  private var limit: Int
  private var limitPerOwner: Int

  init(limits: Limits) {
    limit = limits.recentEventsBytes
    limitPerOwner = limits.recentEventsBytesPerUser
  }

  // MARK: Who listens

  /// Somebody listens from here on.
  ///
  /// - Returns: Where it belongs, and the position of the next event.
  mutating func join(
    _ id: ConnectionID, to owners: Owners, prefix: [UInt8], kinds: EventKinds
  ) -> (seat: Seat, position: UInt64) {
    let slot = slot(of: owners) ?? open(owners)
    count += 1
    let group = audiences[slot].join(id, kinds, prefix: prefix)
    return (Seat(audience: slot, group: group), audiences[slot].ring.end)
  }

  /// Somebody listens no more. When nobody is left there, the events are forgotten.
  mutating func leave(_ id: ConnectionID, from seat: Seat, of owners: Owners) {
    count -= 1
    audiences[seat.audience].leave(id, slot: seat.group)
    if audiences[seat.audience].groups[seat.group].members.isEmpty {
      marked.removeSubrange(..<nextMarked)
      nextMarked = 0
      marked.removeAll { $0 == seat }
    }
    guard audiences[seat.audience].count == 0 else { return }
    byteCount -= audiences[seat.audience].ring.byteCount
    audiences[seat.audience] = Audience()
    freeSlots.append(seat.audience)
    removeFromHeap(seat.audience)
    switch owners {
    case .one(let user): slotOfUser[Int(user)] = -1
    case .all: slotOfEverybody = nil
    }
  }

  private func slot(of owners: Owners) -> Int? {
    switch owners {
    case .all: return slotOfEverybody
    case .one(let user):
      guard user < slotOfUser.count, slotOfUser[Int(user)] >= 0 else { return nil }
      return Int(slotOfUser[Int(user)])
    }
  }

  private mutating func open(_ owners: Owners) -> Int {
    let slot = freeSlots.popLast() ?? audiences.count
    if slot == audiences.count {
      audiences.append(Audience())
      heapPlaces.append(0)
    }
    heapPlaces[slot] = heap.count
    heap.append(slot)
    switch owners {
    case .all: slotOfEverybody = slot
    case .one(let user):
      while slotOfUser.count <= user { slotOfUser.append(-1) }
      slotOfUser[Int(user)] = Int32(slot)
    }
    return slot
  }

  // MARK: What happened

  /// Whether somebody listens to such events of that user, by whatever prefix. O(1).
  func mayBeWanted(_ kind: EventKind, of user: UInt32) -> Bool {
    if let slot = slot(of: .one(user)), audiences[slot].interest.contains(kind) { return true }
    guard let slot = slotOfEverybody else { return false }
    return audiences[slot].interest.contains(kind)
  }

  /// Keeps an event for those who want it; `write` is called for each ring that it goes to, and for none
  /// if nobody does.
  mutating func append(
    _ kind: EventKind, of user: UInt32, name: [UInt8], _ write: (inout JSONWriter) -> Void
  ) {
    if let slot = slot(of: .one(user)) { append(kind, to: slot, name: name, write) }
    if let slot = slotOfEverybody { append(kind, to: slot, name: name, write) }
  }

  /// As above, for an event of the machine: everybody may want it. O(audiences and their groups).
  mutating func appendForAll(_ kind: EventKind, _ write: (inout JSONWriter) -> Void) {
    for slot in audiences.indices where audiences[slot].count > 0 {
      append(kind, to: slot, name: [], write)
    }
  }

  private mutating func append(
    _ kind: EventKind, to slot: Int, name: [UInt8], _ write: (inout JSONWriter) -> Void
  ) {
    let isWanted = audiences[slot].mark(kind, name: name, in: slot, &marked)
    guard isWanted else { return }
    let before = audiences[slot].ring.byteCount
    audiences[slot].ring.append(kind, name: name, write)
    let added = audiences[slot].ring.byteCount - before
    appendedBytes += added
    byteCount += added
    rise(heapPlaces[slot])
    dropBeyondLimit(of: slot)
    dropBeyondLimit()
  }

  /// Other limits hold from here on, also for what is there. O(events dropped).
  mutating func adopt(_ limits: Limits) {
    limit = limits.recentEventsBytes
    limitPerOwner = limits.recentEventsBytesPerUser
    for slot in heap { dropBeyondLimit(of: slot) }
    dropBeyondLimit()
  }

  private mutating func dropBeyondLimit(of slot: Int) {
    while audiences[slot].ring.byteCount > limitPerOwner, audiences[slot].ring.count > 1 {
      dropFirst(of: slot)
    }
  }

  private mutating func dropBeyondLimit() {
    while byteCount > limit, audiences[heap[0]].ring.count > 1 { dropFirst(of: heap[0]) }
  }

  private mutating func dropFirst(of slot: Int) {
    let before = audiences[slot].ring.byteCount
    audiences[slot].ring.dropFirst()
    byteCount -= before - audiences[slot].ring.byteCount
    sink(heapPlaces[slot])
  }

  // MARK: Who is told

  /// The next group to be served, until there is none: each only where something came for it.
  var nextSeat: Seat? { nextMarked < marked.count ? marked[nextMarked] : nil }

  /// The members of the group that is served next, ``nextSeat``.
  ///
  /// Before any of them is told, all go to where their news begin: see ``position(in:from:)``.
  func members(of seat: Seat) -> [Audience.Member] {
    audiences[seat.audience].groups[seat.group].members
  }

  /// The group is served now: what comes from here on is news.
  mutating func take(_ seat: Seat) {
    audiences[seat.audience].unmark(seat.group)
    nextMarked += 1
    if nextMarked == marked.count {
      marked.removeAll(keepingCapacity: true)
      nextMarked = 0
    }
  }

  /// Where one who has come to `position` goes on: past what was for others only.
  func position(in seat: Seat, from position: UInt64) -> UInt64 {
    audiences[seat.audience].groups[seat.group].position(from: position)
  }

  /// Whether one who has come to `position` has something to hear.
  func hasNews(in seat: Seat, at position: UInt64) -> Bool {
    position < audiences[seat.audience].groups[seat.group].end
  }

  /// The ring that its events are in.
  func ring(of seat: Seat) -> EventRing { audiences[seat.audience].ring }

  // MARK: The heap

  private mutating func rise(_ start: Int) {
    var place = start
    while place > 0, bytes(at: place) > bytes(at: (place - 1) / 2) {
      swap(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  private mutating func sink(_ start: Int) {
    var place = start
    while true {
      var child = 2 * place + 1
      guard child < heap.count else { return }
      if child + 1 < heap.count, bytes(at: child + 1) > bytes(at: child) { child += 1 }
      guard bytes(at: child) > bytes(at: place) else { return }
      swap(place, child)
      place = child
    }
  }

  private mutating func removeFromHeap(_ slot: Int) {
    let place = heapPlaces[slot]
    let last = heap.count - 1
    if place != last { swap(place, last) }
    heap.removeLast()
    guard place < last else { return }
    rise(place)
    sink(place)
  }

  private mutating func swap(_ one: Int, _ other: Int) {
    heap.swapAt(one, other)
    heapPlaces[heap[one]] = one
    heapPlaces[heap[other]] = other
  }

  private func bytes(at place: Int) -> Int { audiences[heap[place]].ring.byteCount }

  /// The first invariant that does not hold, in words. O(everything kept).
  borrowing func brokenInvariant() -> String? {
    var bytes = 0
    var listeners = 0
    for place in heap.indices {
      let audience = audiences[heap[place]]
      if let broken = audience.brokenInvariant() { return broken }
      guard heapPlaces[heap[place]] == place else { return "an audience stands elsewhere" }
      guard audience.count > 0 else { return "events are kept that nobody can read" }
      guard place == 0 || self.bytes(at: place) <= self.bytes(at: (place - 1) / 2) else {
        return "the heap has less above more"
      }
      guard audience.ring.byteCount <= limitPerOwner || audience.ring.count <= 1 else {
        return "a ring has \(audience.ring.byteCount) bytes of \(limitPerOwner)"
      }
      bytes += audience.ring.byteCount
      listeners += audience.count
    }
    guard bytes == byteCount else { return "all rings have \(bytes) bytes, not \(byteCount)" }
    guard bytes <= limit || audiences[heap[0]].ring.count <= 1 else {
      return "all rings have \(bytes) bytes of \(limit)"
    }
    guard listeners == count, heap.count + freeSlots.count == audiences.count else {
      return "\(listeners) listen, not \(count)"
    }
    return nil
  }
}
