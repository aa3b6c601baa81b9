import Countdowns
import Testing

/// What the log hears of late expiries.
@Suite struct LateExpiriesTests {
  private func rig(notedAfter usec: Int64 = second) -> Rig {
    let rig = Rig()
    rig.scheduler.notedAfterUSec = usec
    return rig
  }

  private func name(_ late: LateExpiries?) -> String? {
    late.map { String(decoding: $0.name, as: UTF8.self) }
  }

  @Test func `exactly as late as is allowed is not late, one microsecond more is`() throws {
    let rig = rig()
    try rig.start("a", second)
    rig.pass(2 * second)
    #expect(rig.view("a")?.lateUSec == second)
    #expect(rig.scheduler.takeLate() == nil)
    try rig.start("b", second)
    rig.pass(2 * second + 1)
    let late = rig.scheduler.takeLate()
    #expect(
      late
        == LateExpiries(
          lateUSec: second + 1, reason: .overload, name: Array("b".utf8), owner: 1_000))
    #expect(rig.scheduler.takeLate() == nil)
  }

  @Test func `unless somebody wants to know nothing is noted`() throws {
    let rig = Rig()
    try rig.start("a", second)
    rig.pass(hour)
    #expect(rig.scheduler.takeLate() == nil)
  }

  @Test func `of many they are counted, and the worst is named with its owner`() throws {
    let rig = rig()
    for index in 1...5 as ClosedRange<Int64> {
      try rig.start("n\(index)", index * second, uid: 1_000 + UInt32(index))
    }
    rig.pass(5 * second)  // Late by 4, 3, 2, 1 and 0 seconds.
    var late = rig.scheduler.takeLate()
    #expect(late?.count == 3 && late?.worstUSec == 4 * second)
    #expect(name(late) == "n1" && late?.owner == 1_001)
    // A clock of its own may make a later one the worst.
    try rig.start("m", 10 * second, clock: .monotonic)
    try rig.start("b", 11 * second, clock: .boottime)
    rig.suspend(100 * second)
    rig.pass(20 * second)
    late = rig.scheduler.takeLate()
    #expect(late?.count == 2 && late?.worstUSec == 109 * second && name(late) == "b")
  }

  @Test func `one that a call finds due is noted as well`() throws {
    let rig = rig()
    try rig.start("a", second)
    rig.run(3 * second)
    rig.advance(limit: 1)
    #expect(throws: Refusal.self) { try rig.call(.pause, "a") }
    #expect(name(rig.scheduler.takeLate()) == "a")
  }

  @Test
  func `an instant that was past when it was given is not late, a step of the clock makes it`()
    throws
  {
    let rig = rig()
    try rig.start("past", until: rig.reading.realtime - hour)
    rig.pass(0)
    #expect(rig.view("past")?.state == .expired)
    #expect(rig.scheduler.takeLate() == nil)
    try rig.start("future", until: rig.reading.realtime + hour)
    rig.step(2 * hour)
    rig.pass(0)
    rig.turn()
    #expect(rig.scheduler.takeLate()?.worstUSec == hour)
  }

  @Test func `counts are summed, and of two that are equally late the earlier one is told`() {
    var late = LateExpiries(lateUSec: 5, reason: .overload, name: [1], owner: 1)
    late.add(LateExpiries(lateUSec: 5, reason: .overload, name: [2], owner: 2))
    #expect(late.count == 2 && late.name == [1])
    late.add(LateExpiries(lateUSec: 6, reason: .overload, name: [3], owner: 3))
    late.add(LateExpiries(lateUSec: 4, reason: .overload, name: [4], owner: 4))
    #expect(late.count == 4 && late.worstUSec == 6 && late.name == [3] && late.owner == 3)
  }
}
