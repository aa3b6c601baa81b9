/// The latest discontinuities, as they come.
///
/// Stalls are kept apart from what happened to the clocks: an overloaded machine has many of them, and
/// they must not drive out the one night it slept.
package struct ClockHistory: Sendable {
  /// What one did to the countdowns of one user.
  package struct Effect: Equatable, Sendable {
    /// How many expired late for it.
    package var expired = 0
    /// How many were missed.
    package var missed = 0
  }

  /// One that is kept.
  package struct Entry: Sendable {
    package let what: Discontinuity
    /// By users. Only looked up and summed: its order reaches nobody.
    fileprivate var effects: [UInt32: Effect] = [:]

    fileprivate init(_ what: Discontinuity) { self.what = what }

    /// What it did to a user's countdowns; `nil` for everybody's. O(1), or O(users concerned).
    package func effect(on user: UInt32?) -> Effect {
      if let user { return effects[user] ?? Effect() }
      return effects.values.reduce(into: Effect()) { sum, one in
        sum.expired += one.expired
        sum.missed += one.missed
      }
    }
  }

  private var judge: ClockJudge
  private var ofClocks: [Entry] = []
  private var stalls: [Entry] = []

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

  private static func append(_ new: Discontinuity, to list: inout [Entry]) {
    if list.count == capacity { list.removeFirst() }
    list.append(Entry(new))
  }

  /// A countdown expired late for what happened to the clocks, or was missed: the latest that can have
  /// done it has, which it has unless another came before all was handed out. O(1).
  package mutating func noteEffect(of reason: LateReason, isMissed: Bool, on user: UInt32) {
    let cause = ofClocks.lastIndex { entry in
      switch reason {
      case .suspend: entry.what.sleptUSec != nil
      case .clockStep: entry.what.steppedUSec ?? 0 > 0
      case .none, .storage, .overload: isMissed
      }
    }
    guard let cause else { return }
    if isMissed {
      ofClocks[cause].effects[user, default: Effect()].missed += 1
    } else {
      ofClocks[cause].effects[user, default: Effect()].expired += 1
    }
  }

  /// Those that are kept, in the order in which they came.
  package var latest: [Entry] {
    var merged: [Entry] = []
    merged.reserveCapacity(ofClocks.count + stalls.count)
    var stall = 0
    for one in ofClocks {
      while stall < stalls.count, stalls[stall].what.at.boottime < one.what.at.boottime {
        merged.append(stalls[stall])
        stall += 1
      }
      merged.append(one)
    }
    return merged + stalls[stall...]
  }
}
