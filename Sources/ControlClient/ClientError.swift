package import LinuxIO

// ControlClient: what a client of countdownd needs. It reads and writes lengths and points in time as
// people do, calls the daemon over its socket, and turns its replies into values and words. It knows no
// verbs of a command line and prints nothing. Read Connection.swift next, then Countdown.swift.

/// Why a call brought no reply that can be used.
package enum ClientError: Error, Equatable, Sendable {
  /// Nobody listens there, or this user may not connect.
  case unreachable(path: String, SystemCallError)
  /// The daemon answered with a Varlink error.
  case refused(CallRefusal)
  /// The connection ended before the reply did.
  case closed
  /// No reply within the time.
  case silent(seconds: Int64)
  /// What came is no reply as the interface describes it.
  case garbled(String)
  /// A message, in either direction, longer than ``Connection/maximumMessageBytes``.
  case oversized
  /// The socket itself failed.
  case failed(SystemCallError)
}

/// A Varlink error: its name and its parameters.
package struct CallRefusal: Equatable, Sendable {
  /// With its interface: `io.countdownd.Countdown.NoSuchCountdown`.
  package let name: String
  /// A JSON object, as it was sent.
  package let parameters: [UInt8]

  /// One of that name.
  package init(name: String, parameters: [UInt8]) {
    self.name = name
    self.parameters = parameters
  }
}
