import CountdownService
import Testing

/// Sizes that the compiler does not hold against each other.
@Suite("Tally")
struct TallyTests {
  @Test func `there is a place for each kind, and no other`() {
    #expect(Tally.Counts().places == Tally.Kind.allCases.count)
    #expect(Tally.Kind.allCases.map(\.rawValue) == Array(0..<Tally.Kind.allCases.count))
  }

  @Test func `there is a bucket for each bound, and one for what is later`() {
    #expect(Lateness().buckets == Lateness.bounds.count + 1)
    #expect(Lateness.bounds == Lateness.bounds.sorted())
  }
}
