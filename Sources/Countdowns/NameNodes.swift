/// A link of the tree in one word: the record of a leaf, or where a node stands. 0 is no link.
struct NameLink: Equatable {
  let word: UInt32

  /// The highest record that a link can name: no link has 0xFF as its highest byte.
  static let largestRecord: UInt32 = 0x7EFF_FFFF

  static let none = NameLink(word: 0)

  init(word: UInt32) { self.word = word }
  init(record: UInt32) { word = record | 1 << 31 }
  init(node: Int) { word = UInt32(node) }

  var isLeaf: Bool { word >> 31 == 1 }
  var record: UInt32 { word & 0x7FFF_FFFF }
  var node: Int { Int(word) }
}

/// The nodes of a ``NameIndex``, all in one array of words; it knows nodes and bytes, not names.
///
/// Unit 0 is the link to the root; nodes are blocks of a ``BlockArena``. A node is a header (how many
/// children, position, class), its key bytes packed four to a word, and its links, in the order of the
/// key bytes. Its class says for how many children it has room.
///
/// Invariants:
/// - Those of the arena. A block in use is a node: as long as its class says, with at least two
///   children. (So its first word is none of a free block, nor, links being what they are, its last.)
/// - The key bytes of a node rise strictly; those not in use are 0xFF.
struct NameNodes: ~Copyable {
  private var arena: BlockArena<UInt32>

  /// How many bytes the array takes, nodes and free blocks.
  var arenaBytes: Int { 4 * arena.units }

  /// - Parameters:
  ///   - bytes: Room to take from the start.
  ///   - limit: How many bytes the array may take; at most the 8 GiB that a link can address.
  init(reserving bytes: Int, limit: Int) {
    precondition(limit <= 1 << 33)
    arena = BlockArena(reserving: bytes, limit: limit, headUnits: 1)
    arena.elements[0] = NameLink.none.word
  }

  /// A size of node: 2, 3, 4, 6, 8, 12, 16 … 192, 256 children.
  struct Class: Equatable {
    let rawValue: Int

    static let count = 15
    static let smallest = Class(rawValue: 0)

    var capacity: Int { (2 + rawValue & 1) << (rawValue >> 1) }
    var keyWords: Int { (capacity + 3) / 4 }
    var words: Int { 1 + keyWords + capacity }
  }

  /// The first word of a node.
  struct Header {
    let word: UInt32

    init(word: UInt32) { self.word = word }
    init(position: Int, count: Int, class: Class) {
      word = UInt32(
        count - 1 | position << 8 | `class`.rawValue << 17 | `class`.keyWords << 21)
    }

    /// How many children there are, 2 to 256.
    var count: Int { Int(word & 0xFF) + 1 }
    /// The position in the key that the node branches on, 0 to 259.
    var position: Int { Int(word >> 8 & 0x1FF) }
    var `class`: Class { Class(rawValue: Int(word >> 17 & 0xF)) }
    /// That of the class, kept here because every step down asks for it.
    var keyWords: Int { Int(word >> 21) }
  }

  // Reading.

  /// The link at `slot`: 0 for the root's, else what ``slot(_:of:)`` gave.
  func link(at slot: Int) -> NameLink { NameLink(word: arena.elements[slot]) }

  func header(of node: Int) -> Header { Header(word: arena.elements[node]) }

  /// Where the link to child `rank` of `node` stands.
  func slot(_ rank: Int, of node: Int) -> Int { node + 1 + header(of: node).keyWords + rank }

