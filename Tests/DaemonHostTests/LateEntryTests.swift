import Countdowns
import DaemonHost
import Testing

@Suite struct LateEntryTests {
  private func late(_ reason: LateReason, _ usec: Int64 = 7_200_000_000) -> LateExpiries {
    LateExpiries(lateUSec: usec, reason: reason, name: Array("tea".utf8), owner: 1_000)
  }

  @Test func `each reason has its own words, and a field`() {
    let entries = LateReason.allCases.map { LateEntry(late($0)) }
    #expect(
      entries.map(\.message) == [
        "A countdown expired late, by 2h: tea of user 1000",
        "A countdown expired late, by 2h, for the machine slept: tea of user 1000",
        "A countdown expired late, by 2h, for the wall clock was set: tea of user 1000",
        "A countdown expired late, by 2h, for a change of it was being stored: tea of user 1000",
        "A countdown expired late, by 2h, for the daemon was busy or stopped: tea of user 1000",
      ])
    let fields = entries.map { $0.fields.map { "\($0)" }.joined(separator: " ") }
    for (text, word) in zip(fields, ["none", "suspend", "clockStep", "storage", "overload"]) {
      #expect(text.contains("LATE_REASON") && text.contains(word))
      #expect(text.contains("LATE_USEC") && text.contains("7200000000"))
      #expect(text.contains("COUNTDOWN_NAME") && text.contains("LATE_COUNT"))
    }
  }

  @Test func `of several the number is told, and why the worst was late`() {
    var all = late(.overload, 1_000_000)
    all.add(late(.suspend))
    all.add(late(.clockStep, 2_000_000))
    #expect(
      LateEntry(all).message
        == "3 countdowns expired late, the worst of them by 2h, for the machine slept: tea of user 1000"
    )
  }
}
