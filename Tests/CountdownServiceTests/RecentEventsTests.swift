import CountdownService
import Countdowns
import TestSupport
import Testing

/// What is kept for subscribers that read slowly: whose it is, how much, and who loses what.
@Suite("Recent events")
struct RecentEventsTests {
  private func subscribe(
    _ world: World, _ parameters: JSONTree = [:], uid: UInt32 = 1_000
  ) -> Int {
    let client = world.connect(uid: uid)
    world.post("Subscribe", parameters, .more, from: client)
    world.settle()
    return client
  }

  /// One that reads `ready` and then no more, and for which nearly nothing is written ahead.
  private func stalled(_ world: World, _ parameters: JSONTree = [:], uid: UInt32) -> Int {
    let client = subscribe(world, parameters, uid: uid)
    world.setReading(false, client)
    return client
  }

  /// Nearly nothing is written ahead for one that does not read: the first list ends after an event.
  private var limits: Limits {
    var limits = Limits()
    limits.messageBytes = 4_096
    limits.queuedReplyBytes = 8_192
    limits.listBytes = 10
    limits.retainedPerUser = 1_000
    return limits
  }

  /// Ends `count` countdowns `PREFIX100`…; all events are equally long.
  private func end(
    _ world: World, _ count: Int, of client: Int, _ prefix: String = "n", from first: Int = 100
  ) {
    for number in first..<first + count {
      let name = "\(prefix)\(number)"
      world.post(
        "Start", ["name": .string(name), "durationUSec": 0, "onConflict": "replace"], from: client)
      world.turn()
    }
    world.settle()
  }

  private func hasGap(_ world: World, _ client: Int) -> Bool {
    world.clients[client].calls[0].replies.contains { $0["gap"] == true }
  }

  /// What one has missed and got of `n100`… that it had not read before it stalled.
  private func told(_ world: World, _ client: Int) -> [String] {
    world.setReading(true, client)
    world.settle()
    return world.told(to: client).map { String($0.dropFirst("expired ".count)) }
  }

  @Test(arguments: 0..<30 as Range<UInt64>)
  func `each hears what has its prefix, of its owner and of its kinds, and nothing else`(
    seed: UInt64
  ) {
    var random = SplitMix64(seed: seed)
    let world = World(limits: limits, piecesSeed: seed)
    let users: [UInt32] = [1_000, 1_001]
    let callers = users.map { world.connect(uid: $0) }
    let alphabet: [Character] = ["a", "b", "/", "é"]
    func word(_ lengths: ClosedRange<Int>) -> String {
      let length = Int.random(in: lengths, using: &random)
      return String((0..<length).map { _ in alphabet.randomElement(using: &random)! })
    }
    struct Listener {
      let client: Int
      let owner: UInt32?
      let prefix: String
      let kinds: [String]
      var expected: [String] = []
    }
    var listeners: [Listener] = []
    for step in 0..<150 {
      switch Int.random(in: 0..<8, using: &random) {
      case 0, 1:
        let owner =
          Int.random(in: 0..<3, using: &random) == 0 ? nil : users.randomElement(using: &random)!
        let prefix = word(0...3)
        let kinds = ["started", "cancelled"].filter { _ in Bool.random(using: &random) }
        var call: [String: JSONTree] = [
          "prefix": .string(prefix), "kinds": .array(kinds.map(JSONTree.string)),
        ]
        if let owner { call["owner"] = .integer(Int64(owner)) } else { call["allOwners"] = true }
        let client = subscribe(world, .object(call), uid: 0)
        listeners.append(Listener(client: client, owner: owner, prefix: prefix, kinds: kinds))
      case 2 where !listeners.isEmpty:
        let place = Int.random(in: listeners.indices, using: &random)
        let listener = listeners.remove(at: place)
        #expect(world.told(to: listener.client) == listener.expected, "seed \(seed), step \(step)")
        world.vanish(listener.client)
        world.settle()
      default:
        let place = Int.random(in: users.indices, using: &random)
        let name = word(1...5)
        let method = Bool.random(using: &random) ? "Start" : "Cancel"
        var call: [String: JSONTree] = ["name": .string(name)]
        if method == "Start" { call["durationUSec"] = 60_000_000 }
        let reply = world.call(method, .object(call), from: callers[place])
        guard reply.error == nil else { continue }
        let kind = method == "Start" ? "started" : "cancelled"
        for index in listeners.indices {
          let listener = listeners[index]
          if listener.owner ?? users[place] == users[place], listener.kinds.contains(kind),
            Array(name.utf8).starts(with: Array(listener.prefix.utf8))
          {
            listeners[index].expected.append("\(kind) \(name)")
          }
        }
      }
    }
    for listener in listeners {
      #expect(world.told(to: listener.client) == listener.expected, "seed \(seed)")
      #expect(!hasGap(world, listener.client), "seed \(seed)")
    }
    #expect(world.problems == [])
  }

  @Test func `what is gone and was for others is no gap`() {
    var limits = limits
    limits.recentEventsBytesPerUser = 4_000
    let world = World(limits: limits)
    let client = world.connect()
    let quiet = subscribe(world, ["prefix": "a/"])
    let loud = subscribe(world, ["prefix": "b/"])
    end(world, 100, of: client, "b/")
    // Handled by itself before it is served, for it sends no more.
    world.shutDown(quiet)
    end(world, 1, of: client, "a/")
    #expect(world.told(to: quiet) == ["expired a/100"])
    #expect(!hasGap(world, quiet))
    #expect(world.told(to: loud).count == 100)
    world.setReading(false, quiet)
    end(world, 100, of: client, "b/")
    end(world, 1, of: client, "a/")
    #expect(told(world, quiet) == ["a/100", "a/100"])
    #expect(!hasGap(world, quiet))
    #expect(world.problems == [])
  }

