import Countdowns
import TimingWheel
import Testing

/// While a change is with the ledger its countdown neither expires nor goes away.
@Suite struct SchedulerLockTests {
  @Test(arguments: CountdownClock.allCases)
  func `a locked one does not expire, and does so as soon as it is unlocked`(
    clock: CountdownClock
  ) throws {
    let rig = Rig()
    if clock == .realtime {
      try rig.start("a", until: rig.reading.realtime + second)
    } else {
      try rig.start("a", second, clock: clock)
    }
    let id = try #require(rig.find("a"))
    rig.scheduler.lock(id)
    #expect(rig.pass(second).isEmpty)
    #expect(rig.scheduler.expireIfDue(id) == nil)
    #expect(rig.scheduler.nextWake == .never)  // Nothing is to be done until the verdict.
    #expect(rig.view("a")?.state == .running && rig.view("a")?.remainingUSec == 0)
    #expect(rig.pass(second).isEmpty)
    rig.scheduler.unlock(id)
    #expect(rig.scheduler.nextWake == .now)
    #expect(rig.turn().map(\.lateUSec) == [second])
    #expect(rig.scheduler.brokenInvariant() == nil)
  }

  @Test func `one locked while it waits to be handed out is not`() throws {
    let rig = Rig()
    try rig.start("a", 0)
    rig.advance()
    let id = try #require(rig.find("a"))
    rig.scheduler.lock(id)
    #expect(rig.scheduler.takeDue() == nil)
    rig.scheduler.unlock(id)
    #expect(rig.turn().count == 1)
  }

  @Test func `one unlocked before it is due expires on time`() throws {
    let rig = Rig()
    try rig.start("a", second)
    let id = try #require(rig.find("a"))
    rig.scheduler.lock(id)
    rig.scheduler.unlock(id)
    #expect(rig.pass(second - 1).isEmpty)
    #expect(rig.pass(1).count == 1)
  }

  @Test func `what a verdict moved expires by its new deadline only`() throws {
    let rig = Rig()
    try rig.start("a", second)
    let plan = try rig.decide(.extend(.by(second)), "a")
    let id = try #require(rig.find("a"))
    rig.scheduler.lock(id)
    rig.pass(second + second / 2)
    try rig.apply(plan, "a")
    rig.scheduler.unlock(id)
    #expect(rig.turn().isEmpty)
    #expect(rig.pass(second / 2 - 1).isEmpty)
    #expect(rig.pass(1).map(\.lateUSec) == [0])
    #expect(rig.events.map(\.revision) == [100, 101, 101])
  }

  @Test func `a start shorter than its commit runs first and then expires, late`() throws {
    let rig = Rig()
    let request = StartRequest(end: .length(1_000), clock: .boottime, durability: .synced)
    guard case .change(let plan) = try rig.decide(request, "a") else { return }
    rig.pass(5_000)
    let outcome = try rig.apply(plan, "a")
    rig.scheduler.unlock(outcome.id)
    #expect(rig.view("a")?.state == .running && rig.view("a")?.remainingUSec == 0)
    #expect(rig.turn().map(\.lateUSec) == [4_000])
  }

  @Test func `an ended one that is locked is not removed until it is unlocked`() throws {
    let rig = Rig()
    rig.scheduler.limits.retainEndedUSec = second
    try rig.start("a", 0)
    rig.turn()
    let id = try #require(rig.find("a"))
    rig.scheduler.lock(id)
    rig.pass(hour)
    #expect(rig.view("a")?.state == .expired)
    #expect(rig.scheduler.nextWake == .never)
    rig.scheduler.unlock(id)
    #expect(rig.view("a") != nil)  // Its reply may still name it.
    #expect(rig.scheduler.nextWake == .now)
    rig.turn()
    #expect(rig.view("a") == nil)
    #expect(rig.scheduler.brokenInvariant() == nil)
  }

  @Test func `the oldest that may go is evicted past locked ones`() throws {
    let rig = Rig()
    rig.scheduler.limits.retainedPerUser = 2
    for name in ["a", "b"] { try rig.start(name, 0) }
    rig.turn()
    rig.scheduler.lock(try #require(rig.find("a")))
    try rig.start("c", 0)
    rig.turn()
    rig.turn(limit: 1)
    #expect(rig.names() == ["a", "c"])
    rig.scheduler.lock(try #require(rig.find("c")))
    try rig.start("d", 0)
    rig.turn()
    rig.turn()
    #expect(rig.names() == ["a", "c"])
    #expect(rig.scheduler.brokenInvariant() == nil)
  }

  @Test func `what all were locked for is evicted as soon as one is unlocked`() throws {
    let rig = Rig()
    try rig.start("a", 0)
    try rig.start("b", 0)
    rig.turn()
    rig.scheduler.lock(try #require(rig.find("a")))
    rig.scheduler.lock(try #require(rig.find("b")))
    rig.scheduler.limits.retainedPerUser = 1
    try rig.start("c", hour)
    try rig.call(.cancel, "c")
    rig.scheduler.lock(try #require(rig.find("c")))
    rig.turn()
    #expect(rig.names() == ["a", "b", "c"])
    rig.scheduler.unlock(try #require(rig.find("b")))
    rig.turn()
    #expect(rig.names() == ["a", "c"])
    rig.scheduler.unlock(try #require(rig.find("a")))
    rig.turn()
    #expect(rig.names() == ["c"])
    #expect(rig.scheduler.brokenInvariant() == nil)
  }

  @Test func `a restart of a locked ended one finds it whatever passed`() throws {
    let rig = Rig()
    rig.scheduler.limits.retainEndedUSec = second
    try rig.start("a", 5 * second)
    rig.pass(5 * second)
    let plan = try rig.decide(.restart, "a")
    let id = try #require(rig.find("a"))
    rig.scheduler.lock(id)
    rig.pass(2 * second)
    try rig.apply(plan, "a")
    rig.scheduler.unlock(id)
    #expect(rig.view("a")?.remainingUSec == 3 * second)
    #expect(rig.pass(3 * second).count == 1)
    #expect(rig.scheduler.brokenInvariant() == nil)
  }

  @Test func `a forward step over a locked realtime one is seen to at its unlocking`() throws {
    let rig = Rig()
    try rig.start("a", until: rig.reading.realtime + hour)
    let id = try #require(rig.find("a"))
    rig.scheduler.lock(id)
    rig.step(2 * hour)
    #expect(rig.turn().isEmpty)
    rig.scheduler.unlock(id)
    #expect(rig.turn().map(\.lateUSec) == [hour])
  }
}
