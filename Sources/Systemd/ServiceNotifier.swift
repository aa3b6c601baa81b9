// Systemd: what a service tells systemd and gets from it: ready, watchdog, stopping, passed sockets,
// the journal. It knows libsystemd and nothing of countdowns. Without systemd everything here
// answers so and the daemon runs as well. Read PassedSockets and Journal next.

import CSystemd
package import LinuxIO

/// Tells the service manager how the service is, in the words of sd_notify(3).
///
/// The message is sent by ourselves: libsystemd waits for ever where the manager does not read, and
/// would let no call be served meanwhile. Whatever the manager does, it never stops a service: what
/// became of a message is an answer, for the caller to ignore.
package struct ServiceNotifier: Sendable {
  /// What became of a message.
  package enum Delivery: Equatable, Sendable {
    case sent
    /// `$NOTIFY_SOCKET` is not set: nobody wants to know.
    case unsupervised
    case failed(SystemCallError)
  }

  package init() {}

  /// Whether there is a manager who wants to know.
  package var isSupervised: Bool { address != nil }

  private var address: String? {
    guard let value = CurrentProcess.environmentVariable("NOTIFY_SOCKET"), !value.isEmpty else {
      return nil
    }
    return value
  }

  /// Calls are served from now on, by the configuration that was read last.
  package func ready(status: String) -> Delivery {
    send("READY=1\n" + line(status), timeoutMSec: ServiceNotifier.patienceMSec)
  }

  /// One line for `systemctl status`.
  package func status(_ status: String) -> Delivery { send(line(status)) }

  /// The loop is alive.
  package func watchdog() -> Delivery { send("WATCHDOG=1") }

  /// The configuration is read again, since a reading of CLOCK_MONOTONIC at which the wish for it was
  /// known; ``ready(status:)`` has to follow, whatever comes of it.
  package func reloading(sinceMonotonicUSec monotonicUSec: Int64) -> Delivery {
    send(
      "RELOADING=1\nMONOTONIC_USEC=\(monotonicUSec)", timeoutMSec: ServiceNotifier.patienceMSec)
  }

  /// The service ends now, in good order.
  package func stopping(status: String) -> Delivery {
    send("STOPPING=1\n" + line(status), timeoutMSec: ServiceNotifier.patienceMSec)
  }

  /// How long a message is waited with that is sent once and must not be lost.
  private static let patienceMSec: Int32 = 500

  /// How often the manager wants to hear ``watchdog()`` at least, in microseconds; `nil` if it does
  /// not, or asks another process. Half of it is a good interval.
  package var watchdogIntervalUSec: UInt64? {
    var interval: UInt64 = 0
    // SAFETY: the number is written before the call returns and outlives it.
    return unsafe sd_watchdog_enabled(0, &interval) > 0 ? interval : nil
  }

  /// A line break in `status` would begin another assignment.
  private func line(_ status: String) -> String {
    "STATUS=" + String(status.map { $0.isNewline ? " " : $0 })
  }

  private func send(_ state: String, timeoutMSec: Int32 = 0) -> Delivery {
    guard let address else { return .unsupervised }
    do throws(SystemCallError) {
      try DatagramSocket.send(state, to: address, timeoutMSec: timeoutMSec)
      return .sent
    } catch {
      return .failed(error)
    }
  }
}
