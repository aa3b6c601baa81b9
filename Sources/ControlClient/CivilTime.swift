/// A date and a time of day as a calendar and a clock show them, in the Gregorian calendar, without a
/// zone.
package struct CivilTime: Equatable, Sendable {
  package let year: Int
  /// 1 to 12.
  package let month: Int
  /// 1 to 31.
  package let day: Int
  package let hour: Int
  package let minute: Int
  package let second: Int

  /// Takes any numbers; ``isOnTheCalendar`` tells whether there is such a time.
  package init(
    year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0
  ) {
    self.year = year
    self.month = month
    self.day = day
    self.hour = hour
    self.minute = minute
    self.second = second
  }

  /// What clocks on UTC show at a Unix time.
  ///
  /// Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
  package init(utc unixSeconds: Int64) {
    let (days, seconds) = unixSeconds.flooredQuotientAndRemainder(dividingBy: 86_400)
    // Years begin in March here, so that the leap day is the last of one; an era is 400 of them.
    let (era, dayOfEra) = (days + 719_468).flooredQuotientAndRemainder(dividingBy: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    self.init(
      year: Int(yearOfEra + era * 400) + (month < 10 ? 0 : 1),
      month: Int(month < 10 ? month + 3 : month - 9),
      day: Int(dayOfYear - (153 * month + 2) / 5 + 1),
      hour: Int(seconds / 3_600), minute: Int(seconds / 60 % 60), second: Int(seconds % 60))
  }

  /// The Unix time at which clocks on UTC show this.
  ///
  /// Source: as for ``init(utc:)``, `days_from_civil`.
  package var asUTC: Int64 {
    let year = Int64(month <= 2 ? year - 1 : year)
    let (era, yearOfEra) = year.flooredQuotientAndRemainder(dividingBy: 400)
    let monthFromMarch = Int64((month + 9) % 12)
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + Int64(day) - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let days = era * 146_097 + dayOfEra - 719_468
    return days * 86_400 + Int64(hour * 3_600 + minute * 60 + second)
  }

  /// Whether there is such a day and such a time of day, leap seconds aside.
  package var isOnTheCalendar: Bool {
    (1...12).contains(month) && (1...31).contains(day) && (0...23).contains(hour)
      && (0...59).contains(minute) && (0...59).contains(second)
      && CivilTime(utc: asUTC) == self  // The 31st of June comes back as the 1st of July.
  }

  /// The day after, at the same time of day.
  package var nextDay: CivilTime { CivilTime(utc: asUTC + 86_400) }

  /// `2026-12-24`.
  package var dateText: String {
    "\(year.padded(to: 4))-\(month.padded(to: 2))-\(day.padded(to: 2))"
  }

  /// `18:00:00`.
  package var timeText: String {
    "\(hour.padded(to: 2)):\(minute.padded(to: 2)):\(second.padded(to: 2))"
  }
}

extension Int64 {
  /// Divides so that the remainder is never negative.
  func flooredQuotientAndRemainder(dividingBy divisor: Int64) -> (Int64, Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}

extension BinaryInteger {
  /// In decimal, with zeros before it up to `width` digits.
  package func padded(to width: Int) -> String {
    let digits = String(magnitude)
    let zeros = String(repeating: "0", count: Swift.max(0, width - digits.count))
    return (self < 0 ? "-" : "") + zeros + digits
  }
}
