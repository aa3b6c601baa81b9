/// What one user's countdowns and calls came to: since the daemon started, and in the last minute.
///
/// Counting is a few instructions and needs no wake: a second that is over is emptied when its place in
/// the ring of sixty is next written to, and left out when the ring is read.
package struct Tally: Sendable {
  /// What is counted.
  package enum Kind: Int, CaseIterable, Sendable {
    case started, expired, missed, cancelled, calls
  }

  /// How often each happened.
  package struct Counts: Sendable {
    /// By kind: as many as there are.
    private var counts = InlineArray<5, Int>(repeating: 0)

    package init() {}

    /// For how many kinds there is a place.
    package var places: Int { counts.count }

    subscript(kind: Kind) -> Int {
      get { counts[kind.rawValue] }
      set { counts[kind.rawValue] = newValue }
    }

    mutating func add(_ other: Counts) {
      for place in counts.indices { counts[place] += other.counts[place] }
    }
  }

  struct Second: Sendable {
    /// Which second of boot time; none before anything was counted.
    var number: Int64 = -1
    var counts = Counts()
  }

  private(set) var total = Counts()
  private var seconds = InlineArray<60, Second>(repeating: Second())
  private(set) var lateness = Lateness()

  /// Counts one more. O(1).
  ///
  /// - Parameter second: Of boot time, 0 or more.
  mutating func note(_ kind: Kind, in second: Int64) {
    total[kind] += 1
    let place = Int(second % 60)
    if seconds[place].number != second {
      seconds[place].number = second
      seconds[place].counts = Counts()
    }
    seconds[place].counts[kind] += 1
  }

  /// Counts how late an expiry was. O(1).
  mutating func note(latenessUSec: Int64) { lateness.note(latenessUSec) }

  /// What happened in this second and in the 59 before.
  func lastMinute(at second: Int64) -> Counts {
    var sum = Counts()
    for place in seconds.indices where second - 60 < seconds[place].number {
      sum.add(seconds[place].counts)
    }
    return sum
  }

  /// Another user's as well: the sum of many is everybody's.
  mutating func add(_ other: Tally, at second: Int64) {
    total.add(other.total)
    lateness.add(other.lateness)
    for place in other.seconds.indices where second - 60 < other.seconds[place].number {
      if seconds[place].number != other.seconds[place].number {
        seconds[place] = other.seconds[place]
      } else {
        seconds[place].counts.add(other.seconds[place].counts)
      }
    }
  }
}
