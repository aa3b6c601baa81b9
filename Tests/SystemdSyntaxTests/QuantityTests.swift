import SystemdSyntax
import TestSupport
import Testing

@Suite struct QuantityTests {
  @Test(
    arguments: [
      ("0", 0), ("007", 7), ("5K", 5_000), ("5 K", 5_000), ("2M", 2_000_000), ("3G", 3_000_000_000),
      ("4T", 4_000_000_000_000), ("5P", 5_000_000_000_000_000), ("18E", 18_000_000_000_000_000_000),
      ("18446744073709551615", .max),
    ] as [(String, UInt64)])
  func `a thousand of things is 1000`(text: String, value: UInt64) throws {
    #expect(try Quantity(parsing: text, kilo: .decimal).value == value)
  }

  @Test(
    arguments: [
      ("0", 0), ("100B", 100), ("5K", 5_120), ("1M", 1_048_576), ("1G", 1_073_741_824),
      ("1T", 1_099_511_627_776), ("1P", 1_125_899_906_842_624), ("15E", 17_293_822_569_102_704_640),
    ] as [(String, UInt64)])
  func `a thousand of bytes is 1024`(text: String, value: UInt64) throws {
    #expect(try Quantity(parsing: text, kilo: .binary).value == value)
  }

  @Test(arguments: [
    ("", "a whole number is needed"), ("K", "a whole number is needed"),
    ("-1", "a whole number is needed"), ("+1", "a whole number is needed"),
    (" 1", "a whole number is needed"), ("1.5K", "a whole number is needed"),
    ("٣", "a whole number is needed"), ("1k", "'k' is no suffix"), ("1KB", "'KB' is no suffix"),
    ("1K K", "'K K' is no suffix"), ("1_000", "'_000' is no suffix"),
    ("0x10", "'x10' is no suffix"),
    ("1\u{212a}", "is no suffix"),  // The sign for kelvin, which Swift takes for a K.
    ("1B", "'B' is no suffix"), ("1K\u{301}", "is no suffix"),
    ("18446744073709551616", "too large"), ("19E", "too large"),
    ("99999999999999999999999999999999E", "too large"),
  ])
  func `what is no such number is refused with what was wrong`(text: String, part: String) {
    #expect(
      message { () throws(ParseError) in try Quantity(parsing: text, kilo: .decimal) }
        .contains(part))
  }

  @Test func `the bound in bytes is 2^64`() {
    #expect(
      message { () throws(ParseError) in try Quantity(parsing: "16E", kilo: .binary) }
        == "'16E': too large")
  }

  @Test(
    arguments: [
      (0, "0", "0"), (1, "1", "1"), (1_000, "1K", "1000"), (1_024, "1024", "1K"),
      (1_500, "1500", "1500"), (1_000_000, "1M", "1000000"), (1_536, "1536", "1536"),
      (4_194_304, "4194304", "4M"), (5_000_000, "5M", "5000000"),
      (1 << 60, "1152921504606846976", "1E"),
      (.max, "18446744073709551615", "18446744073709551615"),
    ] as [(UInt64, String, String)])
  func `a number is written with the largest suffix that fits`(
    value: UInt64, decimal: String, binary: String
  ) {
    #expect(Quantity(value, kilo: .decimal).text == decimal)
    #expect(Quantity(value, kilo: .binary).text == binary)
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func `what is written is read back as the same`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let reach = Int.random(in: 0..<64, using: &random)
    let value = UInt64.random(in: 0...UInt64.max, using: &random) >> reach
    for kilo in [Quantity.Kilo.decimal, .binary] {
      for value in [value, value / 1_000_000 * 1_000_000, value & ~0xfffff] {
        let quantity = Quantity(value, kilo: kilo)
        #expect(try Quantity(parsing: quantity.text, kilo: kilo) == quantity, "seed \(seed)")
      }
    }
  }
}
