import ControlClient
import Testing

@Suite struct FigureTextTests {
  @Test(
    arguments: [
      (0, "0 B"), (1_023, "1023 B"), (1_024, "1.0 KiB"), (1_536, "1.5 KiB"),
      (1_048_575, "1.0 MiB"), (67_108_864, "64.0 MiB"), (1 << 53, "8.0 PiB"),
      (.max, "8.0 EiB"), (-5, "-5 B"),
    ] as [(Int64, String)])
  func `bytes are told in the unit that leaves less than 1024`(bytes: Int64, text: String) {
    #expect(bytesText(bytes) == text)
  }

  @Test(
    arguments: [
      (0, "0 µs"), (999, "999 µs"), (1_000, "1.000 ms"), (1_204, "1.204 ms"),
      (999_999, "999.999 ms"), (1_000_000, "1s"), (2_100_000, "2s 100ms"), (.max, "?"),
    ] as [(Int64, String)])
  func `a lateness is told as finely as matters`(usec: Int64, text: String) {
    #expect(latenessText(usec) == text)
  }

  @Test func `a lateness is told with its reason, if it has one`() {
    let words: [String?] = [nil, "none", "suspend", "clockStep", "storage", "overload", "a\u{1b}b"]
    #expect(
      words.map { latenessText(7_380_000_000, " late", because: $0) } == [
        "2h 3min late", "2h 3min late", "2h 3min late: the machine slept",
        "2h 3min late: the wall clock was set", "2h 3min late: a change was being stored",
        "2h 3min late: the daemon was busy or stopped", "2h 3min late: a\\u{1b}b",
      ])
    #expect(latenessText(54, because: "suspend") == "54 µs: the machine slept")
  }

  @Test func `a length that can be none is a question`() {
    #expect(lengthText(5_400_000_000) == "1h 30min")
    #expect(lengthText(.min) == "?" && lengthText((1 << 53)) == "?")
  }
}
