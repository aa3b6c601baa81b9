import Countdowns
import Testing

/// What is kept, how long, and how much of it: each limit reached and passed by one.
@Suite struct SchedulerLimitsTests {
  static func limits(_ change: (inout Limits) -> Void) -> Limits {
    var limits = Limits()
    change(&limits)
    return limits
  }

  // MARK: What has ended

  @Test(arguments: [(true, CountdownClock.boottime), (false, .boottime), (false, .monotonic)])
  func `an ended one is gone when its time is over, and not before`(
    expires: Bool, clock: CountdownClock
  ) throws {
    let rig = Rig(limits: Self.limits { $0.retainEndedUSec = 10 * second })
    try rig.start("a", second, clock: clock, payload: [123, 125])
    rig.pass(expires ? second : 0)
    if !expires { try rig.call(.cancel, "a") }
    rig.suspend(5 * second)
    rig.pass(5 * second - 1)
    #expect(rig.view("a")?.endedAt == rig.reading.realtime - 10 * second + 1)
    rig.pass(1)
    #expect(rig.view("a") == nil)
    #expect(rig.usage().ended == 0 && rig.usage().payloadBytes == 0)
    #expect(rig.scheduler.nextWake == .never)
    #expect(rig.scheduler.brokenInvariant() == nil)
  }

  @Test func `the time that one is kept begins anew with every end`() throws {
    let rig = Rig(limits: Self.limits { $0.retainEndedUSec = 10 * second })
    try rig.start("a", second)
    rig.pass(second)
    rig.pass(8 * second)
    try rig.call(.restart, "a")
    rig.pass(second)
    rig.pass(10 * second - 1)
    #expect(rig.view("a")?.state == .expired)
    rig.pass(1)
    #expect(rig.view("a") == nil)
  }

  @Test(arguments: [0, 1, 2, 3])
  func `only so many stay, the latest, from the next turn on`(retained: Int) throws {
    let rig = Rig(limits: Self.limits { $0.retainedPerUser = retained })
    for name in ["a", "b", "c"] { try rig.start(name, second) }
    try rig.start("x", second, uid: 1_001)
    rig.pass(second)
    #expect(rig.events.count == 8)  // Whoever is told of one can still ask for its name.
    #expect(rig.names() == ["a", "b", "c"])
    rig.turn()
    #expect(rig.names() == Array(["a", "b", "c"].suffix(retained)))
    #expect(rig.names(uid: 1_001) == (retained == 0 ? [] : ["x"]))
    #expect(rig.usage().ended == min(retained, 3))
    #expect(rig.scheduler.brokenInvariant() == nil)
  }

  @Test func `one user's ends take no other's`() throws {
    let rig = Rig(limits: Self.limits { $0.retainedPerUser = 2 })
    for name in ["a", "b"] { try rig.start(name, second, uid: 1_001) }
    rig.pass(second)
    for place in 0..<10 {
      try rig.start("\(place)", hour)
      try rig.call(.cancel, "\(place)")
      rig.turn()
    }
    #expect(rig.names() == ["8", "9"])
    #expect(rig.names(uid: 1_001) == ["a", "b"])
  }

  @Test func `the oldest goes by when it ended last, from anywhere in the list`() throws {
    let rig = Rig(limits: Self.limits { $0.retainedPerUser = 3 })
    for name in ["a", "b", "c"] {
      try rig.start(name, hour)
      try rig.call(.cancel, name)
    }
    for name in ["b", "a"] {  // From the middle, then from the oldest end.
      try rig.call(.restart, name)
      #expect(rig.scheduler.brokenInvariant() == nil)
      try rig.call(.cancel, name)
    }
    try rig.start("d", 0)
    rig.turn()
    rig.turn()
    #expect(rig.names() == ["a", "b", "d"])
  }

  @Test func `a lower limit thins out over several turns`() throws {
    let rig = Rig()
    for place in 0..<50 { try rig.start("\(place)", 0) }
    rig.turn()
    rig.scheduler.limits.retainedPerUser = 5
    try rig.start("x", 0)
    rig.turn()
    rig.advance(limit: 10)
    #expect(rig.usage().ended == 41)
    #expect(rig.scheduler.nextWake == .now)
    for _ in 0..<5 { rig.advance(limit: 10) }
    #expect(rig.usage().ended == 5)
    #expect(rig.scheduler.nextWake != .now)
  }

