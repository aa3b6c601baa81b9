import Glibc
import LinuxIO
import Systemd
import Testing

@Suite("LogQueue")
struct LogQueueTests {
  private struct Pipe: ~Copyable {
    let reading: Int32
    let writing: Int32

    init() throws {
      var ends: [Int32] = [0, 0]
      let result = unsafe pipe(&ends)
      try #require(result == 0)
      (reading, writing) = (ends[0], ends[1])
    }

    deinit {
      close(reading)
      close(writing)
    }

    /// What can be read without waiting.
    func readAvailable() -> String {
      _ = fcntl(reading, F_SETFL, O_NONBLOCK)
      var text: [UInt8] = []
      var bytes = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = unsafe read(reading, &bytes, bytes.count)
        guard count > 0 else { return String(decoding: text, as: UTF8.self) }
        text += bytes[..<count]
      }
    }
  }

  @Test func `entries arrive in order, and those below the threshold do not`() throws {
    let pipe = try Pipe()
    let queue = try LogQueue.start(to: Journal(writingLinesTo: pipe.writing), threshold: .info)
    for index in 0..<100 {
      queue.send(.info, "line \(index)")
      queue.send(.debug, "detail \(index)")
    }
    queue.setThreshold(.debug)
    queue.send(.debug, "last")
    #expect(queue.finish(timeoutMSec: 10_000))
    let lines = pipe.readAvailable().split(separator: "\n")
    #expect(lines == (0..<100).map { "line \($0)" } + ["last"])
  }

  @Test func `a journal that nobody reads stops nobody, and what was dropped is counted`() throws {
    let pipe = try Pipe()
    let queue = try LogQueue.start(
      to: Journal(writingLinesTo: pipe.writing), threshold: .info, capacity: 8)
    let long = String(repeating: "x", count: 8_192)
    // A pipe holds 64 KiB: the thread waits in it with the ninth line, and eight more fill the queue.
    for _ in 0..<1_000 { queue.send(.info, long) }
    #expect(!queue.finish(timeoutMSec: 20), "it cannot be done while the pipe is full")
    var text = ""
    var (kept, dropped) = (0, 0)
    for _ in 0..<1_000 where kept + dropped < 1_000 {
      text += pipe.readAvailable()
      let lines = text.split(separator: "\n")
      kept = lines.count { $0.hasPrefix("x") && $0.count == long.count }
      dropped = lines.compactMap { Int($0.prefix { $0.isNumber }) }.reduce(0, +)
      Clocks.sleep(untilBoottimeNSec: Clocks.boottimeNSec() + 5_000_000)
    }
    #expect(kept + dropped == 1_000)
    #expect(dropped > 0)
  }
}
