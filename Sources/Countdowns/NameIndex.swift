/// Finds a record by its owner and name, and lists records in the order of owners, then names.
///
/// A blind radix trie: a node stores the position in the key on which its children differ and, for
/// each child, the byte it has there; what they share is stored nowhere. A search follows the bytes
/// it is told to look at and compares the whole key once, with the record it arrives at. The names
/// themselves stay where the records keep them: every call is lent the ``NamedRecords``.
/// Sources: D. R. Morrison, "PATRICIA: Practical Algorithm To Retrieve Information Coded in
/// Alphanumeric", JACM 15(4), 1968; V. Leis, A. Kemper, T. Neumann, "The Adaptive Radix Tree",
/// ICDE 2013.
///
/// A call costs O(length of the key), whatever the number of records; a path has at most 260 nodes.
///
/// Invariants:
/// - Positions rise on every path, and those of ``NameNodes`` hold.
/// - Every leaf is found by its own key, and the order of the leaves is that of their keys.
/// - Two leaves beside each other first differ at the position of the node where their paths part.
/// - `count` is the number of leaves.
package struct NameIndex: ~Copyable {
  var nodes: NameNodes

  /// How many records can be found.
  package private(set) var count = 0

  /// The largest record that can be given to the index.
  package static var largestRecord: UInt32 { NameLink.largestRecord }

  /// How many bytes the nodes take, with the free ones among them.
  package var arenaBytes: Int { nodes.arenaBytes }

  /// - Parameters:
  ///   - bytes: Room to take from the start, so that growing copies nothing until it is used up; the
  ///     system gives memory to it only as it is written.
  ///   - limit: How many bytes the nodes may take; at most, and unless said, the 8 GiB that a link
  ///     can address.
  package init(reserving bytes: Int = 0, limit: Int = 1 << 33) {
    nodes = NameNodes(reserving: bytes, limit: limit)
  }

  /// What ``insert(_:record:in:)`` found.
  package enum Insertion: Equatable {
    case inserted
    /// The key is this record's already; nothing changed.
    case taken(by: UInt32)
    /// There is no room for another node; nothing changed.
    case full
  }

  /// The record with this key.
  package borrowing func find(
    _ key: NameKey, in records: borrowing some NamedRecords & ~Copyable
  ) -> UInt32? {
    guard count > 0 else { return nil }
    let record = nodes.descend(from: 0, by: key).record
    return records.key(of: record).isSame(as: key) ? record : nil
  }

  /// Files `record` under `key`, unless that is some record's key already.
  ///
  /// - Parameters:
  ///   - key: Keeps the rule of ``Name``.
  ///   - record: At most ``largestRecord``. It need not have its key yet; but when the next call to
  ///     the index is made, `records` must know it.
  package mutating func insert(
    _ key: NameKey, record: UInt32, in records: borrowing some NamedRecords & ~Copyable
  ) -> Insertion {
    precondition(record <= NameLink.largestRecord)
    let leaf = NameLink(record: record)
    guard count > 0 else {
      nodes.set(leaf, at: 0)
      count = 1
      return .inserted
    }
    // Whichever leaf the search ends on, no other shares more of the key.
    let closest = nodes.descend(from: 0, by: key)
    let other = records.key(of: closest.record)
    guard let position = key.firstDifference(from: other) else {
      return .taken(by: closest.record)
    }
    let slot = slot(of: key, to: position, closest)
    let link = nodes.link(at: slot)
    let byte = key.byte(at: position)
    let isDone =
      if !link.isLeaf, nodes.header(of: link.node).position == position {
        nodes.insert(leaf, key: byte, at: nodes.rank(of: byte, in: link.node), ofNodeAt: slot)
      } else if byte < other.byte(at: position) {
        nodes.branch(
          at: slot, position: position, low: (byte, leaf), high: (other.byte(at: position), link))
      } else {
        nodes.branch(
          at: slot, position: position, low: (other.byte(at: position), link), high: (byte, leaf))
      }
    guard isDone else { return .full }
    count += 1
    return .inserted
  }

  /// Where the way of `key` parts from all others: the slot of the first link on it that leads to a
  /// leaf, or to a node at `position` or beyond.
  ///
  /// Mostly that is in the last node above the `closest` leaf or just below it; else it is gone again.
  private borrowing func slot(of key: NameKey, to position: Int, _ closest: NameNodes.Descent)
    -> Int
  {
    let parent = nodes.link(at: closest.parent)
    if parent.isLeaf { return closest.slot }
    let last = nodes.header(of: parent.node).position
    if last < position { return closest.slot }
    if last == position { return closest.parent }
    var slot = 0
    var link = nodes.link(at: slot)
    while !link.isLeaf, nodes.header(of: link.node).position < position {
      slot = nodes.slot(by: key, of: link.node)
      link = nodes.link(at: slot)
    }
    return slot
  }

  /// Forgets `record`; `false`, and nothing changed, if it was not filed.
  ///
  /// `records` must still know the key it was filed under.
  package mutating func remove(
    _ record: UInt32, in records: borrowing some NamedRecords & ~Copyable
  ) -> Bool {
    guard count > 0 else { return false }
    let found = nodes.descend(from: 0, by: records.key(of: record))
    guard found.record == record else { return false }
    nodes.remove(at: found.slot, ofNodeAt: found.parent)
    count -= 1
    return true
  }
}

extension NameIndex {
  /// The first invariant that does not hold, in words; `nil` when all hold. O(all keys).
  package borrowing func brokenInvariant(
    in records: borrowing some NamedRecords & ~Copyable
  ) -> String? {
    var inUse: [Int] = []
    if let broken = nodes.brokenInvariant(nodes: &inUse) { return broken }
    var unseen = Set(inUse)  // Only looked up and counted.
    var leaves = 0
    var previous: UInt32?
    var steps: [(node: Int, rank: Int)] = []  // The child that comes next.
    var link = nodes.link(at: 0)
    while link != .none {
      if link.isLeaf {
        leaves += 1
        let key = records.key(of: link.record)
        guard find(key, in: records) == link.record else {
          return "record \(link.record) is not found by its key"
        }
        for step in steps
        where nodes.key(step.rank - 1, of: step.node)
          != key.byte(at: nodes.header(of: step.node).position)
        {
          return "record \(link.record) is below another byte than its own"
        }
        if let previous {
          let other = records.key(of: previous)
          let fork = steps.last { $0.rank > 1 }  // The deepest that has left its first child.
          guard let fork, let difference = key.firstDifference(from: other),
            nodes.header(of: fork.node).position == difference,
            other.byte(at: difference) < key.byte(at: difference)
          else {
            return "records \(previous) and \(link.record) do not part where they differ"
          }
        }
        previous = link.record
      } else {
        guard unseen.remove(link.node) != nil else { return "node \(link.node) is not in use once" }
        let position = nodes.header(of: link.node).position
        if let step = steps.last, nodes.header(of: step.node).position >= position {
          return "node \(link.node) is not deeper than the one above it"
        }
        steps.append((link.node, 0))
      }
      while let step = steps.last, step.rank == nodes.header(of: step.node).count {
        steps.removeLast()
      }
      guard let step = steps.last else { break }
      link = nodes.link(at: nodes.slot(step.rank, of: step.node))
      steps[steps.count - 1].rank += 1
    }
    if !unseen.isEmpty { return "\(unseen.count) nodes are in use, but not in the tree" }
    return leaves == count ? nil : "count is \(count), but there are \(leaves) leaves"
  }
}
