import Glibc
import LinuxIO
import Testing

@Suite("StandardStream")
struct StandardStreamTests {
  @Test func `all that is written arrives, in order, however long`() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]
    ) {
      try StandardStream.output.write(String(repeating: "o", count: 300_000) + "\u{e9}\n")
      try StandardStream.error.write("")
      try StandardStream.error.write("to standard error\n")
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    let error = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains(String(repeating: "o", count: 300_000) + "\u{e9}\n"))
    #expect(error.contains("to standard error\n"))
  }

  /// In a process of its own, which loses them.
  @Test func `no descriptor that is opened takes the place of a standard one`() async {
    await #expect(processExitsWith: .success) {
      close(0)
      close(2)
      StandardStream.fillGaps()
      let fd = unsafe open("/dev/null", O_RDWR)
      try #require(fd > 2)
      // As if they were closed.
      do throws(SystemCallError) {
        try StandardStream.error.write("x")
        Issue.record("wrote to nothing")
      } catch {
        try #require(error == SystemCallError(call: "write", code: EBADF))
      }
      var byte: UInt8 = 0
      try #require(unsafe read(0, &byte, 1) == -1 && errno == EBADF)
      try StandardStream.output.write("")  // That one was there.
      try #require(fcntl(1, F_GETFL) >= 0)
    }
  }

  @Test func `writing to a non-blocking descriptor waits for its reader`() throws {
    let pair = try SocketPair()
    var counter = try ByteCounter(reading: pair.far)
    try writeAll(String(repeating: "x", count: 3_000_000), to: pair.near.rawValue)
    pair.near.shutDown()
    #expect(try counter.result() == "3000000")
  }

  /// In a process of its own, whose standard input is a socket that does not block.
  @Test func `what has come is read, as much as is asked for, and then the end`() async {
    await #expect(processExitsWith: .success) {
      let pair = try SocketPair()
      try #require(dup2(pair.far.rawValue, 0) == 0)
      try #require(fcntl(0, F_SETFL, O_NONBLOCK) == 0)
      try #require(try !StandardStream.input.waitReadable(timeoutMSec: 0))
      try writeAll("abc", to: pair.near.rawValue)
      var bytes: [UInt8] = [1]
      try #require(try StandardStream.input.waitReadable(timeoutMSec: nil))
      try #require(try StandardStream.input.read(appendingTo: &bytes, atMost: 2) == 2)
      try #require(try StandardStream.input.read(appendingTo: &bytes, atMost: 2) == 1)
      try #require(bytes == [1] + Array("abc".utf8))
      let near = pair.near.rawValue
      let start = Clocks.boottimeNSec()
      try Thread.start {  // What is read next waits for this.
        Clocks.sleep(untilBoottimeNSec: start + 50_000_000)
        try? writeAll("e", to: near)
      }
      try #require(try StandardStream.input.read(appendingTo: &bytes, atMost: 9) == 1)
      pair.near.shutDown()
      try #require(try StandardStream.input.waitReadable(timeoutMSec: 0))
      try #require(try StandardStream.input.read(appendingTo: &bytes, atMost: 9) == 0)
    }
  }

  @Test func `a reader that went is an error where SIGPIPE is ignored`() async {
    await #expect(processExitsWith: .success) {
      Signal.brokenPipe.ignore()
      let pair = try SocketPair()
      drop(pair.far)
      do throws(SystemCallError) {
        try writeAll("x", to: pair.near.rawValue)
        Issue.record("wrote to nobody")
      } catch {
        try #require(error == SystemCallError(call: "write", code: EPIPE))
      }
    }
  }

  /// In a process of its own, whose standard output is made a terminal.
  @Test func `a terminal knows that it is one, and its size`() async {
    await #expect(processExitsWith: .success) {
      var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
      var (controlling, terminal) = (Int32(0), Int32(0))
      let opened = unsafe openpty(&controlling, &terminal, nil, nil, &size)
      try #require(opened == 0)
      try #require(dup2(terminal, 1) == 1)
      try #require(StandardStream.output.isTerminal)
      let found = try #require(StandardStream.output.terminalSize)
      try #require(found == (columns: 80, rows: 24))
      let null = unsafe open("/dev/null", O_RDWR)
      try #require(dup2(null, 1) == 1)
      try #require(!StandardStream.output.isTerminal)
      try #require(StandardStream.output.terminalSize == nil)
    }
  }
}