  // MARK: How many

  @Test func `countdowns of one user: the last that fits, and one more`() throws {
    let rig = Rig(limits: Self.limits { $0.countdownsPerUser = 2 })
    let refusal = Refusal.quotaExceeded(resource: .countdownsPerUser, limit: 2, used: 2)
    try rig.start("a", hour)
    try rig.start("b", hour)
    try rig.call(.pause, "b")  // Paused ones count as well.
    #expect(rig.refusal { () throws(Refusal) in try rig.start("c", hour) } == refusal)
    var replacing = StartRequest(end: .length(hour), clock: .boottime, durability: .memory)
    replacing.onConflict = .replace
    try rig.start("a", replacing)
    try rig.start("c", hour, uid: 1_001)
    for name in ["c", "d", "e"] { try rig.start(name, hour, uid: 0) }  // Root.
    try rig.call(.cancel, "a")
    try rig.start("c", hour)
    #expect(rig.refusal { () throws(Refusal) in try rig.call(.restart, "a") } == refusal)
    #expect(rig.refusal { () throws(Refusal) in try rig.start("a", hour) } == refusal)
    #expect(rig.scheduler.brokenInvariant() == nil)
  }

  @Test func `countdowns in all: root is bound as well, and what is under way counts`() throws {
    let rig = Rig(limits: Self.limits { $0.countdowns = 3 })
    try rig.start("a", hour)
    try rig.start("a", hour, uid: 0)
    let user = rig.scheduler.users.index(of: 1_000)
    rig.scheduler.users[user].starting += 1
    let refusal = Refusal.quotaExceeded(resource: .countdowns, limit: 3, used: 3)
    for uid in [0, 1_000, 1_001] as [UInt32] {
      #expect(rig.refusal { () throws(Refusal) in try rig.start("b", hour, uid: uid) } == refusal)
    }
    rig.scheduler.users[user].starting -= 1
    try rig.start("b", hour, uid: 1_001)
    #expect(rig.scheduler.users.live == 3)
    #expect(rig.scheduler.brokenInvariant() == nil)
  }

  // MARK: Payloads

