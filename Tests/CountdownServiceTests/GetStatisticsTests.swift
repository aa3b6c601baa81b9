import CountdownService
import Countdowns
import TestSupport
import Testing

@Suite("GetStatistics")
struct GetStatisticsTests {
  private let world = World()

  private func statistics(
    _ parameters: JSONTree = [:], from client: Int, in world: World? = nil
  ) -> VirtualClient.Reply {
    let world = world ?? self.world
    let reply = world.call("GetStatistics", parameters, from: client)
    #expect(reply.error == nil && world.problems == [])
    return reply
  }

  /// Started, expired, missed, cancelled.
  private func counts(_ reply: VirtualClient.Reply, _ field: String = "sinceStart") -> [Int64] {
    ["started", "expired", "missed", "cancelled"].map { reply[field]?[$0]?.integer ?? -1 }
  }

  private func start(
    _ name: String, _ usec: Int64, _ more: [String: JSONTree] = [:], from client: Int
  ) {
    var call = more
    call["name"] = .string(name)
    call["durationUSec"] = .integer(usec)
    world.call("Start", .object(call), from: client)
  }

  /// So many of a second, called n0 and so on.
  private func startCrowd(_ count: Int, from client: Int) {
    for first in stride(from: 0, to: count, by: 1_000) {
      let items = (first..<min(first + 1_000, count)).map { number -> JSONTree in
        ["name": .string("n\(number)"), "durationUSec": 1_000_000]
      }
      world.call("StartMany", ["countdowns": .array(items)], from: client)
    }
  }

  @Test func `of one who did nothing all is zero, but for his connection and this call`() {
    let reply = statistics(from: world.connect())
    for field in ["running", "paused", "ended", "payloadBytes", "streams", "worstLateUSec"] {
      #expect(reply[field] == 0, "\(field)")
    }
    #expect(reply["connections"] == 1)
    #expect(counts(reply) == [0, 0, 0, 0] && counts(reply, "lastMinute") == [0, 0, 0, 0])
    #expect(reply["sinceStart"]?["calls"] == 0, "this one is not over")
    #expect(reply["oldestOverdueUSec"] == nil && reply["daemon"] == nil)
    let buckets = reply["lateness"]?.array ?? []
    #expect(buckets.count == 24 && buckets.allSatisfy { $0["count"] == 0 })
    #expect(buckets.first?["upToUSec"] == 100 && buckets.last?["upToUSec"] == nil)
    #expect(buckets[22]["upToUSec"] == .integer(.hours(1)))
    let bounds = buckets.compactMap { $0["upToUSec"]?.integer }
    #expect(bounds == bounds.sorted() && Set(bounds).count == 23)
  }

  @Test func `what happens is counted for its owner, and for nobody else`() {
    let (one, other) = (world.connect(uid: 1_000), world.connect(uid: 1_001))
    start("a", 5_000_000, ["payload": ["x": 1]], from: one)
    start("b", 5_000_000, from: one)
    start("c", 60_000_000, from: one)
    start("c", 70_000_000, ["onConflict": "replace"], from: one)
    world.call("Cancel", ["name": "b"], from: one)
    world.call("Cancel", ["name": "nobody"], from: one)
    world.run(6_000_000)
    world.call("Restart", ["name": "a"], from: one)
    world.call("Pause", ["name": "a"], from: one)
    let reply = statistics(from: one)
    #expect(counts(reply) == [5, 1, 0, 2])
    #expect(reply["sinceStart"]?["calls"] == 8)
    #expect(reply["running"] == 1 && reply["paused"] == 1 && reply["ended"] == 1)
    #expect(reply["payloadBytes"] == 7)
    let others = statistics(from: other)
    #expect(counts(others) == [0, 0, 0, 0] && others["sinceStart"]?["calls"] == 0)
  }

