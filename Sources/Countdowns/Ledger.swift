// The seam between deciding a change and its taking effect (DESIGN: section 5). What is decided in a
// turn goes to the ledger as one batch; its verdicts come back later, in any order between names,
// with the numbers the changes got. Only then does a change take effect, is told and answered.

/// When a ledger answers for changes of one durability.
package enum LedgerAnswer: Equatable, Sendable {
  /// With the decision: nothing has to be stored, so the change takes effect in the same breath.
  case atOnce
  /// By a verdict on the batch.
  case byVerdict
  /// Never: such changes are refused with this errno.
  case refused(Int32)
}

/// What a ledger offers.
package struct LedgerTerms: Sendable {
  package var memory: LedgerAnswer
  package var synced: LedgerAnswer
  /// What a `Start` without `durability` gets.
  package var standard: Durability
  /// The first of the numbers that it gives to changes it answers at once.
  package var firstNumber: Int64

  package init(
    memory: LedgerAnswer, synced: LedgerAnswer, standard: Durability, firstNumber: Int64
  ) {
    self.memory = memory
    self.synced = synced
    self.standard = standard
    self.firstNumber = firstNumber
  }

  /// A ledger without a store: what is `memory` is answered at once, what is `synced` refused.
  ///
  /// - Parameters:
  ///   - wallClock: Where its numbers begin, µs since 1970: a later start of the daemon then uses
  ///     none of them again, as long as it made fewer than a million changes a second.
  ///   - notSupported: The errno for what would have to be stored.
  package static func inMemory(wallClock: Int64, notSupported: Int32) -> LedgerTerms {
    LedgerTerms(
      memory: .atOnce, synced: .refused(notSupported), standard: .memory,
      firstNumber: max(wallClock, 1))
  }

  package func answer(for durability: Durability) -> LedgerAnswer {
    switch durability {
    case .memory: memory
    case .synced: synced
    }
  }
}

/// A change on its way to the ledger.
package struct Change: Sendable {
  /// Names the change in its verdict.
  package let ticket: UInt64
  package let owner: UInt32
  package let name: [UInt8]
  package let plan: Plan
  package let payload: [UInt8]?

  package init(ticket: UInt64, owner: UInt32, name: [UInt8], plan: Plan, payload: [UInt8]?) {
    self.ticket = ticket
    self.owner = owner
    self.name = name
    self.plan = plan
    self.payload = payload
  }
}

/// What the ledger says of a change.
package struct Verdict: Sendable {
  package enum Answer: Sendable {
    /// It is stored, as this revision: growing for each name, never used twice.
    case committed(revision: Int64)
    /// It was not done. `outcomeUnknown` where it may yet be found stored after a restart.
    case refused(errno: Int32, outcomeUnknown: Bool)
  }

  package let ticket: UInt64
  package let answer: Answer

  package init(ticket: UInt64, answer: Answer) {
    self.ticket = ticket
    self.answer = answer
  }
}