  @Test func `bytes of one payload: the last that fits, and one more`() throws {
    let rig = Rig(limits: Self.limits { $0.payloadBytes = 10 })
    let eleven = [UInt8](repeating: 32, count: 11)
    #expect(
      rig.refusal { () throws(Refusal) in try rig.start("a", hour, payload: eleven) }
        == .quotaExceeded(resource: .payloadBytes, limit: 10, used: 11))
    try rig.start("a", hour, payload: Array(eleven.dropLast()))
    #expect(rig.view("a")?.payload?.count == 10)
  }

  @Test func `bytes of a user's payloads: replaced, kept by ends, freed by removal`() throws {
    let rig = Rig(
      limits: Self.limits {
        $0.payloadBytesPerUser = 20
        $0.retainEndedUSec = 10 * second
      })
    let ten = [UInt8](repeating: 32, count: 10)
    let refusal = Refusal.quotaExceeded(resource: .payloadBytesPerUser, limit: 20, used: 20)
    try rig.start("a", hour, payload: ten)
    try rig.start("b", hour, payload: ten)
    #expect(
      rig.refusal { () throws(Refusal) in try rig.start("c", hour, payload: [32]) } == refusal)
    try rig.start("c", hour)  // Without one there is no need of room.
    try rig.start("c", hour, uid: 0, payload: ten + ten)
    try rig.start("d", hour, uid: 0, payload: ten)
    #expect(rig.usage(uid: 0).payloadBytes == 30)

    var replacing = StartRequest(end: .length(hour), clock: .boottime, durability: .memory)
    replacing.onConflict = .replace
    try rig.start("a", replacing, payload: Array(ten.dropLast()))
    #expect(rig.usage().payloadBytes == 19)
    try rig.start("a", replacing, payload: ten)
    #expect(rig.usage().payloadBytes == 20)
    #expect(
      rig.refusal { () throws(Refusal) in try rig.start("a", replacing, payload: ten + [32]) }
        == refusal)
    try rig.call(.cancel, "a")
    #expect(rig.usage().payloadBytes == 20)  // It can still be read.
    try rig.call(.restart, "a")
    #expect(rig.usage().payloadBytes == 20 && rig.view("a")?.payload == ten)
    try rig.call(.cancel, "a")
    try rig.start("a", hour)
    #expect(rig.usage().payloadBytes == 10)
    for name in ["a", "b", "c"] { try rig.call(.cancel, name) }
    rig.pass(10 * second)
    #expect(rig.usage().payloadBytes == 0)
    #expect(rig.names().isEmpty && rig.usage().live == 0 && rig.usage().ended == 0)
    #expect(rig.scheduler.brokenInvariant() == nil)
  }

  @Test func `SetPayload counts as Start does: the last that fits, and one more`() throws {
    let rig = Rig(
      limits: Self.limits {
        $0.payloadBytes = 10
        $0.payloadBytesPerUser = 15
      })
    let ten = [UInt8](repeating: 32, count: 10)
    try rig.start("a", hour)
    try rig.start("b", hour, payload: Array(ten.prefix(5)))
    #expect(
      rig.refusal { () throws(Refusal) in try rig.call(.setPayload(ten + [32]), "a") }
        == .quotaExceeded(resource: .payloadBytes, limit: 10, used: 11))
    try rig.call(.setPayload(ten), "a")
    #expect(rig.usage().payloadBytes == 15 && rig.view("a")?.payload == ten)
    #expect(
      rig.refusal { () throws(Refusal) in try rig.call(.setPayload(Array(ten.prefix(6))), "b") }
        == .quotaExceeded(resource: .payloadBytesPerUser, limit: 15, used: 15))
    try rig.call(.setPayload(Array(ten.prefix(9))), "a")
    try rig.call(.setPayload(Array(ten.prefix(6))), "b")
    #expect(rig.usage().payloadBytes == 15)
    try rig.call(.setPayload(nil), "a")
    #expect(rig.usage().payloadBytes == 6 && rig.view("a")?.payload == nil)
    #expect(rig.scheduler.brokenInvariant() == nil)
  }

  @Test func `a payload that comes and goes leaves the start, the grid and the grace`() throws {
    let rig = Rig()
    var request = StartRequest(end: .length(second), clock: .boottime, durability: .memory)
    request.repeatUSec = 5 * second
    try rig.start("repeats", request)
    try rig.start("plain", hour)
    rig.pass(7 * second)
    let before = ["repeats", "plain"].map { rig.view($0) }
    for name in ["repeats", "plain"] {
      try rig.call(.setPayload([1]), name)
      try rig.call(.setPayload(nil), name)
    }
    for (name, old) in zip(["repeats", "plain"], before) {
      let view = try #require(rig.view(name))
      #expect(view.startedAt == old?.startedAt && view.repeatUSec == old?.repeatUSec)
      #expect(view.deadline == old?.deadline && view.payload == nil)
    }
    #expect(rig.pass(5 * second).map(\.occurrence) == [3])
    #expect(rig.scheduler.brokenInvariant() == nil)
  }

  // MARK: Memory

  @Test func `B16: what is started and cancelled at once leaves no trace`() throws {
    #if DEBUG
      let rounds = 5_000
    #else
      let rounds = 1_000_000
    #endif
    let rig = Rig(limits: Self.limits { $0.retainedPerUser = 100 })
    for _ in 0..<3 {
      for place in 0..<rounds {
        try rig.start("order/\(place)", year, payload: [123, 125])
        try rig.call(.cancel, "order/\(place)")
        if place % 100 == 0 { rig.pass(64) }
        rig.events.removeAll(keepingCapacity: true)
      }
      rig.turn()
      #expect(rig.usage().live == 0 && rig.usage().ended == 100)
      #expect(rig.usage().payloadBytes == 200 && rig.scheduler.users.live == 0)
      #expect(rig.scheduler.brokenInvariant() == nil)
      // The retained ones, and those that a hundred turnless calls left to be removed.
      let footprint = rig.scheduler.footprint
      #expect(footprint.entries == 200 && footprint.extras == 200)
      #expect(footprint.nameBytes <= 4_096 && footprint.indexBytes <= 4_096)
    }
    rig.pass(300 * second)
    #expect(rig.names().isEmpty && rig.usage().payloadBytes == 0)
    #expect(rig.scheduler.nextWake == .never)
  }
}