  @Test func `an admin may ask after another and after all, and is told of the daemon`() {
    let (one, other) = (world.connect(uid: 1_000), world.connect(uid: 1_001))
    start("a", 1_000, from: one)
    start("b", 60_000_000, ["payload": ["x": 1]], from: other)
    world.run(5_000)
    let root = world.connect(uid: 0)
    #expect(counts(statistics(["owner": 1_000], from: root)) == [1, 1, 0, 0])
    #expect(counts(statistics(["owner": 1_001], from: root)) == [1, 0, 0, 0])
    #expect(counts(statistics(["owner": 4_711], from: root)) == [0, 0, 0, 0])
    #expect(counts(statistics(from: root)) == [0, 0, 0, 0])
    let all = statistics(["allOwners": true], from: root)
    #expect(counts(all) == [2, 1, 0, 0] && counts(all, "lastMinute") == [2, 1, 0, 0])
    #expect(all["running"] == 1 && all["ended"] == 1 && all["connections"] == 3)
    #expect(all["payloadBytes"] == 7)
    #expect((all["lateness"]?.array ?? []).reduce(0) { $0 + ($1["count"]?.integer ?? 0) } == 1)
    let daemon = all["daemon"]
    #expect(daemon?["version"] == "0" && daemon?["users"] == 3)
    #expect(daemon?["uptimeUSec"] == 5_000)
    #expect(daemon?["memory"]?["payloadBytes"] == 7)
    #expect(daemon?["memory"]?["wheelBytes"] == 40, "two entries of twenty bytes")
    #expect(daemon?["memory"]?["residentBytes"] == 1_048_576)
    world.service.machine.residentBytes = nil
    #expect(statistics(from: root)["daemon"]?["memory"]?["residentBytes"] == nil)
    #expect(statistics(from: one)["daemon"] == nil)
  }

  @Test func `the limits are told under their keys, as they are now`() {
    let root = world.connect(uid: 0)
    func limits() -> [String: Int64] {
      let list = statistics(from: root)["daemon"]?["limits"]?.array ?? []
      return Dictionary(
        uniqueKeysWithValues: list.map { ($0["name"]?.string ?? "", $0["value"]?.integer ?? -1) })
    }
    #expect(limits()["MaxCountdowns"] == 5_000_000)
    #expect(limits()["RetainEndedSec"] == 300_000_000)
    var changed = Limits()
    changed.countdowns = 17
    world.service.adopt(changed)
    #expect(limits()["MaxCountdowns"] == 17)
  }

  @Test func `connections, streams and what is not read are the owner's own`() {
    let (one, stream) = (world.connect(uid: 1_000), world.connect(uid: 1_000))
    world.call("Subscribe", ["kinds": ["started"]], .more, from: stream)
    let other = world.connect(uid: 1_001)
    world.setReading(false, stream)
    start("a", 60_000_000, from: one)
    let waiting = Int64(world.waitingText(for: stream).utf8.count)
    let reply = statistics(from: one)
    #expect(reply["connections"] == 2 && reply["streams"] == 1)
    #expect(waiting > 0 && reply["unreadReplyBytes"] == .integer(waiting))
    let others = statistics(from: other)
    #expect(others["connections"] == 1 && others["streams"] == 0)
    #expect(others["unreadReplyBytes"] == 0)
    let watcher = world.connect(uid: 1_000)
    world.call("Watch", ["names": ["a"]], .more, from: watcher)
    #expect(statistics(from: one)["streams"] == 2)
    for client in [stream, watcher] { world.vanish(client) }
    world.settle()
    #expect(statistics(from: one)["streams"] == 0)
  }