  func key(_ rank: Int, of node: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: arena.elements[node + 1 + rank >> 2] >> UInt32(8 * (rank & 3)))
  }

  /// Where a search ended: at the leaf of `record`, whose link stands at `slot`, in the node that the
  /// link at `parent` leads to; that is the root's if the leaf itself is at the root.
  struct Descent {
    var record: UInt32
    var slot: Int
    var parent: Int
  }

  /// Goes down from the link at `slot` to a leaf by the bytes of `key`; where a node has no such byte,
  /// by any child. There must be a leaf.
  func descend(from slot: Int, by key: NameKey) -> Descent {
    let words = arena.elements.span
    var descent = Descent(record: 0, slot: slot, parent: slot)
    while true {
      let link = NameLink(word: words[descent.slot])
      if link.isLeaf {
        descent.record = link.record
        return descent
      }
      descent.parent = descent.slot
      descent.slot = Self.slot(by: key, of: link.node, in: words)
    }
  }

  /// Where the link to the child of `node` with the byte of `key` stands, or, if there is none, that
  /// to any child.
  func slot(by key: NameKey, of node: Int) -> Int {
    Self.slot(by: key, of: node, in: arena.elements.span)
  }

  /// Compares eight keys at a time, so that a search seldom has a branch to guess. Inlined, since a
  /// call costs as much as the step itself.
  @inline(__always)
  private static func slot(by key: NameKey, of node: Int, in words: Span<UInt32>) -> Int {
    let header = Header(word: words[node])
    let links = node + 1 + header.keyWords
    let wanted = UInt64(key.byte(at: header.position)) &* 0x0101_0101_0101_0101
    var first = node + 1
    repeat {
      // Where the second word is a link, what is found in it is no key: its rank is too high.
      let keys = UInt64(words[first]) | UInt64(words[first + 1]) << 32
      // A byte that is equal becomes 0, and the lowest that is 0 is the lowest to get its high bit.
      let difference = keys ^ wanted
      let equal = (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
      if equal != 0 {
        let rank = (first - node - 1) << 2 + equal.trailingZeroBitCount >> 3
        return links + (rank < header.count ? rank : 0)
      }
      first += 2
    } while first < links
    return links
  }

  /// How many key bytes of `node` are less than `byte`: where it is, or would have to be.
  ///
  /// Narrows the node to one word by halves; the unused keys in it, being 0xFF, are never less.
  func rank(of byte: UInt8, in node: Int) -> Int {
    let words = arena.elements.span
    var low = node + 1
    var high = low + (Header(word: words[node]).count - 1) >> 2
    while low < high {
      let middle = (low + high) >> 1
      if words[middle] >> 24 < UInt32(byte) { low = middle + 1 } else { high = middle }
    }
    var rank = (low - node - 1) << 2
    var keys = words[low]
    while rank & 3 < 3, keys & 0xFF < UInt32(byte) {
      keys >>= 8
      rank += 1
    }
    return keys & 0xFF < UInt32(byte) ? rank + 1 : rank
  }
}

// Changing. What takes a slot may move the node there, and writes its new place into the slot.
extension NameNodes {
  mutating func set(_ link: NameLink, at slot: Int) { arena.elements[slot] = link.word }

  /// Puts a node with two children, `low` before `high`, where the link `slot` points to; `false`,
  /// and nothing changed, if there is no room left.
  mutating func branch(
    at slot: Int, position: Int, low: (key: UInt8, link: NameLink),
    high: (key: UInt8, link: NameLink)
  ) -> Bool {
    precondition(low.key < high.key)
    guard let node = allocate(.smallest) else { return false }
    var words = arena.elements.mutableSpan
    words[node] = Header(position: position, count: 2, class: .smallest).word
    words[node + 1] = 0xFFFF_0000 | UInt32(high.key) << 8 | UInt32(low.key)
    words[node + 2] = low.link.word
    words[node + 3] = high.link.word
    words[slot] = NameLink(node: node).word
    return true
  }

  /// Gives the node at `slot` a child, which becomes its child `rank`; `false`, and nothing changed,
  /// if there is no room left.
  mutating func insert(_ link: NameLink, key: UInt8, at rank: Int, ofNodeAt slot: Int) -> Bool {
    var header = header(of: self.link(at: slot).node)
    if header.count == header.class.capacity {
      let larger = Class(rawValue: header.class.rawValue + 1)
      guard resize(nodeAt: slot, to: larger) else { return false }
      header = self.header(of: self.link(at: slot).node)
    }
    let node = self.link(at: slot).node
    let keys = node + 1
    let links = keys + header.keyWords
    var words = arena.elements.mutableSpan

    // The first word keeps the keys below the new one; from there on each hands its highest byte up.
    let first = keys + rank >> 2
    let shift = UInt32(8 * (rank & 3))
    let below = words[first] & (1 << shift - 1)
    var carry = words[first] >> 24
    words[first] = below | UInt32(key) << shift | (words[first] ^ below) << 8
    for index in first + 1..<keys + header.count >> 2 + 1 {
      let word = words[index]
      words[index] = word << 8 | carry
      carry = word >> 24
    }
    for index in stride(from: links + header.count, to: links + rank, by: -1) {
      words[index] = words[index - 1]
    }
    words[links + rank] = link.word
    arena.elements[node] =
      Header(position: header.position, count: header.count + 1, class: header.class).word
    return true
  }

