import ControlClient
import TestSupport
import Testing

@Suite struct CivilTimeTests {
  private static let pairs: [(CivilTime, Int64)] = [
    (CivilTime(year: 1970, month: 1, day: 1), 0),
    (CivilTime(year: 1969, month: 12, day: 31, hour: 23, minute: 59, second: 59), -1),
    (CivilTime(year: 2000, month: 2, day: 29), 951_782_400),
    (CivilTime(year: 2026, month: 12, day: 24, hour: 17), 1_798_131_600),
    (CivilTime(year: 1684, month: 7, day: 28), -9_007_200_000),
    (CivilTime(year: 2255, month: 6, day: 5, hour: 23, minute: 47, second: 34), 9_007_199_254),
  ]

  @Test(arguments: pairs)
  func `dates and Unix time agree`(time: CivilTime, unixSeconds: Int64) {
    #expect(time.asUTC == unixSeconds)
    #expect(CivilTime(utc: unixSeconds) == time)
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func `every second comes back from its date`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let seconds = Int64.random(in: -100_000_000_000...100_000_000_000, using: &random)
    let time = CivilTime(utc: seconds)
    #expect(time.asUTC == seconds, "seed \(seed)")
    #expect(time.isOnTheCalendar, "seed \(seed)")
  }

  @Test(arguments: [
    CivilTime(year: 2026, month: 2, day: 29), CivilTime(year: 2100, month: 2, day: 29),
    CivilTime(year: 2026, month: 6, day: 31), CivilTime(year: 2026, month: 13, day: 1),
    CivilTime(year: 2026, month: 0, day: 1), CivilTime(year: 2026, month: 1, day: 0),
    CivilTime(year: 2026, month: 1, day: 1, hour: 24),
    CivilTime(year: 2026, month: 1, day: 1, minute: 60),
    CivilTime(year: 2026, month: 1, day: 1, second: 60),
  ])
  func `what no calendar or clock shows is told apart`(time: CivilTime) {
    #expect(!time.isOnTheCalendar)
  }

  @Test func `the day after the last of a year is the first of the next`() {
    let eve = CivilTime(year: 2026, month: 12, day: 31, hour: 18, minute: 5)
    #expect(eve.nextDay == CivilTime(year: 2027, month: 1, day: 1, hour: 18, minute: 5))
    #expect(eve.nextDay.dateText == "2027-01-01")
    #expect(eve.timeText == "18:05:00")
  }
}
