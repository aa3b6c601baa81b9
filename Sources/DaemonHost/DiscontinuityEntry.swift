package import Countdowns
internal import SystemdSyntax
package import Systemd

/// The entry of the log that tells of a discontinuity.
package struct DiscontinuityEntry: Sendable {
  package let priority: Journal.Priority
  package let kind: EntryKind
  package let message: String
  package let fields: [Journal.Field]

  /// Of one. Stalls are for those who look for them: there can be ten in a second.
  package init(_ one: Discontinuity) {
    let slept = "slept for \(Self.length(one.sleptUSec))"
    let direction = one.steppedUSec ?? 0 < 0 ? "back" : "forward"
    let stepped = "was set \(direction) by \(Self.length(one.steppedUSec))"
    switch one.kind {
    case .slept:
      (priority, kind) = (.info, .slept)
      message = "The machine \(slept)"
    case .stepped:
      (priority, kind) = (.notice, .stepped)
      message = "The wall clock \(stepped)"
    case .sleptAndStepped:
      (priority, kind) = (.notice, .sleptAndStepped)
      message = "The machine \(slept), and the wall clock \(stepped) meanwhile"
    case .stalled:
      (priority, kind) = (.debug, .stalled)
      message = "The daemon was away for \(Self.length(one.awayUSec))"
    }
    fields = [
      one.sleptUSec.map { Journal.Field("SLEPT_USEC", "\($0)") },
      one.steppedUSec.map { Journal.Field("STEPPED_USEC", "\($0)") },
      one.awayUSec.map { Journal.Field("AWAY_USEC", "\($0)") },
    ].compactMap { $0 }
  }

  private static func length(_ usec: Int64?) -> String {
    TimeSpan(usec: min(abs(usec ?? 0), TimeSpan.limitUSec)).text
  }
}
