/// The wheel's memory: cells, the circular lists they form, and which of those lists are occupied.
///
/// This is the one file of the module that touches pointers. What keeps its face safe is that
/// nobody outside can make up a place in it: a ``Cell`` comes only from an id that was checked, from
/// an allocation or from a walk along a list, and a ``Head`` is cut to size when it is made. So the
/// inner operations need no check of bounds. (A cell must not be taken to another slab; the wheel,
/// the only user, has one and hands out ids only.)
///
/// Invariants, tested by ``brokenInvariant()``:
/// - Nodes below `headCount` are list heads, those from there to `end` are entries, and the memory
///   beyond was never touched.
/// - A generation is odd if and only if its entry is live.
/// - Free, retired and live entries sum to those in use; the free ones are linked by `next`.
/// - Every `next` is answered by a `previous`.
/// - A list's bit is set if and only if the list is not empty, a row's bit if and only if one of its
///   lists has its bit set.
@safe
struct Slab: ~Copyable {
  /// An entry's cell. It stays in bounds for as long as the slab lives, also when it is released.
  struct Cell: Equatable {
    fileprivate let node: UInt32
  }

  /// The head of one of the lists: rows of 64.
  struct Head: Equatable {
    fileprivate let node: UInt32

    fileprivate init(node: UInt32) { self.node = node }

    /// Both numbers are cut to size, to 4 and 6 bits.
    init(row: UInt64, list: UInt64) {
      node = UInt32(truncatingIfNeeded: (row << 6 | list & 63) & UInt64(Slab.headCount - 1))
    }

    /// Which row, 0...15.
    var row: UInt64 { UInt64(node >> 6) }

    /// Which list of its row, 0...63.
    var list: UInt64 { UInt64(node & 63) }
  }

  /// 16 bytes: four to a cache line. A free entry's `next` is the next free one, or 0.
  private struct Node {
    var next: UInt32
    var previous: UInt32
    var deadline: UInt64
  }

  /// How many rows of lists there are. A power of two, so that cutting a number keeps it in bounds.
  static var rowCount: UInt64 { 16 }

  private static var headCount: UInt32 { 16 << 6 }

  private static var hugePage: Int { 1 << 21 }

  private var nodes: UnsafeMutablePointer<Node>
  private var generations: UnsafeMutablePointer<UInt32>  // By node: one index serves for both.
  private let occupancy: UnsafeMutablePointer<UInt64>

  /// Bit *r* says that row *r* has an occupied list.
  private(set) var occupiedRows: UInt64 = 0

  /// Entries whose generations are used up.
  private var retiredCount = 0

  private var capacity: UInt32

  /// How many entries were ever in use at once: all indices are below it.
  private(set) var entriesInUse: UInt32 = 0

  private var firstFree: UInt32 = 0
  private let firstGeneration: UInt32

  /// - Parameters:
  ///   - entries: How many entries to reserve address space for; memory is used as they are.
  ///   - firstGeneration: Odd.
  init(reserving entries: Int, firstGeneration: UInt32) {
    precondition(entries >= 0 && entries <= Int(UInt32.max - Slab.headCount))
    precondition(firstGeneration & 1 == 1)
    self.firstGeneration = firstGeneration
    capacity = Slab.headCount + UInt32(entries)
    // SAFETY: the slab owns the three allocations until `deinit` (or `grow`) gives them back. The
    // heads and all of the occupancy are initialised here, an entry when it is first allocated.
    unsafe nodes = Slab.allocateNodes(capacity)
    unsafe generations = .allocate(capacity: Int(capacity))
    unsafe occupancy = .allocate(capacity: Int(Slab.rowCount))
    unsafe occupancy.initialize(repeating: 0, count: Int(Slab.rowCount))
    for head in 0..<Slab.headCount {
      let node = Node(next: head, previous: head, deadline: .max)
      // SAFETY: below the capacity, which includes the heads.
      unsafe (nodes + Int(head)).initialize(to: node)
    }
  }

  deinit {
    // SAFETY: the slab is their only owner, and what they hold needs no deinitialising.
    unsafe nodes.deallocate()
    unsafe generations.deallocate()
    unsafe occupancy.deallocate()
  }

