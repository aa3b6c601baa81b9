/// What only some countdowns have: a payload, a repetition, a grace, an end.
struct Extra: Sendable {
  /// The wall-clock time of the start, µs.
  var startedAt: Int64
  /// Its JSON text as it came; `nil` without one.
  var payload: [UInt8]?
  /// µs; 0 where it does not repeat.
  var repeatUSec: Int64 = 0
  /// The number of the occurrence that `time` is the deadline of, from 1.
  var occurrence: Int64 = 1
  /// µs; 0 where `catchUp` is `fire`.
  var graceUSec: Int64 = 0
  /// The wall-clock time of the end, µs.
  var endedAt: Int64 = 0
  /// How late it ended, µs on its own clock.
  var lateUSec: Int64 = 0
  /// Why.
  var lateReason = LateReason.none
  /// Neighbours in the list of its owner's ended countdowns, as entry indices.
  var older: UInt32 = .max
  var newer: UInt32 = .max

  init(startedAt: Int64) { self.startedAt = startedAt }
}

/// A slab of `Extra`s: places are reused, the last one freed first.
struct ExtraTable: ~Copyable {
  private var cells: [Extra] = []
  private var free: [UInt32] = []

  /// How many are in use.
  var count: Int { cells.count - free.count }

  subscript(index: Int) -> Extra {
    _read { yield cells[index] }
    _modify { yield &cells[index] }
  }

  mutating func insert(_ extra: Extra) -> Int {
    guard let place = free.popLast() else {
      cells.append(extra)
      return cells.count - 1
    }
    cells[Int(place)] = extra
    return Int(place)
  }

  mutating func remove(at index: Int) {
    cells[index].payload = nil
    free.append(UInt32(index))
  }

  /// How many there is memory for.
  var capacityInUse: Int { cells.count }

  /// What contradicts that exactly `inUse` are in use, in words; `nil` when nothing does. O(n).
  func contradiction(to inUse: Set<Int>) -> String? {  // Only looked up and counted.
    var freed: Set<UInt32> = []
    for place in free {
      if !freed.insert(place).inserted { return "the extra \(place) is free twice" }
      if inUse.contains(Int(place)) { return "the extra \(place) is free and in use" }
      if Int(place) >= cells.count { return "the extra \(place) is free, but does not exist" }
    }
    return count == inUse.count
      ? nil : "\(count) extras are in use, but \(inUse.count) records have one"
  }
}
