/// What one user's countdowns and calls came to: since the daemon started, and in the last minute.
///
/// Counting is a few instructions and needs no wake: a second that is over is emptied when its place in
/// the ring of sixty is next written to, and left out when the ring is read.
struct Tally: Sendable {
  /// What is counted.
  enum Kind: Int, CaseIterable, Sendable {
    case started, expired, missed, cancelled, calls
  }

  /// How often each happened.
  struct Counts: Sendable {
    private var counts = InlineArray<5, Int>(repeating: 0)

    subscript(kind: Kind) -> Int {
      get { counts[kind.rawValue] }
      set { counts[kind.rawValue] = newValue }
    }

    mutating func add(_ other: Counts) {
      for kind in Kind.allCases { self[kind] += other[kind] }
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

/// Everybody's, by their index; kept of those only who did something, for each takes 3 KB.
struct TallyTable: Sendable {
  private var tallies: [Tally] = []
  /// By user, the place of his; -1 where there is none.
  private var places: [Int32] = []
  /// Which second of boot time it is.
  private var second: Int64 = 0

  /// A turn begins; µs of boot time.
  mutating func begin(at boottime: Int64) { second = max(boottime, 0) / 1_000_000 }

  /// Counts something for a user. O(1).
  mutating func note(_ kind: Tally.Kind, of user: UInt32) {
    tallies[place(of: user)].note(kind, in: second)
  }

  /// Counts how late one of his expiries was. O(1).
  mutating func note(latenessUSec: Int64, of user: UInt32) {
    tallies[place(of: user)].note(latenessUSec: latenessUSec)
  }

  /// Where his is, made where there was none. O(1), amortised.
  private mutating func place(of user: UInt32) -> Int {
    while places.count <= Int(user) { places.append(-1) }
    if places[Int(user)] < 0 {
      places[Int(user)] = Int32(tallies.count)
      tallies.append(Tally())
    }
    return Int(places[Int(user)])
  }

  /// What there is of one user; of one who did nothing, nothing.
  func tally(of user: UInt32) -> Tally {
    guard Int(user) < places.count, places[Int(user)] >= 0 else { return Tally() }
    return tallies[Int(places[Int(user)])]
  }

  /// How many have one.
  var count: Int { tallies.count }

  /// What there is of all together. O(``count``).
  var tallyOfAll: Tally {
    var sum = Tally()
    for tally in tallies { sum.add(tally, at: second) }
    return sum
  }

  /// His, or everybody's, in the last minute.
  func lastMinute(of tally: Tally) -> Tally.Counts { tally.lastMinute(at: second) }
}
