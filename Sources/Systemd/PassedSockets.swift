import CSystemd
package import LinuxIO

/// Why sockets that were passed cannot be served.
package enum PassedSocketError: Error, Equatable, CustomStringConvertible {
  /// Several were passed and not exactly one has the wanted name; these are their names.
  case ambiguous(wanted: String, names: [String])
  /// It is not a Unix stream socket that listens.
  case unsuitable(name: String)
  /// The socket could not be taken over.
  case systemCall(SystemCallError)

  package var description: String {
    switch self {
    case .ambiguous(let wanted, let names):
      return "not exactly one of the \(names.count) passed sockets is named \"\(wanted)\": "
        + names.joined(separator: ", ")
        + "; set FileDescriptorName=\(wanted) in one socket unit"
    case .unsuitable(let name):
      return "the passed socket \"\(name)\" is not a listening Unix stream socket;"
        + " use ListenStream= with a path"
    case .systemCall(let error):
      return "the passed sockets cannot be taken over: \(error);"
        + " LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES tell of them"
    }
  }
}

/// The sockets systemd opened for the service, sd_listen_fds(3).
package enum PassedSockets {
  /// Takes over the one named `name`, or the only one whatever its name; `nil` if none was passed.
  ///
  /// All that were passed belong to this process: those not wanted are closed. The variables that
  /// tell of them are removed, so that no child believes them meant for it. Call it once, before the
  /// process has a second thread.
  package static func take(
    named name: String
  ) throws(PassedSocketError) -> ListeningSocket? {
    // SAFETY: libsystemd gives us an array of strings, which `strings` frees.
    var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    let count = unsafe sd_listen_fds_with_names(1, &list)
    guard count >= 0 else {
      throw .systemCall(SystemCallError(call: "sd_listen_fds_with_names", code: -count))
    }
    let names = unsafe strings(freeing: list, count: Int(count))
    return try take(named: name, from: names, firstDescriptor: SD_LISTEN_FDS_START)
  }

  /// Takes over one of the descriptors `firstDescriptor`…, which bear `names`, and closes the others.
  package static func take(
    named name: String, from names: [String], firstDescriptor: Int32
  ) throws(PassedSocketError) -> ListeningSocket? {
    if names.isEmpty { return nil }
    let chosen = names.count == 1 ? 0 : index(of: name, in: names)
    for index in names.indices where index != chosen {
      _ = FileDescriptor(owning: firstDescriptor + Int32(index))
    }
    guard let chosen else { throw .ambiguous(wanted: name, names: names) }
    let descriptor = FileDescriptor(owning: firstDescriptor + Int32(chosen))
    let type = Int32(SOCK_STREAM.rawValue)
    guard sd_is_socket_unix(descriptor.rawValue, type, 1, nil, 0) > 0 else {
      throw .unsuitable(name: names[chosen])
    }
    do throws(SystemCallError) {
      return try ListeningSocket(adopting: descriptor)
    } catch {
      throw .systemCall(error)
    }
  }

  /// Where `name` is if it is there exactly once.
  private static func index(of name: String, in names: [String]) -> Int? {
    let first = names.firstIndex(of: name)
    return first == names.lastIndex(of: name) ? first : nil
  }

  /// Copies an array of C strings, and frees it and them.
  private static func strings(
    freeing list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, count: Int
  ) -> [String] {
    // SAFETY: libsystemd allocated the array of `count` strings and each of them with malloc, and
    // left them to us. No pointer outlives this.
    guard let list = unsafe list else { return [] }
    defer { unsafe free(list) }
    return (0..<count).map { index in
      guard let string = unsafe list[index] else { return "" }
      defer { unsafe free(string) }
      return unsafe String(cString: string)
    }
  }
}
