import LinuxIO
import Synchronization
import Testing

@Suite("Thread")
struct ThreadTests {
  @Test func `a hundred threads each run their body once`() throws {
    let done = Counter()
    for index in 0..<100 { try Thread.start { done.add(index) } }
    for _ in 0..<1_000 where done.sum < 4_950 {
      Clocks.sleep(untilBoottimeNSec: Clocks.boottimeNSec() + 10_000_000)
    }
    #expect(done.sum == 4_950)
  }

  private final class Counter: Sendable {
    private let value = Atomic(0)
    func add(_ amount: Int) { value.add(amount, ordering: .relaxed) }
    var sum: Int { value.load(ordering: .relaxed) }
  }
}
