import ControlClient
import SystemdSyntax
import Testing

@Suite struct PointInTimeTests {
  /// 2026-11-30T10:00:00Z, 11:00 in Berlin.
  private static let now: Int64 = 1_796_032_800_000_000

  private static func usec(
    _ text: String, now: Int64 = now, in zone: Zone = .berlin, allowsPast: Bool = false
  ) throws(ParseError) -> Int64 {
    try PointInTime(parsing: text, now: now, in: zone, allowsPast: allowsPast).realtimeUSec
  }

  @Test(arguments: [
    "2026-12-24 18:00", "2026-12-24 18:00:00", "2026-12-24T18:00", "2026-12-24  18:00",
    "2026-12-24T17:00:00Z", "2026-12-24t17:00:00z", "2026-12-24 17:00 UTC", "2026-12-24T17:00UTC",
    "2026-12-24T18:00:00+01:00", "2026-12-24T13:30:00-03:30", " 2026-12-24 18:00:00.000 ",
    "@1798131600", "@1798131600.0",
  ])
  func `one instant can be typed in many ways`(text: String) throws {
    #expect(try Self.usec(text) == 1_798_131_600_000_000)
  }

  @Test func `a date alone is its midnight`() throws {
    #expect(try Self.usec("2026-12-24") == 1_798_066_800_000_000)
    #expect(try Self.usec("2026-12-24 UTC") == 1_798_070_400_000_000)
  }

  @Test(arguments: [
    ("2026-12-24 18:00:00.5", 500_000), ("2026-12-24 18:00:00.000001", 1),
    ("2026-12-24T17:00:00.0000001Z", 1), ("2026-12-24T17:00:00.999999999Z", 1_000_000),
    ("@1798131600.25", 250_000),
  ])
  func `a fraction is rounded up to the microsecond`(text: String, usec: Int64) throws {
    #expect(try Self.usec(text) == 1_798_131_600_000_000 + usec)
  }

  @Test func `before 1970 a fraction counts backwards`() throws {
    #expect(try Self.usec("@-1.25", allowsPast: true) == -1_250_000)
    #expect(try Self.usec("@-1", allowsPast: true) == -1_000_000)
  }

  @Test func `a time of day is the next such time`() throws {
    #expect(try Self.usec("11:00:01") == Self.now + 1_000_000)
    #expect(try Self.usec("11:00") == Self.now + 86_400_000_000)  // Now is over.
    #expect(try Self.usec("11:00:00.000001") == Self.now + 1)
    #expect(try Self.usec("10:59") == Self.now + 86_340_000_000)
    #expect(try Self.usec("9:30") == Self.now + 81_000_000_000)
    #expect(try Self.usec("10:30Z") == Self.now + 1_800_000_000)
    #expect(try Self.usec("10:30 UTC") == Self.now + 1_800_000_000)
    #expect(try Self.usec("11:30+01:00") == Self.now + 1_800_000_000)
    #expect(try Self.usec("09:59+00:00") == Self.now + 86_340_000_000)
  }

