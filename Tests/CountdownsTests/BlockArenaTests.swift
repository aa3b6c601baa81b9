import Countdowns
import TestSupport
import Testing

/// An arena of words whose blocks say their own size: in the first word, above a byte of 1.
struct SizedBlocks: ~Copyable {
  var arena: BlockArena<UInt32>
  private(set) var sizes: [Int: Int] = [:]

  init(limit: Int = 1 << 34, headUnits: Int = 0) {
    arena = BlockArena(reserving: 0, limit: limit, headUnits: headUnits)
  }

  mutating func allocate(_ units: Int) -> Int? {
    guard let block = arena.allocate(units) else { return nil }
    // What is written into a block may look like either end of a free one, but for its own ends.
    for unit in block..<block + min(units, 10_000) - 1 { arena.elements[unit] = 0xFF00_0400 }
    arena.elements[block] = UInt32(units) << 8 | 1
    sizes[block] = units
    return block
  }

  mutating func free(_ block: Int) { arena.free(block, units: sizes.removeValue(forKey: block)!) }

  func brokenInvariant() -> String? {
    var inUse: [Int: Int] = [:]
    let broken = arena.brokenInvariant {
      Int(arena.elements[$0] >> 8)
    } inUse: {
      inUse[$0] = Int(arena.elements[$0] >> 8)
    }
    return broken ?? (inUse == sizes ? nil : "other blocks are in use than were allocated")
  }
}

@Suite struct BlockArenaTests {
  @Test func `a block is as large as asked for and the row no larger than its blocks`() {
    var blocks = SizedBlocks(headUnits: 3)
    #expect(blocks.arena.units == 3)
    #expect(blocks.allocate(4) == 3)
    #expect(blocks.allocate(5) == 7)
    #expect(blocks.allocate(1000) == 12)
    #expect(blocks.arena.units == 1012)
    #expect(blocks.brokenInvariant() == nil)
  }

  @Test func `free neighbours become one block`() {
    for order in [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]] {
      var blocks = SizedBlocks()
      let places = (0..<5).map { _ in blocks.allocate(10)! }
      for index in order {
        blocks.free(places[index])
        #expect(blocks.brokenInvariant() == nil)
      }
      #expect(blocks.allocate(30) == places[1])
      #expect(blocks.brokenInvariant() == nil)
    }
  }

  @Test func `the row gives back its end`() {
    var blocks = SizedBlocks(headUnits: 1)
    let places = (0..<3).map { _ in blocks.allocate(10)! }
    blocks.free(places[1])
    #expect(blocks.arena.units == 31)
    blocks.free(places[2])
    #expect(blocks.arena.units == 11)
    blocks.free(places[0])
    #expect(blocks.arena.units == 1)
    #expect(blocks.brokenInvariant() == nil)
  }

  @Test func `only what leaves a whole block is split`() {
    for (wanted, isReused) in [(16, true), (17, false), (19, false), (20, true), (12, true)] {
      var blocks = SizedBlocks()
      let first = blocks.allocate(20)!
      _ = blocks.allocate(4)
      blocks.free(first)
      #expect(blocks.allocate(wanted) == (isReused ? first : 24), "\(wanted)")
      #expect(blocks.brokenInvariant() == nil)
    }
  }

  @Test(arguments: [4, 5, 63, 64, 67, 68, 71, 72, 127, 128, 321, 65_535, 65_536])
  func `a freed block is found again by its size, or by a smaller one`(units: Int) {
    var blocks = SizedBlocks()
    let first = blocks.allocate(units)!
    _ = blocks.allocate(4)
    blocks.free(first)
    #expect(blocks.allocate(units) == first)
    blocks.free(first)
    if units >= 8 { #expect(blocks.allocate(4) == first) }
    #expect(blocks.brokenInvariant() == nil)
  }

  @Test func `the smallest block that will do is taken`() {
    var blocks = SizedBlocks()
    var places: [Int: Int] = [:]
    for units in [1000, 30, 12, 300, 64, 20, 70] {
      places[units] = blocks.allocate(units)
      _ = blocks.allocate(4)
    }
    for units in places.keys.sorted() { blocks.free(places[units]!) }
    for (wanted, units) in [(12, 12), (13, 20), (14, 30), (64, 64), (66, 70), (65, 300)] {
      #expect(blocks.allocate(wanted) == places[units], "\(wanted)")
      #expect(blocks.brokenInvariant() == nil)
    }
  }

  @Test func `at the limit there is no block, and one again when another is freed`() {
    var blocks = SizedBlocks(limit: 4 * 20, headUnits: 1)
    let first = blocks.allocate(15)!
    #expect(blocks.allocate(5) == nil)
    #expect(blocks.allocate(4) == 16)
    #expect(blocks.allocate(4) == nil)
    blocks.free(first)
    #expect(blocks.allocate(15) == first)
    #expect(blocks.brokenInvariant() == nil)
  }

  @Test func `free blocks stay apart when three bytes could not tell their size`() {
    var blocks = SizedBlocks()
    let half = BlockArena<UInt32>.largestFree / 2 - 1
    let places = [half, half, half, 4].map { blocks.allocate($0)! }
    for place in places[0..<3] { blocks.free(place) }
    #expect(blocks.brokenInvariant() == nil)
    #expect(blocks.allocate(half) == places[2])
    #expect(blocks.allocate(half) == places[0])
    #expect(blocks.allocate(half) == places[1])
    for place in places { blocks.free(place) }
    #expect(blocks.arena.units == 0)
    #expect(blocks.brokenInvariant() == nil)
  }

  @Test(arguments: 0..<60 as Range<UInt64>)
  func `blocks never overlap and all memory comes back in every history`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var blocks = SizedBlocks(headUnits: Int(seed % 2))
    var live: [Int] = []
    let largest = [8, 70, 400, 5000].randomElement(using: &random)!
    for step in 0..<400 {
      // Grows for a while, shrinks for a while.
      if Int.random(in: 0..<10, using: &random) < (step / 100 % 2 == 0 ? 7 : 3) || live.isEmpty {
        live.append(blocks.allocate(.random(in: 4...largest, using: &random))!)
      } else {
        blocks.free(live.remove(at: .random(in: 0..<live.count, using: &random)))
      }
      #expect(blocks.brokenInvariant() == nil, "seed \(seed), step \(step)")
    }
    for block in live.shuffled(using: &random) { blocks.free(block) }
    #expect(blocks.arena.units == Int(seed % 2))
  }
}
