import ControlClient
import LinuxIO
import TestSupport
import Testing

/// Watching over a real socket, on real clocks.
@Suite struct WatchTests {
  /// One countdown of a reply to `Watch`.
  private struct Told {
    let name: String
    let state: String
    let remaining: Int64?
  }

  private func next(_ watcher: inout Connection) throws -> (now: Int64, told: [Told]) {
    let reply = try #require(try watcher.nextReply(timeoutMSec: 10_000))
    #expect(reply.continues)
    let members = try Members(parsing: reply.parameters)
    let now = try #require(try members.object("now")?.integer("boottimeUSec"))
    let told = try #require(try members.objects("countdowns")).map {
      Told(
        name: try $0.string("name") ?? "", state: try $0.string("state") ?? "",
        remaining: try $0.integer("remainingUSec"))
    }
    return (now, told)
  }

  @Test func `ticks of many countdowns come in order, none early, and each end after them`() throws
  {
    try withDaemon { daemon in
      var caller = try daemon.connect()
      var watcher = try daemon.connect()
      let names = (0..<50).map { "watched/\($0)" }
      try watcher.begin(
        "Watch",
        parameters: encodeParameters {
          $0.member("names", names)
          $0.member("intervalUSec", 50_000)
        })
      #expect(try next(&watcher).told.map(\.state) == names.map { _ in "absent" })
      var random = SplitMix64(seed: 50)
      var deadlines: [String: Int64] = [:]
      var lowest: [String: Int64] = [:]
      for name in names {
        let length = Int64.random(in: 100_000...600_000, using: &random)
        deadlines[name] = try #require(caller.start(name, length).deadline?.boottimeUSec)
        lowest[name] = length + 1
      }
      var ended = 0
      while ended < names.count {
        let (now, told) = try next(&watcher)
        let arrival = Clocks.boottimeNSec()
        for one in told {
          let deadline = try #require(deadlines[one.name])
          let remaining = try #require(one.remaining)
          // Both what was told and when it was: nothing of it lies ahead.
          #expect(remaining == max(deadline - now, 0))
          #expect(arrival >= (deadline - remaining) * 1_000, "\(one) came early")
          let before = try #require(lowest[one.name])
          #expect(remaining < before, "\(one) after \(before)")
          lowest[one.name] = remaining
          if one.state == "expired" { ended += 1 }
        }
      }
      #expect(lowest.values.allSatisfy { $0 == 0 })
    }
  }

  @Test func `one that does not read is told once where each stands, when it reads again`() throws {
    try withDaemon { daemon in
      var caller = try daemon.connect()
      var watcher = try daemon.connect()
      let names = (0..<1_000).map { "many/\($0)" }
      try startMany(names.count, durationUSec: 3_600_000_000, at: daemon.socketPath)
      try watcher.begin("Watch", parameters: encodeParameters { $0.member("names", names) })
      // Far more than its socket takes.
      for round in 0..<10 {
        for name in names {
          try caller.begin(
            "Extend",
            parameters: encodeParameters {
              $0.member("name", name)
              $0.member("byUSec", Int64(round))
            })
          _ = try caller.nextReply(timeoutMSec: 10_000)
        }
      }
      #expect(try caller.call("CancelMany", prefix: "many/").integer("cancelled") == 1_000)
      var states: [String: String] = [:]
      var count = 0
      while states.count < names.count || states.values.contains(where: { $0 != "cancelled" }) {
        for one in try next(&watcher).told {
          count += 1
          states[one.name] = one.state
        }
      }
      #expect(count < 5_000, "a queue was kept")
      try daemon.expectAlive()
    }
  }
}

extension Connection {
  /// A call of a method that takes a prefix.
  fileprivate mutating func call(_ method: String, prefix: String) throws -> Members {
    try call(method, parameters: encodeParameters { $0.member("prefix", prefix) })
  }
}
