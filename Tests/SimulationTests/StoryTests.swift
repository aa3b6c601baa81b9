import Countdowns
import TestSupport
import Testing

/// What people use it for, from beginning to end.
@Suite("Stories")
struct StoryTests {
  /// An order that nobody pays is cancelled after 15 minutes; a payment may come at the last moment.
  @Test(arguments: [false, true])
  func `an unpaid order: of 10 000 races of a payment and the end, each has one outcome`(
    isDelayed: Bool
  ) {
    var random = SplitMix64(seed: 20_261_130)
    let world = World(ledger: isDelayed ? .prompt : nil)
    world.checksInvariants = false
    let (shop, worker) = (world.connect(), world.connect())
    world.post("Subscribe", ["prefix": "orders/"], .more, from: worker)
    world.settle()
    let races = isDelayed ? 2_000 : 10_000
    var outcomes = [0, 0]
    var toldBefore = 0
    for order in 0..<races {
      let name: JSONTree = .string("orders/\(order)")
      world.post("Start", ["name": name, "durationUSec": 900_000_000], from: shop)
      if isDelayed { world.turn() }
      world.turn()
      // The payment comes within microseconds of the end, before or after a turn looks.
      world.clock.run(900_000_000 + .random(in: -3...3, using: &random))
      if Bool.random(using: &random) { world.turn() }
      world.post("Cancel", ["name": name], from: shop)
      if Bool.random(using: &random) { world.clock.run(.random(in: 0...3, using: &random)) }
      world.turn()
      if isDelayed { world.clock.run(.random(in: 0...3, using: &random)) }
      while world.clients[shop].calls.last?.isAnswered == false { world.turn() }
      world.clock.run(10)
      world.turn()
      world.turn()
      let replies = world.clients[worker].calls[0].replies
      let told = replies[toldBefore...].flatMap { $0["events"]?.array ?? [] }.filter {
        $0["kind"] != "heartbeat"
      }
      toldBefore = replies.count
      let reply = world.clients[shop].calls.last!.replies[0]
      let isPaid = reply.error == nil
      outcomes[isPaid ? 0 : 1] += 1
      let isRight = isPaid || reply.errorName == "AlreadyExpired"
      #expect(isRight && told.count == 1, "order \(order): \(reply), \(told)")
      #expect(told.first?["kind"] == (isPaid ? "cancelled" : "expired"), "order \(order)")
      #expect(told.first?["name"] == name && told.first?["revision"] == reply["revision"])
      if isPaid { #expect((reply["remainingUSec"]?.integer ?? 0) > 0) }
    }
    #expect(outcomes.allSatisfy { $0 > races / 10 })
    #expect(world.problems == [])
  }

  /// A page shows tenths of a second until a sale opens, by the wall clock, which somebody sets right
  /// in the meantime; every browser's server hears of the opening once, none early.
  @Test func `a flash sale opens for everybody at its instant`() {
    let world = World()
    let shop = world.connect()
    let opening = world.clock.reading.realtime + .minutes(10)
    world.call("Start", ["name": "sale/phones", "deadlineUSec": .integer(opening)], from: shop)
    let pages = (0..<50).map { _ in world.connect() }
    for page in pages { world.post("Subscribe", ["prefix": "sale/"], .more, from: page) }
    world.run(.minutes(2))
    world.clock.step(-.minutes(1))
    world.run(.minutes(3))
    world.clock.step(.seconds(90))
    world.settle()
    while world.clock.reading.realtime + 100_000 < opening {
      let shown = world.call("Get", ["name": "sale/phones"], from: shop)
      let remaining = shown["countdown"]?["remainingUSec"]?.integer
      #expect(remaining == opening - world.clock.reading.realtime)
      world.run(opening - world.clock.reading.realtime > .seconds(20) ? .seconds(10) : 100_000)
      if world.clock.reading.realtime < opening {
        #expect(
          pages.allSatisfy {
            world.told(to: $0).allSatisfy(["heartbeat ", "clockStepped "].contains)
          })
      }
    }
    world.run(.seconds(1))
    for page in pages {
      let events = world.events(of: page).filter { $0["kind"] == "expired" }
      #expect(events.count == 1)
      #expect(events[0]["at"]?["realtimeUSec"]?.integer == opening)
      #expect(events[0]["lateUSec"] == 0)
    }
    #expect(
      world.call("Get", ["name": "sale/phones"], from: shop)["countdown"]?["state"] == "expired")
    #expect(world.problems == [])
  }

  /// A code may be sent again after 60 s, however often the button is pressed; an order that is sent
  /// twice is one order.
  @Test func `an SMS code: keep is the cooldown in one step, once the idempotent order`() {
    let world = World()
    let client = world.connect()
    func press(_ conflict: JSONTree, _ name: JSONTree = "sms/+15550100") -> VirtualClient.Reply {
      world.call(
        "Start", ["name": name, "durationUSec": 60_000_000, "onConflict": conflict], from: client)
    }
    let first = press("keep")
    #expect(first["created"] == true)
    for second in 1..<60 {
      world.run(1_000_000)
      let reply = press("keep")
      #expect(reply["created"] == false)
      #expect(reply["remainingUSec"]?.integer == .seconds(60 - Int64(second)))
      #expect(reply["revision"] == first["revision"])
    }
    world.run(999_999)
    #expect(press("keep")["remainingUSec"] == 1)
    world.run(1)
    let again = press("keep")
    #expect(again["created"] == true)
    #expect(again["remainingUSec"] == 60_000_000)

    let order = press("once", "order/1")
    world.run(60_000_000)
    let repeated = press("once", "order/1")
    #expect(repeated["created"] == false)
    #expect(repeated["state"] == "expired")
    #expect(repeated["revision"] == order["revision"])
    world.run(300_000_000)
    #expect(press("once", "order/1")["created"] == true)
    #expect(world.problems == [])
  }
}
