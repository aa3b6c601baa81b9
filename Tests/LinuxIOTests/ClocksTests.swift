import LinuxIO
import Testing

@Suite("Clocks")
struct ClocksTests {
  @Test
  func `a reading lies between two looks at each clock, and boottime is not behind monotonic`() {
    let before = Clocks.boottimeNSec()
    let first = Clocks.read()
    let second = Clocks.read()
    let after = Clocks.boottimeNSec()
    #expect(before <= first.boottimeNSec)
    #expect(first.boottimeNSec <= second.boottimeNSec)
    #expect(second.boottimeNSec <= after)
    #expect(first.monotonicNSec <= second.monotonicNSec)
    #expect(first.boottimeNSec >= first.monotonicNSec)
    #expect(first.realtimeNSec > 1_600_000_000 * 1_000_000_000)  // After 2020.
  }

  /// Clocks of which each look at the monotonic one comes `gaps` after the one before, in turn.
  private struct Looks {
    var gaps: [Int64]
    var monotonic: Int64 = 1_000_000
    var order: [Clocks.Source] = []

    mutating func now(_ source: Clocks.Source) -> Int64 {
      order.append(source)
      switch source {
      case .monotonic:
        monotonic += gaps.removeFirst()
        return monotonic
      case .boottime: return monotonic + 7
      case .realtime: return monotonic + 9
      }
    }
  }

  @Test func `the clocks are asked in the order monotonic, boottime, realtime, monotonic`() {
    var looks = Looks(gaps: [0, 20_000])
    let reading = Clocks.read { looks.now($0) }
    #expect(looks.order == [.monotonic, .boottime, .realtime, .monotonic])
    let expected = ClockReading(
      monotonicNSec: 1_000_000, boottimeNSec: 1_000_007, realtimeNSec: 1_000_009, spreadNSec: 20_000
    )
    #expect(reading == expected)
    #expect(!reading.isCoarse)
  }

  @Test func `a reading torn by more than 20 µs is taken again`() {
    var looks = Looks(gaps: [0, 20_001, 0, 20_000])
    let reading = Clocks.read { looks.now($0) }
    #expect(looks.order.count == 8)
    #expect(reading.monotonicNSec == 1_020_001)
    #expect(!reading.isCoarse)
  }

  @Test func `after five torn readings the tightest is returned as coarse`() {
    var looks = Looks(gaps: [0, 50_000, 0, 40_000, 0, 30_000, 0, 60_000, 0, 70_000])
    let reading = Clocks.read { looks.now($0) }
    #expect(looks.order.count == 20)
    #expect(reading.monotonicNSec == 1_090_000)
    #expect(reading.boottimeNSec == 1_090_007)
    #expect(reading.isCoarse)
    #expect(reading.spreadNSec == 30_000)
  }

  @Test func `a clock that cannot be read ends the process, which says so, and is no other time`()
    async
  {
    #expect(Clocks.nanoseconds(of: .realtime) { _ in (2, 5, 0) } == 2_000_000_005)
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Clocks.read { source in
        Clocks.nanoseconds(of: source) { $0 == 7 ? (0, 0, 22) : (1, 1, 0) }
      }
    }
    let text = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    #expect(text.contains("clock_gettime CLOCK_BOOTTIME: Invalid argument"))
  }

  @Test func `whether the clock is synchronised can be asked, and asking changes nothing`() throws {
    // Both answers are right somewhere; a container may refuse the question.
    do throws(SystemCallError) {
      let answer = try Clocks.isSynchronized()
      #expect(try Clocks.isSynchronized() == answer)
    } catch {
      #expect(error.call == "adjtimex" && error.code == 1)
    }
  }

  @Test func `sleeping until an instant never ends before it`() {
    for delay in [-1, 0, 1, 999_999_999 / 100, 5_000_000] as [Int64] {
      let instant = Clocks.boottimeNSec() + delay
      Clocks.sleep(untilBoottimeNSec: instant)
      #expect(Clocks.boottimeNSec() >= instant)
    }
    Clocks.sleep(untilBoottimeNSec: .min)
  }
}
