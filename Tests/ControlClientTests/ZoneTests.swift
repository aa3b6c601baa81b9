import ControlClient
import Testing

@Suite struct ZoneTests {
  @Test func `a time is written with its offset as RFC 3339`() {
    #expect(Zone.utc.rfc3339(1_798_131_600) == "2026-12-24T17:00:00+00:00")
    #expect(Zone.berlin.rfc3339(1_798_131_600) == "2026-12-24T18:00:00+01:00")
    let newfoundland = Zone(candidates: { _ in [] }, offset: { _ in -12_600 })
    #expect(newfoundland.rfc3339(1_798_131_600) == "2026-12-24T13:30:00-03:30")
  }

  @Test func `today's times are shown without their date`() {
    #expect(Zone.berlin.shortText(of: 1_798_131_600, today: 1_798_066_800) == "18:00:00")
    #expect(
      Zone.berlin.shortText(of: 1_798_131_600, today: 1_798_066_799) == "2026-12-24 18:00:00")
  }
}

extension Zone {
  /// Central Europe in 2026: an hour before UTC, two from 29 March 01:00 UTC to 25 October 01:00 UTC.
  static let berlin = Zone(changes: [(.min, 3_600), (1_774_746_000, 7_200), (1_792_890_000, 3_600)])

  /// Samoa, which left out 30 December 2011: ten hours behind UTC, fourteen before it from
  /// 10:00 UTC on.
  static let apia = Zone(changes: [(.min, -36_000), (1_325_239_200, 50_400)])

  /// A zone by its offsets, each from a Unix time on.
  private init(changes: [(from: Int64, offset: Int64)]) {
    let offset: @Sendable (Int64) -> Int64 = { seconds in
      changes.last { $0.from <= seconds }?.offset ?? 0
    }
    self.init(
      candidates: { time in
        Set(changes.map(\.offset)).map { time.asUTC - $0 }.sorted()
          .filter { time.asUTC - offset($0) == $0 }
      },
      offset: offset)
  }
}
