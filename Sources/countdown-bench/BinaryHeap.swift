/// The reference for the wheel: a binary heap that knows where each of its entries is, so that one
/// can be stopped in O(log n). The usual structure of an event loop's timers.
struct BinaryHeap: ~Copyable {
  /// Deadlines in heap order, with the entry each belongs to.
  private var heap: [(deadline: UInt64, entry: UInt32)] = []
  /// Where each entry stands in the heap.
  private var places: [UInt32] = []
  private var free: [UInt32] = []

  init(reserving count: Int) {
    heap.reserveCapacity(count)
    places.reserveCapacity(count)
  }

  var count: Int { heap.count }
  var earliest: UInt64? { heap.first?.deadline }

  mutating func start(at deadline: UInt64) -> UInt32 {
    let entry: UInt32
    if let reused = free.popLast() {
      entry = reused
    } else {
      entry = UInt32(places.count)
      places.append(0)
    }
    heap.append((deadline, entry))
    rise(heap.count - 1)
    return entry
  }

  mutating func stop(_ entry: UInt32) {
    let place = Int(places[Int(entry)])
    free.append(entry)
    let last = heap.removeLast()
    guard place < heap.count else { return }
    heap[place] = last
    places[Int(last.entry)] = UInt32(place)
    rise(place)
    sink(Int(places[Int(last.entry)]))
  }

  /// Takes the earliest entry out; there must be one.
  mutating func expire() -> (deadline: UInt64, entry: UInt32) {
    let first = heap[0]
    stop(first.entry)
    return first
  }

  private mutating func rise(_ start: Int) {
    var place = start
    let moving = heap[place]
    while place > 0 {
      let parent = (place - 1) / 2
      guard moving.deadline < heap[parent].deadline else { break }
      heap[place] = heap[parent]
      places[Int(heap[place].entry)] = UInt32(place)
      place = parent
    }
    heap[place] = moving
    places[Int(moving.entry)] = UInt32(place)
  }

  private mutating func sink(_ start: Int) {
    var place = start
    let moving = heap[place]
    while true {
      var child = 2 * place + 1
      guard child < heap.count else { break }
      if child + 1 < heap.count, heap[child + 1].deadline < heap[child].deadline { child += 1 }
      guard heap[child].deadline < moving.deadline else { break }
      heap[place] = heap[child]
      places[Int(heap[place].entry)] = UInt32(place)
      place = child
    }
    heap[place] = moving
    places[Int(moving.entry)] = UInt32(place)
  }
}
