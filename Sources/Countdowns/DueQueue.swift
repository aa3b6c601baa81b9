internal import TimingWheel

/// Countdowns of one clock that are due, told in order of deadline, then revision.
///
/// The wheel gives a slot's entries in any order, and a turn may stop in the middle of a slot; a
/// binary heap keeps the order over such pauses at O(log n) an entry, where sorting would have to
/// stop the world for a crowd.
struct DueQueue: ~Copyable {
  struct Entry {
    /// On the countdown's own clock, µs.
    var deadline: Int64
    var revision: Int64
    var id: EntryID

    func precedes(_ other: Entry) -> Bool {
      deadline != other.deadline ? deadline < other.deadline : revision < other.revision
    }
  }

  /// Invariant: no entry precedes its parent, the one at half its place.
  private(set) var heap: [Entry] = []

  var isEmpty: Bool { heap.isEmpty }
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

  /// Takes the first entry out, if there is one. O(log n).
  mutating func removeFirst() {
    guard let last = heap.popLast(), !heap.isEmpty else { return }
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
  }

  /// Whether no entry precedes its parent. O(n).
  var isInOrder: Bool {
    heap.indices.dropFirst().allSatisfy { !heap[$0].precedes(heap[($0 - 1) / 2]) }
  }
}

/// What is due on all clocks, a queue for each: only deadlines on one clock have an order that no
/// sleep and no step can change. Between clocks it is asked for anew each time.
struct DueQueues: ~Copyable {
  private(set) var boottime = DueQueue()
  private(set) var monotonic = DueQueue()
  private(set) var realtime = DueQueue()

  /// The first entry of one queue.
  struct First {
    let entry: DueQueue.Entry
    let clock: CountdownClock
    /// When it was due, µs of boot time as the clocks stand now.
    let dueAt: Int64
  }

  var isEmpty: Bool { boottime.isEmpty && monotonic.isEmpty && realtime.isEmpty }

  mutating func push(_ entry: DueQueue.Entry, on clock: CountdownClock) {
    switch clock {
    case .boottime: boottime.push(entry)
    case .monotonic: monotonic.push(entry)
    case .realtime: realtime.push(entry)
    }
  }

  /// The first of all by when they were due, then by revision. O(1).
  ///
  /// - Parameter besidesRealtime: Looks at the other two queues only.
  func first(at now: Reading, besidesRealtime: Bool) -> First? {
    func place(_ entry: DueQueue.Entry?, _ clock: CountdownClock) -> First? {
      entry.map {
        First(
          entry: $0, clock: clock, dueAt: now.boottime + ($0.deadline - now.value(of: clock)))
      }
    }
    let first = Self.earlier(place(boottime.first, .boottime), place(monotonic.first, .monotonic))
    return besidesRealtime ? first : Self.earlier(first, place(realtime.first, .realtime))
  }

  private static func earlier(_ one: First?, _ other: First?) -> First? {
    guard let one, let other else { return one ?? other }
    if one.dueAt != other.dueAt { return one.dueAt < other.dueAt ? one : other }
    return one.entry.revision < other.entry.revision ? one : other
  }

  mutating func removeFirst(of clock: CountdownClock) {
    switch clock {
    case .boottime: boottime.removeFirst()
    case .monotonic: monotonic.removeFirst()
    case .realtime: realtime.removeFirst()
    }
  }
}
