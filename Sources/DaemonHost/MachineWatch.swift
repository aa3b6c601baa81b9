package import LinuxIO

/// When to ask the kernel how the machine does: in turns that come anyway, at most once a second, and
/// at once when the wall clock was set. It wakes nobody.
package struct MachineWatch: Sendable {
  private var nextAt = Int64.min
  private var hasComplained = false

  package init() {}

  /// So long an answer is good for, ns.
  private static let intervalNSec: Int64 = 1_000_000_000

  /// Whether to ask now; then the next time is a second later. ns of boot time.
  package mutating func isDue(at boottimeNSec: Int64) -> Bool {
    guard boottimeNSec >= nextAt else { return false }
    nextAt = boottimeNSec + MachineWatch.intervalNSec
    return true
  }

  /// The wall clock was set: what was known of it is known no more.
  package mutating func noteClockChange() { nextAt = .min }

  /// What is to be said about not being able to ask; `nil` after the first time.
  package mutating func complaint(about error: SystemCallError) -> String? {
    guard !hasComplained else { return nil }
    hasComplained = true
    return "Cannot ask whether the clock is synchronised: \(error); taking it for not synchronised"
  }
}
