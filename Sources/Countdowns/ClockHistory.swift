/// The latest discontinuities, as they come.
///
/// Stalls are kept apart from what happened to the clocks: an overloaded machine has many of them, and
/// they must not drive out the one night it slept.
package struct ClockHistory: Sendable {
  private var judge: ClockJudge
  private var ofClocks: [Discontinuity] = []
  private var stalls: [Discontinuity] = []

  /// So many of each are kept, the latest.
  package static let capacity = 16

  /// - Parameter reading: Where it begins.
  package init(at reading: Reading) { judge = ClockJudge(at: reading) }

  /// Takes in the reading of a turn; see ``ClockJudge/judge(_:awayUSec:)``. O(1).
  package mutating func note(_ reading: Reading, awayUSec: Int64) -> Discontinuity? {
    guard let new = judge.judge(reading, awayUSec: awayUSec) else { return nil }
    if new.kind == .stalled {
      ClockHistory.append(new, to: &stalls)
    } else {
      ClockHistory.append(new, to: &ofClocks)
    }
    return new
  }

  private static func append(_ new: Discontinuity, to list: inout [Discontinuity]) {
    if list.count == capacity { list.removeFirst() }
    list.append(new)
  }

  /// Those that are kept, in the order in which they came.
  package var latest: [Discontinuity] {
    var merged: [Discontinuity] = []
    merged.reserveCapacity(ofClocks.count + stalls.count)
    var stall = 0
    for one in ofClocks {
      while stall < stalls.count, stalls[stall].at.boottime < one.at.boottime {
        merged.append(stalls[stall])
        stall += 1
      }
      merged.append(one)
    }
    return merged + stalls[stall...]
  }
}
