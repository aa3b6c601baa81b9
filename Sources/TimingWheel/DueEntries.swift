/// The entries that an advance reports, in memory that is used again and again.
///
/// An array would do, but for its asking at every append whether it is the only owner of its memory:
/// on the way of each expiry that costs as much as taking an entry off its list. The pointer does not
/// leave this file, and what is read was written before.
@safe
package struct DueEntries: ~Copyable {
  private var memory: UnsafeMutablePointer<EntryID>
  private var capacity: Int
  /// How many there are.
  package private(set) var count = 0

  /// - Parameter capacity: For how many there is room before it grows; 1 or more.
  package init(reserving capacity: Int = 64) {
    precondition(capacity > 0)
    self.capacity = capacity
    // SAFETY: this value owns the memory until `deinit` or `grow` gives it back.
    unsafe memory = .allocate(capacity: capacity)
  }

  deinit {
    // SAFETY: an id needs no deinitialising.
    unsafe memory.deallocate()
  }

  /// The entry at `place`, 0 ..< `count`, in the order in which they were reported.
  package subscript(place: Int) -> EntryID {
    precondition(place >= 0 && place < count, "no entry was reported there")
    // SAFETY: all below `count` are initialised.
    return unsafe memory[place]
  }

  /// Forgets them; the memory is kept.
  package mutating func removeAll() { count = 0 }

  @inline(__always)
  mutating func append(_ id: EntryID) {
    if count == capacity { grow() }
    // SAFETY: `count` is below the capacity.
    unsafe (memory + count).initialize(to: id)
    count &+= 1  // At most the capacity.
  }

  @inline(never)
  private mutating func grow() {
    capacity *= 2
    // SAFETY: those below `count` move; nobody else has a pointer to the old memory.
    let larger = UnsafeMutablePointer<EntryID>.allocate(capacity: capacity)
    unsafe larger.moveInitialize(from: memory, count: count)
    unsafe memory.deallocate()
    unsafe memory = larger
  }
}
