internal import TimingWheel

/// Entries that the wheel has handed back, told in order of deadline, then revision.
///
/// The wheel gives a slot's entries in any order, and a turn may stop in the middle of a slot; a
/// binary heap keeps the order over such pauses at O(log n) an entry, where sorting would have to
/// stop the world for a crowd.
struct DueQueue: ~Copyable {
  struct Entry {
    /// When it was due, µs of boot time.
    var dueAt: Int64
    var revision: Int64
    var id: EntryID

    func precedes(_ other: Entry) -> Bool {
      dueAt != other.dueAt ? dueAt < other.dueAt : revision < other.revision
    }
  }

  /// Invariant: no entry precedes its parent, the one at half its place.
  private var heap: [Entry] = []

  var isEmpty: Bool { heap.isEmpty }
  var count: Int { heap.count }
  var first: Entry? { heap.first }

  /// Adds an entry. O(log n), O(1) when it comes last.
  mutating func push(_ entry: Entry) {
    heap.append(entry)
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard entry.precedes(heap[parent]) else { break }
      heap[child] = heap[parent]
      child = parent
    }
    heap[child] = entry
  }

  /// Takes the first entry out; `nil` when there is none. O(log n).
  mutating func pop() -> Entry? {
    guard let first = heap.first, let last = heap.popLast() else { return nil }
    guard !heap.isEmpty else { return first }
    var hole = 0
    while true {
      var child = 2 * hole + 1
      guard child < heap.count else { break }
      if child + 1 < heap.count, heap[child + 1].precedes(heap[child]) { child += 1 }
      guard heap[child].precedes(last) else { break }
      heap[hole] = heap[child]
      hole = child
    }
    heap[hole] = last
    return first
  }
}
