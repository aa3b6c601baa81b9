/// What `systemctl status` shows of the service: how many countdowns there are.
///
/// Told where it has changed, at most once a second, so that after a burst one wake may come for that
/// alone.
package struct StatusLine: Sendable {
  /// Countdowns of everybody.
  package struct Counts: Equatable, Sendable {
    package var running: Int
    package var paused: Int
    package var ended: Int

    package init(running: Int = 0, paused: Int = 0, ended: Int = 0) {
      self.running = running
      self.paused = paused
      self.ended = ended
    }
  }

  /// Whether the configuration, when it was last to be read again, was refused.
  package var hasRefusedReload = false
  private var told = Counts()
  private var toldAt: Int64 = 0
  /// When there will be something new to tell, ns of boot time; `nil` if there is nothing.
  package private(set) var dueAt: Int64?

  /// As it is before anything was told.
  package init() {}

  /// The line.
  package var text: String {
    let counts =
      told == Counts()
      ? "no countdowns"
      : "\(told.running) countdowns running, \(told.paused) paused, \(told.ended) ended"
    return "Serving; \(counts)" + (hasRefusedReload ? "; the last reload was refused" : "")
  }

  /// Takes in what there is now; whether ``text`` is to be told.
  package mutating func update(_ counts: Counts, at boottimeNSec: Int64) -> Bool {
    guard counts != told else {
      dueAt = nil
      return false
    }
    let earliest = toldAt + 1_000_000_000
    guard boottimeNSec >= earliest else {
      dueAt = earliest
      return false
    }
    told = counts
    toldAt = boottimeNSec
    dueAt = nil
    return true
  }
}
