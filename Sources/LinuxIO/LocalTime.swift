import Glibc

/// The time of day where the user is, by `$TZ` or `/etc/localtime`.
package enum LocalTime {
  /// A local time, and how it relates to UTC.
  package struct Components: Equatable, Sendable {
    package let year: Int
    /// 1 to 12.
    package let month: Int
    /// 1 to 31.
    package let day: Int
    package let hour: Int
    package let minute: Int
    package let second: Int
    /// 0 is Sunday.
    package let weekday: Int
    /// Seconds to add to UTC: 3600 in Dublin in July.
    package let offsetSeconds: Int
  }

  /// What the clock on the wall shows at a Unix time; `nil` for a year past 2^31.
  package static func components(of unixSeconds: Int64) -> Components? {
    tzset()
    return broken(unixSeconds)
  }

  /// Every Unix time at which the clock on the wall shows this, earliest first.
  ///
  /// One as a rule; none if the clock is put forward over it, or there is no such date; two if it is
  /// put back over it. Found by trying every offset from UTC in use within 26 hours and keeping what
  /// converts back to the same: mktime(3) picks one of two by rules that differ between systems.
  /// Years from -9999 to 9999.
  package static func candidates(
    year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int
  ) -> [Int64] {
    guard let asUTC = unixSeconds(year, month, day, hour, minute, second) else { return [] }
    tzset()
    var offsets: Set<Int> = []
    for hours in -26...26 {
      if let time = broken(asUTC + Int64(hours) * 3600) { offsets.insert(time.offsetSeconds) }
    }
    return offsets.map { asUTC - Int64($0) }.sorted().filter { candidate in
      guard let time = broken(candidate) else { return false }
      return time.year == year && time.month == month && time.day == day && time.hour == hour
        && time.minute == minute && time.second == second
    }
  }

  /// The Unix time at which clocks on UTC show this. A day past its month's end counts on into the
  /// next month, which the way back then shows.
  private static func unixSeconds(
    _ year: Int, _ month: Int, _ day: Int, _ hour: Int, _ minute: Int, _ second: Int
  ) -> Int64? {
    guard (-9_999...9_999).contains(year), (1...12).contains(month), (1...31).contains(day),
      (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second)
    else { return nil }
    // SAFETY: the C library reads and normalises `time` during the call only; the zone's name in it,
    // its one pointer, is neither set nor read.
    var time = unsafe tm()
    unsafe time.tm_year = CInt(year - 1900)
    unsafe time.tm_mon = CInt(month - 1)
    unsafe time.tm_mday = CInt(day)
    unsafe time.tm_hour = CInt(hour)
    unsafe time.tm_min = CInt(minute)
    unsafe time.tm_sec = CInt(second)
    return Int64(unsafe timegm(&time))
  }

  private static func broken(_ unixSeconds: Int64) -> Components? {
    var seconds = time_t(unixSeconds)
    // SAFETY: the C library reads one and fills the other during the call only; the zone's name in
    // `time`, its one pointer, is not read.
    var time = unsafe tm()
    guard unsafe localtime_r(&seconds, &time) != nil else { return nil }
    return unsafe Components(
      year: Int(time.tm_year) + 1900, month: Int(time.tm_mon) + 1, day: Int(time.tm_mday),
      hour: Int(time.tm_hour), minute: Int(time.tm_min), second: Int(time.tm_sec),
      weekday: Int(time.tm_wday), offsetSeconds: time.tm_gmtoff)
  }
}
