import LinuxIO
import Testing

/// The wall clock is not set here: other programs use it. That the kernel cancels the timer then is
/// its promise; that it is armed so that it can, is tested.
@Suite("ClockChangeNotice")
struct ClockChangeNoticeTests {
  /// The lines of /proc/self/fdinfo on a timerfd, by their names.
  private func settings(ofTimer fd: Int32) throws -> [Substring: Substring] {
    let lines = try contents(ofFile: "/proc/self/fdinfo/\(fd)").split(separator: "\n")
    let pairs = lines.compactMap { line in
      line.firstIndex(of: ":").map { colon in
        (line[..<colon], line[line.index(after: colon)...].trimmingPrefix { $0.isWhitespace })
      }
    }
    return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }

  @Test func `it is armed, non-blocking and close-on-exec, and while nothing is set silent`() throws
  {
    let notice = try ClockChangeNotice()
    #expect(isNonBlocking(notice.rawValue))
    #expect(isCloseOnExec(notice.rawValue))
    #expect(try !notice.drain())
    #expect(try !notice.drain())
  }

  @Test func `it is an absolute realtime timer that is cancelled by setting the clock`() throws {
    let notice = try ClockChangeNotice()
    let settings = try settings(ofTimer: notice.rawValue)
    #expect(settings["clockid"] == "0")  // CLOCK_REALTIME.
    #expect(settings["settime flags"] == "03")  // TFD_TIMER_ABSTIME, TFD_TIMER_CANCEL_ON_SET.
    #expect(settings["ticks"] == "0")
    let remaining = try #require(settings["it_value"]).trimmingPrefix("(").prefix { $0 != "," }
    #expect(try #require(Int(remaining)) > 5_000_000_000)  // Over 150 years: never.
  }
}