  @Test func `what the caller itself has not read counts as much as it is, be it partly sent`() {
    let root = world.connect(uid: 0)
    start("a", 60_000_000, from: root)
    world.setReading(false, root)
    world.keepBytes(of: root)
    for _ in 0..<5 { world.post("Get", ["name": "a"], from: root) }
    world.turn()
    let id = world.clients[root].id
    world.service.sent(400, to: id)
    let waiting = world.service.withOutput(of: id) { $0.count }
    world.post("GetStatistics", from: root)
    world.turn()
    let text = world.waitingText(for: root).utf8
    let reply = text.split(separator: 0).last.flatMap { JSONTree(parsing: Array($0)) }
    let own = reply?["parameters"]
    #expect(waiting > 0 && own?["unreadReplyBytes"] == .integer(Int64(waiting)))
    #expect(own?["daemon"]?["memory"]?["replyBytes"] == .integer(Int64(waiting)))
    // The same of all, asked by itself and by another.
    world.post("GetStatistics", ["allOwners": true], from: root)
    world.turn()
    let both = world.waitingText(for: root).utf8
    let second = both.split(separator: 0).last.flatMap { JSONTree(parsing: Array($0)) }
    #expect(second?["parameters"]?["unreadReplyBytes"] == .integer(Int64(text.count)))
    let all = statistics(["allOwners": true], from: world.connect(uid: 0))
    #expect(all["unreadReplyBytes"] == .integer(Int64(both.count)))
  }

  @Test func `a turn answers no more of them about all than it may look at users`() {
    world.checksInvariants = false
    for uid in 1_000..<1_500 as Range<UInt32> {
      world.call("Count", from: world.connect(uid: uid))
    }
    let root = world.connect(uid: 0)
    for _ in 0..<100 { world.post("GetStatistics", ["allOwners": true], from: root) }
    for turn in 1...3 {
      world.turn()
      // The last one may overdraw what a turn has: 2048, by the 500 users that it looks at.
      #expect(world.written.count == 5, "turn \(turn)")
    }
    world.settle()
    #expect(world.clients[root].calls.allSatisfy { $0.isAnswered })
    #expect(world.problems == [])
  }

  @Test(arguments: [
    (0, 0), (100, 0), (101, 1), (200, 1), (201, 2), (1_000, 3), (1_001, 4), (1_000_000, 12),
    (1_000_001, 13), (3_600_000_000, 22), (3_600_000_001, 23),
  ])
  func `a lateness falls into the bucket whose bound it does not exceed`(late: Int64, bucket: Int) {
    let client = world.connect()
    start("a", 1_000_000, from: client)
    world.clock.run(1_000_000 + late)
    let reply = statistics(from: client)
    let filled = (reply["lateness"]?.array ?? []).indices.filter {
      reply["lateness"]?.array?[$0]["count"] == 1
    }
    #expect(filled == [bucket])
    #expect(reply["worstLateUSec"] == .integer(late))
  }

  @Test func `what was past when it was started is nobody's lateness`() {
    let client = world.connect()
    world.call("Start", ["name": "a", "deadlineUSec": 0], from: client)
    world.call(
      "Start",
      ["name": "b", "deadlineUSec": .integer(world.clock.reading.realtime + 1_000_000)],
      from: client)
    world.clock.run(1_000_250)
    let reply = statistics(from: client)
    #expect(counts(reply)[1] == 2)
    #expect(reply["worstLateUSec"] == 250)
  }

  @Test func `the last minute is sixty seconds, one more and it is over`() {
    let client = world.connect()
    // Two in one second, and one in the next.
    let start = world.clock.reading.boottime
    world.clock.run(1_000_000 - start % 1_000_000)
    self.start("a", .hours(1), from: client)
    self.start("b", .hours(1), from: client)
    world.clock.run(1_000_000)
    self.start("c", .hours(1), from: client)
    world.clock.run(58_999_999)
    #expect(counts(statistics(from: client), "lastMinute")[0] == 3)
    world.clock.run(1)
    #expect(counts(statistics(from: client), "lastMinute")[0] == 1)
    world.clock.run(1_000_000)
    let reply = statistics(from: client)
    #expect(counts(reply, "lastMinute")[0] == 0 && counts(reply)[0] == 3)
    #expect(reply["lastMinute"]?["calls"] == 2, "the two that asked before, not the three starts")
  }

