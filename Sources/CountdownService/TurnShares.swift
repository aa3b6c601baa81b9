/// What each user may still take of what a turn can do: an even share of those who have something to
/// do in it, however many connections any of them has.
struct TurnShares {
  private var left: [UInt32: Int] = [:]
  private var waiting: [UInt32: Int] = [:]

  /// - Parameters:
  ///   - budget: What the turn can do.
  ///   - users: The user of each connection with something to do.
  init(of budget: Int, among users: [UInt32]) {
    for user in users { waiting[user, default: 0] += 1 }
    let share = max(1, budget / max(waiting.count, 1))
    for user in users { left[user] = share }
  }

  /// Whether a user has some of his share left.
  func hasRoom(for user: UInt32) -> Bool { left[user] ?? 1 > 0 }

  /// The part of his share, at least 1, that is for each of a user's connections.
  func perConnection(of user: UInt32) -> Int {
    max(1, (left[user] ?? 1) / max(waiting[user] ?? 1, 1))
  }

  /// A connection of that user was served, at that cost.
  mutating func take(_ cost: Int, by user: UInt32) {
    left[user]? -= cost
    waiting[user]? -= 1
  }
}
