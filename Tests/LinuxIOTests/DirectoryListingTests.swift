import Glibc
import LinuxIO
import Testing

@Suite("DirectoryListing")
struct DirectoryListingTests {
  private static func failure(_ path: String) -> SystemCallError? {
    do throws(SystemCallError) {
      _ = try DirectoryListing(of: path)
      return nil
    } catch {
      return error
    }
  }

  @Test func `all entries are listed, sorted bytewise, whatever they are`() throws {
    let directory = try TemporaryDirectory(prefix: "linuxio-")
    #expect(try DirectoryListing(of: directory.path).names == [])
    for name in ["b", "a", "ä", "B", "10", "9", ".hidden"] {
      try write("", toFile: directory.path + "/" + name)
    }
    try #require(unsafe mkdir(directory.path + "/c", 0o700) == 0)
    try #require(unsafe symlink("nowhere", directory.path + "/link") == 0)
    #expect(
      try DirectoryListing(of: directory.path).names
        == [".hidden", "10", "9", "B", "a", "b", "c", "link", "ä"])
  }

  @Test func `a name of the greatest length is kept whole`() throws {
    let directory = try TemporaryDirectory(prefix: "linuxio-")
    let name = String(repeating: "n", count: 255)
    try write("", toFile: directory.path + "/" + name)
    #expect(try DirectoryListing(of: directory.path).names == [name])
  }

  @Test func `what is no directory is told by its name`() throws {
    let directory = try TemporaryDirectory(prefix: "linuxio-")
    let path = directory.path + "/x"
    #expect(Self.failure(path) == SystemCallError(call: "opendir", code: ENOENT, path: path))
    try write("", toFile: path)
    #expect(Self.failure(path) == SystemCallError(call: "opendir", code: ENOTDIR, path: path))
  }
}