  // MARK: Entries

  /// The cell that `id` names; `nil` if it was released. O(1).
  @inline(__always)
  func cell(of id: EntryID) -> Cell? {
    guard id.index < entriesInUse else { return nil }
    let node = id.index &+ Slab.headCount  // Below the end, by the line before.
    // An id's generation is odd, a free cell's even.
    return self[generationOf: node] == id.generation ? Cell(node: node) : nil
  }

  /// The id of a live entry.
  func id(of cell: Cell) -> EntryID {
    EntryID(index: cell.node &- Slab.headCount, generation: self[generationOf: cell.node])
  }

  /// The id of the live entry whose index this is; `nil` if there is none. O(1).
  func liveID(at index: UInt32) -> EntryID? {
    guard index < end &- Slab.headCount else { return nil }  // The heads are below the end.
    let generation = self[generationOf: index &+ Slab.headCount]  // Below the end likewise.
    return generation & 1 == 1 ? EntryID(index: index, generation: generation) : nil
  }

  /// A cell that was freed, live again and on no list yet; `nil` if there is none. O(1).
  @inline(__always)
  mutating func allocateFreed() -> Cell? {
    let node = firstFree
    guard node != 0 else { return nil }
    firstFree = self[node].next
    self[generationOf: node] &+= 1  // It was even.
    return Cell(node: node)
  }

  /// A cell never used before, on no list yet. O(1), but for growth beyond the reservation.
  mutating func allocateFresh() -> Cell {
    if end == capacity { grow() }
    let node = end
    entriesInUse += 1
    // SAFETY: `end` was below the capacity, and nothing there was initialised before.
    unsafe (nodes + Int(node)).initialize(to: Node(next: node, previous: node, deadline: 0))
    // SAFETY: likewise.
    unsafe (generations + Int(node)).initialize(to: firstGeneration)
    return Cell(node: node)
  }

  /// Ends an entry that is on no list. Its cell is the next to be allocated; if this was the last
  /// generation, it is retired instead.
  @inline(__always)
  mutating func free(_ cell: Cell) {
    let generation = self[generationOf: cell.node] &+ 1  // The last one, odd, wraps to 0.
    self[generationOf: cell.node] = generation
    guard generation != 0 else {
      retiredCount += 1
      return
    }
    self[cell.node].next = firstFree
    firstFree = cell.node
  }

  /// The first node never used.
  private var end: UInt32 { Slab.headCount &+ entriesInUse }  // At most the capacity.

  /// Twice the room, elsewhere. O(entries in use).
  private mutating func grow() {
    guard capacity < .max else { fatalError("the wheel's 32-bit links are used up") }
    let (twice, overflow) = capacity.multipliedReportingOverflow(by: 2)
    capacity = overflow ? .max : twice
    // SAFETY: all nodes below `end` are initialised, of the generations those of entries, and none
    // beyond. They move to the new memory; nobody else has a pointer to the old.
    let newNodes = unsafe Slab.allocateNodes(capacity)
    unsafe newNodes.moveInitialize(from: nodes, count: Int(end))
    unsafe nodes.deallocate()
    unsafe nodes = newNodes
    // SAFETY: likewise.
    let heads = Int(Slab.headCount)
    let newGenerations = UnsafeMutablePointer<UInt32>.allocate(capacity: Int(capacity))
    unsafe (newGenerations + heads).moveInitialize(
      from: generations + heads, count: Int(entriesInUse))
    unsafe generations.deallocate()
    unsafe generations = newGenerations
  }

