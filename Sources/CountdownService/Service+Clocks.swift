internal import ControlInterface
internal import Countdowns
internal import JSON
internal import Varlink

/// What the clocks did.
extension Service {
  /// The reply to `GetClocks`.
  mutating func writeClocks(to index: Int) {
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
      for one in service.clocks.latest { writer.discontinuity(one) }
      writer.endArray()
      writer.endReply()
    }
  }
}
