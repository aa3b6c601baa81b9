import LinuxIO

/// A time zone, as far as reading and showing a time needs one.
package struct Zone: Sendable {
  /// Every Unix time at which clocks there show this, earliest first: one as a rule; none where they
  /// are put forward over it, two where they are put back over it.
  package let candidates: @Sendable (CivilTime) -> [Int64]

  /// Seconds to add to UTC there at a Unix time.
  package let offset: @Sendable (_ unixSeconds: Int64) -> Int64

  /// Makes one of its two answers.
  package init(
    candidates: @escaping @Sendable (CivilTime) -> [Int64],
    offset: @escaping @Sendable (_ unixSeconds: Int64) -> Int64
  ) {
    self.candidates = candidates
    self.offset = offset
  }

  /// Coordinated universal time.
  package static let utc = Zone(candidates: { [$0.asUTC] }, offset: { _ in 0 })

  /// Where the user is, by `$TZ` or `/etc/localtime`.
  package static let local = Zone(
    candidates: { time in
      LocalTime.candidates(
        year: time.year, month: time.month, day: time.day, hour: time.hour, minute: time.minute,
        second: time.second)
    },
    offset: { Int64(LocalTime.components(of: $0)?.offsetSeconds ?? 0) })

  /// What clocks there show at a Unix time.
  package func time(at unixSeconds: Int64) -> CivilTime {
    CivilTime(utc: unixSeconds + offset(unixSeconds))
  }

  /// `2026-12-24T18:00:00+01:00`: the time there, with its offset, as RFC 3339.
  package func rfc3339(_ unixSeconds: Int64) -> String {
    let offset = offset(unixSeconds)
    let time = CivilTime(utc: unixSeconds + offset)
    let minutes = offset.magnitude / 60
    let offsetText = "\((minutes / 60).padded(to: 2)):\((minutes % 60).padded(to: 2))"
    return "\(time.dateText)T\(time.timeText)\(offset < 0 ? "-" : "+")\(offsetText)"
  }

  /// For a table: `18:00:00` on the day of `today`, else `2026-12-24 18:00:00`.
  package func shortText(of unixSeconds: Int64, today: Int64) -> String {
    let time = time(at: unixSeconds)
    let isToday = time.dateText == self.time(at: today).dateText
    return isToday ? time.timeText : "\(time.dateText) \(time.timeText)"
  }
}
