import Testing
import TimingWheel

/// Advances without a limit and says what was due.
private func due(by target: UInt64, in wheel: inout Wheel) -> [EntryID] {
  var due: [EntryID] = []
  let isReached = wheel.advance(to: Instant(rawValue: target), limit: .max, into: &due)
  #expect(isReached)
  #expect(wheel.brokenInvariant() == nil)
  return due
}

private func wheel(now: UInt64 = 0, reserving capacity: Int = 16) -> Wheel {
  Wheel(now: Instant(rawValue: now), reserving: capacity)
}

@Suite struct WheelTests {
  // MARK: Empty

  @Test func `a new wheel holds nothing and wakes nobody`() {
    var wheel = wheel(now: 7)
    #expect(wheel.now == Instant(rawValue: 7))
    #expect(wheel.count == 0)
    #expect(wheel.liveCount == 0)
    #expect(wheel.capacityInUse == 0)
    #expect(wheel.nextWake == nil)
    #expect(due(by: 1 << 54 - 1, in: &wheel).isEmpty)
    #expect(wheel.now == .last)
  }

  // MARK: Deadlines

  private static let edges: [UInt64] = [
    0, 1, 63, 64, 65, 4095, 4096, 4097, 1 << 18 - 1, 1 << 18, 1 << 48, 1 << 53 - 1, 1 << 53,
    1 << 54 - 1,
  ]

  @Test(arguments: edges, [0, 1, 63, 64, 4095, 1 << 30] as [UInt64])
  func `an entry is due at its microsecond and not one before`(deadline: UInt64, now: UInt64) {
    var wheel = wheel(now: min(now, deadline))
    let id = wheel.start(at: Instant(rawValue: deadline))
    if deadline > wheel.now.rawValue {
      #expect(due(by: deadline - 1, in: &wheel).isEmpty)
      #expect(wheel.nextWake == Instant(rawValue: deadline))
    }
    #expect(due(by: deadline, in: &wheel) == [id])
    #expect(wheel.count == 0)
    #expect(wheel.nextWake == nil)
  }

  @Test(arguments: [0, 64, 99, 100] as [UInt64])
  func `a deadline that has come already is due at once`(deadline: UInt64) {
    var wheel = wheel(now: 100)
    let id = wheel.start(at: Instant(rawValue: deadline))
    #expect(wheel.count == 1)
    #expect(wheel.nextWake == wheel.now)
    #expect(wheel.brokenInvariant() == nil)
    #expect(due(by: 100, in: &wheel) == [id])
  }

  @Test func `entries of one tick come at their own microseconds`() {
    var wheel = wheel()
    let ids = [640, 641, 660, 703].map { wheel.start(at: Instant(rawValue: $0)) }
    #expect(wheel.nextWake == Instant(rawValue: 640))
    #expect(due(by: 640, in: &wheel) == [ids[0]])
    #expect(wheel.nextWake == Instant(rawValue: 641))
    #expect(due(by: 659, in: &wheel) == [ids[1]])
    #expect(wheel.nextWake == Instant(rawValue: 660))
    #expect(due(by: 703, in: &wheel) == [ids[2], ids[3]])
  }

  @Test func `a minimum that was taken away wakes early at most once, and within its tick`() {
    var wheel = wheel()
    let first = wheel.start(at: Instant(rawValue: 650))
    let second = wheel.start(at: Instant(rawValue: 690))
    wheel.release(first)
    #expect(wheel.nextWake == Instant(rawValue: 650))
    #expect(due(by: 650, in: &wheel).isEmpty)
    #expect(wheel.nextWake == Instant(rawValue: 690))
    #expect(due(by: 690, in: &wheel) == [second])
  }

  @Test func `a minimum does not outlive its slot's last entry`() {
    var wheel = wheel()
    wheel.release(wheel.start(at: Instant(rawValue: 650)))
    #expect(wheel.nextWake == nil)
    _ = wheel.start(at: Instant(rawValue: 690))
    #expect(wheel.nextWake == Instant(rawValue: 690))
  }

  @Test func `company in a slot above wakes at its earliest deadline, not at its start`() {
    var wheel = wheel()
    let ids = [5100, 5000].map { wheel.start(at: Instant(rawValue: $0)) }
    #expect(wheel.nextWake == Instant(rawValue: 5000))
    // A look in between, at the slot's start: nothing is due, and all goes on as before.
    #expect(due(by: 4096, in: &wheel).isEmpty)
    #expect(wheel.nextWake == Instant(rawValue: 5000))
    #expect(due(by: 6000, in: &wheel) == ids.reversed())
  }

  @Test func `what starts in a slot that has begun does not overtake what stood there`() {
    var wheel = wheel()
    let early = wheel.start(at: Instant(rawValue: 4_200))
    #expect(due(by: 4_097, in: &wheel).isEmpty)
    let late = wheel.start(at: Instant(rawValue: 4_230))
    #expect(wheel.nextWake == Instant(rawValue: 4_200))
    #expect(due(by: 4_229, in: &wheel) == [early])
    #expect(due(by: 4_230, in: &wheel) == [late])
  }

