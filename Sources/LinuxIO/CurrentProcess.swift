import Glibc

/// What this process is and was given.
package enum CurrentProcess {
  package static var pid: Int32 { getpid() }
  /// The user who started it.
  package static var realUserID: UInt32 { getuid() }
  /// The user whose rights it has.
  package static var effectiveUserID: UInt32 { geteuid() }

  /// Its arguments, without the program's name; `nil` where one is no UTF-8, for a mended one would
  /// name something else.
  package static var arguments: [String]? {
    var arguments: [String] = []
    for index in 1..<max(Int(CommandLine.argc), 1) {
      // SAFETY: of `argc` strings, which the C library keeps for as long as the process lives.
      guard let pointer = unsafe CommandLine.unsafeArgv[index],
        let argument = unsafe String(validatingCString: pointer)
      else { return nil }
      arguments.append(argument)
    }
    return arguments
  }

  /// The folder its program lies in: others that were built or installed with it are there, too.
  package static var folder: String? {
    guard let program = programPath, let slash = program.lastIndex(of: "/") else { return nil }
    return String(program[..<slash])
  }

  /// Where the kernel found its program; `nil` without /proc.
  private static var programPath: String? {
    let limit = 4_096
    var path = [CChar](repeating: 0, count: limit)
    // SAFETY: the kernel fills at most `limit` bytes of the array, which is ours during the call.
    let count = unsafe readlink("/proc/self/exe", &path, limit)
    guard count > 0, count < limit else { return nil }
    return String(decoding: path[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Bytes of memory that it has in use now; `nil` where /proc does not tell.
  package static var residentBytes: Int? {
    // Sizes in pages: of the address space, of what is resident, and others (proc_pid_statm(5)).
    guard let text = try? [UInt8](contentsOfFile: "/proc/self/statm", atMost: 1_000) else {
      return nil
    }
    let fields = text.split(separator: UInt8(ascii: " "))
    guard fields.count > 1, let pages = Int(String(decoding: fields[1], as: UTF8.self)) else {
      return nil
    }
    return pages * sysconf(CInt(_SC_PAGESIZE))
  }

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

  /// Lets it have as many descriptors as it may: the limit that counts is raised to the highest that
  /// needs no privilege. It is left low by default for programs that use select(2) only.
  package static func raiseDescriptorLimit() throws(SystemCallError) {
    var limit = rlimit()
    // SAFETY: the kernel writes and reads `limit` during each call, and keeps no pointer to it.
    _ = try check("getrlimit") {
      unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
    guard limit.rlim_cur < limit.rlim_max else { return }
    limit.rlim_cur = limit.rlim_max
    _ = try check("setrlimit") {
      unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
  }

  /// Stops it, as Ctrl-Z does, until somebody lets it go on.
  package static func stop() throws(SystemCallError) {
    _ = try check("kill") { kill(getpid(), SIGSTOP) }
  }

  /// Ends it, without running any `deinit`. Status 0 to 255; 0 is success.
  package static func exit(_ status: Int32) -> Never { Glibc.exit(status) }
}
