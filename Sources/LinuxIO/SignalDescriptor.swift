import CLinux
import Glibc

/// A signal by its number.
package struct Signal: RawRepresentable, Hashable, Sendable {
  package let rawValue: Int32
  package init(rawValue: Int32) { self.rawValue = rawValue }

  package static let hangup = Signal(rawValue: SIGHUP)
  package static let interrupt = Signal(rawValue: SIGINT)
  package static let terminate = Signal(rawValue: SIGTERM)
  package static let kill = Signal(rawValue: SIGKILL)
  package static let stop = Signal(rawValue: SIGSTOP)
  package static let resume = Signal(rawValue: SIGCONT)
  package static let child = Signal(rawValue: SIGCHLD)
  /// The terminal was resized.
  package static let windowChanged = Signal(rawValue: SIGWINCH)
  /// Ctrl-Z was pressed.
  package static let terminalStop = Signal(rawValue: SIGTSTP)
  package static let brokenPipe = Signal(rawValue: SIGPIPE)
  package static let user1 = Signal(rawValue: SIGUSR1)
  package static let user2 = Signal(rawValue: SIGUSR2)

  /// Ignores it from now on in the whole process.
  package func ignore() { _ = signal(rawValue, SIG_IGN) }
}

/// Signals as something to read. They interrupt nothing and run no handler.
package struct SignalDescriptor: ~Copyable, Sendable {
  private let descriptor: FileDescriptor

  /// Blocks `signals` for the calling thread and those it starts, and collects them here.
  ///
  /// Call it before any other thread exists: one that does not block them would die of them. They
  /// stay blocked when this value ends.
  package init(_ signals: [Signal]) throws(SystemCallError) {
    var set = sigset_t()
    // SAFETY: each call writes or reads `set`, which outlives it, and keeps no pointer to it.
    unsafe sigemptyset(&set)
    for signal in signals { _ = unsafe sigaddset(&set, signal.rawValue) }
    let code = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    guard code == 0 else { throw SystemCallError(call: "pthread_sigmask", code: code) }
    descriptor = FileDescriptor(
      owning: try check("signalfd") {
        unsafe signalfd(-1, &set, CInt(SFD_NONBLOCK) | CInt(SFD_CLOEXEC))
      })
  }

  /// For ``Epoll``.
  package var rawValue: Int32 { descriptor.rawValue }

  /// The next signal that came, or `nil`. Ask until it is `nil`.
  package borrowing func next() throws(SystemCallError) -> Signal? {
    let fd = descriptor.rawValue
    var info = signalfd_siginfo()
    let (_, code) = uninterrupted {
      // SAFETY: a signalfd hands out whole records of this size into `info`, which outlives the call.
      unsafe read(fd, &info, MemoryLayout<signalfd_siginfo>.size)
    }
    if code == EAGAIN { return nil }
    guard code == 0 else { throw SystemCallError(call: "read", code: code) }
    return Signal(rawValue: CInt(info.ssi_signo))
  }
}
