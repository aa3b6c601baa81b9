internal import ControlInterface
internal import Countdowns
internal import JSON
internal import TimingWheel
internal import Varlink

/// A change that was decided and is with the ledger.
struct PendingChange: Sendable {
  let plan: Plan
  let name: OwnedName
  let payload: [UInt8]?
  /// Whom to answer, and how.
  let connection: ConnectionID
  let reply: ChangeReply
  let isOneway: Bool
}

/// Which reply a change is answered with.
enum ChangeReply: Sendable {
  case started(created: Bool)
  case moved
  case cancelled
  case payloadSet
  /// It is one of many, at this place in its call.
  case ofMany(Int)
}

/// Changes: what the ledger answers at once takes effect at once; the rest waits for its verdict.
extension Service {
  /// Whether no change of the name is under way; else the connection waits for its verdict.
  mutating func isFree(_ existing: EntryID?, user: UInt32, for index: Int) -> Bool {
    if isFree(existing, OwnedName(user: user, name: name)) { return true }
    wait(for: OwnedName(user: user, name: name), index)
    connections[index].activity = .blocked
    return false
  }

  /// Whether no change of the name is under way.
  func isFree(_ existing: EntryID?, _ name: @autoclosure () -> OwnedName) -> Bool {
    if lockedNames.isEmpty { return true }
    if let existing { return !scheduler.isLocked(existing) }
    return lockedNames[name()] == nil
  }

  /// The connection is woken when the change of the name that is under way has its verdict.
  mutating func wait(for name: OwnedName, _ index: Int) {
    lockedNames[name]?.append(connections[index].id)
  }

  /// Gives a decided change to the ledger, and takes it from there.
  mutating func carry(
    _ plan: Plan, of existing: EntryID?, payload: [UInt8]?, reply: ChangeReply, from index: Int,
    isOneway: Bool
  ) throws(Refusal) {
    let outcome = try submit(
      plan, of: existing, name: name, payload: payload, reply: reply, from: index,
      isOneway: isOneway)
    if let outcome {
      answer(reply, outcome, plan, to: index)
    } else {
      connections[index].activity = .awaitingVerdict
    }
  }

  /// Gives a decided change to the ledger.
  ///
  /// - Returns: The outcome where it takes effect at once, and is told; `nil` where its verdict is to come.
  mutating func submit(
    _ plan: Plan, of existing: EntryID?, name: [UInt8], payload: [UInt8]?, reply: ChangeReply,
    from index: Int, isOneway: Bool
  ) throws(Refusal) -> Outcome? {
    guard scheduler.terms.answer(for: plan.durability) != .atOnce else {
      let outcome = try scheduler.apply(
        plan, to: existing, name: name.span, payload: payload, revision: nextNumber)
      nextNumber += 1
      tell(outcome)
      return outcome
    }
    let locked = OwnedName(user: plan.user, name: name)
    let ticket = nextTicket
    nextTicket += 1
    underway[ticket] = PendingChange(
      plan: plan, name: locked, payload: payload, connection: connections[index].id, reply: reply,
      isOneway: isOneway)
    lockedNames[locked] = []
    if let existing { scheduler.lock(existing) }
    scheduler.users[plan.user].starting += plan.addsOne ? 1 : 0
    scheduler.users[plan.user].payloadBytes += payload?.count ?? 0
    batch.append(
      Change(
        ticket: ticket, owner: scheduler.users[plan.user].uid, name: name, plan: plan,
        payload: payload))
    return nil
  }

  /// The ledger has answered: the change takes effect, or never was.
  mutating func settle(_ verdict: Verdict) {
    guard let change = underway.removeValue(forKey: verdict.ticket) else { return }
    let waiting = lockedNames.removeValue(forKey: change.name) ?? []
    scheduler.users[change.plan.user].starting -= change.plan.addsOne ? 1 : 0
    scheduler.users[change.plan.user].payloadBytes -= change.payload?.count ?? 0
    let existing = scheduler.find(user: change.plan.user, name: change.name.name.span)
    let index = place(of: change.connection)
    do throws(Refusal) {
      switch verdict.answer {
      case .committed(let revision):
        let outcome = try scheduler.apply(
          change.plan, to: existing, name: change.name.name.span, payload: change.payload,
          revision: revision)
        scheduler.unlock(outcome.id)
        tell(outcome)
        if let index { conclude(change, outcome, index) }
      case .refused(let errno, let outcomeUnknown):
        throw .storageFailed(errno: errno, outcomeUnknown: outcomeUnknown)
      }
    } catch {
      if let existing { scheduler.unlock(existing) }
      if let index { conclude(change, refused: error, index) }
    }
    if let index { enqueue(index) }
    for id in waiting {
      guard let index = place(of: id) else { continue }
      if case .changingMany = connections[index].activity {
        connections[index].many?.isWaiting = false
      } else {
        connections[index].activity = .calling
      }
      woken.append(id)
    }
  }

  private mutating func conclude(_ change: PendingChange, _ outcome: Outcome, _ index: Int) {
    if case .ofMany(let place) = change.reply {
      note(outcome, of: place, change.plan, index)
      return
    }
    connections[index].activity = .calling
    if !change.isOneway { answer(change.reply, outcome, change.plan, to: index) }
  }

  private mutating func conclude(_ change: PendingChange, refused refusal: Refusal, _ index: Int) {
    if case .ofMany(let place) = change.reply {
      note(refusal, of: place, name: change.name.name, index)
      return
    }
    connections[index].activity = .calling
    if !change.isOneway {
      write(to: index) { $0.refusal(refusal, name: change.name.name) }
    }
  }

  private mutating func tell(_ outcome: Outcome) {
    if let ended = outcome.ended { publish(ended) }
    publish(outcome.event)
  }

  private mutating func answer(
    _ reply: ChangeReply, _ outcome: Outcome, _ plan: Plan, to index: Int
  ) {
    switch reply {
    case .ofMany: break  // It is answered with the rest.
    case .started(let created): writeStarted(outcome.id, created: created, to: index)
    case .moved: writeMoved(outcome.id, to: index)
    case .cancelled:
      write(to: index) {
        $0.beginReply()
        $0.field(.remainingUSec, plan.remainingUSec)
        $0.field(.revision, outcome.revision)
        $0.endReply()
      }
    case .payloadSet:
      write(to: index) {
        $0.beginReply()
        $0.field(.revision, outcome.revision)
        $0.endReply()
      }
    }
  }
}
