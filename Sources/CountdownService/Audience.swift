internal import Countdowns

/// Those who listen to one owner, or to everybody, and the recent events that one of them wanted.
///
/// Who listens by the same prefix is one group. An event is shown to the groups whose prefix its name
/// has, found without looking at the others; the rest are neither marked nor served.
///
/// Invariants:
/// - `sorted` has each group with members, in bytewise order of prefixes, which differ.
/// - A group's `parent` is the one with the longest other prefix that its prefix has.
struct Audience: Sendable {
  var ring = EventRing()
  /// By slot; one without members is free.
  private(set) var groups: [Group] = []
  private var sorted: [Int] = []
  private var freeSlots: [Int] = []
  /// How many listen.
  private(set) var count = 0
  /// What some of them want to hear.
  private(set) var interest: EventKinds = []

  /// Those who listen by one prefix.
  struct Group: Sendable {
    fileprivate(set) var prefix: [UInt8] = []
    /// In the order in which they came.
    fileprivate(set) var members: [Member] = []
    /// What some member wants to hear.
    fileprivate(set) var interest: EventKinds = []
    /// The slot of the group whose prefix is the longest one that this one's begins with.
    fileprivate(set) var parent: Int?
    /// The position after the last event for it: who has come there has nothing to hear.
    fileprivate(set) var end: UInt64 = 0
    /// What came for it since it was served: the position of the first event of that, and its `end`
    /// before; `nil` where there is none.
    fileprivate(set) var news: (first: UInt64, endBefore: UInt64)?

    /// Where one who has come to `position` goes on. One who had heard everything passes over what was
    /// for others only, which may be gone: no gap for him.
    func position(from position: UInt64) -> UInt64 {
      guard let news, position >= news.endBefore else { return position }
      return max(position, news.first)
    }
  }

  /// One who listens, and to what.
  struct Member: Sendable {
    let id: ConnectionID
    let kinds: EventKinds
  }

  /// Somebody listens from here on. O(groups), where nobody had that prefix.
  ///
  /// - Returns: The slot of the group.
  mutating func join(_ id: ConnectionID, _ kinds: EventKinds, prefix: [UInt8]) -> Int {
    let place = self.place(of: prefix)
    let slot: Int
    if place > 0, groups[sorted[place - 1]].prefix == prefix {
      slot = sorted[place - 1]
    } else {
      slot = freeSlots.popLast() ?? groups.count
      if slot == groups.count { groups.append(Group()) }
      groups[slot].prefix = prefix
      sorted.insert(slot, at: place)
      findParents()
    }
    groups[slot].members.append(Member(id: id, kinds: kinds))
    groups[slot].interest.formUnion(kinds)
    interest.formUnion(kinds)
    count += 1
    return slot
  }

  /// Somebody listens no more. O(groups + members of the group).
  mutating func leave(_ id: ConnectionID, slot: Int) {
    groups[slot].members.removeAll { $0.id == id }
    count -= 1
    groups[slot].interest = groups[slot].members.reduce(into: []) { $0.formUnion($1.kinds) }
    interest = sorted.reduce(into: []) { $0.formUnion(groups[$1].interest) }
    guard groups[slot].members.isEmpty else { return }
    groups[slot] = Group()
    sorted.removeAll { $0 == slot }
    freeSlots.append(slot)
    findParents()
  }

  /// Marks the groups that want an event, which will have the ring's next position: one of the machine
  /// whatever their prefix.
  ///
  /// - Parameters:
  ///   - audience: This one's own place.
  ///   - marked: The seats of those that were not marked yet are appended.
  /// - Returns: Whether any wants it. O(log groups + groups whose prefix the name has).
  mutating func mark(
    _ kind: EventKind, name: [UInt8], in audience: Int, _ marked: inout [Seat]
  ) -> Bool {
    if kind.isOfMachine {
      var isWanted = false
      for slot in sorted where groups[slot].interest.contains(kind) {
        note(slot, in: audience, &marked)
        isWanted = true
      }
      return isWanted
    }
    // All prefixes of a name stand before it, and each is a prefix of whatever stands in between.
    let place = self.place(of: name)
    var next = place > 0 ? sorted[place - 1] : nil
    var isWanted = false
    while let slot = next {
      next = groups[slot].parent
      guard groups[slot].interest.contains(kind), name.hasPrefix(groups[slot].prefix) else {
        continue
      }
      note(slot, in: audience, &marked)
      isWanted = true
    }
    return isWanted
  }

  private mutating func note(_ slot: Int, in audience: Int, _ marked: inout [Seat]) {
    if groups[slot].news == nil {
      groups[slot].news = (first: ring.end, endBefore: groups[slot].end)
      marked.append(Seat(audience: audience, group: slot))
    }
    groups[slot].end = ring.end + 1
  }

  /// The group's members are served.
  mutating func unmark(_ slot: Int) { groups[slot].news = nil }

  /// How many groups' prefixes are at or before `bytes`.
  private func place(of bytes: [UInt8]) -> Int {
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle = (low + high) / 2
      if bytes.isAtOrAfter(groups[sorted[middle]].prefix) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }

  private mutating func findParents() {
    var open: [Int] = []
    for slot in sorted {
      while let last = open.last, !groups[slot].prefix.starts(with: groups[last].prefix) {
        open.removeLast()
      }
      groups[slot].parent = open.last
      open.append(slot)
    }
  }

  /// The first invariant that does not hold, in words. O(groups² + events).
  func brokenInvariant() -> String? {
    var members = 0
    var all: EventKinds = []
    for (place, slot) in sorted.enumerated() {
      let group = groups[slot]
      members += group.members.count
      if group.members.isEmpty { return "a group has no members" }
      if place > 0, !groups[sorted[place - 1]].prefix.lexicographicallyPrecedes(group.prefix) {
        return "groups are in no order"
      }
      let parent = sorted.filter { $0 != slot && group.prefix.starts(with: groups[$0].prefix) }
        .max { groups[$0].prefix.count < groups[$1].prefix.count }
      if group.parent != parent { return "a group has another's parent" }
      if group.end > ring.end { return "a group is to hear what has not happened" }
      var wanted: EventKinds = []
      for member in group.members { wanted.formUnion(member.kinds) }
      all.formUnion(wanted)
      if wanted != group.interest { return "a group's interest is not that of its members" }
    }
    if all != interest { return "an audience's interest is not that of its groups" }
    guard members == count, sorted.count + freeSlots.count == groups.count else {
      return "\(members) listen, not \(count)"
    }
    return ring.brokenInvariant()
  }
}

/// Where a subscriber belongs: its audience, and in there its group.
struct Seat: Equatable, Sendable {
  let audience: Int
  let group: Int
}

extension [UInt8] {
  fileprivate func hasPrefix(_ prefix: [UInt8]) -> Bool {
    guard prefix.count <= count else { return false }
    for index in prefix.indices where self[index] != prefix[index] { return false }
    return true
  }

  /// In bytewise order.
  fileprivate func isAtOrAfter(_ other: [UInt8]) -> Bool {
    for index in 0..<Swift.min(count, other.count) where self[index] != other[index] {
      return self[index] > other[index]
    }
    return count >= other.count
  }
}
