/// What a ``BlockArena`` is a row of: so many make a unit of four bytes, which is read as one word.
package protocol BlockElement: BitwiseCopyable, FixedWidthInteger {
  /// How many of them make a unit.
  static var perUnit: Int { get }

  /// Unit `unit` of `row` as a word; its first element has the lowest bits.
  static func word(at unit: Int, in row: Span<Self>) -> UInt32

  /// Writes what ``word(at:in:)`` reads.
  static func setWord(_ word: UInt32, at unit: Int, in row: inout MutableSpan<Self>)
}

/// Blocks of any size in one array: what names and the nodes of their index are kept in.
///
/// All places and sizes are in units of four bytes. What is freed is merged with free neighbours at
/// once and reused by the best fit, so blocks of other sizes find room in it too, and the array
/// shrinks when its end becomes free. Free blocks are in lists: one for each size up to a limit, then
/// one for each power of two, with a bit for each list that is not empty.
/// Sources: D. E. Knuth, The Art of Computer Programming, vol. 1, section 2.5, boundary tags;
/// M. Masmano et al., "TLSF: a New Dynamic Memory Allocator for Real-Time Systems", ECRTS 2004.
///
/// Tags cost a block in use nothing, but it must be told from a free one by both its ends: **the first
/// word of a block in use never has 0 as its lowest byte, nor its last word 0xFF as its highest.** The
/// owner of the block sees to the former before the next call and never writes what breaks the latter.
/// A free block holds: its size above a byte of 0; the next block of its list; the one before; and in
/// its last word 0xFF above its size.
///
/// Invariants:
/// - After the head the array is a row of blocks; those free are in the list of their size, each once.
/// - The bit of a list is set if and only if the list is not empty.
/// - No two free blocks are neighbours unless together they exceed ``largestFree``.
/// - The last block is in use.
package struct BlockArena<Element: BlockElement>: ~Copyable {
  /// The row itself: the owner of a block reads and writes it here.
  package var elements: [Element] = []

  /// How many units the row has: head, blocks in use and free ones. ``elements`` goes on beyond it.
  package private(set) var units = 0

  private let headUnits: Int
  private let limit: Int
  private var heads = [UInt32](repeating: none, count: 82)
  private var occupied: UInt128 = 0

  /// Ends a list: no block can be there.
  private static var none: UInt32 { .max }

  /// - Parameters:
  ///   - bytes: Room to take from the start; the system gives memory to it only as it is written.
  ///   - limit: How many bytes the row may take, at most 16 GiB.
  ///   - headUnits: How many units stand before the first block, for the owner's own use.
  package init(reserving bytes: Int, limit: Int, headUnits: Int) {
    precondition(limit <= 1 << 34 && 4 * headUnits <= limit)
    self.limit = limit / 4
    self.headUnits = headUnits
    elements.reserveCapacity(bytes / 4 * Element.perUnit)
    grow(by: headUnits)
  }

  /// The smallest block: a free one has room for its two sizes and two links.
  package static var smallest: Int { 4 }

  /// What three bytes can say: 64 MiB less a unit.
  package static var largestFree: Int { 1 << 24 - 1 }

  /// A block whose last word is 0 and whose other words are anything; `nil`, and nothing changed, if
  /// the limit is reached. O(1), amortised over the growth of the array.
  package mutating func allocate(_ units: Int) -> Int? {
    precondition(units >= Self.smallest && units < Self.largestFree / 2)
    if let block = fit(units) {
      let size = size(ofFree: block)
      unlink(block)
      if size > units { link(block + units, units: size - units) }
      setWord(0, at: block + units - 1)
      return block
    }
    guard self.units + units <= limit else { return nil }
    grow(by: units)
    setWord(0, at: self.units - 1)
    return self.units - units
  }

  /// Takes back a block of so many units. O(1).
  package mutating func free(_ block: Int, units: Int) {
    var block = block
    var units = units
    let next = block + units
    if next < self.units, isFree(next), units + size(ofFree: next) <= Self.largestFree {
      units += size(ofFree: next)
      unlink(next)
    }
    if let previous = freeBlock(endingAt: block), units + block - previous <= Self.largestFree {
      unlink(previous)
      units += block - previous
      block = previous
    }
    if block + units < self.units {
      link(block, units: units)
      return
    }
    self.units = block
    while let last = freeBlock(endingAt: self.units) {
      unlink(last)
      self.units = last
    }
  }

  private mutating func grow(by units: Int) {
    self.units += units
    let missing = self.units * Element.perUnit - elements.count
    guard missing > 0 else { return }
    // Some more at once, since appending costs as much for one.
    let added = min(max(missing, 1024), limit * Element.perUnit - elements.count)
    elements.append(contentsOf: repeatElement(0, count: added))
  }

  private func word(at unit: Int) -> UInt32 { Element.word(at: unit, in: elements.span) }

  private mutating func setWord(_ word: UInt32, at unit: Int) {
    var row = elements.mutableSpan
    Element.setWord(word, at: unit, in: &row)
  }

  // What is free.

  private func isFree(_ block: Int) -> Bool { word(at: block) & 0xFF == 0 }

  private func size(ofFree block: Int) -> Int { Int(word(at: block) >> 8) }

  /// The free block that ends where `end` starts, if the one before it is free.
  private func freeBlock(endingAt end: Int) -> Int? {
    guard end > headUnits else { return nil }
    let last = word(at: end - 1)
    return last >> 24 == 0xFF ? end - Int(last & 0xFF_FFFF) : nil
  }

  /// How many lists there are for one size each; the first of the others begins where they end.
  private static var exactLists: Int { 64 }

  private static func list(ofSize units: Int) -> Int {
    if units < smallest + exactLists { return units - smallest }
    return exactLists + (UInt64.bitWidth - 1 - units.leadingZeroBitCount) - 6
  }

  /// The free block to use for so many units: of that size, or larger by a block at least.
  private func fit(_ units: Int) -> Int? {
    if occupied == 0 { return nil }
    let own = Self.list(ofSize: units)
    if let block = fit(units, atHeadOf: own) { return block }
    // All blocks above the list of the least size that can be split are larger than that.
    let splittable = Self.list(ofSize: units + Self.smallest)
    if let block = fit(units, atHeadOf: splittable) { return block }
    let above = occupied >> (splittable + 1)
    return above == 0 ? nil : Int(heads[splittable + 1 + above.trailingZeroBitCount])
  }

  private func fit(_ units: Int, atHeadOf list: Int) -> Int? {
    guard heads[list] != Self.none else { return nil }
    let block = Int(heads[list])
    let size = size(ofFree: block)
    return size == units || size >= units + Self.smallest ? block : nil
  }

  private mutating func link(_ block: Int, units: Int) {
    let list = Self.list(ofSize: units)
    let next = heads[list]
    var row = elements.mutableSpan
    Element.setWord(UInt32(units) << 8, at: block, in: &row)
    Element.setWord(next, at: block + 1, in: &row)
    Element.setWord(Self.none, at: block + 2, in: &row)
    Element.setWord(0xFF00_0000 | UInt32(units), at: block + units - 1, in: &row)
    if next != Self.none { Element.setWord(UInt32(block), at: Int(next) + 2, in: &row) }
    heads[list] = UInt32(block)
    occupied |= 1 << list
  }

  private mutating func unlink(_ block: Int) {
    let next = word(at: block + 1)
    let previous = word(at: block + 2)
    if next != Self.none { setWord(previous, at: Int(next) + 2) }
    if previous != Self.none {
      setWord(next, at: Int(previous) + 1)
    } else {
      let list = Self.list(ofSize: size(ofFree: block))
      heads[list] = next
      if next == Self.none { occupied &= ~(1 << list) }
    }
  }

  /// The first invariant that does not hold, in words; `nil` when all hold. O(`units`).
  ///
  /// - Parameters:
  ///   - size: How many units a block in use has; `nil` if what stands there is none.
  ///   - inUse: Told of each block in use, in rising order.
  package borrowing func brokenInvariant(
    size: (_ block: Int) -> Int?, inUse: (_ block: Int) -> Void
  ) -> String? {
    var free: [Int: Int] = [:]  // The size of each; only looked up and counted.
    var block = headUnits
    var endsFree = false
    while block < self.units {
      let isFree = isFree(block)
      guard let units = isFree ? self.size(ofFree: block) : size(block), units >= Self.smallest,
        block + units <= self.units
      else { return "block \(block) has no size" }
      guard freeBlock(endingAt: block + units) == (isFree ? block : nil) else {
        return "block \(block) is told otherwise by its end"
      }
      if isFree {
        if endsFree, let previous = freeBlock(endingAt: block),
          block + units - previous <= Self.largestFree
        {
          return "blocks \(previous) and \(block) are free neighbours"
        }
        free[block] = units
      } else {
        inUse(block)
      }
      endsFree = isFree
      block += units
    }
    if endsFree { return "the last block is free" }
    return brokenList(of: free)
  }

  /// What is wrong with the lists, which should hold the `free` blocks.
  private borrowing func brokenList(of free: [Int: Int]) -> String? {
    var seen = 0
    for list in heads.indices {
      if (occupied >> list & 1 == 1) != (heads[list] != Self.none) {
        return "the bit of list \(list) is wrong"
      }
      var previous = Self.none
      var block = heads[list]
      while block != Self.none {
        guard let units = free[Int(block)], Self.list(ofSize: units) == list else {
          return "block \(block) does not belong in list \(list)"
        }
        guard word(at: Int(block) + 2) == previous else {
          return "block \(block) is not linked backwards"
        }
        seen += 1
        if seen > free.count { return "list \(list) is a circle" }
        previous = block
        block = word(at: Int(block) + 1)
      }
    }
    return seen == free.count ? nil : "\(free.count - seen) free blocks are in no list"
  }
}

extension UInt32: BlockElement {
  package static var perUnit: Int { 1 }

  package static func word(at unit: Int, in row: Span<Self>) -> UInt32 { row[unit] }

  package static func setWord(_ word: UInt32, at unit: Int, in row: inout MutableSpan<Self>) {
    row[unit] = word
  }
}

extension UInt8: BlockElement {
  package static var perUnit: Int { 4 }

  package static func word(at unit: Int, in row: Span<Self>) -> UInt32 {
    let first = 4 * unit
    return UInt32(row[first]) | UInt32(row[first + 1]) << 8 | UInt32(row[first + 2]) << 16
      | UInt32(row[first + 3]) << 24
  }

  package static func setWord(_ word: UInt32, at unit: Int, in row: inout MutableSpan<Self>) {
    let first = 4 * unit
    row[first] = UInt8(truncatingIfNeeded: word)
    row[first + 1] = UInt8(truncatingIfNeeded: word >> 8)
    row[first + 2] = UInt8(truncatingIfNeeded: word >> 16)
    row[first + 3] = UInt8(truncatingIfNeeded: word >> 24)
  }
}
