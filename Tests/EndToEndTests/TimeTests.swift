import ControlClient
import LinuxIO
import TestSupport
import Testing

/// Real clocks: never early, and no wake without a reason.
@Suite struct TimeTests {
  @Test func `B19 ten thousand real countdowns from a millisecond to ten seconds, none early`()
    throws
  {
    try withDaemon { daemon in
      var caller = try daemon.connect()
      var listener = try daemon.connect()
      try listener.subscribe(kinds: ["expired"])
      var random = SplitMix64(seed: 19)
      var deadlines: [String: Int64] = [:]
      var early: [String] = []
      func take(_ events: [Event]) throws {
        let arrival = Clocks.boottimeNSec()
        for event in events {
          let name = try #require(event.name)
          let known = deadlines.removeValue(forKey: name)
          let deadline = try #require(known, "\(name) twice")
          if arrival < deadline * 1_000 { early.append(name) }
          #expect(try #require(event.at?.boottimeUSec) >= deadline)
        }
      }
      for index in 0..<10_000 {
        // Many short ones, and some of every length up to 10 s.
        let reach = Int64.random(in: 0...13, using: &random)
        let length = min(Int64.random(in: 1_000...(1_000 << reach), using: &random), 10_000_000)
        let before = Clocks.boottimeNSec()
        let reply = try caller.start("b19/\(index)", length)
        let deadline = try #require(reply.deadline?.boottimeUSec)
        #expect(deadline * 1_000 >= before + length * 1_000, "counted from before the call")
        deadlines["b19/\(index)"] = deadline
        while let events = try listener.nextEvents(timeoutMSec: 0) { try take(events) }
      }
      while !deadlines.isEmpty {
        guard let events = try listener.nextEvents(timeoutMSec: 15_000) else { break }
        try take(events)
      }
      #expect(deadlines.isEmpty, "\(deadlines.count) were never told")
      #expect(early.isEmpty, "early: \(early)")
    }
  }

  @Test func `B13 a length counts from when the call is handled, not from when it was written`()
    throws
  {
    try withDaemon { daemon in
      var caller = try daemon.connect()
      try daemon.send(.stop)
      try awaitStop(of: daemon.pid)
      try caller.begin(
        "Start",
        parameters: encodeParameters {
          $0.member("name", "late")
          $0.member("durationUSec", 400_000)
        })
      pass(milliseconds: 600)
      let thawed = Clocks.boottimeNSec()
      try daemon.send(.resume)
      let reply = try #require(try caller.nextReply(timeoutMSec: 5_000))
      let started = try StartReply(Members(parsing: reply.parameters))
      #expect(started.remainingUSec == 400_000)
      #expect(try #require(started.deadline?.boottimeUSec) * 1_000 >= thawed + 400_000_000)
    }
  }

  @Test func `B20 the longest countdown alone wakes nobody, and a short one beside it is on time`()
    throws
  {
    try withDaemon { daemon in
      var caller = try daemon.connect()
      let longest: Int64 = (1 << 53) - 1
      #expect(try caller.start("forever", longest).remainingUSec == longest)
      let wakes = try daemon.wakesOnceQuiet()
      pass(milliseconds: 1_500)
      #expect(try daemon.status("voluntary_ctxt_switches") - wakes == 0)

      var listener = try daemon.connect()
      try listener.subscribe()
      let started = try caller.start("soon", 300_000)
      let event = try #require(try listener.nextEvents()?.first)
      #expect(event.name == "soon")
      #expect(Clocks.boottimeNSec() >= (try #require(started.deadline?.boottimeUSec)) * 1_000)
      #expect(try caller.get("forever").countdown.state == "running")
    }
  }

  @Test func `a hundred thousand pending and nobody asking: no wake-ups`() throws {
    try withDaemon { daemon in
      let socket = try daemon.connectRaw()
      for start in stride(from: 0, to: 100_000, by: 100) {
        var bytes: [UInt8] = []
        for index in start..<start + 100 {
          bytes += encodeCall(
            "io.countdownd.Countdown.Start",
            parameters: encodeParameters {
              $0.member("name", "far/\(index)")
              $0.member("durationUSec", 3_600_000_000 + Int64(index) * 977)
            }, wantsMore: false)
        }
        #expect(try socket.sendAll(bytes.span))
        try awaitReplies(100, from: socket)
      }
      let wakes = try daemon.wakesOnceQuiet()
      pass(milliseconds: 2_000)
      #expect(try daemon.status("voluntary_ctxt_switches") - wakes == 0)
    }
  }

  @Test func `B34 ten seconds are shown as 10, 9 … 1 and done, each exactly once`() throws {
    try withDaemon { daemon in
      var viewer = try daemon.connect()
      var random = SplitMix64(seed: 34)
      _ = try viewer.start("ten", 10_000_000)
      var shown: [String] = []
      while shown.last != "0:00" {
        let text = try viewer.get("ten").countdown.remainingText
        if shown.last != text { shown.append(text) }
        pass(milliseconds: .random(in: 60...140, using: &random))
      }
      #expect(shown == (1...10).reversed().map { $0 < 10 ? "0:0\($0)" : "0:\($0)" } + ["0:00"])
    }
  }
}

/// Reads until so many replies have come.
func awaitReplies(_ count: Int, from socket: borrowing StreamSocket) throws {
  var left = count
  var bytes: [UInt8] = []
  while left > 0 {
    guard try socket.waitReadable(timeoutMSec: 10_000) else {
      Issue.record("\(left) of \(count) replies did not come")
      return
    }
    bytes.removeAll(keepingCapacity: true)
    guard case .moved = try socket.receive(appendingTo: &bytes, atMost: 64 << 10) else {
      Issue.record("closed with \(left) of \(count) replies to come")
      return
    }
    left -= bytes.count { $0 == 0 }
  }
}
