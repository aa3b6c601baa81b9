import Glibc
import LinuxIO
import Testing

@Suite("StreamSocket")
struct StreamSocketTests {
  @Test func `what is sent is received, appended to what was there`() throws {
    let pair = try SocketPair()
    #expect(try pair.near.send([1, 2, 3].span) == .moved(3))
    var bytes: [UInt8] = [9]
    #expect(try pair.far.receive(appendingTo: &bytes, atMost: 100) == .moved(3))
    #expect(bytes == [9, 1, 2, 3])
  }

  @Test func `no more is received than the limit, and the rest with the next`() throws {
    let pair = try SocketPair()
    #expect(try pair.near.send([1, 2, 3].span) == .moved(3))
    var bytes: [UInt8] = []
    #expect(try pair.far.receive(appendingTo: &bytes, atMost: 2) == .moved(2))
    #expect(bytes == [1, 2])
    #expect(try pair.far.receive(appendingTo: &bytes, atMost: 2) == .moved(1))
    #expect(bytes == [1, 2, 3])
  }

  @Test func `nothing to receive would block and leaves the bytes alone`() throws {
    let pair = try SocketPair()
    var bytes: [UInt8] = [9]
    #expect(try pair.far.receive(appendingTo: &bytes, atMost: 1) == .wouldBlock)
    #expect(bytes == [9])
    withExtendedLifetime(pair.near.rawValue) {}
  }

  @Test func `receiving into storage that is kept does not move it`() throws {
    let pair = try SocketPair()
    var bytes: [UInt8] = []
    bytes.reserveCapacity(4096)
    var addresses: Set<UInt> = []
    for _ in 0..<10 {
      #expect(try pair.near.send([1, 2, 3].span) == .moved(3))
      bytes.removeAll(keepingCapacity: true)
      #expect(try pair.far.receive(appendingTo: &bytes, atMost: 4096) == .moved(3))
      addresses.insert(unsafe bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) })
    }
    #expect(addresses.count == 1)
  }

  @Test func `a peer that does not read makes sending block, and reading makes room again`() throws
  {
    let pair = try SocketPair()
    let chunk = [UInt8](repeating: 7, count: 65_536)
    var sent = 0
    while case .moved(let count) = try pair.near.send(chunk.span) { sent += count }
    #expect(try pair.near.send(chunk.span) == .wouldBlock)
    var bytes: [UInt8] = []
    while case .moved = try pair.far.receive(appendingTo: &bytes, atMost: 65_536) {}
    #expect(bytes.count == sent)
    #expect(try pair.near.send(chunk.span) != .wouldBlock)
  }

  @Test func `the peer's end is received as closed, after what it had sent`() throws {
    let pair = try SocketPair()
    #expect(try pair.far.send([1].span) == .moved(1))
    drop(pair.far)
    var bytes: [UInt8] = []
    #expect(try pair.near.receive(appendingTo: &bytes, atMost: 8) == .moved(1))
    #expect(try pair.near.receive(appendingTo: &bytes, atMost: 8) == .closed)
    #expect(bytes == [1])
  }

  @Test func `a peer that closed with bytes unread is closed too, by whichever errno`() throws {
    let pair = try SocketPair()
    #expect(try pair.near.send([1].span) == .moved(1))
    drop(pair.far)  // With bytes unread, so that the kernel reports ECONNRESET to a receiver.
    var bytes: [UInt8] = []
    #expect(try pair.near.receive(appendingTo: &bytes, atMost: 8) == .closed)
    #expect(try pair.near.send([1].span) == .closed)
  }

  /// In a process of its own, whose SIGPIPE still kills.
  @Test func `sending to a closed peer is an answer, not a signal`() async {
    await #expect(processExitsWith: .success) {
      restoreBrokenPipe()
      let pair = try SocketPair()
      drop(pair.far)
      try #require(try pair.near.send([1].span) == .closed)
      try #require(try pair.near.sendAll([1].span) == false)
    }
  }

  @Test func `the peer's groups are those of the process that connected`() throws {
    let pair = try SocketPair()
    let own = unsafe [gid_t](unsafeUninitializedCapacity: 65_536) { groups, count in
      count = Int(unsafe getgroups(65_536, groups.baseAddress))
    }
    #expect(try Set(pair.near.peerGroups()) == Set(own))
  }

  /// As root only: nobody else may choose his groups.
  @Test(.enabled(if: geteuid() == 0), arguments: [0, 1, 64, 65, 1_000])
  func `all of the peer's groups are told, however many they are`(count: Int) async {
    await #expect(processExitsWith: .success) { [count] in
      let groups = (0..<count).map { gid_t(10_000 + $0) }
      try #require(unsafe setgroups(groups.count, groups) == 0)
      let pair = try SocketPair()
      try #require(try pair.near.peerGroups().sorted() == groups)
    }
  }

  @Test func `after shutting down, both sides see the end`() throws {
    let pair = try SocketPair()
    pair.near.shutDown()
    pair.near.shutDown()
    var bytes: [UInt8] = []
    #expect(try pair.far.receive(appendingTo: &bytes, atMost: 8) == .closed)
    #expect(try pair.near.receive(appendingTo: &bytes, atMost: 8) == .closed)
    #expect(try pair.near.send([1].span) == .closed)
    #expect(try pair.far.send([1].span) == .closed)
  }

  @Test func `shutting down sending alone leaves the other direction open`() throws {
    let pair = try SocketPair()
    pair.near.shutDownSending()
    var bytes: [UInt8] = []
    #expect(try pair.far.receive(appendingTo: &bytes, atMost: 8) == .closed)
    #expect(try pair.far.send([5].span) == .moved(1))
    #expect(try pair.near.receive(appendingTo: &bytes, atMost: 8) == .moved(1))
  }

  @Test func `waiting for something to read ends when there is, or is no more, and else in time`()
    throws
  {
    let pair = try SocketPair()
    #expect(try !pair.near.waitReadable(timeoutMSec: 0))
    #expect(try !pair.near.waitReadable(timeoutMSec: 1))
    #expect(try pair.far.send([1].span) == .moved(1))
    #expect(try pair.near.waitReadable(timeoutMSec: nil))
    var bytes: [UInt8] = []
    #expect(try pair.near.receive(appendingTo: &bytes, atMost: 8) == .moved(1))
    drop(pair.far)
    #expect(try pair.near.waitReadable(timeoutMSec: nil))
  }

  @Test func `sending all waits for a peer that reads slowly`() throws {
    let pair = try SocketPair()
    var counter = try ByteCounter(reading: pair.far)
    let bytes = [UInt8](repeating: 3, count: 3_000_000)  // More than any socket buffer here.
    #expect(try pair.near.sendAll(bytes.span))
    pair.near.shutDown()
    #expect(try counter.result() == "3000000")
  }

  @Test func `connecting where nobody listens names the path and the reason`() throws {
    let directory = try TemporaryDirectory(prefix: "linuxio-")
    let path = directory.path + "/none"
    #expect(throws: SystemCallError(call: "connect", code: ENOENT, path: path)) {
      _ = try StreamSocket(connectingTo: path)
    }
  }
}

/// Lets SIGPIPE kill again, which the test runner's threads block.
private func restoreBrokenPipe() {
  _ = signal(SIGPIPE, SIG_DFL)
  var broken = sigset_t()
  unsafe sigemptyset(&broken)
  unsafe sigaddset(&broken, SIGPIPE)
  unsafe pthread_sigmask(SIG_UNBLOCK, &broken, nil)
}
