import DaemonHost
import LinuxIO
import Testing

@Suite struct MachineWatchTests {
  private static let second: Int64 = 1_000_000_000

  @Test func `it is asked at once, and then once a second at most`() {
    var watch = MachineWatch()
    let asked = (0..<30 as Range<Int64>).filter { watch.isDue(at: $0 * Self.second / 10) }
    #expect(asked == [0, 10, 20])
  }

  @Test func `a second is a second, not a nanosecond less`() {
    var watch = MachineWatch()
    #expect(watch.isDue(at: 5) == true)
    #expect(watch.isDue(at: Self.second + 4) == false)
    #expect(watch.isDue(at: Self.second + 5) == true)
  }

  @Test func `when the clock was set it is asked at once`() {
    var watch = MachineWatch()
    #expect(watch.isDue(at: Self.second) == true)
    watch.noteClockChange()
    #expect(watch.isDue(at: Self.second) == true)
    #expect(watch.isDue(at: Self.second) == false)
  }

  @Test func `that it may not be asked is said once`() {
    var watch = MachineWatch()
    let error = SystemCallError(call: "adjtimex", code: 1)
    let said = [watch.complaint(about: error), watch.complaint(about: error)]
    #expect(said[0]?.contains("adjtimex") == true)
    #expect(said[1] == nil)
  }
}
