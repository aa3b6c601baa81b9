import Glibc
import LinuxIO
import Testing

/// Each in a process of its own: signals belong to the process.
@Suite("SignalDescriptor")
struct SignalDescriptorTests {
  @Test func `signals are read one by one instead of killing`() async {
    await #expect(processExitsWith: .success) {
      unblockAllSignals()
      let signals = try SignalDescriptor([.terminate, .hangup])
      try #require(isNonBlocking(signals.rawValue) && isCloseOnExec(signals.rawValue))
      try #require(try signals.next() == nil)
      // To this thread, which blocks them: others of the test process may not.
      pthread_kill(pthread_self(), SIGTERM)
      pthread_kill(pthread_self(), SIGHUP)
      let came = try [signals.next(), signals.next()]
      try #require(Set(came) == [.terminate, .hangup])
      try #require(try signals.next() == nil)
    }
  }

  @Test func `a signal that was not asked for keeps its effect`() async {
    await #expect(processExitsWith: .signal(SIGUSR1)) {
      unblockAllSignals()
      let signals = try SignalDescriptor([.user2])
      raise(SIGUSR1)
      withExtendedLifetime(signals.rawValue) {}
    }
  }

  @Test func `an ignored signal does nothing`() async {
    await #expect(processExitsWith: .success) {
      unblockAllSignals()
      Signal.brokenPipe.ignore()
      raise(SIGPIPE)
    }
  }
}

/// Undoes for this thread what the test runner's threads begin with: all signals blocked.
private func unblockAllSignals() {
  var all = sigset_t()
  unsafe sigfillset(&all)
  unsafe pthread_sigmask(SIG_UNBLOCK, &all, nil)
}
