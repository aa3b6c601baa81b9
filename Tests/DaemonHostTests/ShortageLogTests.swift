import DaemonHost
import Testing

@Suite struct ShortageLogTests {
  private static let second: Int64 = 1_000_000_000

  @Test func `an hour of it is one line, and so is the next time`() {
    var log = ShortageLog()
    var lines: [Int64] = []
    for time in 100..<3_700 as Range<Int64> where log.note(at: time * Self.second) {
      lines.append(time)
    }
    for time in 3_709..<3_720 as Range<Int64> where log.note(at: time * Self.second) {
      lines.append(time)  // Nine seconds without it are not the end of it.
    }
    for time in 3_730..<3_740 as Range<Int64> where log.note(at: time * Self.second) {
      lines.append(time)
    }
    #expect(lines == [100, 3_730])
  }
}
