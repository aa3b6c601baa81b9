import Glibc

/// What this process is and was given.
package enum CurrentProcess {
  package static var pid: Int32 { getpid() }
  /// The user who started it.
  package static var realUserID: UInt32 { getuid() }
  /// The user whose rights it has.
  package static var effectiveUserID: UInt32 { geteuid() }

  /// Its arguments, the program's name first.
  package static var arguments: [String] { CommandLine.arguments }

  /// A variable of its environment; `nil` if that is not set. An empty one is set.
  package static func environmentVariable(_ name: String) -> String? {
    // SAFETY: the string is copied at once; nothing here changes the environment meanwhile, which
    // ``removeEnvironmentVariable(_:)`` demands.
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
  }

  /// Removes a variable, so that no child inherits it.
  ///
  /// Only while the process has one thread: the environment has no lock.
  package static func removeEnvironmentVariable(_ name: String) {
    // SAFETY: the C library reads the name, which Swift keeps alive, during the call only.
    _ = unsafe unsetenv(name)
  }

  /// Ends it, without running any `deinit`. Status 0 to 255; 0 is success.
  package static func exit(_ status: Int32) -> Never { Glibc.exit(status) }
}
