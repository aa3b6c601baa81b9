internal import ControlInterface
internal import Countdowns
internal import JSON
internal import Varlink

/// What the clocks did.
extension Service {
  /// The reply to `GetClocks`. Of all owners O(users), which the turn is charged for.
  mutating func writeClocks(of owners: Owners, to index: Int) {
    if owners == .all { callBudget -= tallies.count }
    let user: UInt32? = if case .one(let user) = owners { user } else { nil }
    write(to: index) { service, writer in
      let now = service.scheduler.now
      writer.beginReply()
      writer.timestamp(.now, now)
      writer.field(.bootID, service.identity.bootID)
      writer.key(.synchronized)
      writer.boolean(service.machine.isSynchronized)
      // Both were rounded up, the one perhaps further.
      writer.field(.sleptUSec, max(now.boottime - now.monotonic, 0))
      writer.key(.discontinuities)
      writer.beginArray()
      for one in service.clocks.latest {
        writer.discontinuity(one.what, effect: one.effect(on: user))
      }
      writer.endArray()
      writer.endReply()
    }
  }
}