  /// Bytes that the ring counts for an event of `n100`…: its JSON, its name and its place.
  private func cost(_ world: World, _ client: Int) -> Int {
    let listener = subscribe(world, uid: world.clients[client].uid)
    world.keepBytes(of: listener)
    end(world, 1, of: client)
    let message = world.clients[listener].bytes
    world.vanish(listener)
    world.settle()
    world.problems = []
    let around = #"{"parameters":{"events":[]},"continues":true}"#.utf8.count + 1
    return message.count - around + "n100".utf8.count + 32
  }

  @Test(arguments: [(0, 10), (-1, 9), (1, 10)])
  func `so much of one user is kept, and not one more`(more: Int, kept: Int) {
    let world = World(limits: limits)
    let client = world.connect()
    var changed = limits
    changed.recentEventsBytesPerUser = 10 * cost(world, client) + more
    world.service.adopt(changed)
    let listener = stalled(world, uid: 1_000)
    end(world, 40, of: client)
    let told = told(world, listener)
    #expect(told.suffix(kept) == (140 - kept..<140).map { "n\($0)" })
    #expect(hasGap(world, listener))
    // Before the gap there is only what was written ahead.
    let order = told.compactMap { Int($0.dropFirst()) }
    let gap = zip(order, order.dropFirst()).first { $0 + 1 != $1 }
    #expect(gap?.1 == 140 - kept)
    #expect(world.problems == [])
  }

  @Test func `a limit that is lowered drops at once what is beyond it`() {
    let world = World(limits: limits)
    let client = world.connect()
    let cost = cost(world, client)
    let listener = stalled(world, uid: 1_000)
    end(world, 40, of: client)
    var changed = limits
    changed.recentEventsBytesPerUser = 7 * cost
    world.service.adopt(changed)
    #expect(world.service.brokenInvariant() == nil)
    #expect(told(world, listener).suffix(7) == (133..<140).map { "n\($0)" })
    #expect(hasGap(world, listener))
  }

  /// In all there is room for 30: who has the most loses, and nobody else.
  @Test func `beyond the limit in all, who has the most loses his oldest`() {
    let world = World(limits: limits)
    let callers = (1_000..<1_003 as Range<UInt32>).map { world.connect(uid: $0) }
    let cost = cost(world, callers[0])
    var changed = limits
    changed.recentEventsBytesPerUser = 20 * cost
    changed.recentEventsBytes = 30 * cost
    world.service.adopt(changed)
    // What is written ahead of one that does not read takes no room in the ring.
    let ahead = 30
    let listeners = (1_000..<1_003 as Range<UInt32>).map { stalled(world, uid: $0) }
    end(world, ahead + 20, of: callers[0])
    end(world, ahead, of: callers[1])
    end(world, ahead, of: callers[2])
    end(world, 10, of: callers[1], from: 100 + ahead)
    end(world, 10, of: callers[2], from: 100 + ahead)
    let first = told(world, listeners[0])
    #expect(first.suffix(10) == (140..<150).map { "n\($0)" })
    #expect(hasGap(world, listeners[0]))
    for place in [1, 2] {
      #expect(told(world, listeners[place]).suffix(10) == (130..<140).map { "n\($0)" })
    }
    #expect(world.problems == [])
  }

  @Test func `one user's noise takes nothing from another, nor from who listens to all`() {
    var limits = limits
    limits.recentEventsBytesPerUser = 200_000
    limits.recentEventsBytes = 400_000
    let world = World(limits: limits)
    world.checksInvariants = false
    let (quiet, loud) = (world.connect(uid: 1_000), world.connect(uid: 1_001))
    let slow = stalled(world, uid: 1_000)
    let all = stalled(world, ["allOwners": true, "prefix": "q"], uid: 0)
    let noisy = [stalled(world, uid: 1_001), subscribe(world, uid: 1_001)]
    end(world, 60, of: quiet, "q")
    for round in 0..<4 { end(world, 900, of: loud, "n", from: 100 + 1_000 * round) }
    #expect(world.service.brokenInvariant() == nil)
    for client in [slow, all] {
      #expect(told(world, client) == (100..<160).map { "q\($0)" })
      #expect(!hasGap(world, client))
    }
    _ = told(world, noisy[0])
    #expect(hasGap(world, noisy[0]))
    #expect(world.told(to: noisy[1]).count == 3_600 && !hasGap(world, noisy[1]))
    #expect(world.problems == [])
  }

  @Test func `memory is bounded however many users are loud`() {
    var limits = limits
    limits.recentEventsBytesPerUser = 64 << 10
    limits.recentEventsBytes = 128 << 10
    limits.connectionsPerUser = 4
    let world = World(limits: limits)
    world.checksInvariants = false
    let users = (1_000..<1_040 as Range<UInt32>).map { $0 }
    let listeners = users.map { stalled(world, uid: $0) }
    let callers = users.map { world.connect(uid: $0) }
    for round in 0..<30 {
      for caller in callers { end(world, 1, of: caller, from: 100 + round) }
      #expect(world.service.brokenInvariant() == nil)
    }
    // Equally loud, they have equally much left.
    let left = listeners.map { told(world, $0).reversed() }
      .map { names in zip(names, (100..<130).reversed()).prefix { $0 == "n\($1)" }.count }
    #expect(Set(left).count <= 2 && left.allSatisfy { $0 >= 5 }, "\(left)")
    #expect(world.problems == [])
  }
}
