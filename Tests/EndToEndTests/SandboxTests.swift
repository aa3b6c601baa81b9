import Foundation
import LinuxIO
import Testing

/// That these tests do run under the unit's filter of system calls, where they say so.
@Suite(.enabled(if: CurrentProcess.environmentVariable("COUNTDOWND_TEST_FOLDER") != nil))
struct SandboxTests {
  @Test func `every thread of the daemon is under the filter, and has no way to new privileges`()
    throws
  {
    try withDaemon { daemon in
      let tasks = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(daemon.pid)/task")
      #expect(tasks.count >= 2)  // The loop, and the log's.
      for task in tasks {
        let status = try readFile("/proc/\(daemon.pid)/task/\(task)/status")
        #expect(status.contains("\nSeccomp:\t2\n"))
        #expect(status.contains("\nNoNewPrivs:\t1\n"))
      }
    }
  }
}
