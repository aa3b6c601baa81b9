// Lists of a NameIndex: in order, page by page, each page found anew by the key it starts from. What
// happens between two pages is therefore harmless: a record that is there throughout is in one page.

/// Where a list, or the next page of it, starts.
package enum NameStart: ~Escapable {
  /// With the first key there is.
  case first
  /// With this key, or the next if it is not there.
  case at(NameKey)
  /// With the next after this key, whether it is there or not.
  case after(NameKey)
}

extension NameIndex {
  /// Appends records in the order of their keys.
  ///
  /// - Parameters:
  ///   - owner: Whose records; `nil` for everybody's.
  ///   - prefix: The bytes their names begin with; empty for all.
  ///   - limit: Append at most so many; fewer only if there are no more.
  ///   - list: Appended to, never read.
  /// - Complexity: O(length of the keys + what is appended); with a prefix and no owner, the former
  ///   for each owner with records that are passed.
  package borrowing func collect(
    from start: NameStart = .first, owner: UInt32?, prefix: Span<UInt8>, limit: Int,
    in records: borrowing some NamedRecords & ~Copyable, into list: inout [UInt32]
  ) {
    guard count > 0 else { return }
    if let owner {
      let part = part(of: NameKey(owner: owner, name: prefix), in: records)
      walk(part, from: start, limit: limit, in: records, into: &list)
    } else if prefix.isEmpty {
      walk(0, from: start, limit: limit, in: records, into: &list)
    } else {
      collectOwners(from: start, prefix: prefix, limit: limit, in: records, into: &list)
    }
  }

  /// Goes from owner to owner, as far as they have records that begin with `prefix` or come after.
  private borrowing func collectOwners(
    from start: NameStart, prefix: Span<UInt8>, limit: Int,
    in records: borrowing some NamedRecords & ~Copyable, into list: inout [UInt32]
  ) {
    var room = limit
    var next: UInt32? =
      switch start {
      case .first: 0
      case .at(let key), .after(let key): key.owner
      }
    var found: [UInt32] = []
    while let least = next, room > 0 {
      found.removeAll(keepingCapacity: true)
      let key = NameKey(owner: least, name: prefix)
      walk(0, from: .at(key), limit: 1, in: records, into: &found)
      guard let record = found.first else { return }
      let owner = records.key(of: record).owner
      let part = part(of: NameKey(owner: owner, name: prefix), in: records)
      let listed = list.count
      walk(part, from: start, limit: room, in: records, into: &list)
      room -= list.count - listed
      next = owner < .max ? owner + 1 : nil
    }
  }

  /// The slot of the part of the tree whose keys begin with those of `prefix`, less its NUL.
  private borrowing func part(
    of prefix: NameKey, in records: borrowing some NamedRecords & ~Copyable
  ) -> Int? {
    let length = NameKey.ownerBytes + prefix.name.count
    var slot = 0
    var link = nodes.link(at: slot)
    while !link.isLeaf, nodes.header(of: link.node).position < length {
      slot = nodes.slot(by: prefix, of: link.node)
      link = nodes.link(at: slot)
    }
    // All below agree on the bytes before `length`, so any of them speaks for all.
    let any = nodes.descend(from: slot, by: prefix).record
    let difference = prefix.firstDifference(from: records.key(of: any))
    return difference ?? length >= length ? slot : nil
  }

  /// A node on the way down, and the child that comes next when all below has been listed.
  private struct Step {
    let node: Int
    var rank: Int
  }

  /// Appends the leaves to which the link at `root` leads in order; none if there is no such slot.
  private borrowing func walk(
    _ root: Int?, from start: NameStart, limit: Int,
    in records: borrowing some NamedRecords & ~Copyable, into list: inout [UInt32]
  ) {
    guard let root, limit > 0 else { return }
    var steps: [Step] = []  // From the root down.
    var link = nodes.link(at: root)
    switch start {
    case .first: break
    case .at(let key):
      link = seek(key, isIncluded: true, from: root, in: records, steps: &steps)
    case .after(let key):
      link = seek(key, isIncluded: false, from: root, in: records, steps: &steps)
    }
    var room = limit
    while true {
      if link.isLeaf {
        list.append(link.record)
        room -= 1
        if room == 0 { return }
      } else if link != .none {
        steps.append(Step(node: link.node, rank: 0))
      }
      while let step = steps.last, step.rank == nodes.header(of: step.node).count {
        steps.removeLast()
      }
      guard let step = steps.last else { return }
      link = nodes.link(at: nodes.slot(step.rank, of: step.node))
      steps[steps.count - 1].rank += 1
    }
  }

  /// Goes from `root` to the first key that is not before `key`, leaving `steps` to come back by.
  ///
  /// - Returns: What to list first; none if it is what `steps` leads to.
  private borrowing func seek(
    _ key: NameKey, isIncluded: Bool, from root: Int,
    in records: borrowing some NamedRecords & ~Copyable, steps: inout [Step]
  ) -> NameLink {
    let other = records.key(of: nodes.descend(from: root, by: key).record)
    let difference = key.firstDifference(from: other)
    let position = difference ?? .max

    // Until they part, the way to that leaf is the way of the key.
    var link = nodes.link(at: root)
    while !link.isLeaf, nodes.header(of: link.node).position < position {
      let slot = nodes.slot(by: key, of: link.node)
      steps.append(Step(node: link.node, rank: slot + 1 - nodes.slot(0, of: link.node)))
      link = nodes.link(at: slot)
    }
    guard difference != nil else { return isIncluded ? link : .none }
    let byte = key.byte(at: position)
    if !link.isLeaf, nodes.header(of: link.node).position == position {
      // They part in a node, which has no child with the byte: on with the first that has a higher.
      steps.append(Step(node: link.node, rank: nodes.rank(of: byte, in: link.node)))
      return .none
    }
    // They part before: all that is here agrees with the leaf.
    return byte < other.byte(at: position) ? link : .none
  }
}
