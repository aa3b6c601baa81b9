package import Configuration
package import LinuxIO
package import SystemdSyntax

/// Where the configuration lies: a main file, and a directory of drop-ins beside it.
///
/// Reading has no effect but its result, so it can be done again at any time; what becomes of a result,
/// or of an error, is the caller's business.
package struct ConfigurationFiles: Equatable, Sendable {
  /// Its path.
  package let mainFile: String
  /// Whether there may be no main file: then all is as by default, but for drop-ins.
  package let mayBeMissing: Bool

  /// Its files `*.conf` are read after the main file, in bytewise order of their names; there may be
  /// none. Hidden ones are passed over, as systemd does.
  package var dropInDirectory: String { mainFile + ".d" }

  /// Where the main file is when nobody says.
  package static let defaultMainFile = "/etc/countdownd/countdownd.conf"

  /// Those of a main file that has to be there; `nil` for the default ones, which may be missing.
  package init(given mainFile: String?) {
    self.init(mainFile: mainFile ?? Self.defaultMainFile, mayBeMissing: mainFile == nil)
  }

  /// Those of any main file.
  package init(mainFile: String, mayBeMissing: Bool) {
    self.mainFile = mainFile
    self.mayBeMissing = mayBeMissing
  }

  /// Reads all of them. It waits for the disk.
  ///
  /// - Throws: What could not be read, or the first line that cannot be followed.
  package func read() throws(ConfigurationError) -> SettingsRead {
    var files: [SourceFile] = []
    do throws(SystemCallError) {
      do throws(SystemCallError) {
        files.append(try Self.file(mainFile))
      } catch {
        guard mayBeMissing, error.code == Self.missing else { throw error }
      }
      for name in try dropIns() { files.append(try Self.file("\(dropInDirectory)/\(name)")) }
    } catch {
      throw .unreadable(error)
    }
    do throws(SourceError) { return try Settings.read(files) } catch { throw .refused(error) }
  }

  private static func file(_ path: String) throws(SystemCallError) -> SourceFile {
    SourceFile(
      name: path,
      bytes: try [UInt8](contentsOfFile: path, atMost: Statement.longestFile))
  }

  /// ENOENT.
  private static let missing: Int32 = 2

  /// The names of the drop-ins; none if there is no directory for them.
  private func dropIns() throws(SystemCallError) -> [String] {
    do throws(SystemCallError) {
      return try DirectoryListing(of: dropInDirectory).names
        .filter { $0.hasSuffix(".conf") && !$0.hasPrefix(".") }
    } catch {
      guard error.code == Self.missing else { throw error }
      return []
    }
  }
}

/// Why there are no settings to go by.
package enum ConfigurationError: Error, Equatable, CustomStringConvertible {
  /// A file or the directory could not be read.
  case unreadable(SystemCallError)
  /// A line cannot be followed.
  case refused(SourceError)

  /// A line for the log, naming the file and, where there is one, the line.
  package var description: String {
    switch self {
    case .unreadable(let error): "the configuration cannot be read: \(error)"
    case .refused(let error): error.description
    }
  }
}
