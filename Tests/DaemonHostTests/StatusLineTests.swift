import DaemonHost
import Testing

@Suite struct StatusLineTests {
  private static let second: Int64 = 1_000_000_000

  @Test func `what has not changed is not told, and wakes nobody`() {
    var status = StatusLine()
    #expect(status.text == "Serving; no countdowns")
    let isTold = status.update(.init(), at: 50 * Self.second)
    #expect(!isTold && status.dueAt == nil)
  }

  @Test func `a change is told at once, the next one a second later, with what there is then`() {
    var status = StatusLine()
    var isTold = status.update(.init(running: 1), at: 50 * Self.second)
    #expect(isTold && status.text == "Serving; 1 countdowns running, 0 paused, 0 ended")
    isTold = status.update(.init(running: 2), at: 50 * Self.second + 1)
    #expect(!isTold && status.dueAt == 51 * Self.second)
    isTold = status.update(.init(running: 3), at: 51 * Self.second - 1)
    #expect(!isTold && status.dueAt == 51 * Self.second)
    isTold = status.update(.init(running: 3, paused: 4, ended: 5), at: 51 * Self.second)
    #expect(isTold && status.text == "Serving; 3 countdowns running, 4 paused, 5 ended")
    #expect(status.dueAt == nil)
  }

  @Test func `a change that was taken back wakes nobody`() {
    var status = StatusLine()
    _ = status.update(.init(running: 1), at: 50 * Self.second)
    _ = status.update(.init(running: 2), at: 50 * Self.second + 1)
    let isTold = status.update(.init(running: 1), at: 50 * Self.second + 2)
    #expect(!isTold && status.dueAt == nil)
  }
}
