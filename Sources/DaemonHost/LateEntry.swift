internal import ControlInterface
package import Countdowns
internal import SystemdSyntax
package import Systemd

/// The entry of the log that tells of late expiries.
package struct LateEntry: Sendable {
  package let message: String
  package let fields: [Journal.Field]

  /// Of these.
  package init(_ late: LateExpiries) {
    let name = String(decoding: late.name, as: UTF8.self)
    let length = TimeSpan(usec: late.worstUSec).text
    let worst = "\(length)\(Self.cause(late.reason)): \(name) of user \(late.owner)"
    message =
      late.count == 1
      ? "A countdown expired late, by \(worst)"
      : "\(late.count) countdowns expired late, the worst of them by \(worst)"
    fields = [
      Journal.Field("COUNTDOWN_NAME", name), Journal.Field("COUNTDOWN_OWNER", "\(late.owner)"),
      Journal.Field("LATE_USEC", "\(late.worstUSec)"),
      Journal.Field("LATE_REASON", late.reason.wireName),
      Journal.Field("LATE_COUNT", "\(late.count)"),
    ]
  }

  private static func cause(_ reason: LateReason) -> String {
    switch reason {
    case .none: ""
    case .suspend: ", for the machine slept"
    case .clockStep: ", for the wall clock was set"
    case .storage: ", for a change of it was being stored"
    case .overload: ", for the daemon was busy or stopped"
    }
  }
}
