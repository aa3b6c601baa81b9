package import Countdowns

/// Late expiries on their way to the log: an entry at once, and then at most one a second, however
/// many there are.
package struct LateLog: Sendable {
  private var waiting: LateExpiries?
  private var nextAt: Int64 = 0

  package init() {}

  /// When there is something to log, ns of boot time; `nil` if there is nothing.
  package var dueAt: Int64? { waiting == nil ? nil : nextAt }

  /// These came late as well.
  package mutating func note(_ late: LateExpiries) {
    if waiting == nil { waiting = late } else { waiting?.add(late) }
  }

  /// What is to be logged now: all that came since the last entry; `nil` if there is nothing, or its
  /// second is not over.
  package mutating func take(at boottimeNSec: Int64) -> LateExpiries? {
    guard waiting != nil, boottimeNSec >= nextAt else { return nil }
    nextAt = boottimeNSec + 1_000_000_000
    return takeLast()
  }

  /// What is still to be logged when it ends.
  package mutating func takeLast() -> LateExpiries? {
    defer { waiting = nil }
    return waiting
  }
}