  private static func allocateNodes(_ capacity: UInt32) -> UnsafeMutablePointer<Node> {
    let byteCount = Int(capacity) * MemoryLayout<Node>.stride
    // By the line of the cache, and where it may come to use one, by the huge page.
    let alignment = byteCount < hugePage ? 64 : hugePage
    // SAFETY: fresh memory, bound to the one type that it ever has.
    return unsafe UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: alignment)
      .bindMemory(to: Node.self, capacity: Int(capacity))
  }

  /// The addresses of all nodes, those never touched included.
  var addresses: Range<UInt> {
    // SAFETY: only a number is made of the pointer.
    let start = unsafe UInt(bitPattern: nodes)
    return start..<start + UInt(capacity) * UInt(MemoryLayout<Node>.stride)
  }

  // MARK: Deadlines

  /// What ``setDeadline(of:to:)`` said last; of a new entry, nothing in particular.
  func deadline(of cell: Cell) -> UInt64 { self[cell.node].deadline }

  mutating func setDeadline(of cell: Cell, to deadline: UInt64) {
    self[cell.node].deadline = deadline
  }

  /// A number kept with a list; it means what the user of the slab says it means.
  func note(of head: Head) -> UInt64 { self[head.node].deadline }

  /// Makes the number the lesser of what it is and `note`; that of an empty list is the greatest.
  @inline(__always)
  mutating func lowerNote(of head: Head, to note: UInt64) {
    self[head.node].deadline = min(self[head.node].deadline, note)
  }

  // MARK: Lists

  /// The lowest occupied list of the lowest occupied row. O(1).
  @inline(__always)
  var firstOccupied: Head? {
    guard occupiedRows != 0 else { return nil }
    let row = UInt64(occupiedRows.trailingZeroBitCount)
    return Head(row: row, list: UInt64(self[occupancyOf: row].trailingZeroBitCount))
  }

  /// Whether nothing is on the list.
  func isEmpty(_ head: Head) -> Bool { self[head.node].next == head.node }

  func first(of head: Head) -> Cell? { entry(self[head.node].next) }

  /// The next one of the same list, `nil` after the last.
  func cell(after cell: Cell) -> Cell? { entry(self[cell.node].next) }

  private func entry(_ node: UInt32) -> Cell? { node < Slab.headCount ? nil : Cell(node: node) }

  /// Puts a cell that is on no list at the end of one.
  @inline(__always)
  mutating func append(_ cell: Cell, to head: Head) {
    let last = self[head.node].previous
    self[cell.node].next = head.node
    self[cell.node].previous = last
    self[last].next = cell.node
    self[head.node].previous = cell.node
    if last == head.node { setOccupied(head) }
  }

  /// Takes a cell off the list that it is on, so not an isolated one. Its own links then mean
  /// nothing: it is to be appended, isolated or freed next.
  @inline(__always)
  mutating func unlink(_ cell: Cell) {
    let (next, previous) = (self[cell.node].next, self[cell.node].previous)
    self[previous].next = next
    self[next].previous = previous
    // A circle of two is a cell and its list's head. (Cut to size, should that promise be broken.)
    if next == previous { setEmpty(Head(row: UInt64(next >> 6), list: UInt64(next))) }
  }

  /// Makes a cell that is on no list a circle of its own.
  @inline(__always)
  mutating func isolate(_ cell: Cell) {
    self[cell.node].next = cell.node
    self[cell.node].previous = cell.node
  }

  /// Whether a live cell is a circle of its own.
  @inline(__always)
  func isIsolated(_ cell: Cell) -> Bool { self[cell.node].next == cell.node }

  /// Empties a list. What was on it can be walked from the first to the last cell, for as long as
  /// each one's successor is asked for before the cell is put elsewhere. O(1).
  @inline(__always)
  mutating func detach(_ head: Head) -> (first: Cell, last: Cell)? {
    guard let first = entry(self[head.node].next) else { return nil }
    let last = Cell(node: self[head.node].previous)
    self[head.node].next = head.node
    self[head.node].previous = head.node
    setEmpty(head)
    return (first, last)
  }

  /// Puts what is left of a walk along a detached list at the end of another. O(1).
  mutating func append(from first: Cell, through last: Cell, to head: Head) {
    let before = self[head.node].previous
    self[before].next = first.node
    self[first.node].previous = before
    self[last.node].next = head.node
    self[head.node].previous = last.node
    setOccupied(head)
  }

  // MARK: Occupancy

  @inline(__always)
  private mutating func setOccupied(_ head: Head) {
    self[occupancyOf: head.row] |= 1 &<< head.list
    occupiedRows |= 1 &<< head.row
  }

  @inline(__always)
  private mutating func setEmpty(_ head: Head) {
    self[head.node].deadline = .max
    self[occupancyOf: head.row] &= ~(1 &<< head.list)
    if self[occupancyOf: head.row] == 0 { occupiedRows &= ~(1 &<< head.row) }
  }

  // MARK: Invariants

  /// The lists whose bit is set, for checks.
  var occupied: [Head] {
    var heads: [Head] = []
    for row in 0..<Slab.rowCount {
      var bits = self[occupancyOf: row]
      while bits != 0 {
        heads.append(Head(row: row, list: UInt64(bits.trailingZeroBitCount)))
        bits &= bits - 1
      }
    }
    return heads
  }

  /// All live entries. O(entries in use), for checks.
  var live: [Cell] {
    (Slab.headCount..<end).filter { self[generationOf: $0] & 1 == 1 }.map { Cell(node: $0) }
  }

  /// The first invariant that does not hold, in words; `nil` when all hold. O(entries in use).
  func brokenInvariant() -> String? {
    var (odd, retired) = (0, 0)
    for node in Slab.headCount..<end {
      let isLive = self[generationOf: node] & 1 == 1
      odd += isLive ? 1 : 0
      retired += self[generationOf: node] == 0 ? 1 : 0
      let (next, previous) = (self[node].next, self[node].previous)
      if isLive && (self[next].previous != node || self[previous].next != node) {
        return "entry \(node - Slab.headCount) is not answered by its neighbours"
      }
    }
    if retired != retiredCount { return "\(retired) entries retired, not \(retiredCount)" }
    var (free, node) = (0, firstFree)
    while node != 0 {
      if node < Slab.headCount || node >= end { return "node \(node) is no entry, but free" }
      if self[generationOf: node] & 1 == 1 {
        return "entry \(node - Slab.headCount) is live and free"
      }
      free += 1
      if free > Int(entriesInUse) { return "the free list is a circle" }
      node = self[node].next
    }
    if free + retired + odd != Int(entriesInUse) {
      return "\(free) free, \(retired) retired, \(odd) live entries are not \(entriesInUse)"
    }
    return brokenOccupancy()
  }

  private func brokenOccupancy() -> String? {
    var occupancies = [UInt64](repeating: 0, count: Int(Slab.rowCount))
    var node: UInt32 = 0
    while node < Slab.headCount {  // A plain loop: simulations run this after every step.
      defer { node += 1 }
      let (next, previous) = (self[node].next, self[node].previous)
      if next == node && previous == node { continue }
      if self[next].previous != node || self[previous].next != node {
        return "list \(Head(node: node)) is not answered by its neighbours"
      }
      occupancies[Int(node >> 6)] |= 1 << UInt64(node & 63)
    }
    for row in 0..<Slab.rowCount {
      if self[occupancyOf: row] != occupancies[Int(row)] {
        return "row \(row) has the bits \(self[occupancyOf: row]), not \(occupancies[Int(row)])"
      }
      if (occupiedRows >> row & 1 == 0) != (occupancies[Int(row)] == 0) {
        return "the bit of row \(row) is wrong"
      }
    }
    return nil
  }

  // MARK: Memory

  private subscript(node: UInt32) -> Node {
    // SAFETY: a node is a cell's, a head's, or a link's, and those are below the end.
    get { unsafe nodes[Int(node)] }
    // SAFETY: likewise, and exclusively borrowed with the slab.
    _modify { yield unsafe &nodes[Int(node)] }
  }

  private subscript(generationOf node: UInt32) -> UInt32 {
    // SAFETY: asked for entries only, which are below the end.
    get { unsafe generations[Int(node)] }
    // SAFETY: likewise.
    _modify { yield unsafe &generations[Int(node)] }
  }

  private subscript(occupancyOf row: UInt64) -> UInt64 {
    // SAFETY: a head's row is below `rowCount`, a row's bit in `occupiedRows` was set for a head.
    get { unsafe occupancy[Int(truncatingIfNeeded: row)] }
    // SAFETY: likewise.
    _modify { yield unsafe &occupancy[Int(truncatingIfNeeded: row)] }
  }
}