  @Test func `a place in the ring of seconds is emptied before it is used again`() {
    let client = world.connect()
    for count in 0..<200 as Range<Int64> {
      start("n\(count)", .hours(10), from: client)
      world.clock.run(1_000_000)
      let reply = statistics(from: client)
      #expect(counts(reply, "lastMinute")[0] == min(count + 1, 59), "after \(count) seconds")
    }
    world.clock.suspend(.hours(8))
    #expect(counts(statistics(from: client), "lastMinute")[0] == 0)
  }

  @Test func `while a crowd is told, the first that waits is as overdue as it is`() {
    let client = world.connect()
    startCrowd(3_000, from: client)
    let root = world.connect(uid: 0)
    #expect(statistics(from: client)["oldestOverdueUSec"] == nil)
    world.clock.run(1_500_000)
    world.post("GetStatistics", from: client)
    world.post("GetStatistics", from: root)
    world.turn()
    // A turn tells 1024 of them at most; the rest waits, and everybody may know.
    for asker in [client, root] {
      let reply = world.clients[asker].calls.last?.replies.last
      #expect(reply?["oldestOverdueUSec"] == 500_000)
    }
    world.settle()
    #expect(statistics(from: client)["oldestOverdueUSec"] == nil)
  }

  @Test(arguments: [
    ("Get", nil), ("Cancel", "AlreadyExpired"), ("Extend", "AlreadyExpired"), ("Restart", nil),
  ])
  func `one that a call came for while it was due is overdue no more`(
    method: String, error: String?
  ) {
    let client = world.connect()
    startCrowd(1_025, from: client)
    start("late", 1_400_000, from: client)
    world.clock.run(1_500_000)
    // The call that comes for it hands the last one of the crowd out; then the later one is first.
    let more: [String: JSONTree] = method == "Extend" ? ["byUSec": 1] : [:]
    world.post(
      method, .object(more.merging(["name": "n1024"]) { _, new in new }), from: client)
    world.post("GetStatistics", from: client)
    world.turn()
    let replies = world.clients[client].calls.suffix(2).map { $0.replies.last }
    #expect(replies[0]?.errorName == error)
    #expect(replies[1]?["oldestOverdueUSec"] == 100_000)
    world.settle()
    #expect(counts(statistics(from: client))[1] == 1_026)
    #expect(world.problems == [])
  }

  @Test func `one that was moved away by a step back while it was due is overdue no more`() {
    let client = world.connect()
    startCrowd(2_048, from: client)
    let deadline = world.clock.reading.realtime + 1_200_000
    world.call("Start", ["name": "r", "deadlineUSec": .integer(deadline)], from: client)
    world.clock.run(1_500_000)
    world.turn()
    // One half of the crowd was told, and the other is in this turn: then it is first.
    world.clock.step(-10_000_000)
    world.post("GetStatistics", from: client)
    world.turn()
    let reply = world.clients[client].calls.last?.replies.last
    #expect(reply?["sinceStart"]?["expired"] == 2_048)
    #expect(reply?["oldestOverdueUSec"] == nil)
    world.settle()
    #expect(world.call("Get", ["name": "r"], from: client)["countdown"]?["state"] == "running")
    world.run(9_700_000)
    #expect(counts(statistics(from: client))[1] == 2_049)
    #expect(world.problems == [])
  }

  @Test func `calls that are refused, and those that wait for a verdict, are counted once`() {
    let world = World(ledger: .prompt)
    let (client, other) = (world.connect(), world.connect())
    // The other one's waits until the first has its verdict.
    for caller in [client, other, client] {
      world.post(
        "Start", ["name": "a", "durationUSec": 9_000_000, "onConflict": "replace"], from: caller)
    }
    world.post("Get", ["name": "nobody"], from: client)
    world.post("Get", ["name": 1], from: client)
    world.settle()
    let reply = statistics(from: client, in: world)
    #expect(reply["sinceStart"]?["calls"] == 5)
    #expect(counts(reply) == [3, 0, 0, 2])
  }
}
