import Glibc
import LinuxIO
import Testing

@Suite("LockFile")
struct LockFileTests {
  @Test func `it is held until it ends, and its file stays`() throws {
    let directory = try TemporaryDirectory(prefix: "linuxio-")
    let path = directory.path + "/state"
    for _ in 0..<2 {
      let lock = try LockFile(of: path)
      let held = OwnershipError.alreadyRunning(lockPath: path + ".lock", pid: getpid())
      #expect(throws: held) { _ = try LockFile(of: path) }
      withExtendedLifetime(lock) {}
    }
    #expect(try contents(ofFile: path + ".lock") == "\(getpid())\n")
    #expect(entry(at: path + ".lock")?.permissions == 0o600)
    #expect(entry(at: path) == nil)
  }

  @Test func `one that a killed process held is free, and a longer number in it is replaced`()
    throws
  {
    let directory = try TemporaryDirectory(prefix: "linuxio-")
    let path = directory.path + "/state"
    try write("4000000000 and more\n", toFile: path + ".lock")
    _ = try LockFile(of: path)
    #expect(try contents(ofFile: path + ".lock") == "\(getpid())\n")
  }

  @Test(arguments: ["", "\n", "12 monkeys\n", "99999999999\n"])
  func `whatever stands in a held lock, the refusal is clear`(content: String) throws {
    let directory = try TemporaryDirectory(prefix: "linuxio-")
    let path = directory.path + "/state"
    let lock = try LockFile(of: path)
    try write(content, toFile: path + ".lock")
    let refusal = OwnershipError.alreadyRunning(lockPath: path + ".lock", pid: nil)
    #expect(throws: refusal) { _ = try LockFile(of: path) }
    #expect(
      refusal.description == "already running: another process holds the lock \(path).lock")
    withExtendedLifetime(lock) {}
  }

  @Test func `a symbolic link in the lock's place is not followed`() throws {
    let directory = try TemporaryDirectory(prefix: "linuxio-")
    let path = directory.path + "/state"
    try #require(unsafe symlink(directory.path + "/elsewhere", path + ".lock") == 0)
    let refusal = SystemCallError(call: "open", code: ELOOP, path: path + ".lock")
    #expect(throws: OwnershipError.systemCall(refusal)) { _ = try LockFile(of: path) }
    #expect(entry(at: directory.path + "/elsewhere") == nil)
  }
}
