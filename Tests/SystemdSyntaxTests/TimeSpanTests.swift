import SystemdSyntax
import TestSupport
import Testing

@Suite struct TimeSpanTests {
  @Test(arguments: [
    ("90", 90_000_000), ("0", 0), ("1.5", 1_500_000), ("15min", 900_000_000),
    ("1h 30min", 5_400_000_000), ("1h30min", 5_400_000_000), (" 2 h ", 7_200_000_000),
    ("100ms", 100_000), ("1.5s", 1_500_000), ("55s500ms", 55_500_000),
    ("300ms20s 5day", 432_020_300_000), ("1y 12month", 63_115_200_000_000),
    ("7usec", 7), ("7us", 7), ("7µs", 7), ("7μs", 7), ("7msec", 7_000),
    ("2seconds", 2_000_000), ("2second", 2_000_000), ("2sec", 2_000_000), ("2s", 2_000_000),
    ("2minutes", 120_000_000), ("2minute", 120_000_000), ("2m", 120_000_000),
    ("2hours", 7_200_000_000), ("2hour", 7_200_000_000), ("2hr", 7_200_000_000),
    ("2days", 172_800_000_000), ("2d", 172_800_000_000), ("2weeks", 1_209_600_000_000),
    ("2week", 1_209_600_000_000), ("2w", 1_209_600_000_000), ("1M", 2_629_800_000_000),
    ("1months", 2_629_800_000_000), ("1years", 31_557_600_000_000),
    ("9007199254740991us", 9_007_199_254_740_991),
  ])
  func `lengths are read as systemd reads them`(text: String, usec: Int64) throws {
    #expect(try TimeSpan(parsing: text).usec == usec)
  }

  @Test(arguments: [
    ("0.0000001s", 1), ("1.0000001s", 1_000_001), ("0.1us", 1), ("0.4us 0.4us", 1),
    ("0.5us0.5us", 1), ("0.5us 0.6us", 2), ("0.000001s", 1), ("1.000000000000000001us", 2),
  ])
  func `what lies below a microsecond is rounded up, once for the sum`(
    text: String, usec: Int64
  ) throws {
    #expect(try TimeSpan(parsing: text).usec == usec)
  }

  @Test(arguments: [
    ("", "a length is missing"), ("  ", "a length is missing"),
    ("infinity", "a length must have an end"),
    ("min", "a number is missing before 'min'"), (".5s", "a number is missing before '.5s'"),
    ("5x", "'x' is no unit of time"), ("5Min", "'Min' is no unit of time"),
    ("1.s", "digits are missing after the point"), ("1..5s", "digits are missing"),
    ("1h 30", "a number has no unit"), ("30 1h", "a number has no unit"),
    ("5min,", "'min,' is no unit"), ("１min", "a number is missing"),
    ("1s -1s", "a number is missing before '-1s'"),
    ("1.0000000000000000001s", "more than 18 digits"), ("0x10", "'x' is no unit"),
  ])
  func `what is no length is refused with what was wrong`(text: String, part: String) {
    #expect(message { () throws(ParseError) in try TimeSpan(parsing: text) }.contains(part))
  }

  @Test(arguments: [
    "9007199254740992us", "286y", "9007199254740991us 0.1us", "99999999999999999999999999999999y",
    "99999999999999999999999999999999999999999999999999s", "340282366920938463463s",
    "9007199254740991us 9007199254740991us",
  ])
  func `more than 2^53 - 1 microseconds is refused with the bound in people's units`(text: String) {
    let refused = message { () throws(ParseError) in try TimeSpan(parsing: text) }
    #expect(refused.contains("too long; the longest is 104249d 23h 47min 34s 740ms 991us"))
  }

  @Test func `a sign is read only where it is allowed`() throws {
    #expect(try TimeSpan(parsing: "-5min", allowsSign: true).usec == -300_000_000)
    #expect(try TimeSpan(parsing: "- 90", allowsSign: true).usec == -90_000_000)
    #expect(try TimeSpan(parsing: "+1s", allowsSign: true).usec == 1_000_000)
    let refused = message { () throws(ParseError) in try TimeSpan(parsing: "-5min") }
    #expect(refused == "'-5min': a length cannot have a sign here")
    #expect(
      message { () throws(ParseError) in try TimeSpan(parsing: "--5", allowsSign: true) }
        .contains("a number is missing"))
  }

  @Test(arguments: [
    (0, "0s"), (1, "1us"), (-1, "-1us"), (999_999, "999ms 999us"), (1_000_000, "1s"),
    (5_400_000_000, "1h 30min"), (-2_500_000, "-2s 500ms"), (86_400_000_000, "1d"),
    (2_629_800_000_000, "30d 10h 30min"),
  ])
  func `a length is written as it would be typed`(usec: Int64, text: String) {
    #expect(TimeSpan(usec: usec).text == text)
  }

  @Test(arguments: [
    (0, "0s"), (999, "999us"), (999_999, "999ms 999us"), (1_000_001, "1s 1ms"),
    (59_999_001, "1min"), (60_000_001, "1min 1s"), (-60_000_001, "-1min 1s"),
    (9_007_199_254_740_991, "104249d 23h 47min 35s"),
  ])
  func `a table's length is rounded up to what there is room for`(usec: Int64, text: String) {
    #expect(TimeSpan(usec: usec).briefText == text)
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func `what is written is read back as the same`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let reach = Int64.random(in: 0...53, using: &random)
    let magnitude = Int64.random(in: 0...TimeSpan.limitUSec, using: &random) >> (53 - reach)
    let span = TimeSpan(usec: Bool.random(using: &random) ? magnitude : -magnitude)
    #expect(try TimeSpan(parsing: span.text, allowsSign: true) == span, "seed \(seed)")
  }
}
