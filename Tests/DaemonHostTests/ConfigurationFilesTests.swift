import Configuration
import Countdowns
import DaemonHost
import Glibc
import LinuxIO
import Testing

@Suite struct ConfigurationFilesTests {
  /// A directory with a main file, and one with its drop-ins where some are given.
  private struct Files: ~Copyable {
    private let directory: TemporaryDirectory
    var path: String { directory.path + "/main.conf" }

    init(main: String?, dropIns: [String: String] = [:]) throws {
      let directory = try TemporaryDirectory(prefix: "configuration-")
      let path = directory.path + "/main.conf"
      if let main { try write(main, to: path) }
      if !dropIns.isEmpty { try #require(unsafe mkdir(path + ".d", 0o700) == 0) }
      for (name, text) in dropIns { try write(text, to: "\(path).d/\(name)") }
      self.directory = directory
    }

    /// What is read; else the error as it would be logged.
    func read(mayBeMissing: Bool = false) -> (read: SettingsRead, error: String) {
      do throws(ConfigurationError) {
        return (
          try ConfigurationFiles(mainFile: path, mayBeMissing: mayBeMissing).read(), ""
        )
      } catch {
        return (SettingsRead(), error.description)
      }
    }
  }

  private static func write(_ text: String, to path: String) throws {
    let fd = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    try #require(fd >= 0, "open \(path)")
    let descriptor = FileDescriptor(owning: fd)
    try writeAll(text, to: descriptor.rawValue)
  }

  @Test func `the default files may be missing, given ones may not`() throws {
    let standard = ConfigurationFiles(given: nil)
    #expect(standard.mainFile == "/etc/countdownd/countdownd.conf")
    #expect(standard.dropInDirectory == "/etc/countdownd/countdownd.conf.d")
    #expect(standard.mayBeMissing)
    let given = ConfigurationFiles(given: "x")
    #expect(given.mainFile == "x")
    #expect(given.dropInDirectory == "x.d")
    #expect(!given.mayBeMissing)

    let files = try Files(main: nil)
    #expect(files.read(mayBeMissing: true).read == SettingsRead())
    #expect(files.read(mayBeMissing: true).error == "")
    #expect(
      files.read().error
        == "the configuration cannot be read: open \(files.path): No such file or directory")
  }

  @Test func `drop-ins are read after the main file, by the bytes of their names`() throws {
    let files = try Files(
      main: "[Countdownd]\nMaxStreams=1\nMaxConnections=1\n",
      dropIns: [
        "b.conf": "[Countdownd]\nMaxStreams=4\n", "10.conf": "[Countdownd]\nMaxStreams=2\n",
        "9.conf": "[Countdownd]\nMaxStreams=3\n", ".z.conf": "bad", "z.conf~": "bad", "z": "bad",
      ])
    let (read, error) = files.read()
    #expect(error == "")
    #expect(read.settings.limits.streams == 4)
    #expect(read.settings.limits.connections == 1)
    #expect(read.warnings == [])
  }

  @Test func `drop-ins count without a main file, where that may be missing`() throws {
    let files = try Files(main: nil, dropIns: ["a.conf": "[Countdownd]\nMaxStreams=2\n"])
    #expect(files.read(mayBeMissing: true).read.settings.limits.streams == 2)
    #expect(files.read().error.contains("No such file"))
  }

  @Test func `errors and warnings name the file they are in`() throws {
    let warned = try Files(main: "[Countdownd]\nX=1\n", dropIns: ["a.conf": "Y=1\n"])
    #expect(
      warned.read().read.warnings == [
        "\(warned.path):2: unknown key X=, ignoring",
        "\(warned.path).d/a.conf:1: Y= is not below [Countdownd], ignoring",
      ])
    let refused = try Files(main: "", dropIns: ["a.conf": "[Countdownd]\nLogLevel=loud\n"])
    #expect(
      refused.read().error
        == "\(refused.path).d/a.conf:2: LogLevel=loud: must be one of error, warning, info, debug")
  }

  @Test func `what cannot be read is an error, and no default`() throws {
    let long = try Files(main: String(repeating: "#\n", count: 524_289))
    #expect(long.read(mayBeMissing: true).error.contains("File too large"))
    let longest = try Files(main: String(repeating: "#\n", count: 524_288))
    #expect(longest.read().error == "")
    let dangling = try Files(main: "", dropIns: ["a.conf": ""])
    try #require(unsafe unlink(dangling.path + ".d/a.conf") == 0)
    try #require(unsafe symlink("nowhere", dangling.path + ".d/a.conf") == 0)
    #expect(dangling.read(mayBeMissing: true).error.contains("a.conf: No such file"))
    let noDirectory = try Files(main: "")
    try Self.write("", to: noDirectory.path + ".d")
    #expect(noDirectory.read().error.contains("Not a directory"))
    let directory = try Files(main: nil)
    try #require(unsafe mkdir(directory.path, 0o700) == 0)
    #expect(directory.read(mayBeMissing: true).error.contains("Is a directory"))
  }

  @Test func `a link to /dev/null is an empty file, as for systemd`() throws {
    let files = try Files(main: nil)
    try #require(unsafe symlink("/dev/null", files.path) == 0)
    #expect(files.read().read == SettingsRead())
    #expect(files.read().error == "")
  }
}
