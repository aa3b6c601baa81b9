/// When being out of descriptors is worth a line in the log: once for each time of shortage, however
/// many clients wait in it and however often it was tried again.
package struct ShortageLog: Sendable {
  private var seenAt: Int64?

  package init() {}

  /// So long without it, and the shortage is over; ns.
  private static let calmNSec: Int64 = 10_000_000_000

  /// It was seen again; whether that is the first sight of it.
  package mutating func note(at boottimeNSec: Int64) -> Bool {
    defer { seenAt = boottimeNSec }
    guard let seenAt else { return true }
    return boottimeNSec - seenAt > ShortageLog.calmNSec
  }
}
