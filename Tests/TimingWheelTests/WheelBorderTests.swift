import TestSupport
import Testing
import TimingWheel

/// The borders of each level, where wheels elsewhere went wrong: delays of exactly one turn fired at
/// once or a turn late, and what lay beyond the capacity at random.
@Suite struct WheelBorderTests {
  /// Spans of the levels, in ticks: how far a level reaches beyond the one below.
  private static let spans = (1...8).map { 1 << (6 * UInt64($0)) as UInt64 }
  private static let ticksInAll: UInt64 = 1 << 48

  /// Where the wheel may stand, in ticks, for one span.
  private static func starts(_ span: UInt64, _ random: inout SplitMix64) -> [UInt64] {
    let anywhere = UInt64.random(in: 0..<ticksInAll, using: &random)
    return [0, 1, span - 1, span, anywhere].map { min($0, ticksInAll - 1) }
  }

  /// A deadline for each delay around the span and around all there is, within what an instant can
  /// say, sorted.
  private static func deadlines(_ span: UInt64, from now: Instant) -> [UInt64] {
    [span - 1, span, span + 1, ticksInAll - 1, ticksInAll, ticksInAll + 1]
      .flatMap { delay in [0, 63].map { now.advanced(byUSec: delay * 64 + $0).rawValue } }
      .sorted()
  }

  @Test(arguments: spans)
  func `B12 around each border entries come tick by tick as a sorted list says`(span: UInt64) {
    var random = SplitMix64(seed: span)
    for start in Self.starts(span, &random) {
      let now = Instant(rawValue: start * 64 + .random(in: 0..<64, using: &random))
      var wheel = Wheel(now: now, reserving: 16)
      let deadlines = Self.deadlines(span, from: now)
      var pending: [EntryID: UInt64] = [:]
      for deadline in deadlines { pending[wheel.start(at: Instant(rawValue: deadline))] = deadline }
      var due: [EntryID] = []
      for deadline in deadlines {
        // A leap to shortly before, then tick by tick, then microsecond by microsecond around it.
        let tick = deadline / 64
        let ticks = (tick - min(tick, 3)..<tick).map { $0 * 64 }
        for target in ticks + [deadline - min(deadline, 1), deadline] {
          #expect(wheel.advance(to: Instant(rawValue: target), limit: .max, into: &due) == true)
          let reached = wheel.now.rawValue
          let expected = pending.filter { $0.value <= reached }.keys
          #expect(Set(due) == Set(expected), "from \(now) to \(target)")
          #expect(due.map { pending[$0]! } == due.map { pending[$0]! }.sorted())
          #expect(wheel.brokenInvariant() == nil)
          for id in due { pending[id] = nil }
          due.removeAll()
        }
      }
      #expect(pending.isEmpty)
      #expect(wheel.count == 0)
    }
  }

  @Test(arguments: spans)
  func `B12 around each border entries come in leaps as a sorted list says`(span: UInt64) {
    var random = SplitMix64(seed: ~span)
    for round in 0..<20 {
      for start in Self.starts(span, &random) {
        let now = Instant(rawValue: start * 64)
        var wheel = Wheel(now: now, reserving: 16)
        var pending: [EntryID: UInt64] = [:]
        for deadline in Self.deadlines(span, from: now) {
          pending[wheel.start(at: Instant(rawValue: deadline))] = deadline
        }
        var due: [EntryID] = []
        while !pending.isEmpty {
          // Leaps of all sizes, in the end with a certain one beyond all that is left.
          let reach = UInt64.random(in: 0...54, using: &random)
          let target = wheel.now.advanced(byUSec: .random(in: 0...(1 << reach), using: &random))
          #expect(wheel.advance(to: target, limit: .max, into: &due) == true)
          let expected = pending.filter { $0.value <= target.rawValue }.keys
          #expect(Set(due) == Set(expected), "round \(round), from \(now) to \(target)")
          #expect(wheel.brokenInvariant() == nil)
          for id in due { pending[id] = nil }
          due.removeAll()
        }
        #expect(wheel.nextWake == nil)
      }
    }
  }
}
