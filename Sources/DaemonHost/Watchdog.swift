/// When systemd is to hear next that the loop is alive: twice as often as it asks for.
///
/// In boot time: after a suspend it is due, and the first thing that the loop does.
package struct Watchdog: Sendable {
  private let periodNSec: Int64
  /// ns of boot time.
  package private(set) var dueAt: Int64

  /// Due at once.
  ///
  /// - Parameter intervalUSec: After so long without a word the manager takes the loop for dead.
  package init(intervalUSec: UInt64, at boottimeNSec: Int64) {
    periodNSec = Int64(clamping: min(intervalUSec, Watchdog.longestUSec) / 2) * 1_000
    dueAt = boottimeNSec
  }

  /// A year: nothing that is added to a clock's reading overflows.
  private static let longestUSec: UInt64 = 31_536_000_000_000

  /// Whether it is time to tell.
  package func isDue(at boottimeNSec: Int64) -> Bool { boottimeNSec >= dueAt }

  /// The manager was told; or it was not, its queue being full, and is soon told again.
  package mutating func noteTold(at boottimeNSec: Int64, isDelivered: Bool) {
    dueAt = boottimeNSec + (isDelivered ? periodNSec : periodNSec / 8)
  }
}
