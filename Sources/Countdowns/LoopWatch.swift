/// How long the loop was away when there was something to do: at work in one turn, stopped, or woken
/// late. All in µs of boot time.
///
/// While nothing is to be done and no wake is planned it may be away for ever, and nobody can tell.
package struct LoopWatch: Sendable {
  private var turnAt: Int64
  private var wait: Wait?

  struct Wait {
    let since: Int64
    /// When it was to be woken, if no input came before; `nil` for never.
    let wakeAt: Int64?
  }

  /// - Parameter now: When its first turn begins.
  package init(at now: Int64) { turnAt = now }

  /// The turn's work is done, and the loop begins to wait.
  ///
  /// - Parameter wakeAt: Until when at most; in the past for not at all, `nil` for ever.
  package mutating func beginWait(at now: Int64, until wakeAt: Int64?) {
    wait = Wait(since: now, wakeAt: wakeAt)
  }

  /// The next turn has come.
  ///
  /// - Returns: For how long nobody was served since the turn before: the longer of what that took, and
  ///   of how much later than planned this one is; both together if it was due at once. 0 or more.
  package mutating func beginTurn(at now: Int64) -> Int64 {
    let before = turnAt
    turnAt = max(now, before)
    guard let wait else { return 0 }
    self.wait = nil
    if let wakeAt = wait.wakeAt, wakeAt <= wait.since { return max(now - before, 0) }
    let late = wait.wakeAt.map { now - $0 } ?? 0
    return max(wait.since - before, late, 0)
  }
}
