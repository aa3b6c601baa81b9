/// A hierarchical timing wheel: deadlines in, due entries out, integers only.
///
/// It knows neither clock nor countdown: time is an argument, and an entry is an id with a deadline.
/// It calls nobody back, so that no handler can meet a half-turned wheel. `Slab` holds its memory
/// and all that touches pointers; this file is the algorithm.
///
/// Source: G. Varghese, T. Lauck, "Hashed and Hierarchical Timing Wheels", SOSP 1987, scheme 7.
///
/// Think of instants as numbers of nine digits to the base 64. Digit 0 counts microseconds within a
/// tick, digit 1 ticks, digit 2 64 of them, up to digit 8. An entry is filed under the highest digit
/// in which its deadline differs from `now`, in the slot that this digit of the deadline names. As
/// all higher digits agree with `now`, no slot is ever behind it, nothing rotates, and whatever
/// differs in a lower digit comes sooner: the lowest slot of the lowest occupied level is next.
/// (Literature's level *k* is row *k* + 1 here.) When `now` comes into a slot above the lowest level,
/// its entries agree in one digit more and are filed anew, lower: they cascade. Each slot keeps its
/// earliest deadline, so that nobody wakes at a slot's start only to let it cascade.
///
/// The digit of microseconds has no slots of its own: entries of one tick stand together and keep
/// their microsecond. Row 0 is one list instead, the *draining* one: of what is overdue when it is
/// filed, and of whole slots on their way to being reported or filed anew. Wherever a turn stops,
/// what it has not seen to waits there and comes first in the next.
///
/// Invariants, tested by ``brokenInvariant()``:
/// - A waiting entry is on one list: the draining one or that of the slot which its deadline and
///   `now` imply.
/// - The deadline of an entry in a slot is after `now`.
/// - The minimum of an occupied slot lies in it, after `now`, and no entry of the slot has an earlier
///   deadline.
/// - A parked entry has no deadline and stands alone.
/// - The lists' lengths sum to `count`; those and the parked ones sum to `liveCount`.
/// - `nextWake` is no later than the earliest deadline, or `now` where that has passed.
package struct Wheel: ~Copyable {
  /// Up to where the wheel has turned. It never goes back.
  package private(set) var now: Instant

  /// Entries that wait for their deadline, or to be reported; the parked ones are not among them.
  package private(set) var count = 0

  private var parkedCount = 0
  private var slab: Slab

  /// - Parameters:
  ///   - now: Where the wheel begins.
  ///   - capacity: For how many entries to reserve address space. Only what entries come to use
  ///     costs memory, 20 bytes each; beyond it the wheel grows by copying itself.
  ///   - firstGeneration: Odd. What the ids of cells never used before begin with.
  package init(now: Instant, reserving capacity: Int, firstGeneration: UInt32 = 1) {
    self.now = now
    slab = Slab(reserving: capacity, firstGeneration: firstGeneration)
  }

  /// Entries allocated and not released, the parked ones included.
  package var liveCount: Int { count + parkedCount }

  /// One more than the greatest index that any id had. It grows only while all below it are live
  /// (or worn out: a cell has 2^31 generations), so that arrays kept by index stay dense.
  package var capacityInUse: Int { Int(slab.entriesInUse) }

  /// The addresses of the cells, for a host that tells the kernel how to page them: among a million,
  /// pages of 2 MiB save a good part of every operation. The range begins on such a page where it
  /// fills one, and changes when the wheel grows beyond its reservation.
  package var addresses: Range<UInt> { slab.addresses }

  // MARK: Entries

  /// A new, parked entry. The cell released last is used first, for its memory is warm. O(1).
  package mutating func allocate() -> EntryID {
    let cell = slab.allocateFreed() ?? slab.allocateFresh()
    setParked(cell)
    return slab.id(of: cell)
  }

  /// A new entry that waits for `deadline`; one at or before ``now`` is due at the next advance. O(1).
  package mutating func start(at deadline: Instant) -> EntryID {
    guard let cell = slab.allocateFreed() else { return startFresh(at: deadline) }
    count &+= 1  // Cells are fewer than 2^32.
    slab.setDeadline(of: cell, to: deadline.rawValue)
    file(cell, by: deadline.rawValue)
    return slab.id(of: cell)
  }

  /// Apart, so that the usual path of ``start(at:)`` calls nothing and saves no registers.
  @inline(never)
  private mutating func startFresh(at deadline: Instant) -> EntryID {
    let cell = slab.allocateFresh()
    count &+= 1  // Cells are fewer than 2^32.
    slab.setDeadline(of: cell, to: deadline.rawValue)
    file(cell, by: deadline.rawValue)
    return slab.id(of: cell)
  }

  /// Lets an entry, parked or waiting for another, wait for `deadline`. O(1).
  ///
  /// - Parameter id: Of a live entry; a stale one is a programmer error, which ``isLive(_:)`` avoids.
  package mutating func schedule(_ id: EntryID, at deadline: Instant) {
    let cell = liveCell(of: id)
    unlink(cell)
    count &+= 1  // Cells are fewer than 2^32.
    slab.setDeadline(of: cell, to: deadline.rawValue)
    file(cell, by: deadline.rawValue)
  }

  /// Takes an entry out of its slot, or off what is about to be reported, and keeps it. O(1).
  ///
  /// - Parameter id: Of a live entry; a stale one is a programmer error.
  package mutating func park(_ id: EntryID) {
    let cell = liveCell(of: id)
    unlink(cell)
    setParked(cell)
  }

  /// Ends an entry; from here on its id is stale. O(1).
  ///
  /// - Parameter id: Of a live entry; a stale one is a programmer error.
  package mutating func release(_ id: EntryID) {
    let cell = liveCell(of: id)
    unlink(cell)
    slab.free(cell)
  }

  /// Whether `id` names an entry that was not released yet. O(1).
  package func isLive(_ id: EntryID) -> Bool { slab.cell(of: id) != nil }

  /// What the entry waits for; `nil` if it is parked or its id stale. O(1).
  package func deadline(of id: EntryID) -> Instant? {
    guard let cell = slab.cell(of: id), !slab.isIsolated(cell) else { return nil }
    return Instant(inRange: slab.deadline(of: cell))
  }

  /// The id of the live entry whose index this is; `nil` if there is none. O(1).
  ///
  /// For whoever keeps arrays by index and found his place by other means.
  package func id(at index: UInt32) -> EntryID? { slab.liveID(at: index) }

  private func liveCell(of id: EntryID) -> Slab.Cell {
    guard let cell = slab.cell(of: id) else { fatalError("a stale id was given to the wheel") }
    return cell
  }

  @inline(__always)
  private mutating func unlink(_ cell: Slab.Cell) {
    if slab.isIsolated(cell) {
      parkedCount &-= 1  // It counted this one, as does `count` in the other case.
    } else {
      count &-= 1
      slab.unlink(cell)
    }
  }

  @inline(__always)
  private mutating func setParked(_ cell: Slab.Cell) {
    parkedCount &+= 1  // Cells are fewer than 2^32.
    slab.isolate(cell)
  }

  // MARK: Filing

  /// Puts an entry that is on no list on the one that its deadline, given again, and `now` imply.
  @inline(__always)
  private mutating func file(_ cell: Slab.Cell, by deadline: UInt64) {
    guard deadline > now.rawValue else { return slab.append(cell, to: .draining) }
    let head = Wheel.slot(for: deadline, inRow: Wheel.row(of: deadline, at: now.rawValue))
    slab.lowerNote(of: head, to: deadline)
    slab.append(cell, to: head)
  }

  /// The highest digit in which the two differ, 1...8; 1 also where only microseconds do.
  @inline(__always)
  private static func row(of deadline: UInt64, at now: UInt64) -> UInt64 {
    let differing = (deadline ^ now) | 0xfff  // Two digits set: digit 1 is the lowest to be found.
    let highestBit = UInt64(truncatingIfNeeded: 63 ^ differing.leadingZeroBitCount)
    return (highestBit &* 43) &>> 8  // A sixth of it, for all of 0...63.
  }

  @inline(__always)
  private static func slot(for deadline: UInt64, inRow row: UInt64) -> Slab.Head {
    Slab.Head(row: row, list: deadline &>> (row &* 6))  // At most 48 bits.
  }

  // MARK: Turning

  /// When to call ``advance(to:limit:into:)`` next; `nil` when nothing waits. O(1).
  ///
  /// It is never later than the earliest deadline, and ``now`` if something is due already. It is that
  /// deadline, unless the entry that had the earliest one left its slot unreported: then it is too
  /// early, by at most one wake for each level.
  package var nextWake: Instant? {
    guard let head = slab.firstOccupied else { return nil }
    return Instant(inRange: turn(of: head))
  }

  /// When this list, the first one occupied, has to be emptied: at the earliest deadline on it.
  @inline(__always)
  private func turn(of head: Slab.Head) -> UInt64 {
    head == .draining ? now.rawValue : slab.note(of: head)
  }

  /// Moves ``now`` towards `target` and appends the entries that are due by then to `due`.
  ///
  /// Those become parked: still allocated under the same id, to be scheduled again or released.
  /// Entries come in the order of their ticks, after those that were overdue when they were filed;
  /// the order within one tick is repeatable, but unspecified. None comes before its microsecond.
  ///
  /// - Parameters:
  ///   - target: One before ``now``, from a clock that seems to go back, counts as ``now``.
  ///   - limit: How many entries to report or to file anew at most, 1 or more.
  ///   - due: Appended to, never read. Use the same one every time.
  /// - Returns: Whether `target` was reached. If not, the limit was used up; the next call goes on
  ///   from there, and until then ``nextWake`` is ``now``.
  /// - Complexity: O(due + cascaded), however many ticks are skipped.
  package mutating func advance(to target: Instant, limit: Int, into due: inout DueEntries) -> Bool
  {
    precondition(limit > 0, "a turn that may do nothing never ends")
    let target = max(now, target)
    var budget = limit
    while let head = slab.firstOccupied {
      let turn = turn(of: head)
      if turn > target.rawValue, !hasBegun(head, by: target.rawValue) { break }
      if head != .draining {
        precondition(turn > now.rawValue, "a slot's turn is behind now")
        // Not the slot's start: nothing is due between that and the earliest deadline in it, and what
        // is filed anew is filed lower for it. All of that deadline's tick that is due comes with it.
        now = Instant(inRange: min(target.rawValue, turn | 63))
      }
      guard empty(head, budget: &budget, into: &due) else { return false }
      if now == target { return true }  // What is left has its turn later.
    }
    now = target
    return true
  }

  /// Whether `target` lies in a slot above the lowest level: its entries then agree with it in one
  /// digit more, and belong lower, whether any of them is due or not.
  private func hasBegun(_ head: Slab.Head, by target: UInt64) -> Bool {
    guard head.row > 1 else { return false }
    let shift = head.row &* 6  // At most 48 bits.
    // The slot's start: the higher digits of `now`, the slot's, zeros.
    return (now.rawValue &>> shift & ~63 | head.list) &<< shift <= target
  }

  /// Reports or files anew what is on a list, until that is empty or the budget used up; the rest
  /// then goes to the draining list, which is empty while this runs. Says whether there was no rest.
  @inline(__always)
  private mutating func empty(
    _ head: Slab.Head, budget: inout Int, into due: inout DueEntries
  ) -> Bool {
    guard let (first, last) = slab.detach(head) else { fatalError("an occupied list is empty") }
    var next: Slab.Cell? = first
    while let cell = next {
      if budget == 0 {
        slab.append(from: cell, through: last, to: .draining)
        return false
      }
      budget &-= 1  // It was above 0.
      next = slab.cell(after: cell)
      let deadline = slab.deadline(of: cell)
      if deadline > now.rawValue {
        file(cell, by: deadline)
      } else {
        report(cell, into: &due)
      }
    }
    return true
  }

  @inline(__always)
  private mutating func report(_ cell: Slab.Cell, into due: inout DueEntries) {
    count &-= 1  // It counted this one.
    setParked(cell)
    due.append(slab.id(of: cell))
  }

  // MARK: Invariants

  /// The first invariant that does not hold, in words; `nil` when all hold. O(entries in use).
  ///
  /// Reports instead of trapping, so that a simulation can add its seed and step.
  package borrowing func brokenInvariant() -> String? {
    if let broken = slab.brokenInvariant() { return broken }
    var waiting = 0
    var earliest = UInt64.max
    for head in slab.occupied {
      if head.row > 8 || head.row == 0 && head != .draining { return "list \(head) has no meaning" }
      var next = slab.first(of: head)
      while let cell = next {
        let deadline = slab.deadline(of: cell)
        if deadline > Instant.last.rawValue { return "\(deadline) is no instant, but in \(head)" }
        if head != .draining {
          if deadline <= now.rawValue { return "\(deadline) in \(head) is not after \(now)" }
          let row = Wheel.row(of: deadline, at: now.rawValue)
          let implied = Wheel.slot(for: deadline, inRow: row)
          if implied != head { return "\(deadline) is in \(head), not in \(implied) at \(now)" }
          if deadline < slab.note(of: head) {
            return "\(deadline) is earlier than the minimum \(slab.note(of: head)) of \(head)"
          }
        }
        earliest = min(earliest, deadline)
        waiting += 1
        if waiting > liveCount { return "more entries on lists than live" }
        next = slab.cell(after: cell)
      }
      if head != .draining {
        let minimum = slab.note(of: head)
        if minimum <= now.rawValue
          || Wheel.slot(for: minimum, inRow: Wheel.row(of: minimum, at: now.rawValue)) != head
        {
          return "the minimum \(minimum) of \(head) is not in that slot after \(now)"
        }
      }
    }
    if waiting != count { return "\(waiting) entries on lists, not \(count)" }
    let parked = slab.live.filter { slab.isIsolated($0) }.count
    if parked != parkedCount { return "\(parked) entries parked, not \(parkedCount)" }
    if slab.live.count != liveCount { return "\(slab.live.count) entries live, not \(liveCount)" }
    switch nextWake {
    case nil: return waiting == 0 ? nil : "\(waiting) entries wait for no wake"
    case let wake?:
      if wake < now { return "the next wake \(wake) is before \(now)" }
      return wake.rawValue <= max(earliest, now.rawValue) ? nil : "\(wake) is after \(earliest)"
    }
  }
}

extension Slab.Head {
  /// Row 0 has this one list.
  fileprivate static var draining: Slab.Head { Slab.Head(row: 0, list: 0) }
}
