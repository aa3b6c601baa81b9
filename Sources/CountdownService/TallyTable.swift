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
