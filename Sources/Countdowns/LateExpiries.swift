/// Expiries that came later than somebody wants to know of: how many, and the worst of them.
package struct LateExpiries: Equatable, Sendable {
  /// 1 or more.
  package private(set) var count = 1
  /// How late the worst was, µs.
  package private(set) var worstUSec: Int64
  /// Why the worst was late.
  package private(set) var reason: LateReason
  /// The name of the worst, valid UTF-8 without control characters, and its owner.
  package private(set) var name: [UInt8]
  package private(set) var owner: UInt32

  /// One alone.
  package init(lateUSec: Int64, reason: LateReason, name: [UInt8], owner: UInt32) {
    worstUSec = lateUSec
    self.reason = reason
    self.name = name
    self.owner = owner
  }

  /// One more, no later than the worst.
  mutating func addOne() { count += 1 }

  /// Others as well; of two that are equally late the earlier one is told.
  package mutating func add(_ others: LateExpiries) {
    let sum = count + others.count
    if others.worstUSec > worstUSec { self = others }
    count = sum
  }
}