  /// Takes away the leaf at `child` from the node at `slot`; if one child is left, it takes the node's
  /// place. The leaf may be at `slot` itself, that of the root.
  mutating func remove(at child: Int, ofNodeAt slot: Int) {
    if child == slot {
      set(.none, at: slot)
      return
    }
    let node = link(at: slot).node
    let header = header(of: node)
    let rank = child - self.slot(0, of: node)
    if header.count == 2 {
      arena.elements[slot] = arena.elements[self.slot(1 - rank, of: node)]
      free(node)
      return
    }
    close(rank, of: node, header)

    // A node moves down only when it has some room there, so that it does not move at every change.
    guard header.class != .smallest else { return }
    let smaller = Class(rawValue: header.class.rawValue - 1)
    if header.count - 1 < smaller.capacity - smaller.capacity / 8 {
      _ = resize(nodeAt: slot, to: smaller)  // Without room for that it stays as large as it is.
    }
  }

  /// Moves what is above child `rank` down over it.
  private mutating func close(_ rank: Int, of node: Int, _ header: Header) {
    let keys = node + 1
    let links = keys + header.keyWords
    let last = keys + (header.count - 1) >> 2
    var words = arena.elements.mutableSpan

    // Each word takes the lowest key of the next; the first one keeps the keys below the old one.
    let first = keys + rank >> 2
    let below: UInt32 = 1 << UInt32(8 * (rank & 3)) - 1
    let kept = words[first] & below
    for index in first...last {
      let next = index < last ? words[index + 1] : 0xFF
      words[index] = words[index] >> 8 | next << 24
    }
    words[first] = kept | words[first] & ~below
    for index in links + rank..<links + header.count - 1 { words[index] = words[index + 1] }
    arena.elements[node] =
      Header(position: header.position, count: header.count - 1, class: header.class).word
  }

  /// Moves the node at `slot` into a block of `class`; `false`, and nothing changed, without room.
  private mutating func resize(nodeAt slot: Int, to class: Class) -> Bool {
    guard let new = allocate(`class`) else { return false }
    let old = link(at: slot).node
    let header = header(of: old)
    let used = (header.count + 3) / 4
    var words = arena.elements.mutableSpan
    words[new] = Header(position: header.position, count: header.count, class: `class`).word
    for index in 1...used { words[new + index] = words[old + index] }
    for index in used..<`class`.keyWords { words[new + 1 + index] = .max }
    let from = old + 1 + header.keyWords
    let to = new + 1 + `class`.keyWords
    for index in 0..<header.count { words[to + index] = words[from + index] }
    arena.elements[slot] = NameLink(node: new).word
    free(old)
    return true
  }

  private mutating func allocate(_ class: Class) -> Int? { arena.allocate(`class`.words) }

  private mutating func free(_ node: Int) {
    arena.free(node, units: header(of: node).class.words)
  }
}

extension NameNodes {
  /// The first invariant that does not hold, in words; `nil` when all hold. O(`arenaBytes`).
  ///
  /// - Parameter nodes: Set to where the nodes start, in rising order.
  borrowing func brokenInvariant(nodes: inout [Int]) -> String? {
    nodes = []
    let broken = arena.brokenInvariant { block in
      let header = header(of: block)
      let isNode =
        header.class.rawValue < Class.count && header.keyWords == header.class.keyWords
      return isNode ? header.class.words : nil
    } inUse: { block in
      nodes.append(block)
    }
    if let broken { return broken }
    for node in nodes {
      let header = header(of: node)
      guard 2...header.class.capacity ~= header.count else {
        return "node \(node) has \(header.count) children of \(header.class.capacity)"
      }
      for rank in 1..<header.keyWords * 4 {
        let isHigher = key(rank - 1, of: node) < key(rank, of: node)
        guard rank < header.count ? isHigher : key(rank, of: node) == 0xFF else {
          return "key \(rank) of node \(node) is not in order"
        }
      }
    }
    return nil
  }
}
