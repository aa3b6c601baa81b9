import ControlClient
import Foundation
import LinuxIO
import TestSupport
import Testing

/// What the service manager hears of the daemon, and it of the manager.
@Suite struct SupervisionTests {
  private func environment(
    of manager: borrowing ServiceManager, watchdogUSec: Int
  ) -> [(name: String, value: String)] {
    [("NOTIFY_SOCKET", manager.address), ("WATCHDOG_USEC", "\(watchdogUSec)")]
  }

  @Test func `the watchdog is told at half of its interval, and between no wake is due`() throws {
    let place = try Place()
    let manager = ServiceManager(at: place.path + "/notify")
    let began = boottimeUSec()
    let daemon = try place.start(
      environment: environment(of: manager, watchdogUSec: 800_000))
    try ending(daemon) { _ in
      #expect(manager.next(timeoutMSec: 10_000) == "READY=1\nSTATUS=Serving; no countdowns")
      for _ in 0..<4 { #expect(manager.next(timeoutMSec: 10_000) == "WATCHDOG=1") }
      // Three times half of it, whatever a busy machine adds.
      #expect(boottimeUSec() - began >= 1_200_000)
    }
    #expect(manager.awaitMessage("STOPPING=1") != nil)
  }

  @Test func `a daemon whose watchdog is far wakes for nothing`() throws {
    let place = try Place()
    let manager = ServiceManager(at: place.path + "/notify")
    let daemon = try place.start(
      environment: environment(of: manager, watchdogUSec: 120_000_000))
    try ending(daemon) { daemon in
      #expect(manager.awaitMessage("WATCHDOG=1") != nil)
      let wakes = try wakesOnceQuiet(of: daemon.pid)
      pass(milliseconds: 1_500)
      #expect(try status("voluntary_ctxt_switches", of: daemon.pid) - wakes == 0)
      #expect(manager.next() == nil)
    }
  }

  @Test func `a drain of many turns tells the watchdog in between`() throws {
    let place = try Place()
    let manager = ServiceManager(at: place.path + "/notify")
    let daemon = try place.start(
      environment: environment(of: manager, watchdogUSec: 20_000))
    try ending(daemon) { daemon in
      try awaitService(at: place.socket)
      let count = 40_000
      var caller = try Connection(to: place.socket)
      try startMany(count, durationUSec: 3_000_000, at: place.socket)
      let last = boottimeUSec() + 3_000_000
      try daemon.send(.stop)
      try awaitStop(of: daemon.pid)
      Clocks.sleep(untilBoottimeNSec: last * 1_000)
      while manager.next() != nil {}
      try daemon.send(.resume)
      while try CountReply(caller.call("Count")).ended < count { pass(milliseconds: 1) }
      var told = 0
      while let message = manager.next() { told += message == "WATCHDOG=1" ? 1 : 0 }
      // Forty turns and more, each of some milliseconds.
      #expect(told >= 3)
    }
  }

  @Test func `as many descriptors as it may have are at its disposal`() throws {
    let place = try Place()
    try ending(place.start(under: ["prlimit", "--nofile=64:300"])) { daemon in
      try awaitService(at: place.socket)
      let limits = try readFile("/proc/\(daemon.pid)/limits").split(separator: "\n")
      let line = try #require(limits.first { $0.hasPrefix("Max open files") })
      #expect(line.split(separator: " ").dropFirst(3).prefix(2) == ["300", "300"])
    }
  }
}
