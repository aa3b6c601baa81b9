import CLinux
import Glibc

/// The three clocks, read as nearly at once as the machine allows. All in nanoseconds.
package struct ClockReading: Equatable, Sendable {
  /// CLOCK_MONOTONIC: since boot, without the time asleep.
  package let monotonicNSec: Int64
  /// CLOCK_BOOTTIME: since boot, with the time asleep.
  package let boottimeNSec: Int64
  /// CLOCK_REALTIME: since 1970 in UTC, as the machine believes.
  package let realtimeNSec: Int64
  /// How far apart the three may lie.
  package let spreadNSec: Int64

  package init(
    monotonicNSec: Int64, boottimeNSec: Int64, realtimeNSec: Int64, spreadNSec: Int64
  ) {
    self.monotonicNSec = monotonicNSec
    self.boottimeNSec = boottimeNSec
    self.realtimeNSec = realtimeNSec
    self.spreadNSec = spreadNSec
  }

  /// The three lie further apart than ``Clocks/toleranceNSec``.
  package var isCoarse: Bool { spreadNSec > Clocks.toleranceNSec }
}

/// Reads the kernel's clocks.
package enum Clocks {
  /// A clock of the kernel's.
  package enum Source { case monotonic, boottime, realtime }

  /// How far apart the first and last look of one reading may be.
  package static let toleranceNSec: Int64 = 20_000

  /// Reads all three.
  package static func read() -> ClockReading { read { now(of: $0) } }

  /// Reads all three through `now`, in the order monotonic, boottime, realtime, monotonic.
  ///
  /// A process may be stopped between two looks, which then seem to disagree. So the second look at
  /// the monotonic clock must come within ``toleranceNSec`` of the first; else all is read again, at
  /// most five times in all. The tightest is returned, marked coarse if even that is too wide.
  /// The first look is the one reported: nothing is ever taken for later than it is.
  package static func read(_ now: (Source) -> Int64) -> ClockReading {
    var spread = Int64.max
    var best: (monotonic: Int64, boottime: Int64, realtime: Int64) = (0, 0, 0)
    for _ in 0..<5 where spread > toleranceNSec {
      let reading = (now(.monotonic), now(.boottime), now(.realtime))
      let passed = now(.monotonic) - reading.0
      if passed < spread { (spread, best) = (passed, reading) }
    }
    return ClockReading(
      monotonicNSec: best.monotonic, boottimeNSec: best.boottime, realtimeNSec: best.realtime,
      spreadNSec: spread)
  }

  /// Whether the kernel says that something, NTP as a rule, keeps CLOCK_REALTIME right.
  ///
  /// - Throws: EPERM where a sandbox forbids to ask.
  package static func isSynchronized() throws(SystemCallError) -> Bool {
    try check("adjtimex") { cl_is_clock_synchronized() } == 1
  }

  /// Reads CLOCK_BOOTTIME alone, in nanoseconds.
  package static func boottimeNSec() -> Int64 { now(of: .boottime) }

  /// Sleeps until CLOCK_BOOTTIME reads `instantNSec` or more; at once if it does.
  ///
  /// For programs that do one thing. A loop waits in ``Epoll``.
  package static func sleep(untilBoottimeNSec instantNSec: Int64) {
    var until = timespec(nanoseconds: max(instantNSec, 0))
    _ = uninterrupted {
      // SAFETY: the kernel copies `until` before sleeping; no remainder is asked for.
      errno = unsafe clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &until, nil)
      return errno == 0 ? 0 : -1
    }
  }

  private static func now(of source: Source) -> Int64 {
    nanoseconds(of: source) { clock in
      var time = timespec()
      // SAFETY: the kernel fills `time` before returning and keeps no pointer to it.
      let result = unsafe clock_gettime(clock, &time)
      return (Int64(time.tv_sec), Int64(time.tv_nsec), result == 0 ? 0 : errno)
    }
  }

  /// What `look` reads of a clock, in nanoseconds, as clock_gettime(2) does.
  ///
  /// Where it fails the process ends and says so: every Linux this can start on has all three, so
  /// somebody forbids it, and to go on without the time would be to make up one.
  package static func nanoseconds(
    of source: Source,
    _ look: (CInt) -> (seconds: Int64, nanoseconds: Int64, errno: CInt)
  ) -> Int64 {
    let (clock, name) =
      switch source {
      case .monotonic: (CLOCK_MONOTONIC, "CLOCK_MONOTONIC")
      case .boottime: (CLOCK_BOOTTIME, "CLOCK_BOOTTIME")
      case .realtime: (CLOCK_REALTIME, "CLOCK_REALTIME")
      }
    let time = look(clock)
    guard time.errno == 0 else {
      fatalError("\(SystemCallError(call: "clock_gettime", code: time.errno, path: name))")
    }
    return time.seconds * 1_000_000_000 + time.nanoseconds
  }
}

extension timespec {
  /// The same length, valid for every call that takes one: `tv_nsec` is always below a second.
  ///
  /// - Parameter nanoseconds: 0 or more.
  init(nanoseconds: Int64) {
    self.init()
    tv_sec = Int(nanoseconds / 1_000_000_000)
    tv_nsec = Int(nanoseconds % 1_000_000_000)
  }
}
