import Glibc
import LinuxIO
import Testing

@Suite("CurrentProcess")
struct CurrentProcessTests {
  @Test func `it knows its number and its users`() {
    #expect(CurrentProcess.pid == getpid())
    #expect(CurrentProcess.realUserID == getuid())
    #expect(CurrentProcess.effectiveUserID == geteuid())
    #expect(CurrentProcess.arguments == Array(CommandLine.arguments.dropFirst()))
  }

  @Test func `a variable is set, empty or missing`() async {
    await #expect(processExitsWith: .success) {
      unsafe setenv("COUNTDOWND_TEST", "", 1)
      try #require(CurrentProcess.environmentVariable("COUNTDOWND_TEST") == "")
      unsafe setenv("COUNTDOWND_TEST", "a=b", 1)
      try #require(CurrentProcess.environmentVariable("COUNTDOWND_TEST") == "a=b")
      CurrentProcess.removeEnvironmentVariable("COUNTDOWND_TEST")
      try #require(CurrentProcess.environmentVariable("COUNTDOWND_TEST") == nil)
    }
  }

  @Test func `its limit of descriptors is raised as far as it may be, and no further`() async {
    await #expect(processExitsWith: .success) {
      var limit = rlimit(rlim_cur: 64, rlim_max: 200)
      var result = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      try #require(result == 0)
      for _ in 0..<2 {  // The second time there is nothing left to do.
        try CurrentProcess.raiseDescriptorLimit()
        result = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        try #require(result == 0 && limit.rlim_cur == 200 && limit.rlim_max == 200)
      }
    }
  }

  @Test func `it exits with the status given`() async {
    await #expect(processExitsWith: .exitCode(5)) { CurrentProcess.exit(5) }
  }
}
