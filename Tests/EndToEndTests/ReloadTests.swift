import ControlClient
import Foundation
import LinuxIO
import TestSupport
import Testing

/// SIGHUP and `Reload`: the configuration is read again, and nothing is lost by it.
@Suite struct ReloadTests {
  @Test func `what is new goes by it, and nothing is re-armed, dropped or closed`() throws {
    let place = try Place("[Countdownd]\nMaxPayloadBytes=2\nMaxCountdownsPerUser=10\n")
    try ending(place.start()) { daemon in
      try awaitService(at: place.socket)
      var client = try Connection(to: place.socket)
      var listener = try Connection(to: place.socket)
      try listener.subscribe()
      let deadline = try #require(try client.start("soon", 1_500_000).deadline?.boottimeUSec)
      _ = try client.start("other", 60_000_000)
      let long = "{\"a\":1}"
      let refused = try refusal { _ = try client.start("long", 60_000_000, payload: long) }
      #expect(refused?.name == "io.countdownd.Countdown.QuotaExceeded")

      try place.configure(
        "[Countdownd]\nMaxPayloadBytes=100\nMaxConnections=2\nMaxStreams=1\nFuture=1\n"
          + "SocketMode=0600\nMaxCountdowns=3\nLogLateSec=0\n")
      try daemon.send(.hangup)
      let lines = try place.awaitLines(3)
      #expect(lines[1] == "\(place.configuration):5: unknown key Future=, ignoring")
      #expect(lines[2] == "The configuration was read again")
      _ = try client.start("long", 60_000_000, payload: long)
      #expect(
        try refusal { _ = try client.start("one more", 60_000_000) }?.name
          == "io.countdownd.Countdown.QuotaExceeded")
      let event = try #require(try listener.nextEvents()?.first)
      #expect(event.name == "soon" && event.deadline?.boottimeUSec == deadline)
      // Any lateness is worth a line now.
      #expect(try place.awaitLines(4)[3].hasPrefix("A countdown expired late, by "))
      let attributes = try FileManager.default.attributesOfItem(atPath: place.socket)
      #expect(attributes[.posixPermissions] as? Int == 0o660)
    }
  }

  @Test func `a wrong one changes nothing, and is told with file and line`() throws {
    let place = try Place("[Countdownd]\nMaxPayloadBytes=2\n")
    try ending(place.start()) { daemon in
      try awaitService(at: place.socket)
      var client = try Connection(to: place.socket)
      try place.configure("[Countdownd]\nMaxPayloadBytes=100\nLogLevel=loud\n")
      try daemon.send(.hangup)
      #expect(
        try place.awaitLines(2)[1]
          == "\(place.configuration):3: LogLevel=loud: must be one of error, warning, info, debug;"
          + " the old configuration stays")
      let refused = try refusal { _ = try client.start("a", 60_000_000, payload: "{\"a\":1}") }
      #expect(refused?.name == "io.countdownd.Countdown.QuotaExceeded")
      try FileManager.default.removeItem(atPath: place.configuration)
      try daemon.send(.hangup)
      let line = try place.awaitLines(3)[2]
      #expect(line.contains(place.configuration) && line.contains("the old configuration stays"))
      _ = try client.start("a", 60_000_000, payload: "{}")
    }
  }

  @Test func `who had reached a limit goes on once it is raised, though nobody stirs`() throws {
    let place = try Place("[Countdownd]\nMaxMessageBytes=8K\nMaxQueuedReplyBytes=16K\n")
    try ending(place.start()) { daemon in
      try awaitService(at: place.socket)
      // It sends all at once and reads nothing: a part of it is handled, then its replies are too many.
      let count = 2_400
      let deaf = try StreamSocket(connectingTo: place.socket)
      var bytes: [UInt8] = []
      for index in 0..<count {
        bytes += encodeCall(
          "io.countdownd.Countdown.Start",
          parameters: encodeParameters {
            $0.member("name", "\(index)")
            $0.member("durationUSec", 60_000_000 as Int64)
          }, wantsMore: false)
      }
      #expect(try deaf.sendAll(bytes.span))
      _ = try wakesOnceQuiet(of: daemon.pid)
      var caller = try Connection(to: place.socket)
      #expect(try CountReply(caller.call("Count")).running < count)
      try place.configure("")
      try daemon.send(.hangup)
      for _ in 0..<500 where try CountReply(caller.call("Count")).running < count {
        pass(milliseconds: 10)
      }
      #expect(try CountReply(caller.call("Count")).running == count)
      try awaitReplies(count, from: deaf)
    }
  }

  @Test func `the level of the log follows it, unless the command line has set one`() throws {
    for isFixed in [false, true] {
      let place = try Place("[Countdownd]\nLogLevel=error\n")
      let daemon = try isFixed ? place.start("--log-level", "error") : place.start()
      try ending(daemon) { daemon in
        try awaitService(at: place.socket)
        try place.configure("[Countdownd]\nLogLevel=info\n")
        try daemon.send(.hangup)
        if !isFixed { _ = try place.awaitLines(1) }
      }
      let said = try place.said()
      #expect(said.contains("The configuration was read again") == !isFixed)
      #expect(said.contains("Stopped") == !isFixed)
    }
  }

  @Test func `Reload answers when the new one holds, or says where it is wrong`() throws {
    let place = try Place("[Countdownd]\nMaxPayloadBytes=2\n")
    try ending(place.start()) { daemon in
      try awaitService(at: place.socket)
      var client = try Connection(to: place.socket)
      try place.configure("[Countdownd]\nMaxPayloadBytes=100\nMaxStreams=none\n")
      let refused = try #require(
        try refusal { _ = try client.call("io.systemd.service.Reload") })
      #expect(refused.name == "io.countdownd.Countdown.ConfigurationRefused")
      let fields = try Members(parsing: refused.parameters)
      #expect(try fields.string("file") == place.configuration)
      #expect(try fields.integer("line") == 3)
      let message = try #require(try fields.string("message"))
      #expect(message.hasPrefix("\(place.configuration):3: MaxStreams=none: "))
      let long = "{\"a\":1}"
      #expect(try refusal { _ = try client.start("a", 60_000_000, payload: long) } != nil)
      try FileManager.default.removeItem(atPath: place.configuration)
      let missing = try #require(
        try refusal { _ = try client.call("io.systemd.service.Reload") })
      let place2 = try Members(parsing: missing.parameters)
      #expect(try place2.string("file") == place.configuration)
      #expect(try place2.integer("line") == nil)
      try place.configure("[Countdownd]\nMaxPayloadBytes=100\n")
      #expect(try client.call("io.systemd.service.Reload").json == Array("{}".utf8))
      _ = try client.start("a", 60_000_000, payload: long)
      #expect(
        try place.awaitLines(4).dropFirst() == [
          "\(message); the old configuration stays",
          "the configuration cannot be read: open \(place.configuration): No such file or directory;"
            + " the old configuration stays",
          "The configuration was read again",
        ])
    }
  }

  @Test func `the manager is told of a Reload as of a signal, before it is answered`() throws {
    let place = try Place()
    let manager = ServiceManager(at: place.path + "/notify")
    let daemon = try place.start(environment: [("NOTIFY_SOCKET", manager.address)])
    try ending(daemon) { _ in
      #expect(manager.awaitMessage("READY=1") != nil)
      while manager.next() != nil {}
      var client = try Connection(to: place.socket)
      _ = try client.call("io.systemd.service.Reload")
      #expect(manager.next()?.hasPrefix("RELOADING=1\n") == true)
      #expect(manager.next() == "READY=1\nSTATUS=Serving; no countdowns")
    }
  }

  @Test func `SetLogLevel holds until the next reload`() throws {
    let place = try Place("[Countdownd]\nLogLevel=error\nLogLateSec=0\n")
    try ending(place.start()) { daemon in
      try awaitService(at: place.socket)
      var client = try Connection(to: place.socket)
      func setLevel(_ level: Int64) throws {
        let parameters = encodeParameters { $0.member("level", level) }
        _ = try client.call("io.systemd.service.SetLogLevel", parameters: parameters)
      }
      // Refused ones are errors, done ones are informational: 3 and 6.
      try setLevel(2)
      try place.configure("nonsense")
      #expect(try refusal { _ = try client.call("io.systemd.service.Reload") } != nil)
      try setLevel(3)
      #expect(try refusal { _ = try client.call("io.systemd.service.Reload") } != nil)
      let lines = try place.awaitLines(1)
      #expect(lines.count == 1 && lines[0].contains("the old configuration stays"))
      // A late expiry is a notice, 5.
      try setLevel(5)
      try place.configure("[Countdownd]\nLogLevel=error\n")
      _ = try client.start("late", 1_000)
      #expect(try place.awaitLines(2)[1].hasPrefix("A countdown expired late"))
      _ = try client.call("io.systemd.service.Reload")
      #expect(try refusal { try setLevel(8) }?.name == "org.varlink.service.InvalidParameter")
    }
    #expect(try place.said().split(separator: "\n").count == 2)
  }

  @Test func `the manager is told when it begins and ends, the watchdog first`() throws {
    let place = try Place()
    let manager = ServiceManager(at: place.path + "/notify")
    let daemon = try place.start(
      environment: [("NOTIFY_SOCKET", manager.address), ("WATCHDOG_USEC", "400000")])
    try ending(daemon) { daemon in
      #expect(manager.awaitMessage("READY=1") != nil)
      for isRefused in [true, false] {
        try place.configure(isRefused ? "nonsense" : "")
        // It stands still, and the watchdog is due when it goes on, as after a suspend.
        try daemon.send(.stop)
        try awaitStop(of: daemon.pid)
        pass(milliseconds: 300)
        while manager.next() != nil {}
        let before = Clocks.read().monotonicNSec / 1_000
        try daemon.send(.hangup)
        try daemon.send(.resume)
        #expect(manager.next(timeoutMSec: 10_000) == "WATCHDOG=1")
        let reloading = manager.next(timeoutMSec: 10_000) ?? ""
        let lines = reloading.split(separator: "\n")
        try #require(lines.count == 2 && lines[0] == "RELOADING=1")
        let at = try #require(Int64(lines[1].dropFirst("MONOTONIC_USEC=".count)))
        #expect(at >= before && at <= Clocks.read().monotonicNSec / 1_000)
        let note = isRefused ? "; the last reload was refused" : ""
        #expect(
          manager.next(timeoutMSec: 10_000) == "READY=1\nSTATUS=Serving; no countdowns" + note)
      }
    }
  }
}
