import TimingWheel

extension Wheel {
  /// As the wheel's own, into an array: for tests that compare what they got.
  mutating func advance(to target: Instant, limit: Int, into due: inout [EntryID]) -> Bool {
    var reported = DueEntries(reserving: 1)
    let isReached = advance(to: target, limit: limit, into: &reported)
    for place in 0..<reported.count { due.append(reported[place]) }
    return isReached
  }
}
