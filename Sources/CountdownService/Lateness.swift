/// How late expiries were: how many within each of the fixed bounds, and the worst.
package struct Lateness: Sendable {
  /// The most that falls into each bucket but the last, µs: 100 µs, 200 µs, 500 µs, 1 ms … 1 h.
  package static let bounds: [Int64] = [
    100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
    1_000_000, 2_000_000, 5_000_000, 10_000_000, 30_000_000, 60_000_000, 120_000_000, 300_000_000,
    600_000_000, 1_800_000_000, 3_600_000_000,
  ]

  /// One for each bound, and one for what is later.
  private(set) var counts = InlineArray<24, Int>(repeating: 0)
  private(set) var worstUSec: Int64 = 0

  package init() {}

  /// How many buckets there are.
  package var buckets: Int { counts.count }

  /// Counts one. O(1): most are within the first bounds.
  mutating func note(_ usec: Int64) {
    var bucket = 0
    while bucket < Lateness.bounds.count, usec > Lateness.bounds[bucket] { bucket += 1 }
    counts[bucket] += 1
    worstUSec = max(worstUSec, usec)
  }

  mutating func add(_ other: Lateness) {
    for bucket in counts.indices { counts[bucket] += other.counts[bucket] }
    worstUSec = max(worstUSec, other.worstUSec)
  }
}