  @Test func `when the earliest of a slot leaves, at most one wake is in vain`() {
    var wheel = wheel()
    let early = wheel.start(at: Instant(rawValue: 300_000))
    let late = wheel.start(at: Instant(rawValue: 400_000))
    wheel.release(early)
    var wakes = 0
    var reported: [EntryID] = []
    while let wake = wheel.nextWake {
      wakes += 1
      reported += due(by: wake.rawValue, in: &wheel)
    }
    #expect(reported == [late])
    #expect(wakes == 2)
  }

  @Test func `one leap over all levels reports in the order of ticks`() {
    var wheel = wheel()
    let deadlines = (0..<54).map { 1 << UInt64($0) as UInt64 }
    let ids = deadlines.reversed().map { wheel.start(at: Instant(rawValue: $0)) }
    let due = due(by: 1 << 54 - 1, in: &wheel)
    // Those below 64 share a tick, where the order is not promised.
    #expect(Set(due.prefix(6)) == Set(ids.suffix(6)))
    #expect(due.dropFirst(6) == ids.dropLast(6).reversed()[...])
  }

  @Test func `a clock that seems to go back moves nothing, and reports what is due`() {
    var wheel = wheel(now: 1000)
    let overdue = wheel.start(at: Instant(rawValue: 900))
    _ = wheel.start(at: Instant(rawValue: 1001))
    #expect(due(by: 10, in: &wheel) == [overdue])
    #expect(wheel.now == Instant(rawValue: 1000))
    #expect(due(by: 10, in: &wheel).isEmpty)
    #expect(wheel.count == 1)
  }

  // MARK: The lives of an entry

  @Test func `what is due is parked, and can be scheduled again under its id`() {
    var wheel = wheel()
    let id = wheel.start(at: Instant(rawValue: 100))
    #expect(wheel.deadline(of: id) == Instant(rawValue: 100))
    #expect(due(by: 100, in: &wheel) == [id])
    #expect(wheel.isLive(id) == true)
    #expect(wheel.deadline(of: id) == nil)
    #expect(wheel.liveCount == 1)
    wheel.schedule(id, at: Instant(rawValue: 200))
    #expect(wheel.count == 1)
    #expect(due(by: 200, in: &wheel) == [id])
  }

  @Test func `scheduling a waiting entry moves it, both ways`() {
    var wheel = wheel()
    let id = wheel.start(at: Instant(rawValue: 1 << 40))
    wheel.schedule(id, at: Instant(rawValue: 70))
    #expect(wheel.count == 1)
    #expect(wheel.nextWake == Instant(rawValue: 70))
    wheel.schedule(id, at: Instant(rawValue: 1 << 30))
    #expect(due(by: 1 << 30 - 1, in: &wheel).isEmpty)
    #expect(due(by: 1 << 30, in: &wheel) == [id])
  }

  @Test func `a parked entry is never due`() {
    var wheel = wheel()
    let id = wheel.allocate()
    let other = wheel.start(at: Instant(rawValue: 5))
    wheel.park(other)
    wheel.park(other)
    #expect(wheel.count == 0)
    #expect(wheel.liveCount == 2)
    #expect(wheel.nextWake == nil)
    #expect(due(by: 1 << 54 - 1, in: &wheel).isEmpty)
    wheel.release(id)
    #expect(wheel.liveCount == 1)
    #expect(wheel.brokenInvariant() == nil)
  }

  @Test func `what waits to be reported can still be parked, moved and released`() {
    var wheel = wheel()
    let ids = (0..<5).map { _ in wheel.start(at: Instant(rawValue: 100)) }
    var due: [EntryID] = []
    #expect(wheel.advance(to: Instant(rawValue: 100), limit: 1, into: &due) == false)
    #expect(due == [ids[0]])
    #expect(wheel.count == 4)
    wheel.park(ids[1])
    wheel.release(ids[2])
    wheel.schedule(ids[3], at: Instant(rawValue: 300))
    #expect(wheel.brokenInvariant() == nil)
    #expect(wheel.advance(to: Instant(rawValue: 100), limit: 1, into: &due) == true)
    #expect(due == [ids[0], ids[4]])
    #expect(wheel.nextWake == Instant(rawValue: 300))
  }

  // MARK: Ids

  @Test func `a stale id is recognised, also when its cell has a new tenant`() {
    var wheel = wheel()
    let old = wheel.start(at: Instant(rawValue: 100))
    wheel.release(old)
    #expect(wheel.isLive(old) == false)
    let new = wheel.start(at: Instant(rawValue: 200))
    #expect(new.index == old.index)
    #expect(new.generation > old.generation)
    #expect(wheel.isLive(old) == false)
    #expect(wheel.deadline(of: old) == nil)
    #expect(wheel.isLive(new) == true)
  }

