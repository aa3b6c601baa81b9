import Countdowns
import DaemonHost
import Testing

@Suite struct DiscontinuityEntryTests {
  private static let reading = Reading(monotonic: 1, boottime: 2, realtime: 3)

  /// What is said, of which kind, and with which fields.
  private func text(_ one: Discontinuity) -> [String] {
    let entry = DiscontinuityEntry(one)
    return [entry.message, "\(entry.kind)", "\(entry.priority)"]
      + entry.fields.map { "\($0)" }
  }

  @Test func `each kind has its own words, id and fields`() {
    let hour: Int64 = 3_600_000_000
    let told = [
      Discontinuity.slept(8 * hour, at: Self.reading), .stepped(hour, at: Self.reading),
      .stepped(-1_000_000, at: Self.reading),
      .slept(hour, stepped: -2_000, at: Self.reading), .stalled(1_500_000, at: Self.reading),
    ].map { text($0) }
    #expect(
      told.map { $0[0] } == [
        "The machine slept for 8h", "The wall clock was set forward by 1h",
        "The wall clock was set back by 1s",
        "The machine slept for 1h, and the wall clock was set back by 2ms meanwhile",
        "The daemon was away for 1s 500ms",
      ])
    #expect(told.map { $0[1] } == ["slept", "stepped", "stepped", "sleptAndStepped", "stalled"])
    #expect(told.map { $0[2] } == ["info", "notice", "notice", "notice", "debug"])
    let fields = told.map { $0.dropFirst(3).joined(separator: " ") }
    #expect(fields[0].contains("SLEPT_USEC") && fields[0].contains("28800000000"))
    #expect(fields[2].contains("STEPPED_USEC") && fields[2].contains("-1000000"))
    #expect(fields[3].contains("SLEPT_USEC") && fields[3].contains("STEPPED_USEC"))
    #expect(fields[4].contains("AWAY_USEC") && fields[4].contains("1500000"))
    #expect(told.map { $0.count } == [4, 4, 4, 5, 4])
  }

  @Test func `the longest that can be is told as well`() {
    let longest: Int64 = (1 << 53) - 1
    for usec in [Int64.max, -.max] {
      let one = Discontinuity.stepped(usec, at: Self.reading)
      #expect(abs(one.steppedUSec ?? 0) == longest)
      #expect(text(one)[0].hasPrefix("The wall clock was set"))
    }
  }
}
