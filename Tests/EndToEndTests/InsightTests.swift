import ControlClient
import LinuxIO
import Testing

/// What the daemon tells of the clocks and of itself, on a real machine.
@Suite struct InsightTests {
  @Test func `GetClocks tells the clocks of this machine and which boot it is`() throws {
    try withDaemon { daemon in
      var caller = try daemon.connect()
      let before = Clocks.read()
      let reply = try ClocksReply(caller.call("GetClocks"))
      let after = Clocks.read()
      let now = try (
        #require(reply.now.monotonicUSec), #require(reply.now.boottimeUSec),
        #require(reply.now.realtimeUSec)
      )
      #expect(now.0 >= before.monotonicNSec / 1_000 && now.0 <= after.monotonicNSec / 1_000 + 1)
      #expect(now.1 >= before.boottimeNSec / 1_000 && now.1 <= after.boottimeNSec / 1_000 + 1)
      #expect(now.2 >= before.realtimeNSec / 1_000)
      #expect(reply.bootID == (try BootID.read()))
      #expect(abs(reply.sleptUSec - (now.1 - now.0)) <= 1)
      // A container may forbid to ask; then it counts as no.
      #expect(reply.isSynchronized == ((try? Clocks.isSynchronized()) ?? false))
    }
  }

  @Test func `a stopped process is a stall, told in the reply and in the log`() throws {
    let place = try Place()
    try ending(place.start("--log-level", "debug")) { daemon in
      try awaitService(at: place.socket)
      var caller = try Connection(to: place.socket)
      let started = try caller.start("tea", 200_000)
      try daemon.send(.stop)
      try awaitStop(of: daemon.pid)
      let due = try #require(started.deadline?.boottimeUSec)
      Clocks.sleep(untilBoottimeNSec: (due + 300_000) * 1_000)
      try daemon.send(.resume)
      let reply = try ClocksReply(caller.call("GetClocks"))
      let stalls = reply.discontinuities.filter { $0.kind == "stalled" }
      #expect(stalls.contains { $0.awayUSec ?? 0 >= 300_000 })
      #expect(stalls.allSatisfy { $0.awayUSec ?? 0 >= 100_000 })
      let shown = try ClientTests.run("clocks", at: place.socket)
      #expect(shown.status == 0 && shown.output.contains("the daemon was away for "))
      let json = try ClientTests.run("clocks", "--json", at: place.socket)
      #expect(json.output.hasPrefix(#"{"now":{"realtimeUSec":"#))

      let statistics = try StatisticsReply(caller.call("GetStatistics"))
      #expect(statistics.sinceStart.expired == 1 && statistics.worstLateUSec >= 300_000)
    }
    #expect(try place.said().contains("The daemon was away for "))
    // Under the unit's filter as well it may ask about the clock, where these tests may.
    let isAllowed = (try? Clocks.isSynchronized()) != nil
    #expect(try place.said().contains("Cannot ask whether the clock") == !isAllowed)
  }

  @Test func `GetStatistics counts what really happened, and knows its memory`() throws {
    try withDaemon { daemon in
      try startMany(2_000, durationUSec: 300_000, at: daemon.socketPath)
      var caller = try daemon.connect()
      var reply = try StatisticsReply(caller.call("GetStatistics"))
      for _ in 0..<500 where reply.sinceStart.expired < 2_000 {
        pass(milliseconds: 10)
        reply = try StatisticsReply(caller.call("GetStatistics"))
      }
      #expect(reply.sinceStart.started == 2_000 && reply.sinceStart.expired == 2_000)
      #expect(reply.sinceStart.calls >= 2_001)
      #expect(reply.lateness.reduce(0) { $0 + $1.count } == reply.sinceStart.expired)
      if let own = reply.daemon {  // Only root is told.
        let resident = try #require(own.residentBytes)
        // As of up to a second ago: then it may have been less, but never more than its peak. The kernel
        // counts in batches.
        let peak = try daemon.status("VmHWM") << 10
        #expect(Int(resident) <= peak + (1 << 20))
        #expect(own.memory.reduce(0) { $0 + $1.value } < resident)
      }
      let shown = try ClientTests.run("statistics", at: daemon.socketPath)
      #expect(shown.status == 0 && shown.output.contains("LATE BY UP TO"))
      #expect(!shown.output.contains("\u{1b}"), "it is no terminal")
      let json = try ClientTests.run("statistics", "--json", at: daemon.socketPath)
      #expect(json.output.hasPrefix(#"{"running":"#))
    }
  }

  @Test func `an idle daemon is not woken by what it counts`() throws {
    try withDaemon { daemon in
      var caller = try daemon.connect()
      _ = try caller.start("far", 3_600_000_000)
      _ = try caller.call("GetStatistics")
      _ = try caller.call("GetClocks")
      let wakes = try daemon.wakesOnceQuiet()
      pass(milliseconds: 2_500)
      #expect(try daemon.status("voluntary_ctxt_switches") - wakes == 0)
    }
  }
}
