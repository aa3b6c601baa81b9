package import Countdowns

/// Three clocks that stand until a test moves them. All in µs.
package struct VirtualClock: Sendable {
  package private(set) var reading: Reading
  /// How long it has slept and how far it was set, in all; and how long it only went on.
  package private(set) var slept: Int64 = 0
  package private(set) var stepped: Int64 = 0
  package private(set) var ran: Int64 = 0

  package init(monotonic: Int64, boottime: Int64, realtime: Int64) {
    reading = Reading(monotonic: monotonic, boottime: boottime, realtime: realtime)
  }

  /// A machine that was started 17 minutes ago and has slept for three, in November 2026.
  package init() {
    self.init(monotonic: 840_000_017, boottime: 1_020_000_017, realtime: 1_796_000_000_000_123)
  }

  /// Time goes by, on all three.
  package mutating func run(_ usec: Int64) {
    ran += usec
    reading.monotonic += usec
    reading.boottime += usec
    reading.realtime += usec
  }

  /// The machine sleeps.
  package mutating func suspend(_ usec: Int64) {
    slept += usec
    reading.boottime += usec
    reading.realtime += usec
  }

  /// Somebody sets the wall clock, forward or, negative, back.
  package mutating func step(_ usec: Int64) {
    stepped += usec
    reading.realtime += usec
  }
}

extension Int64 {
  /// So many seconds, in µs.
  package static func seconds(_ count: Int64) -> Int64 { count * 1_000_000 }
  package static func minutes(_ count: Int64) -> Int64 { count * 60_000_000 }
  package static func hours(_ count: Int64) -> Int64 { count * 3_600_000_000 }
  package static func days(_ count: Int64) -> Int64 { count * 86_400_000_000 }
}