  @Test func `an id from a greater wheel is not live in a lesser one`() {
    var greater = wheel()
    let ids = (0..<3).map { _ in greater.allocate() }
    var lesser = wheel(reserving: 0)  // A sanitizer sees a look beyond its memory.
    #expect(lesser.isLive(ids[0]) == false)
    lesser.release(lesser.allocate())
    for id in ids { #expect(lesser.isLive(id) == false) }
  }

  @Test func `the cell released last is used first, and indices stay dense`() {
    var wheel = wheel()
    let ids = (0..<4).map { _ in wheel.allocate() }
    #expect(ids.map(\.index) == [0, 1, 2, 3])
    wheel.release(ids[1])
    wheel.release(ids[3])
    #expect((0..<3).map { _ in wheel.allocate().index } == [3, 1, 4])
    #expect(wheel.capacityInUse == 5)
  }

  @Test func `a cell whose generations are used up is retired`() {
    var wheel = Wheel(now: Instant(rawValue: 0), reserving: 4, firstGeneration: .max - 2)
    let lastButOne = wheel.allocate()
    wheel.release(lastButOne)
    let last = wheel.start(at: Instant(rawValue: 9))
    #expect(last.index == lastButOne.index)
    #expect(last.generation == .max)
    wheel.release(last)
    #expect(wheel.isLive(last) == false)
    #expect(wheel.brokenInvariant() == nil)
    #expect(wheel.allocate().index == 1)
    #expect(wheel.liveCount == 1)
    #expect(wheel.brokenInvariant() == nil)
  }

  @Test func `scheduling a stale id is a programmer error`() async {
    await #expect(processExitsWith: .failure) {
      var wheel = Wheel(now: Instant(rawValue: 0), reserving: 1)
      let id = wheel.allocate()
      wheel.release(id)
      wheel.schedule(id, at: Instant(rawValue: 1))
    }
  }

  @Test func `parking a stale id is a programmer error`() async {
    await #expect(processExitsWith: .failure) {
      var wheel = Wheel(now: Instant(rawValue: 0), reserving: 1)
      let id = wheel.allocate()
      wheel.release(id)
      _ = wheel.allocate()
      wheel.park(id)
    }
  }

  @Test func `releasing twice is a programmer error`() async {
    await #expect(processExitsWith: .failure) {
      var wheel = Wheel(now: Instant(rawValue: 0), reserving: 1)
      let id = wheel.allocate()
      wheel.release(id)
      wheel.release(id)
    }
  }

  @Test func `a turn that may do nothing is a programmer error`() async {
    await #expect(processExitsWith: .failure) {
      var wheel = Wheel(now: Instant(rawValue: 0), reserving: 1)
      var due: [EntryID] = []
      _ = wheel.advance(to: Instant(rawValue: 1), limit: 0, into: &due)
    }
  }

  // MARK: Size

  @Test(arguments: [0, 1, 100])
  func `a wheel grows beyond what was reserved, with everything in its place`(capacity: Int) {
    var wheel = wheel(reserving: capacity)
    let ids = (0..<5000).map { wheel.start(at: Instant(rawValue: 1 + $0 * 977)) }
    #expect(wheel.brokenInvariant() == nil)
    #expect(wheel.capacityInUse == 5000)
    for id in ids { #expect(wheel.isLive(id) == true) }
    #expect(due(by: 5000 * 977, in: &wheel) == ids)
  }

  @Test func `a great reservation begins on a huge page and does not move until it is full`() {
    var wheel = wheel(reserving: 200_000)
    let addresses = wheel.addresses
    #expect(addresses.lowerBound % (1 << 21) == 0)
    #expect(addresses.count >= 200_000 * 16)
    for _ in 0..<200_000 { _ = wheel.allocate() }
    #expect(wheel.addresses == addresses)
    _ = wheel.allocate()
    #expect(wheel.addresses.count == 2 * addresses.count)
    #expect(wheel.addresses.lowerBound % (1 << 21) == 0)
  }

  @Test func `a million in one tick are reported a thousand a turn`() {
    var wheel = wheel(reserving: 1_000_000)
    for offset in 0..<1_000_000 as Range<UInt64> {
      _ = wheel.start(at: Instant(rawValue: 6400 + offset % 64))
    }
    var due: [EntryID] = []
    var seen: Set<UInt32> = []
    var turns = 0
    while wheel.count > 0 {
      turns += 1
      let isReached = wheel.advance(to: Instant(rawValue: 6463), limit: 1000, into: &due)
      #expect(due.count <= 1000)
      #expect(isReached == (wheel.count == 0))
      if !isReached { #expect(wheel.nextWake == wheel.now) }
      for id in due { seen.insert(id.index) }
      due.removeAll(keepingCapacity: true)
    }
    #expect(seen.count == 1_000_000)
    #expect(turns == 1000, "each entry is due once, and none is filed anew on the way")
  }

  @Test func `B16 a million starts and cancels leave nothing behind, three times over`() {
    var wheel = wheel(reserving: 16)
    let year = Instant(rawValue: 365 * 86400 * 1_000_000)
    for _ in 0..<3 {
      for _ in 0..<1_000_000 { wheel.release(wheel.start(at: year)) }
      #expect(wheel.count == 0)
      #expect(wheel.liveCount == 0)
      #expect(wheel.capacityInUse == 1)
    }
    #expect(wheel.brokenInvariant() == nil)
  }
}