  @Test func `a time that clocks jump over is refused, with the two that could be meant`() {
    let refused = message { () throws(ParseError) in
      try Self.usec("2026-03-29 02:30", now: 0)
    }
    #expect(
      refused == "'2026-03-29 02:30': clocks are put forward over 2026-03-29 02:30:00 here; "
        + "write 2026-03-29T01:30:00+01:00 or 2026-03-29T03:30:00+02:00")
  }

  @Test func `a time that clocks show twice is refused, with both`() {
    let refused = message { () throws(ParseError) in
      try Self.usec("2026-10-25 02:30", now: 0)
    }
    #expect(
      refused == "'2026-10-25 02:30': clocks show 2026-10-25 02:30:00 twice here; "
        + "write 2026-10-25T02:30:00+02:00 or 2026-10-25T02:30:00+01:00")
  }

  @Test func `the first and the last second around a change are read`() throws {
    #expect(try Self.usec("2026-03-29 01:59:59", now: 0) == 1_774_745_999_000_000)
    #expect(try Self.usec("2026-03-29 03:00", now: 0) == 1_774_746_000_000_000)
    #expect(try Self.usec("2026-10-25 01:59:59", now: 0) == 1_792_886_399_000_000)
    #expect(try Self.usec("2026-10-25 03:00", now: 0) == 1_792_893_600_000_000)
  }

  @Test func `a whole day that was left out is refused like an hour`() {
    let refused = message { () throws(ParseError) in
      try Self.usec("2011-12-30 12:00", now: 0, in: .apia)
    }
    #expect(refused.contains("put forward over 2011-12-30 12:00:00"))
    #expect(refused.contains("2011-12-29T12:00:00-10:00 or 2011-12-31T12:00:00+14:00"))
  }

  @Test func `B08: a time of day meets the night of a change as a date does`() throws {
    let refused = { (text: String, now: Int64) in
      message { () throws(ParseError) in try Self.usec(text, now: now) }
    }
    // 00:59:50 UTC on 29 March, ten seconds before 02:00 becomes 03:00; then just after 03:30.
    #expect(refused("02:30", 1_774_745_990_000_000).contains("put forward over 2026-03-29"))
    #expect(try Self.usec("02:30", now: 1_774_747_801_000_000) == 1_774_830_600_000_000)
    // 25 October: before both, between them, and after them.
    #expect(refused("02:30", 1_792_880_000_000_000).contains("twice"))
    #expect(refused("02:30", 1_792_889_000_000_000).contains("twice"))
    #expect(try Self.usec("02:30", now: 1_792_892_000_000_000) == 1_792_978_200_000_000)
  }

  @Test func `what is over needs --past`() throws {
    let refused = message { () throws(ParseError) in try Self.usec("2026-11-30 10:00") }
    #expect(refused.contains("is 1h ago"))
    #expect(refused.contains("--past"))
    #expect(try Self.usec("2026-11-30 10:00", allowsPast: true) == Self.now - 3_600_000_000)
    #expect(try Self.usec("@1796032800") == Self.now)
    let epoch = message { () throws(ParseError) in try Self.usec("@-9007199254") }
    #expect(epoch.contains("--past"))
  }

  @Test(arguments: [
    "", "tomorrow", "2026-12-24 18", "2026-12-24 18:0", "2026-1-24", "26-12-24", "18:00pm",
    "2026-12-24T18:00:00+0100", "2026-12-24 18:00 CET", "2026-12-24 18:00:00.", "@", "@1e9", "18:",
    "2026-12-24-18:00", "18:00 2026-12-24", "2026/12/24", "２０２６-12-24",
    "2026-12-24T17:00:00.0000000000000000001Z",
  ])
  func `what is no time is refused with an example`(text: String) {
    let refused = message { () throws(ParseError) in try Self.usec(text) }
    #expect(refused.contains("is no time; write for example '2026-12-24 18:00'"))
  }

  @Test(arguments: [
    "2026-02-29", "2026-13-01", "2026-12-24 24:00", "2026-12-24 18:60", "18:00:60", "24:00",
    "2026-12-24T18:00:00+24:00",
  ])
  func `what no calendar shows is refused`(text: String) {
    let refused = message { () throws(ParseError) in try Self.usec(text) }
    #expect(refused.contains("no such date or time of day"))
  }

  @Test(arguments: [
    "2255-06-05 23:47:35 UTC", "@9007199255", "@9223372036854", "@9223372036855",
    "@99999999999999999999", "9999-12-31",
  ])
  func `what lies beyond 2^53 - 1 is refused`(text: String) {
    let refused = message { () throws(ParseError) in try Self.usec(text) }
    #expect(refused.contains("is out of range"))
  }

  @Test func `the last instant there is is read`() throws {
    #expect(try Self.usec("@9007199254.740991") == 9_007_199_254_740_991)
    #expect(try Self.usec("@-9007199254.740991", allowsPast: true) == -9_007_199_254_740_991)
  }
}
