package import SystemdSyntax

/// An instant of the wall clock, as somebody types it.
package struct PointInTime: Equatable, Sendable {
  /// Microseconds since 1970, within ±(2^53 − 1).
  package let realtimeUSec: Int64

  /// What can be typed, for an error and for the help.
  package static let forms =
    "'2026-12-24 18:00', '18:00', '2026-12-24T18:00:00+01:00' or '@1798131600'"

  /// Reads a date, a time of day, or both.
  ///
  /// `2026-12-24 18:00[:SS[.ffffff]]` (or with a `T` between them) is a local time, unless `Z`, `UTC`
  /// or an offset such as `+01:00` follows; without a time it is midnight, without a date the next
  /// such time after `now`. `@SECONDS` is Unix time. What lies below a microsecond is rounded up.
  ///
  /// - Parameters:
  ///   - now: Microseconds since 1970.
  ///   - zone: Where a time without a zone is meant.
  ///   - allowsPast: Whether it may lie before `now`.
  /// - Throws: What was wrong: a local time that clocks jump over or show twice is refused, with both
  ///   that could be meant.
  package init(
    parsing text: String, now: Int64, in zone: Zone, allowsPast: Bool = false
  ) throws(ParseError) {
    var reader = PointReader(text)
    let point = try reader.read()
    let limit = TimeSpan.limitUSec
    let usec: Int64
    switch point.kind {
    case .unix(let seconds):
      usec = try point.usec(at: seconds)
    case .civil(let time, let offset?):
      usec = try point.usec(at: time.asUTC - offset)
    case .civil(let time, nil):
      usec = try point.usec(at: Self.only(time, in: zone, text))
    case .timeOfDay(let hour, let minute, let second, let offset):
      let fixed = offset.map { offset in
        Zone(candidates: { [$0.asUTC - offset] }, offset: { _ in offset })
      }
      usec = try Self.next(hour, minute, second, of: point, now: now, in: fixed ?? zone)
    }
    guard usec.magnitude <= limit.magnitude else { throw point.outOfRange }
    guard usec >= now || allowsPast else {
      let ago = TimeSpan(usec: min(now.subtractingSaturated(usec), limit)).briefText
      throw ParseError("'\(text)' is \(ago) ago; give --past too if it should expire at once")
    }
    realtimeUSec = usec
  }

  /// The one Unix time at which clocks in `zone` show `time`.
  private static func only(
    _ time: CivilTime, in zone: Zone, _ text: String
  ) throws(ParseError) -> Int64 {
    let candidates = zone.candidates(time)
    if candidates.count == 1 { return candidates[0] }
    let shown = "\(time.dateText) \(time.timeText)"
    guard let (first, second) = readings(of: time, candidates, in: zone) else {
      throw ParseError("'\(text)': clocks never show \(shown) here")
    }
    let choice = "write \(zone.rfc3339(first)) or \(zone.rfc3339(second))"
    throw candidates.isEmpty
      ? ParseError("'\(text)': clocks are put forward over \(shown) here; \(choice)")
      : ParseError("'\(text)': clocks show \(shown) twice here; \(choice)")
  }

  /// The two Unix times that could be meant by a time that clocks do not show once.
  ///
  /// Of one they jump over: as far after the moment before, and as far before the moment after.
  private static func readings(
    of time: CivilTime, _ candidates: [Int64], in zone: Zone
  ) -> (Int64, Int64)? {
    if let first = candidates.first, let last = candidates.last { return (first, last) }
    // No zone is further than 26 h from another, nor do its clocks change twice within that time.
    let offsets = (zone.offset(time.asUTC - 93_600), zone.offset(time.asUTC + 93_600))
    guard offsets.0 < offsets.1 else { return nil }
    return (time.asUTC - offsets.1, time.asUTC - offsets.0)
  }

  /// The first instant after `now` at which clocks in `zone` show a time of day.
  private static func next(
    _ hour: Int, _ minute: Int, _ second: Int, of point: TypedPoint, now: Int64, in zone: Zone
  ) throws(ParseError) -> Int64 {
    let seconds = now.flooredQuotientAndRemainder(dividingBy: 1_000_000).0
    let today = zone.time(at: seconds)
    var time = CivilTime(
      year: today.year, month: today.month, day: today.day, hour: hour, minute: minute,
      second: second)
    // What today's clocks showed, or jumped over, before now is over: then tomorrow's count.
    let candidates = zone.candidates(time)
    let (_, last) = readings(of: time, candidates, in: zone) ?? (seconds, seconds)
    if try point.usec(at: last) <= now { time = time.nextDay }
    return try point.usec(at: only(time, in: zone, point.text))
  }
}

/// What was typed, taken apart and checked against the calendar.
struct TypedPoint {
  enum Kind {
    case unix(seconds: Int64)
    /// `offset` is what to add to UTC; `nil` means a local time.
    case civil(CivilTime, offset: Int64?)
    case timeOfDay(hour: Int, minute: Int, second: Int, offset: Int64?)
  }

  let text: String
  let kind: Kind
  /// Below the second, 0 to 1 000 000.
  let fractionUSec: Int64

  /// Microseconds since 1970, where the whole second is `unixSeconds`.
  func usec(at unixSeconds: Int64) throws(ParseError) -> Int64 {
    let (usec, overflow) = unixSeconds.multipliedReportingOverflow(by: 1_000_000)
    let (sum, overflowed) = usec.addingReportingOverflow(fractionUSec)
    guard !overflow, !overflowed else { throw outOfRange }
    return sum
  }

  var outOfRange: ParseError {
    ParseError("'\(text)' is out of range: instants lie between the years 1684 and 2255")
  }
}

extension Int64 {
  /// The difference, or the nearest there is.
  func subtractingSaturated(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (self < 0 ? .min : .max) : difference
  }
}
