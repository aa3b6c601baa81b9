import Glibc
import LinuxIO
import Testing

@Suite("ListeningSocket")
struct ListeningSocketTests {
  private let directory: String
  private let path: String
  private let owner: Owner

  /// Keeps the directory until the test is over; a suite's value cannot own it itself.
  private final class Owner: Sendable {
    let directory: TemporaryDirectory
    init() throws(SystemCallError) { directory = try TemporaryDirectory(prefix: "linuxio-") }
  }

  init() throws {
    owner = try Owner()
    directory = owner.directory.path
    path = directory + "/socket"
  }

  @Test func `it accepts who connects, knows them, and both ends are of the right kind`() throws {
    let listening = try ListeningSocket(bindingTo: path, mode: 0o600)
    #expect(try isNobodyWaiting(at: listening))
    let client = try StreamSocket(connectingTo: path)
    guard let connection = try listening.accept() else {
      Issue.record("no connection")
      return
    }
    #expect(try isNobodyWaiting(at: listening))
    let credentials = try connection.peerCredentials()
    #expect(credentials.pid == getpid())
    #expect(credentials.uid == geteuid())
    #expect(credentials.gid == getegid())
    #expect(isNonBlocking(listening.rawValue) && isCloseOnExec(listening.rawValue))
    #expect(isNonBlocking(connection.rawValue) && isCloseOnExec(connection.rawValue))
    #expect(!isNonBlocking(client.rawValue) && isCloseOnExec(client.rawValue))
    #expect(try client.send([1, 2].span) == .moved(2))
    var bytes: [UInt8] = []
    #expect(try connection.receive(appendingTo: &bytes, atMost: 8) == .moved(2))
  }

  @Test(arguments: [0o600, 0o660, 0o666] as [UInt32])
  func `its file has exactly the mode asked for`(mode: UInt32) throws {
    let listening = try ListeningSocket(bindingTo: path, mode: mode)
    let found = try #require(entry(at: path))
    #expect(found == (S_IFSOCK, mode))
    withExtendedLifetime(listening.rawValue) {}
  }

  @Test func `when it ends its file goes, the lock's stays, and another can begin`() throws {
    for _ in 0..<2 {
      do {
        let listening = try ListeningSocket(bindingTo: path, mode: 0o600)
        let client = try StreamSocket(connectingTo: path)
        withExtendedLifetime((listening.rawValue, client.rawValue)) {}
      }
      #expect(entry(at: path) == nil)
      #expect(entry(at: path + ".lock")?.kind == S_IFREG)
    }
  }

  @Test func `a socket that was left over is replaced`() throws {
    let old = try bindWithoutListening(to: path)
    drop(old)
    #expect(entry(at: path)?.kind == S_IFSOCK)
    let listening = try ListeningSocket(bindingTo: path, mode: 0o600)
    _ = try StreamSocket(connectingTo: path)
    #expect(try !isNobodyWaiting(at: listening))
  }

  @Test func `what is at the path and is no socket is refused and kept`() throws {
    let file = directory + "/file"
    try write("precious", toFile: file)
    #expect(throws: OwnershipError.occupied(path: file)) {
      _ = try ListeningSocket(bindingTo: file, mode: 0o600)
    }
    #expect(try contents(ofFile: file) == "precious")

