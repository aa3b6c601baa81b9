import ControlClient
import LinuxIO
import TestSupport
import Testing

/// The three stories that the program is for, on the real daemon.
@Suite struct StoryTests {
  @Test func `flash sale: a viewer comes back to the right remainder and the end is at zero`()
    throws
  {
    try withDaemon { daemon in
      var seller = try daemon.connect()
      var listener = try daemon.connect()
      try listener.subscribe(prefix: "sale/")
      let opens = Clocks.read().realtimeNSec / 1_000 + 1_500_000
      let started = try seller.start("sale/phones", until: opens)
      #expect(started.deadline?.realtimeUSec == opens)

      do {
        var viewer = try daemon.connect()
        let seen = try viewer.get("sale/phones")
        #expect(seen.countdown.remainingUSec == opens - (try #require(seen.now.realtimeUSec)))
      }
      pass(milliseconds: 300)  // The viewer has gone.
      var viewer = try daemon.connect()
      let before = Clocks.read().realtimeNSec / 1_000
      let seen = try viewer.get("sale/phones")
      #expect(seen.countdown.remainingUSec <= opens - before)
      #expect(seen.countdown.remainingUSec == opens - (try #require(seen.now.realtimeUSec)))
      #expect(seen.countdown.clock == "realtime")

      let event = try #require(try listener.nextEvents()?.first)
      #expect(Clocks.read().realtimeNSec >= opens * 1_000, "told before the sale opened")
      #expect(event.kind == "expired")
      #expect(event.deadline?.realtimeUSec == opens)
      let ended = try viewer.get("sale/phones").countdown
      #expect(ended.state == "expired")
      #expect(ended.remainingUSec == 0)
    }
  }

  @Test func `a length is paused and resumed to the microsecond`() throws {
    try withDaemon { daemon in
      var caller = try daemon.connect()
      let started = try caller.start("p", 10_000_000)
      let paused = try MoveReply(caller.call("Pause", "p"))
      let deadline = try #require(started.deadline?.boottimeUSec)
      #expect(paused.remainingUSec == deadline - (try #require(paused.now.boottimeUSec)))
      #expect(paused.deadline == nil)
      pass(milliseconds: 50)
      #expect(try caller.get("p").countdown.remainingUSec == paused.remainingUSec)
      let resumed = try MoveReply(caller.call("Resume", "p"))
      #expect(resumed.remainingUSec == paused.remainingUSec)
      #expect(
        resumed.deadline?.boottimeUSec
          == (try #require(resumed.now.boottimeUSec)) + paused.remainingUSec)
    }
  }

  @Test func `unpaid order: a payment in the last moment wins or comes too late, never both`()
    throws
  {
    try withDaemon { daemon in
      var shop = try daemon.connect()
      var listener = try daemon.connect()
      try listener.subscribe(prefix: "orders/", kinds: ["expired", "cancelled"])
      var random = SplitMix64(seed: 7)
      var paid = 0
      var expired = 0
      var callUSec: Int64 = 0  // How long a payment takes to arrive, about: learnt below.
      for order in 0..<500 {
        let name = "orders/\(order)"
        let length = 2 * callUSec + .random(in: 200...1_200, using: &random)
        let started = try shop.start(name, length, payload: #"{"order":\#(order)}"#)
        // Paid so that it arrives about when it runs out: before, after, or in the same moment.
        let moment =
          try #require(started.deadline?.boottimeUSec) - callUSec
          + .random(in: -150...150, using: &random)
        while boottimeUSec() < moment {}
        let refusal = try refusal { _ = try shop.call("Cancel", name) }
        let events = try #require(try listener.nextEvents())
        let event = try #require(events.first)
        #expect(events.count == 1 && event.name == name, "order \(order)")
        if let refusal {
          expired += 1
          callUSec += 50
          #expect(refusal.name == "io.countdownd.Countdown.AlreadyExpired")
          #expect(event.kind == "expired", "order \(order) was refused its payment")
          #expect(event.payload == Array(#"{"order":\#(order)}"#.utf8))
        } else {
          paid += 1
          callUSec = max(0, callUSec - 50)
          #expect(event.kind == "cancelled", "order \(order) was paid")
        }
        #expect(event.revision == started.revision)
      }
      #expect(paid + expired == 500)
      #expect(paid > 20 && expired > 20, "no race: \(paid) paid, \(expired) expired")
    }
  }

  @Test func `SMS code: the second press learns what remains, a retried order runs once`() throws {
    try withDaemon { daemon in
      var phone = try daemon.connect()
      let first = try phone.start("sms/+49", 60_000_000, onConflict: "keep")
      #expect(first.created)
      let second = try phone.start("sms/+49", 60_000_000, onConflict: "keep")
      #expect(!second.created)
      #expect(second.revision == first.revision)
      #expect(second.deadline?.boottimeUSec == first.deadline?.boottimeUSec)
      #expect((1...60_000_000).contains(second.remainingUSec))

      #expect(try phone.start("order", 0, onConflict: "once").created)
      let retried = try phone.start("order", 60_000_000, onConflict: "once")
      #expect(!retried.created)
      #expect(retried.state == "expired")
      #expect(retried.remainingUSec == 0)
    }
  }
}
