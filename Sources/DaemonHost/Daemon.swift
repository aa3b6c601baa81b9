internal import Configuration
internal import ControlInterface
internal import Countdowns
internal import LinuxIO
internal import Systemd

/// The daemon from its command line to its exit status.
package enum Daemon {
  /// Serves until it is told to stop.
  ///
  /// - Parameter arguments: `nil` where one is no UTF-8.
  /// - Returns: The exit status: 0 after a stop, 1 if it cannot serve, 2 for a wrong command line.
  package static func run(arguments: [String]?) -> Int32 {
    guard let arguments else {
      try? StandardStream.error.write("countdownd: an argument is no UTF-8\n")
      return 2
    }
    let options: DaemonOptions
    do throws(DaemonOptions.UsageError) {
      switch try DaemonOptions.parse(arguments) {
      case .showHelp:
        try? StandardStream.output.write(DaemonOptions.help)
        return 0
      case .showVersion:
        try? StandardStream.output.write("countdownd \(programVersion)\n")
        return 0
      case .serve(let given): options = given
      }
    } catch {
      try? StandardStream.error.write("countdownd: \(error.text); try --help\n")
      return 2
    }
    let journal = Journal()
    do {
      let configuration = ConfigurationFiles(given: options.configurationFile)
      let read = try configuration.read()
      let settings = read.settings
      func warn(_ message: String) {
        guard Journal.Priority(options.logLevel ?? settings.logLevel) >= .warning else { return }
        journal.send(.warning, message)
      }
      for warning in read.warnings { warn(warning) }
      // With fewer there would be room for fewer clients only.
      try? CurrentProcess.raiseDescriptorLimit()
      let passed = try PassedSockets.take(named: "varlink")
      if passed != nil, let path = options.socketPath {
        warn("--socket \(path): systemd passed a socket, which goes before it, ignoring")
      }
      let socket = try passed ?? boundSocket(for: options, mode: settings.socketMode)
      var host = try Host(
        listeningOn: socket, settings: settings, adminGroup: try adminGroup(of: settings),
        configuration: configuration, logLevel: options.logLevel, version: programVersion,
        journal: journal)
      try host.run()
      return 0
    } catch {
      journal.send(.error, "\(error)", fields: [EntryKind.failed.field])
      return 1
    }
  }

  /// A group that does not exist refuses the start: with it would go the right of those who are in it.
  /// Asked for here and not at a reload, for the name services may take long.
  private static func adminGroup(of settings: Settings) throws -> UInt32? {
    guard let name = settings.adminGroup else { return nil }
    guard let group = try Group.number(of: name) else { throw NoSuchGroup(name: name) }
    return group
  }

  /// A socket of its own, where the command line or else the environment says.
  private static func boundSocket(
    for options: DaemonOptions, mode: UInt32
  ) throws -> ListeningSocket {
    let path =
      options.socketPath
      ?? DaemonOptions.defaultSocketPath(
        runtimeDirectory: CurrentProcess.environmentVariable("RUNTIME_DIRECTORY"),
        userRuntimeDirectory: CurrentProcess.environmentVariable("XDG_RUNTIME_DIR"),
        isRoot: CurrentProcess.effectiveUserID == 0)
    guard let path else { throw NoSocketPath() }
    return try ListeningSocket(bindingTo: path, mode: mode, makingParent: true)
  }
}

extension Journal.Priority {
  /// That of the least urgent entries that are still logged.
  init(_ level: LogLevel) {
    self =
      switch level {
      case .error: .error
      case .warning: .warning
      case .info: .info
      case .debug: .debug
      }
  }
}

/// The configuration names a group that does not exist.
private struct NoSuchGroup: Error, CustomStringConvertible {
  let name: String
  var description: String { "AdminGroup=\(name): there is no such group" }
}

/// There is no default place for the socket.
private struct NoSocketPath: Error, CustomStringConvertible {
  let description = "no place for the socket: set XDG_RUNTIME_DIR or give --socket PATH"
}