    let folder = directory + "/folder"
    try #require(unsafe mkdir(folder, 0o700) == 0)
    #expect(throws: OwnershipError.occupied(path: folder)) {
      _ = try ListeningSocket(bindingTo: folder, mode: 0o600)
    }
    #expect(entry(at: folder)?.kind == S_IFDIR)

    // A link is refused even where it leads to a socket, and to nothing.
    let other = directory + "/other"
    drop(try bindWithoutListening(to: other))
    for (link, target) in [("/link", other), ("/dangling", "/none/such")] {
      let link = directory + link
      try #require(unsafe symlink(target, link) == 0)
      #expect(throws: OwnershipError.occupied(path: link)) {
        _ = try ListeningSocket(bindingTo: link, mode: 0o600)
      }
      #expect(entry(at: link)?.kind == S_IFLNK)
    }
    #expect(entry(at: other)?.kind == S_IFSOCK)
  }

  @Test func `a second one at the path is refused and told who runs, and the first is unharmed`()
    throws
  {
    let listening = try ListeningSocket(bindingTo: path, mode: 0o600)
    let refusal = OwnershipError.alreadyRunning(lockPath: path + ".lock", pid: getpid())
    #expect(throws: refusal) { _ = try ListeningSocket(bindingTo: path, mode: 0o600) }
    #expect(
      refusal.description
        == "already running: process \(getpid()) holds the lock \(path).lock")
    _ = try StreamSocket(connectingTo: path)
    #expect(try !isNobodyWaiting(at: listening))
  }

  @Test func `of many who start at once over a leftover, exactly one wins`() async throws {
    for round in 0..<20 {
      let path = path + "\(round)"
      drop(try bindWithoutListening(to: path))
      let winners = await withTaskGroup(of: Winner?.self) { group in
        for _ in 0..<6 { group.addTask { try? Winner(at: path) } }
        var winners: [Winner] = []  // Held until all have tried.
        for await winner in group { if let winner { winners.append(winner) } }
        return winners
      }
      #expect(winners.count == 1)
      _ = try StreamSocket(connectingTo: path)
      withExtendedLifetime(winners) {}
    }
  }

  private final class Winner: Sendable {
    let socket: ListeningSocket
    init(at path: String) throws(OwnershipError) {
      socket = try ListeningSocket(bindingTo: path, mode: 0o600)
    }
  }

  @Test func `what another put at the path meanwhile is not removed at the end`() throws {
    do {
      let listening = try ListeningSocket(bindingTo: path, mode: 0o600)
      try #require(unsafe rename(path, path + ".moved") == 0)
      try write("another's", toFile: path)
      withExtendedLifetime(listening.rawValue) {}
    }
    #expect(try contents(ofFile: path) == "another's")
  }

  @Test func `a path of 107 bytes is bound, of 108 refused before anything is created`() throws {
    let longest = path + String(repeating: "x", count: 107 - path.utf8.count)
    do {
      let listening = try ListeningSocket(bindingTo: longest, mode: 0o600)
      _ = try StreamSocket(connectingTo: longest)
      #expect(try !isNobodyWaiting(at: listening))
    }
    let tooLong = SystemCallError(call: "bind", code: ENAMETOOLONG, path: longest + "x")
    #expect(throws: OwnershipError.systemCall(tooLong)) {
      _ = try ListeningSocket(bindingTo: longest + "x", mode: 0o600)
    }
    #expect(entry(at: longest + "x.lock") == nil)
  }

  @Test func `the directory it is in is created if asked for, but no directory above`() throws {
    let inner = directory + "/run/socket"
    let missing = SystemCallError(call: "open", code: ENOENT, path: inner + ".lock")
    #expect(throws: OwnershipError.systemCall(missing)) {
      _ = try ListeningSocket(bindingTo: inner, mode: 0o600)
    }
    for _ in 0..<2 {  // The second time it is there.
      _ = try ListeningSocket(bindingTo: inner, mode: 0o600, makingParent: true)
    }
    #expect(entry(at: directory + "/run")?.kind == S_IFDIR)
    let deep = directory + "/a/b/socket"
    let noGrandparent = SystemCallError(call: "mkdir", code: ENOENT, path: directory + "/a/b")
    #expect(throws: OwnershipError.systemCall(noGrandparent)) {
      _ = try ListeningSocket(bindingTo: deep, mode: 0o600, makingParent: true)
    }
  }

  @Test func `a passed socket is served, made non-blocking, and its file is kept`() throws {
    do {
      let fd = try bindWithoutListening(to: path).take()
      try #require(listen(fd, 1) == 0)
      #expect(!isNonBlocking(fd))
      let listening = try ListeningSocket(adopting: FileDescriptor(owning: fd))
      let nonBlocking = isNonBlocking(listening.rawValue)
      try #require(nonBlocking)  // Else the next line would wait for ever.
      #expect(try isNobodyWaiting(at: listening))
      _ = try StreamSocket(connectingTo: path)
      #expect(try !isNobodyWaiting(at: listening))
    }
    #expect(entry(at: path)?.kind == S_IFSOCK)
    #expect(entry(at: path + ".lock") == nil)
  }

  /// In a process of its own, as it uses up the descriptors.
  @Test func `being out of descriptors is an error, and the connection goes on waiting`() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory(prefix: "linuxio-")
      let path = directory.path + "/socket"
      let listening = try ListeningSocket(bindingTo: path, mode: 0o600)
      let client = try StreamSocket(connectingTo: path)
      var limit = rlimit()
      unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let before = limit.rlim_cur
      limit.rlim_cur = 3
      unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      do throws(SystemCallError) {
        _ = try listening.accept()
        Issue.record("accepted without a descriptor to spare")
      } catch {
        try #require(error == SystemCallError(call: "accept4", code: EMFILE))
      }
      limit.rlim_cur = before
      unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      try #require(try !isNobodyWaiting(at: listening))
      withExtendedLifetime(client.rawValue) {}
    }
  }
}

/// Accepts and drops one connection; whether there was none.
private func isNobodyWaiting(at socket: borrowing ListeningSocket) throws -> Bool {
  switch try socket.accept() {
  case .some: false
  case .none: true
  }
}

/// A socket bound by hand, as a process leaves one that dies.
private func bindWithoutListening(to path: String) throws -> FileDescriptor {
  let fd = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  let descriptor = FileDescriptor(owning: fd)
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
  let result = unsafe withUnsafePointer(to: address) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      unsafe bind(fd, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
  try #require(result == 0)
  return descriptor
}

private func drop(_ descriptor: consuming FileDescriptor) {}
