import Glibc
import LinuxIO
import Testing

@Suite("TemporaryDirectory")
struct TemporaryDirectoryTests {
  @Test func `it is one's own, and goes with all it holds, but not with what is linked to`() throws
  {
    let outside = try TemporaryDirectory(prefix: "linuxio-")
    try write("kept", toFile: outside.path + "/file")
    let path: String
    do {
      let directory = try TemporaryDirectory(prefix: "linuxio-")
      path = directory.path
      let found = try #require(entry(at: path))
      #expect(found == (S_IFDIR, 0o700))
      try #require(unsafe mkdir(path + "/a", 0o700) == 0)
      try #require(unsafe mkdir(path + "/a/b", 0o700) == 0)
      try write("gone", toFile: path + "/a/b/file")
      try #require(unsafe symlink(outside.path, path + "/a/link") == 0)
      withExtendedLifetime(directory.path) {}
    }
    #expect(entry(at: path) == nil)
    #expect(try contents(ofFile: outside.path + "/file") == "kept")
  }

  @Test func `two of one prefix are two`() throws {
    let one = try TemporaryDirectory(prefix: "linuxio-")
    let other = try TemporaryDirectory(prefix: "linuxio-")
    #expect(one.path != other.path)
    #expect(one.path.contains("/linuxio-"))
  }

  @Test func `it is made in $TMPDIR where that is set`() async {
    await #expect(processExitsWith: .success) {
      let outer = try TemporaryDirectory(prefix: "linuxio-")
      unsafe setenv("TMPDIR", outer.path, 1)
      let inner = try TemporaryDirectory(prefix: "x")
      try #require(inner.path.hasPrefix(outer.path + "/x"))
      unsafe setenv("TMPDIR", "/none/such", 1)
      do throws(SystemCallError) {
        _ = try TemporaryDirectory(prefix: "x")
        Issue.record("made in a directory that does not exist")
      } catch {
        try #require(error == SystemCallError(call: "mkdtemp", code: ENOENT, path: "/none/such"))
      }
    }
  }
}
