import Countdowns
import DaemonHost
import Testing

@Suite struct LateLogTests {
  private static let second: Int64 = 1_000_000_000

  private func late(_ name: String, _ lateUSec: Int64) -> LateExpiries {
    LateExpiries(lateUSec: lateUSec, reason: .suspend, name: Array(name.utf8), owner: 1_000)
  }

  @Test func `without a late expiry there is nothing to log, and nothing to wake for`() {
    var log = LateLog()
    #expect(log.dueAt == nil)
    let taken = log.take(at: 100 * Self.second)
    #expect(taken == nil)
  }

  @Test func `the first is logged at once, the next ones together a second later`() {
    var log = LateLog()
    log.note(late("a", 5))
    var taken = log.take(at: 100 * Self.second)
    #expect(taken == late("a", 5))
    #expect(log.dueAt == nil)
    log.note(late("b", 7))
    log.note(late("c", 9))
    log.note(late("d", 8))
    #expect(log.dueAt == 101 * Self.second)
    taken = log.take(at: 101 * Self.second - 1)
    #expect(taken == nil)
    taken = log.take(at: 101 * Self.second)
    #expect(taken?.count == 3 && taken?.worstUSec == 9 && taken?.name == Array("c".utf8))
    #expect(log.dueAt == nil)
  }

  @Test func `a hundred thousand in ten seconds take eleven entries, which count them all`() {
    var log = LateLog()
    var counts: [Int] = []
    for index in 0..<100_000 as Range<Int64> {
      log.note(late("n\(index)", 2_000_000 + index))
      if let taken = log.take(at: 100 * Self.second + index * 100_000) {
        counts.append(taken.count)
      }
    }
    if let rest = log.takeLast() { counts.append(rest.count) }
    #expect(counts == [1] + Array(repeating: 10_000, count: 9) + [9_999])
    #expect(log.dueAt == nil)
  }
}
