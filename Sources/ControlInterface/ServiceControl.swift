package import JSON
internal import Varlink

/// `io.systemd.service`, by which an administrator controls any service that systemd's conventions are
/// kept by. The methods and their types are those of systemd's own; it declares no errors.
package enum ServiceControl {
  package static let name = "io.systemd.service"

  /// Its description.
  package static let text = """
    # Control of the service itself, as the services of systemd offer it. Everybody may call Ping; Reload
    # and SetLogLevel are for root and the user that the service runs as, others get PermissionDenied.
    interface io.systemd.service

    # Answers, if the service does.
    method Ping() -> ()

    # Reads the configuration again, and answers when it holds. Where it cannot be followed the old one
    # stays, and the answer is the error io.countdownd.Countdown.ConfigurationRefused.
    method Reload() -> ()

    # What is less urgent than level, 0 to 7 as in syslog(3), is not logged from here on, until the next
    # Reload: then the configured level holds again.
    method SetLogLevel(level: int) -> ()

    """
}

extension JSONWriter {
  /// The error reply to a `Reload` whose configuration cannot be followed.
  ///
  /// - Parameters:
  ///   - message: What is wrong, for people.
  ///   - file: Where it is wrong; `nil` if that is in no one file.
  ///   - line: From 1; `nil` if it is about the file as a whole.
  package mutating func configurationRefused(message: String, file: String?, line: Int?) {
    beginError(InterfaceFile.name + ".ConfigurationRefused")
    field(.message, message)
    if let file { field(.file, file) }
    if let line { field(.line, Int64(line)) }
    endReply()
  }
}
