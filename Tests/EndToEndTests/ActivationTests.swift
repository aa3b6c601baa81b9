import ControlClient
import Foundation
import LinuxIO
import TestSupport
import Testing

/// Sockets that somebody else opened, as systemd does, and variables that say so wrongly.
@Suite struct ActivationTests {
  private static let activator = "/usr/bin/systemd-socket-activate"
  private static let hasActivator = FileManager.default.isExecutableFile(atPath: activator)

  /// The daemon as it comes to be from a shell that set these variables for it.
  private func start(in place: borrowing Place, _ variables: String) throws -> ChildProcess {
    try place.start(under: ["/bin/sh", "-c", variables + #" exec "$0" "$@""#])
  }

  @Test(.enabled(if: hasActivator))
  func `a passed socket is served from the first client on, and its file stays`() throws {
    let place = try Place()
    let daemon = try place.start(
      under: [Self.activator, "--listen", place.socket, "--fdname=varlink"], listens: false)
    var before: Int?
    try ending(daemon) { _ in
      try awaitService(at: place.socket)
      var client = try Connection(to: place.socket)
      #expect(try client.start("a", 60_000_000).created)
      before = try inode(of: place.socket)
    }
    #expect(try before == inode(of: place.socket))
    #expect(!FileManager.default.fileExists(atPath: place.socket + ".lock"))
  }

  @Test(.enabled(if: hasActivator), arguments: [["--listen", "B"], ["--fdname=other:other"]])
  func `of two sockets neither of which is named varlink none is served`(more: [String]) throws {
    let place = try Place()
    let other = place.path + "/other"
    var daemon = try place.start(
      under: [Self.activator, "--listen", place.socket, "--listen", other]
        + (more[0] == "--listen" ? [] : more), listens: false)
    try awaitFile(place.socket)
    _ = try? StreamSocket(connectingTo: place.socket)
    #expect(try daemon.wait() == .exited(status: 1))
    #expect(try place.said().contains("not exactly one of the 2 passed sockets is named"))
    #expect(FileManager.default.fileExists(atPath: place.socket))
    #expect(FileManager.default.fileExists(atPath: other))
  }

  @Test(.enabled(if: hasActivator)) func `a datagram socket is refused, and its file stays`() throws
  {
    let place = try Place()
    var daemon = try place.start(
      under: [Self.activator, "--datagram", "--listen", place.socket, "--fdname=varlink"],
      listens: false)
    try awaitFile(place.socket)
    try DatagramSocket.send("x", to: place.socket, timeoutMSec: 1_000)
    #expect(try daemon.wait() == .exited(status: 1))
    #expect(try place.said().contains("is not a listening Unix stream socket"))
    #expect(FileManager.default.fileExists(atPath: place.socket))
  }

  @Test(arguments: ["LISTEN_PID=1 LISTEN_FDS=1", "LISTEN_PID=1 LISTEN_FDS=many", "LISTEN_FDS=1"])
  func `variables for somebody else do not count`(variables: String) throws {
    let place = try Place()
    try ending(start(in: place, variables)) { _ in try awaitService(at: place.socket) }
    #expect(try place.said().contains("Stopped"))
  }

  @Test(arguments: [
    "LISTEN_PID=$$ LISTEN_FDS=many", "LISTEN_PID=$$ LISTEN_FDS=-1", "LISTEN_PID=me LISTEN_FDS=1",
    "LISTEN_PID=$$ LISTEN_FDS=1", "LISTEN_PID=$$ LISTEN_FDS=4000000",
  ])
  func `variables that make no sense keep it from starting, and it says so`(
    variables: String
  ) throws {
    let place = try Place()
    var daemon = try start(in: place, variables)
    #expect(try daemon.wait() == .exited(status: 1))
    #expect(try place.said().contains("passed socket"))
    #expect(!FileManager.default.fileExists(atPath: place.socket))
  }

  private func inode(of path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
  }

  private func awaitFile(_ path: String) throws {
    for _ in 0..<1_000 where !FileManager.default.fileExists(atPath: path) {
      pass(milliseconds: 10)
    }
    pass(milliseconds: 100)  // Bound first, then listened at.
  }
}
