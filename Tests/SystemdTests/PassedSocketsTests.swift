import Glibc
import LinuxIO
import Systemd
import Testing

/// Each in a process of its own: descriptors and environment belong to the process.
@Suite("PassedSockets")
struct PassedSocketsTests {
  @Test func `none passed is none, whoever else was passed some`() async {
    await #expect(processExitsWith: .success) {
      for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsafe unsetenv(name) }
      try #require(isNone(try PassedSockets.take(named: "varlink")))
      unsafe setenv("LISTEN_PID", "1", 1)
      unsafe setenv("LISTEN_FDS", "1", 1)
      try #require(isNone(try PassedSockets.take(named: "varlink")))
    }
  }

  @Test func `variables meant for another process count for nothing, and are removed`() async {
    await #expect(processExitsWith: .success) {
      unsafe setenv("LISTEN_PID", "1", 1)
      unsafe setenv("LISTEN_FDS", "1", 1)
      unsafe setenv("LISTEN_FDNAMES", "varlink", 1)
      guard try PassedSockets.take(named: "varlink") == nil else { fatalError("one was taken") }
      for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] {
        try #require(CurrentProcess.environmentVariable(name) == nil)
      }
    }
  }

  @Test func `the only one is taken whatever its name`() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory(prefix: "systemd-")
      let path = directory.path + "/socket"
      let fd: Int32 = 600  // Nobody else's here; systemd passes them from 3 on.
      try #require(dup2(listeningSocket(at: path), fd) == fd)
      guard
        let listening = try PassedSockets.take(
          named: "varlink", from: ["connection"], firstDescriptor: fd)
      else { fatalError("none taken") }
      try #require(listening.rawValue == fd)
      try #require(fcntl(fd, F_GETFL) & O_NONBLOCK != 0)
      _ = try StreamSocket(connectingTo: path)
      guard try listening.accept() != nil else { fatalError("nobody connected") }
    }
  }

  @Test func `of several the one of the name is taken, and the others are closed`() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory(prefix: "systemd-")
      for index in 0..<3 {
        let fd = Int32(600 + index)
        try #require(dup2(listeningSocket(at: directory.path + "/\(index)"), fd) == fd)
      }
      let names = ["metrics", "varlink", ""]
      guard
        let listening = try PassedSockets.take(
          named: "varlink", from: names, firstDescriptor: 600)
      else { fatalError("none taken") }
      try #require(listening.rawValue == 601)
      try #require(fcntl(600, F_GETFD) == -1)
      try #require(fcntl(601, F_GETFD) != -1)
      try #require(fcntl(602, F_GETFD) == -1)
    }
  }

  @Test(arguments: [["a", "b"], ["varlink", "varlink"]])
  func `several of which not exactly one has the name are refused and closed`(names: [String]) async
  {
    await #expect(processExitsWith: .success) { [names] in
      let directory = try TemporaryDirectory(prefix: "systemd-")
      for index in 0..<2 {
        let fd = Int32(600 + index)
        try #require(dup2(listeningSocket(at: directory.path + "/\(index)"), fd) == fd)
      }
      do throws(PassedSocketError) {
        _ = try PassedSockets.take(named: "varlink", from: names, firstDescriptor: 600)
        fatalError("one was taken")
      } catch {
        try #require(error == .ambiguous(wanted: "varlink", names: names))
      }
      try #require(fcntl(600, F_GETFD) == -1)
      try #require(fcntl(601, F_GETFD) == -1)
    }
  }

  @Test func `what is no listening Unix stream socket is refused and closed`() async {
    await #expect(processExitsWith: .success) {
      let unbound = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      let datagram = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
      let internet = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      try #require(listen(internet, 1) == 0)
      let file = unsafe open("/dev/null", O_RDONLY)
      for fd in [unbound, datagram, internet, file] {
        try #require(fd >= 0)
        do throws(PassedSocketError) {
          _ = try PassedSockets.take(named: "varlink", from: ["x"], firstDescriptor: fd)
          fatalError("\(fd) was taken")
        } catch {
          try #require(error == .unsuitable(name: "x"))
        }
        try #require(fcntl(fd, F_GETFD) == -1)
      }
    }
  }

  @Test func `refusals say what to change`() {
    #expect(
      PassedSocketError.ambiguous(wanted: "varlink", names: ["a", "b"]).description
        == "not exactly one of the 2 passed sockets is named \"varlink\": a, b;"
        + " set FileDescriptorName=varlink in one socket unit")
    #expect(
      PassedSocketError.unsuitable(name: "a").description
        == "the passed socket \"a\" is not a listening Unix stream socket;"
        + " use ListenStream= with a path")
  }
}

private func isNone(_ socket: consuming ListeningSocket?) -> Bool {
  switch consume socket {
  case .some: false
  case .none: true
  }
}

/// The descriptor of a new socket that listens at `path`, owned by the caller.
private func listeningSocket(at path: String) -> Int32 {
  let fd = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
  let bound = unsafe withUnsafePointer(to: address) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      unsafe bind(fd, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
  guard bound == 0, listen(fd, 4) == 0 else { fatalError("cannot listen at \(path)") }
  return fd
}
