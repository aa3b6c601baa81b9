import Glibc
import LinuxIO
import Systemd
import TestSupport
import Testing

/// Each in a process of its own: `$NOTIFY_SOCKET` belongs to the process.
@Suite("ServiceNotifier")
struct ServiceNotifierTests {
  @Test func `each message says what systemd expects, at a socket with a path`() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory(prefix: "systemd-")
      let manager = ServiceManager(at: directory.path + "/notify")
      unsafe setenv("NOTIFY_SOCKET", directory.path + "/notify", 1)
      let notifier = ServiceNotifier()
      try #require(notifier.ready(status: "3 running") == .sent)
      try #require(manager.next() == "READY=1\nSTATUS=3 running")
      try #require(notifier.status("4 running") == .sent)
      try #require(manager.next() == "STATUS=4 running")
      try #require(notifier.watchdog() == .sent)
      try #require(manager.next() == "WATCHDOG=1")
      try #require(notifier.reloading(sinceMonotonicUSec: 1_234_567) == .sent)
      try #require(manager.next() == "RELOADING=1\nMONOTONIC_USEC=1234567")
      try #require(notifier.stopping(status: "bye") == .sent)
      try #require(manager.next() == "STOPPING=1\nSTATUS=bye")
      try #require(manager.next() == nil)
    }
  }

  @Test func `a socket without a path, beginning with @, is served as well`() async {
    await #expect(processExitsWith: .success) {
      let name = "@countdownd-test-\(getpid())"
      let manager = ServiceManager(at: name)
      unsafe setenv("NOTIFY_SOCKET", name, 1)
      try #require(ServiceNotifier().ready(status: "x") == .sent)
      try #require(manager.next() == "READY=1\nSTATUS=x")
    }
  }

  @Test func `a line break in a status begins no other assignment`() async {
    await #expect(processExitsWith: .success) {
      let name = "@countdownd-test-\(getpid())"
      let manager = ServiceManager(at: name)
      unsafe setenv("NOTIFY_SOCKET", name, 1)
      try #require(ServiceNotifier().status("a\nMAINPID=1\r\nb") == .sent)
      try #require(manager.next() == "STATUS=a MAINPID=1 b")
    }
  }

  @Test func `without a manager nothing is sent and nothing fails`() async {
    await #expect(processExitsWith: .success) {
      unsafe unsetenv("NOTIFY_SOCKET")
      try #require(ServiceNotifier().ready(status: "x") == .unsupervised)
      try #require(ServiceNotifier().watchdog() == .unsupervised)
    }
  }

  @Test func `a manager that is gone is an answer, not the end`() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory(prefix: "systemd-")
      let path = directory.path + "/notify"
      unsafe setenv("NOTIFY_SOCKET", path, 1)
      let absent = SystemCallError(call: "connect", code: ENOENT, path: path)
      try #require(ServiceNotifier().ready(status: "x") == .failed(absent))
      do { _ = ServiceManager(at: path) }  // Its file stays, and nobody listens.
      let gone = SystemCallError(call: "connect", code: ECONNREFUSED, path: path)
      try #require(ServiceNotifier().watchdog() == .failed(gone))
      let name = "@countdownd-test-gone-\(getpid())"
      unsafe setenv("NOTIFY_SOCKET", name, 1)
      let nobody = SystemCallError(call: "connect", code: ECONNREFUSED, path: name)
      try #require(ServiceNotifier().stopping(status: "x") == .failed(nobody))
    }
  }

  @Test func `B54 a manager that does not read holds nobody up`() async {
    await #expect(processExitsWith: .success) {
      let name = "@countdownd-test-\(getpid())"
      let manager = ServiceManager(at: name)
      unsafe setenv("NOTIFY_SOCKET", name, 1)
      let notifier = ServiceNotifier()
      var sent = 0
      while sent < 10_000, notifier.status("\(sent)") == .sent { sent += 1 }
      try #require(sent < 10_000)
      let full = SystemCallError(call: "send", code: EAGAIN, path: name)
      try #require(notifier.watchdog() == .failed(full))
      // Even what is waited with comes back.
      try #require(notifier.ready(status: "x") == .failed(full))
      try #require(manager.next() == "STATUS=0")
      try #require(notifier.watchdog() == .sent)
    }
  }

  @Test func `the watchdog's interval is told if it is meant for this process`() async {
    await #expect(processExitsWith: .success) {
      let notifier = ServiceNotifier()
      unsafe unsetenv("WATCHDOG_USEC")
      try #require(notifier.watchdogIntervalUSec == nil)
      unsafe setenv("WATCHDOG_USEC", "30000000", 1)
      try #require(notifier.watchdogIntervalUSec == 30_000_000)
      unsafe setenv("WATCHDOG_PID", "\(getpid())", 1)
      try #require(notifier.watchdogIntervalUSec == 30_000_000)
      unsafe setenv("WATCHDOG_PID", "1", 1)
      try #require(notifier.watchdogIntervalUSec == nil)
    }
  }
}
