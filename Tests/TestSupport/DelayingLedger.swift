package import Countdowns

/// A ledger as a disk is one: each verdict comes some turns later, those of different names in any
/// order, and some are refusals. Everything by a seed.
package struct DelayingLedger: Sendable {
  /// How it behaves.
  package struct Habits: Sendable {
    /// A verdict takes 1 to so many turns.
    package var slowestTurns: Int
    /// Of a hundred changes, so many are refused.
    package var refusedPercent: Int

    package init(slowestTurns: Int, refusedPercent: Int) {
      self.slowestTurns = slowestTurns
      self.refusedPercent = refusedPercent
    }
  }

  private struct Pending {
    let change: Change
    var turnsLeft: Int
  }

  package var habits: Habits
  private var random: SplitMix64
  private var pending: [Pending] = []
  private var revision: Int64
  /// Promises of the service that it broke, in words.
  package private(set) var problems: [String] = []

  package init(seed: UInt64, habits: Habits, firstRevision: Int64) {
    random = SplitMix64(seed: seed)
    self.habits = habits
    revision = firstRevision
  }

  /// One that answers in the next turn, and refuses nothing unless told to.
  package static var prompt: DelayingLedger {
    DelayingLedger(seed: 0, habits: .init(slowestTurns: 1, refusedPercent: 0), firstRevision: 1)
  }

  /// Both durabilities wait for their verdict.
  package static let terms = LedgerTerms(
    memory: .byVerdict, synced: .byVerdict, standard: .memory, firstNumber: 1)

  /// Nothing waits for its verdict.
  package var isEmpty: Bool { pending.isEmpty }

  /// Whether a change of that name waits for its verdict.
  package func isDeciding(owner: UInt32, name: [UInt8]) -> Bool {
    pending.contains { $0.change.owner == owner && $0.change.name == name }
  }

  package mutating func take(_ batch: [Change]) {
    for change in batch {
      if isDeciding(owner: change.owner, name: change.name) {
        problems.append("two changes of one name are under way: \(change)")
      }
      if change.payload != nil, change.plan.action != .start, change.plan.action != .setPayload {
        problems.append("a change that sets no payload carries a payload: \(change)")
      }
      let turns = Int.random(in: 1...habits.slowestTurns, using: &random)
      pending.append(Pending(change: change, turnsLeft: turns))
    }
  }

  /// What it has come to by the next turn, in any order.
  package mutating func verdicts() -> [Verdict] {
    for index in pending.indices { pending[index].turnsLeft -= 1 }
    var ripe = pending.filter { $0.turnsLeft <= 0 }
    pending.removeAll { $0.turnsLeft <= 0 }
    ripe.shuffle(using: &random)
    return ripe.map { item in
      if Int.random(in: 0..<100, using: &random) < habits.refusedPercent {
        let errno: Int32 = Bool.random(using: &random) ? 28 : 5
        return Verdict(
          ticket: item.change.ticket,
          answer: .refused(errno: errno, outcomeUnknown: Int.random(in: 0..<4, using: &random) == 0)
        )
      }
      revision += Int64.random(in: 1...5, using: &random)
      return Verdict(ticket: item.change.ticket, answer: .committed(revision: revision))
    }
  }
}
