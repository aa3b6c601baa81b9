import ControlClient
import Foundation
import LinuxIO
import TestSupport
import Testing

/// The log is for people: crowds do not fill it, and nothing waits for it.
@Suite struct LogTests {
  private func awaitEnd(of count: Int, at path: String) throws {
    var caller = try Connection(to: path)
    for _ in 0..<3_000 {
      if try CountReply(caller.call("Count")).ended >= count { return }
      pass(milliseconds: 20)
    }
    Issue.record("\(count) did not expire")
  }

  @Test func `B58 a hundred thousand expiries in some seconds are a few lines at most`() throws {
    let place = try Place()
    let began = boottimeUSec()
    try ending(place.start()) { _ in
      try awaitService(at: place.socket)
      try startMany(100_000, durationUSec: 1_000_000, at: place.socket)
      try awaitEnd(of: 100_000, at: place.socket)
    }
    let lines = try place.said().split(separator: "\n")
    #expect(lines[0].hasPrefix("Listening") && lines.last == "Stopped")
    // In good time there is nothing to say; a machine that is too busy has one line a second.
    let others = lines.filter { !$0.contains(" expired late, ") }
    #expect(others.count == 3, "\(others)")  // The third tells of the signal.
    #expect(lines.count - 3 <= (boottimeUSec() - began) / 1_000_000 + 1)
  }

  @Test func `B58 ten thousand that are late are counted in a line or a few`() throws {
    let place = try Place()
    try ending(place.start()) { daemon in
      try awaitService(at: place.socket)
      try startMany(10_000, durationUSec: 8_000_000, at: place.socket)
      let last = boottimeUSec() + 8_000_000
      try daemon.send(.stop)
      try awaitStop(of: daemon.pid)
      Clocks.sleep(untilBoottimeNSec: (last + 1_100_000) * 1_000)
      try daemon.send(.resume)
      try awaitEnd(of: 10_000, at: place.socket)
    }
    let lines = try place.said().split(separator: "\n").filter { $0.contains(" expired late, ") }
    #expect((1...4).contains(lines.count), "\(lines)")
    #expect(lines.compactMap { Int($0.prefix { $0.isNumber }) }.reduce(0, +) == 10_000)
    #expect(lines[0].hasSuffix(": many/0 of user \(CurrentProcess.effectiveUserID)"))
  }

  @Test func `B58 a pipe that nobody reads stops nothing`() throws {
    let place = try Place()
    let pipe = Pipe()
    // Full to the brim: the first line has to wait already.
    let fd = pipe.fileHandleForWriting.fileDescriptor
    _ = fcntl(fd, F_SETFL, O_NONBLOCK)
    let byte: [UInt8] = [0]
    while unsafe write(fd, byte, 1) == 1 {}
    _ = fcntl(fd, F_SETFL, 0)
    let daemon = try place.start("--log-level", "debug", error: .descriptor(fd))
    try ending(daemon) { daemon in
      try awaitService(at: place.socket)
      for _ in 0..<200 { try daemon.send(.hangup) }
      try startMany(10_000, durationUSec: 500_000, at: place.socket)
      try awaitEnd(of: 10_000, at: place.socket)
    }
    withExtendedLifetime(pipe) {}
  }
}
