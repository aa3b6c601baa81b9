package import Configuration

/// The daemon's command line.
package struct DaemonOptions: Equatable, Sendable {
  /// The configuration's main file; `nil` for the default one.
  package var configurationFile: String?
  package var socketPath: String?
  /// What is less urgent is not logged, whatever the configuration says; `nil` leaves it to that.
  package var logLevel: LogLevel?

  /// What the command line asks for.
  package enum Request: Equatable, Sendable {
    case serve(DaemonOptions)
    case showHelp
    case showVersion
  }

  /// A command line that cannot be followed: what is wrong, in a sentence for whoever typed it.
  package struct UsageError: Error, Equatable {
    package let text: String
  }

  package init() {}

  /// - Parameter arguments: Without the program's name. `--option VALUE` and `--option=VALUE`.
  package static func parse(_ arguments: [String]) throws(UsageError) -> Request {
    var options = DaemonOptions()
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      func value() throws(UsageError) -> String {
        let text = parts.count == 2 ? String(parts[1]) : rest.popFirst()
        guard let text, !text.isEmpty else { throw UsageError(text: "\(name) needs a value") }
        return text
      }
      switch name {
      case "--config": options.configurationFile = try value()
      case "--socket": options.socketPath = try value()
      case "--log-level":
        let word = try value()
        guard let level = LogLevel(rawValue: word) else {
          let known = LogLevel.allCases.map(\.rawValue).joined(separator: ", ")
          throw UsageError(text: "--log-level \(word): is none of \(known)")
        }
        options.logLevel = level
      case "--help", "--version":
        guard parts.count == 1 else { throw UsageError(text: "\(name) takes no value") }
        return name == "--help" ? .showHelp : .showVersion
      default: throw UsageError(text: "unknown argument \(argument)")
      }
    }
    return .serve(options)
  }

  package static let help = """
    Usage: countdownd [--config FILE] [--socket PATH] [--log-level LEVEL]

    Holds named countdowns and tells whoever listens on its socket when one expires.

      --config FILE      read it and FILE.d/*.conf rather than the default ones
      --socket PATH      listen there rather than at the default place
      --log-level LEVEL  error, warning, info or debug, whatever the configuration says
      --version          say which version this is
      --help             show this text

    It listens on the socket that systemd passed, which goes before --socket. Without both it
    listens at $RUNTIME_DIRECTORY/io.countdownd.Countdown, else at
    /run/countdownd/io.countdownd.Countdown (root) or
    $XDG_RUNTIME_DIR/countdownd/io.countdownd.Countdown (others).
    Without --config it reads \(ConfigurationFiles.defaultMainFile) and
    \(ConfigurationFiles.defaultMainFile).d/*.conf, as far as they exist; SIGHUP, or
    io.systemd.service.Reload on its socket, makes it read them again. SIGTERM and SIGINT end it.

    """

  /// Where to listen when nobody says: as the help says.
  ///
  /// - Returns: `nil` where there is no such place: no runtime directory, and not root.
  package static func defaultSocketPath(
    runtimeDirectory: String?, userRuntimeDirectory: String?, isRoot: Bool
  ) -> String? {
    let file = "io.countdownd.Countdown"
    if let directory = runtimeDirectory?.split(separator: ":").first {
      return "\(directory)/\(file)"
    }
    if isRoot { return "/run/countdownd/\(file)" }
    guard let userRuntimeDirectory, !userRuntimeDirectory.isEmpty else { return nil }
    return "\(userRuntimeDirectory)/countdownd/\(file)"
  }
}
