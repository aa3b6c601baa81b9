import ControlClient
import Foundation
import LinuxIO
import TestSupport
import Testing

/// Clients that misbehave harm themselves only.
@Suite struct HostilityTests {
  private static func call(_ method: String, _ name: String, _ durationUSec: Int64? = nil)
    -> [UInt8]
  {
    encodeCall(
      "io.countdownd.Countdown.\(method)",
      parameters: encodeParameters {
        $0.member("name", name)
        $0.member("durationUSec", durationUSec)
      }, wantsMore: false)
  }

  /// What comes until the daemon closes the connection.
  private func readToEnd(_ socket: borrowing StreamSocket) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while try socket.waitReadable(timeoutMSec: 10_000) {
      guard case .moved = try socket.receive(appendingTo: &bytes, atMost: 64 << 10) else {
        return bytes
      }
    }
    Issue.record("the connection was not closed")
    return bytes
  }

  @Test func `B44 a thousand clients send Start and leave: all exist, and the log says nothing`()
    throws
  {
    let directory = try TemporaryDirectory(prefix: "b44-")
    let log = "\(directory.path)/log"
    try withDaemon(log: .file(path: log)) { daemon in
      for index in 0..<1_000 {
        let socket = try daemon.connectRaw()
        #expect(try socket.sendAll(Self.call("Start", "left/\(index)", 60_000_000).span))
      }
      var caller = try daemon.connect()
      for _ in 0..<200 where try CountReply(caller.call("Count")).running < 1_000 {
        pass(milliseconds: 20)
      }
      #expect(try CountReply(caller.call("Count")).running == 1_000)

      // A subscriber that hears no more.
      let deaf = try daemon.connectRaw()
      #expect(
        try deaf.sendAll(
          encodeCall(
            "io.countdownd.Countdown.Subscribe", parameters: Array("{}".utf8), wantsMore: true
          ).span))
      try awaitReplies(1, from: deaf)
      deaf.shutDown()
      _ = try caller.start("event", 0)
      try daemon.expectAlive()
      let lines = try readFile(log).split(separator: "\n")
      #expect(lines.count == 1 && lines[0].hasPrefix("Listening"), "logged: \(lines)")
    }
  }

  @Test func `B43 out of descriptors, those who are connected are served, and the rest later`()
    throws
  {
    let place = try Place()
    try ending(place.start(under: ["prlimit", "--nofile=64:64"])) { daemon in
      try awaitService(at: place.socket)
      var listener = try Connection(to: place.socket)
      try listener.subscribe()
      var caller = try Connection(to: place.socket)
      _ = try caller.start("a", 2_000_000)
      var holders = try (0..<199).map { _ in try Holder(at: place.socket) }
      var last = try Connection(to: place.socket)
      #expect(try place.awaitLines(2)[1].hasPrefix("Cannot accept another client: "))

      let before = try processorTicks(of: daemon.pid)
      let began = boottimeUSec()
      let event = try #require(try listener.nextEvents()?.first)
      #expect(event.name == "a" && event.kind == "expired")
      #expect(boottimeUSec() - began < 3_000_000)
      _ = try caller.start("b", 60_000_000)
      // A tick is 10 ms.
      let ticks = try processorTicks(of: daemon.pid) - before
      #expect(ticks * 10_000 < (boottimeUSec() - began) / 10, "it took \(ticks) ticks")

      // Enough for all that stay, whatever descriptors the daemon was born with.
      holders.removeFirst(180)
      let released = boottimeUSec()
      _ = try last.call("Count")
      #expect(boottimeUSec() - released < 1_500_000)
      pass(milliseconds: 1_200)
      #expect(try place.said().split(separator: "\n").count == 2)
      withExtendedLifetime(holders) {}
    }
  }

  /// A client that connects and holds.
  private final class Holder {
    private let socket: StreamSocket

    init(at path: String) throws { socket = try StreamSocket(connectingTo: path) }
  }

  @Test func `B47 frames that never end, are no JSON, come byte by byte or half`() throws {
    try withDaemon { daemon in
      var good = try daemon.connect()
      _ = try good.start("good", 600_000_000)
      let before = try daemon.status("VmRSS")

      // (a) 64 MiB without a NUL: closed at the cap.
      let endless = try daemon.connectRaw()
      let chunk = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
      var sent = 0
      while sent < 64 << 20, try endless.sendAll(chunk.span) { sent += chunk.count }
      #expect(sent < 8 << 20, "\(sent) bytes were taken")
      let answer = String(decoding: try readToEnd(endless), as: UTF8.self)
      #expect(answer.contains("QuotaExceeded") && answer.contains("MaxMessageBytes"))

      // (b), (c), (g): closed.
      for bytes in [[0xFF, 0xFE, 0], Array("[1]\0".utf8), [0], Array("{}\0".utf8)] as [[UInt8]] {
        let socket = try daemon.connectRaw()
        #expect(try socket.sendAll(bytes.span))
        #expect(try readToEnd(socket).isEmpty, "\(bytes)")
      }
      // (d) a byte at a time.
      let slow = try daemon.connectRaw()
      for byte in Self.call("Get", "good") { #expect(try slow.sendAll([byte].span)) }
      try awaitReplies(1, from: slow)
      // (e) half a call, then gone.
      do {
        let half = try daemon.connectRaw()
        #expect(try half.sendAll(Array(Self.call("Start", "half", 1_000_000).dropLast(20)).span))
      }
      // (f) two calls in one write.
      let two = try daemon.connectRaw()
      let pair = Self.call("Start", "two", 60_000_000) + Self.call("Get", "two")
      #expect(try two.sendAll(pair.span))
      try awaitReplies(2, from: two)

      #expect(try refusal { _ = try good.get("half") }?.name.hasSuffix("NoSuchCountdown") == true)
      #expect(try good.get("good").countdown.state == "running")
      #expect(try daemon.status("VmRSS") - before < 16 << 10, "memory was not given back")
      let wakes = try daemon.status("voluntary_ctxt_switches")
      pass(milliseconds: 500)
      #expect(try daemon.status("voluntary_ctxt_switches") - wakes <= 1, "it spins")
    }
  }

  @Test func `B50 nesting without end is refused and the daemon lives on`() throws {
    try withDaemon { daemon in
      for text in [
        String(repeating: "[", count: 100_000) + "\0",
        #"{"method":"io.countdownd.Countdown.Start","parameters":{"name":"n","durationUSec":1,"payload":"#
          + String(repeating: #"{"a":"#, count: 10_000) + "1"
          + String(repeating: "}", count: 10_000)
          + "}}\0",
      ] {
        let socket = try daemon.connectRaw()
        #expect(try socket.sendAll(Array(text.utf8).span))
        #expect(try readToEnd(socket).isEmpty)
      }
      try daemon.expectAlive()
    }
  }

  @Test func `B49 flags and methods that do not fit are named, and the connection goes on`() throws
  {
    try withDaemon { daemon in
      let socket = try daemon.connectRaw()
      let calls = [
        #"{"method":"io.countdownd.Countdown.Subscribe"}"#,
        #"{"method":"io.countdownd.Countdown.Start","oneway":true,"parameters":{"name":"o","durationUSec":60000000}}"#,
        #"{"method":"io.countdownd.Countdown.Get","more":true,"parameters":{"name":"o"}}"#,
        #"{"method":"io.countdownd.Countdown.Nothing"}"#,
        #"{"method":"io.countdownd.Countdown.Get","parameters":{"name":7}}"#,
        #"{"method":"io.countdownd.Countdown.Get","parameters":{"name":"o"}}"#,
      ]
      #expect(try socket.sendAll(Array(calls.map { $0 + "\0" }.joined().utf8).span))
      socket.shutDownSending()
      let text = String(decoding: try readToEnd(socket), as: UTF8.self)
      let replies = text.split(separator: "\0")
      try #require(replies.count == 5)
      #expect(replies[0].contains("org.varlink.service.ExpectedMore"))
      #expect(replies[1].contains(#""name":"o""#) && !replies[1].contains("continues"))
      #expect(replies[2].contains("org.varlink.service.MethodNotFound"))
      #expect(replies[3].contains(#"InvalidParameter","parameters":{"parameter":"name"}"#))
      #expect(replies[4].contains(#""name":"o""#))
    }
  }

  @Test
  func `B16 started and cancelled twenty thousand times over and over, memory stays as it was`()
    throws
  {
    try withDaemon { daemon in
      let socket = try daemon.connectRaw()
      var sizes: [Int] = []
      for _ in 0..<3 {
        for start in stride(from: 0, to: 20_000, by: 200) {
          var bytes: [UInt8] = []
          for index in start..<start + 200 {
            bytes += Self.call("Start", "b16/\(index)", 31_557_600_000_000)
            bytes += Self.call("Cancel", "b16/\(index)")
          }
          #expect(try socket.sendAll(bytes.span))
          try awaitReplies(400, from: socket)
        }
        var caller = try daemon.connect()
        #expect(try CountReply(caller.call("Count")).running == 0)
        sizes.append(try daemon.status("VmRSS"))
      }
      #expect(sizes[1] <= sizes[0] * 110 / 100 && sizes[2] <= sizes[0] * 110 / 100, "\(sizes) KiB")
    }
  }
}
