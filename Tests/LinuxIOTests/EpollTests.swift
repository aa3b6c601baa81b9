import Glibc
import LinuxIO
import Testing

@Suite("Epoll")
struct EpollTests {
  @Test func `nothing happened gives no events, and drops those of before`() throws {
    let epoll = try Epoll()
    let pair = try SocketPair()
    try epoll.add(pair.near.rawValue, [.readable, .writable], token: 1)
    var events: [Epoll.Event] = []
    try epoll.wait(timeoutMSec: 0, into: &events)
    #expect(events.map(\.isWritable) == [true])
    try epoll.modify(pair.near.rawValue, .readable, token: 1)
    try epoll.wait(timeoutMSec: 0, into: &events)
    #expect(events.isEmpty)
    withExtendedLifetime(pair.far.rawValue) {}
  }

  @Test(arguments: [0, 1, UInt64.max])
  func `an event bears the token it was last given, all 64 bits`(token: UInt64) throws {
    let epoll = try Epoll()
    let pair = try SocketPair()
    try epoll.add(pair.near.rawValue, .readable, token: 77)
    try epoll.modify(pair.near.rawValue, .readable, token: token)
    #expect(try pair.far.send([1].span) == .moved(1))
    var events: [Epoll.Event] = []
    try epoll.wait(timeoutMSec: nil, into: &events)
    #expect(events.map(\.token) == [token])
    #expect(events.map(\.isReadable) == [true])
    #expect(events.map(\.isWritable) == [false])
    #expect(events.map(\.isHangup) == [false])
  }

  @Test func `a peer that went is a hang-up, and what it sent before can still be read`() throws {
    let epoll = try Epoll()
    let pair = try SocketPair()
    try epoll.add(pair.near.rawValue, [], token: 5)  // Reported whatever is wanted.
    #expect(try pair.far.send([1, 2].span) == .moved(2))
    drop(pair.far)
    var events: [Epoll.Event] = []
    try epoll.wait(timeoutMSec: nil, into: &events)
    #expect(events.map(\.isHangup) == [true])
    var bytes: [UInt8] = []
    #expect(try pair.near.receive(appendingTo: &bytes, atMost: 9) == .moved(2))
    #expect(try pair.near.receive(appendingTo: &bytes, atMost: 9) == .closed)
    #expect(bytes == [1, 2])
  }

  @Test func `what was removed is silent, and adding twice or removing twice is an error`() throws {
    let epoll = try Epoll()
    let pair = try SocketPair()
    let fd = pair.near.rawValue
    try epoll.add(fd, .writable, token: 1)
    #expect(throws: SystemCallError(call: "epoll_ctl", code: EEXIST)) {
      try epoll.add(fd, .writable, token: 2)
    }
    try epoll.remove(fd)
    #expect(throws: SystemCallError(call: "epoll_ctl", code: ENOENT)) { try epoll.remove(fd) }
    #expect(throws: SystemCallError(call: "epoll_ctl", code: ENOENT)) {
      try epoll.modify(fd, .writable, token: 2)
    }
    var events: [Epoll.Event] = []
    try epoll.wait(timeoutMSec: 0, into: &events)
    #expect(events.isEmpty)
    withExtendedLifetime(pair.far.rawValue) {}
  }

  @Test func `more events than fit one wait come with the next`() throws {
    let epoll = try Epoll()
    let count = Epoll.eventsPerWait + 1
    let pair = try SocketPair()
    #expect(try pair.far.send([1].span) == .moved(1))
    let readable = pair.near.rawValue
    let duplicates = (0..<count).map { _ in dup(readable) }
    defer { for fd in duplicates { close(fd) } }
    for (token, fd) in duplicates.enumerated() {
      try epoll.add(fd, .readable, token: UInt64(token))
    }
    var seen: Set<UInt64> = []
    var events: [Epoll.Event] = []
    try epoll.wait(timeoutMSec: 0, into: &events)
    #expect(events.count == Epoll.eventsPerWait)
    seen.formUnion(events.map(\.token))
    try epoll.wait(timeoutMSec: 0, into: &events)  // Level-triggered, and turned over fairly.
    seen.formUnion(events.map(\.token))
    #expect(seen.count == count)
  }

  @Test func `a signal that is handled meanwhile does not end the wait`() async {
    await #expect(processExitsWith: .success) {
      _ = signal(SIGUSR1) { _ in }
      var interrupting = sigset_t()
      unsafe sigemptyset(&interrupting)
      unsafe sigaddset(&interrupting, SIGUSR1)
      unsafe pthread_sigmask(SIG_UNBLOCK, &interrupting, nil)
      let pair = try SocketPair()
      let epoll = try Epoll()
      try epoll.add(pair.near.rawValue, .readable, token: 1)
      let (waiting, peer) = (pthread_self(), pair.far.rawValue)
      Task.detached {
        for _ in 0..<5 {
          Clocks.sleep(untilBoottimeNSec: Clocks.boottimeNSec() + 2_000_000)
          pthread_kill(waiting, SIGUSR1)
        }
        try writeAll("x", to: peer)
      }
      var events: [Epoll.Event] = []
      try epoll.wait(timeoutMSec: nil, into: &events)
      try #require(events.map(\.token) == [1])
    }
  }
}
