import ControlClient
import Glibc
import LinuxIO
import Synchronization
import TestSupport
import Testing

/// Real failures of other daemons under load: with `$COUNTDOWND_FULL_SIZE` at the size they are told of,
/// which is for a daemon built for release; else at a tenth of it or less.
@Suite(.serialized) struct LoadCaseTests {
  private static let isFullSize =
    CurrentProcess.environmentVariable("COUNTDOWND_FULL_SIZE") != nil

  // MARK: B46

  @Test func `B46 one that never reads costs nobody anything, and learns of its gap at last`()
    throws
  {
    let count = Self.isFullSize ? 200_000 : 20_000
    // What has ended is not to take the memory that is measured.
    let place = try Place("[Countdownd]\nRetainEndedMax=1000\n")
    try ending(place.start()) { daemon in
      try awaitService(at: place.socket)
      let (never, prompt) = (try Stream(at: place.socket), try Stream(at: place.socket))
      for reader in [never, prompt] {
        try reader.send(
          encodeCall(
            "io.countdownd.Countdown.Subscribe", parameters: Array("{}".utf8), wantsMore: true))
        #expect(try reader.nextFrame().count < 100)
      }
      let caller = try Stream(at: place.socket)
      let before = try status("VmRSS", of: daemon.pid)
      var heard = Heard()
      for first in stride(from: 0, to: count, by: 500) {
        try caller.send(Self.startMany(first..<first + 500))
        while try !caller.hasFrame() {
          // Both at once: who reads is not to wait for who calls.
          for frame in try prompt.framesSoFar() { heard.note(frame) }
        }
        #expect(try !caller.nextFrame().contains("\"error\""))
        // A third of the ring at most behind: it reads, as fast as this machine lets it.
        while heard.count < first - 4_000 { heard.note(try prompt.nextFrame()) }
      }
      while heard.count < count { heard.note(try prompt.nextFrame()) }
      #expect(heard.isEachOnce(of: count) && heard.gaps == 0)
      #expect(heard.shortest >= 1_024)

      // RecentEventsBytesPerUser=16M, MaxQueuedReplyBytes=4M, spare buffers of 4M, and the calls.
      let growth = try status("VmHWM", of: daemon.pid) - before
      #expect(growth < 28 << 10, "it grew by \(growth) KiB")
      print("B46: \(count) events, the latest by \(heard.latest) µs; memory grew by \(growth) KiB")

      var late = Heard()
      while late.last != count - 1 { late.note(try never.nextFrame()) }
      #expect(late.gaps == 1)
      #expect(late.count < count && late.isInOrder)
    }
  }

  /// `StartMany` of countdowns with names as long as they may be, and payloads.
  private static func startMany(_ numbers: Range<Int>) -> [UInt8] {
    let text = String(repeating: "x", count: 247)
    let payload = "{\"x\":\"" + String(repeating: "y", count: 800) + "\"}"
    let items = numbers.map {
      "{\"name\":\"\(text)/7\(String(1_000_000 + $0).dropFirst())\",\"durationUSec\":20000,"
        + "\"payload\":\(payload)}"
    }
    return encodeCall(
      "io.countdownd.Countdown.StartMany",
      parameters: Array("{\"countdowns\":[\(items.joined(separator: ","))]}".utf8),
      wantsMore: false)
  }

  /// What a subscriber was told of the countdowns of ``startMany(_:)``.
  private struct Heard {
    private var numbers: [Int] = []
    private(set) var gaps = 0
    private(set) var latest = 0
    /// Bytes of the shortest event, about.
    private(set) var shortest = Int.max

    var count: Int { numbers.count }
    var last: Int? { numbers.last }
    var isInOrder: Bool { zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 } }

    func isEachOnce(of count: Int) -> Bool {
      numbers.count == count && numbers.sorted() == Array(0..<count)
    }

    mutating func note(_ frame: Frame) {
      let before = numbers.count
      numbers += frame.numbers(after: "xx/7")
      latest = max(latest, frame.numbers(after: "\"lateUSec\":").max() ?? 0)
      if frame.contains("\"gap\":true") { gaps += 1 }
      if numbers.count > before { shortest = min(shortest, frame.count / (numbers.count - before)) }
    }
  }

  // MARK: B48

  @Test
  func `B48 who sends a million calls and reads nothing is not read from, and gets all replies`()
    throws
  {
    let count = Self.isFullSize ? 1_000_000 : 30_000
    let padding = String(repeating: "x", count: 100)
    try withDaemon { daemon in
      let client = try Stream(at: daemon.socketPath)
      var other = try daemon.connect()
      _ = try other.call("Count")
      let before = try daemon.status("VmRSS")
      let sent = Sent()
      try Thread.start {
        for first in stride(from: 0, to: count, by: 1_000) {
          let calls = (first..<first + 1_000).map {
            "{\"method\":\"io.countdownd.Countdown.Get\","
              + "\"parameters\":{\"name\":\"\(padding)\($0)\"}}\0"
          }
          guard (try? client.send(Array(calls.joined().utf8))) != nil else { return }
          sent.note(first + 1_000)
        }
      }
      // It is not read from any more once what it sends does not get on.
      var known = -1
      while sent.count != known {
        known = sent.count
        for _ in 0..<100 { _ = try other.call("Count") }
        pass(milliseconds: 500)
      }
      #expect(known < count, "all was taken")
      for _ in 0..<200 { _ = try other.call("Count") }
      // MaxQueuedReplyBytes=4M, what is read ahead, and what a list of bytes grows by.
      let growth = try daemon.status("VmHWM") - before
      #expect(growth < 16 << 10, "it grew by \(growth) KiB")
      for first in stride(from: 0, to: count, by: 1_000) {
        let replies = (first..<first + 1_000).map {
          "{\"error\":\"io.countdownd.Countdown.NoSuchCountdown\","
            + "\"parameters\":{\"name\":\"\(padding)\($0)\"}}\0"
        }
        let expected = Array(replies.joined().utf8)
        guard try client.next(expected.count) == expected else {
          Issue.record("of the replies from \(first) on one is another's")
          return
        }
        if first % 50_000 == 0 { _ = try other.call("Count") }
      }
      print("B48: \(known) of \(count) calls were taken; memory grew by \(growth) KiB")
    }
  }

  /// How many calls were sent, told from one thread to another.
  private final class Sent: Sendable {
    private let number = Atomic<Int>(0)

    var count: Int { number.load(ordering: .relaxed) }

    func note(_ count: Int) { number.store(count, ordering: .relaxed) }
  }

  // MARK: B53

  @Test func `B53 a list of a million goes on in bounded frames while a thousand a second are due`()
    throws
  {
    let count = Self.isFullSize ? 1_000_000 : 100_000
    let place = try Place("[Countdownd]\nMaxCountdownsPerUser=2M\n")
    try ending(place.start()) { daemon in
      try awaitService(at: place.socket)
      let caller = try Stream(at: place.socket)
      for first in stride(from: 0, to: count, by: 1_000) {
        try caller.send(Self.startMany("lives", first..<first + 1_000) { _ in 3_600_000_000 })
        #expect(try !caller.nextFrame().contains("\"error\""))
      }
      // Due each millisecond, from now on and for as long as the list may take.
      let due = 60_000
      for first in stride(from: 0, to: due, by: 1_000) {
        try caller.send(Self.startMany("due", first..<first + 1_000) { 1_000 * Int64($0 + 1) })
        #expect(try !caller.nextFrame().contains("\"error\""))
      }
      let listener = try Stream(at: place.socket)
      try listener.send(
        encodeCall(
          "io.countdownd.Countdown.Subscribe", parameters: Array("{}".utf8), wantsMore: true))
      _ = try listener.nextFrame()

      let reader = try Stream(at: place.socket)
      try reader.send(
        encodeCall("io.countdownd.Countdown.List", parameters: Array("{}".utf8), wantsMore: true))
      var next = 0
      var frames = 0
      var longest = 0
      var expired = 0
      var isLast = false
      while !isLast {
        let frame = try reader.nextFrame()
        for number in frame.numbers(after: "\"lives/") {
          guard number == next else {
            Issue.record("\(number) comes where \(next) was to come")
            return
          }
          next += 1
        }
        frames += 1
        longest = max(longest, frame.count)
        isLast = !frame.contains("\"continues\":true")
        for told in try listener.framesSoFar() {
          expired += told.numbers(after: "\"due/").count
          #expect(!told.contains("\"gap\":true"))
        }
        pass(milliseconds: 1)  // It is slow.
      }
      #expect(next == count, "each that lived through it, once and in order")
      #expect(longest <= 64 << 10, "the longest frame has \(longest) bytes")
      #expect(frames > count / 1_000)
      #expect(expired > 0)
      print(
        "B53: \(next) in \(frames) frames of \(longest) bytes at most; \(expired) expired meanwhile"
      )
    }
  }

  // MARK: Idle

  @Test func `four hundred clients that said and heard much keep no memory for it`() throws {
    try withDaemon { daemon in
      let caller = try Stream(at: daemon.socketPath)
      try caller.send(Self.startMany("idle", 0..<150) { _ in 3_600_000_000 })
      _ = try caller.nextFrame()
      let list = encodeCall(
        "io.countdownd.Countdown.List",
        parameters: Array(
          "{\"limit\":150,\"prefix\":\"\(String(repeating: "i", count: 200))\"}".utf8),
        wantsMore: false)
      let all = encodeCall(
        "io.countdownd.Countdown.List", parameters: Array("{\"limit\":150}".utf8), wantsMore: false)
      var clients: [Stream] = []
      var before = 0
      for number in 0..<410 {
        let client = try Stream(at: daemon.socketPath)
        try client.send(Array(repeatElement(list, count: 150).joined()) + all)
        for _ in 0..<150 { _ = try client.nextFrame() }
        #expect(try client.nextFrame().count > 40_000)
        clients.append(client)
        if number == 9 { before = try daemon.status("VmRSS") }
      }
      let growth = try daemon.status("VmRSS") - before
      #expect(growth < 400 * 16, "they take \(growth) KiB")
      withExtendedLifetime(clients) {}
    }
  }

  private static func startMany(
    _ prefix: String, _ numbers: Range<Int>, _ lengthUSec: (Int) -> Int64
  ) -> [UInt8] {
    let items = numbers.map {
      // As many digits each, so that their order is that of the numbers.
      "{\"name\":\"\(prefix)/\(String(10_000_000 + $0).dropFirst())\","
        + "\"durationUSec\":\(lengthUSec($0))}"
    }
    return encodeCall(
      "io.countdownd.Countdown.StartMany",
      parameters: Array("{\"countdowns\":[\(items.joined(separator: ","))]}".utf8),
      wantsMore: false)
  }
}

/// One message from the daemon, searched by the C library: a debug build takes long for each byte.
struct Frame {
  /// With the NUL that ends it.
  fileprivate let bytes: [UInt8]

  var count: Int { bytes.count - 1 }

  func contains(_ text: String) -> Bool { places(of: text, atMost: 1).first != nil }

  /// The decimal numbers that stand after each `text`.
  func numbers(after text: String) -> [Int] {
    places(of: text).map { place in
      var number = 0
      var index = place + text.utf8.count
      while (48...57).contains(bytes[index]) {
        number = 10 * number + Int(bytes[index] - 48)
        index += 1
      }
      return number
    }
  }

  private func places(of text: String, atMost limit: Int = .max) -> [Int] {
    var places: [Int] = []
    // SAFETY: both end with a NUL and are lent for the closure; what is found lies within the first.
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe text.withCString { text in
        guard let base = unsafe bytes.assumingMemoryBound(to: CChar.self).baseAddress else {
          return
        }
        var from = unsafe base
        while places.count < limit, let found = unsafe strstr(from, text) {
          unsafe places.append(UnsafePointer(found) - base)
          unsafe from = UnsafePointer(found) + 1
        }
      }
    }
    return places
  }
}

/// A client's connection as a stream of frames, for more of them than are worth looking at one by one.
/// One thread may send while another one receives.
final class Stream: Sendable {
  private let socket: StreamSocket
  private let input = Mutex<(bytes: [UInt8], start: Int)>(([], 0))

  init(at path: String) throws { socket = try StreamSocket(connectingTo: path) }

  func send(_ bytes: [UInt8]) throws { try #require(try socket.sendAll(bytes.span)) }

  /// The next frame; waits for it.
  func nextFrame() throws -> Frame {
    while true {
      if let frame = input.withLock({ Self.takeFrame(&$0) }) { return frame }
      try #require(try socket.waitReadable(timeoutMSec: 20_000), "nothing comes")
      try receive()
    }
  }

  /// The next so many bytes, of however many frames; waits for them.
  func next(_ count: Int) throws -> [UInt8] {
    while true {
      let bytes = input.withLock { input -> [UInt8]? in
        guard input.bytes.count - input.start >= count else { return nil }
        defer { input.start += count }
        return Array(input.bytes[input.start..<input.start + count])
      }
      if let bytes { return bytes }
      try #require(try socket.waitReadable(timeoutMSec: 20_000), "nothing comes")
      try receive()
    }
  }

  /// The frames that have come so far.
  func framesSoFar() throws -> [Frame] {
    var frames: [Frame] = []
    while true {
      while let frame = input.withLock({ Self.takeFrame(&$0) }) { frames.append(frame) }
      guard try socket.waitReadable(timeoutMSec: 0) else { return frames }
      try receive()
    }
  }

  /// Whether one has come; waits a moment for it.
  func hasFrame() throws -> Bool {
    if try socket.waitReadable(timeoutMSec: 1) { try receive() }
    return input.withLock { Self.end(of: $0) != nil }
  }

  private func receive() throws {
    try input.withLock { input in
      if input.start == input.bytes.count {
        input.bytes.removeAll(keepingCapacity: true)
        input.start = 0
      } else if input.start > 1 << 20 {
        input.bytes.removeSubrange(..<input.start)
        input.start = 0
      }
      let transfer = try socket.receive(appendingTo: &input.bytes, atMost: 256 << 10)
      guard case .moved = transfer else { throw ClientError.closed }
    }
  }

  private static func takeFrame(_ input: inout (bytes: [UInt8], start: Int)) -> Frame? {
    guard let end = end(of: input) else { return nil }
    defer { input.start = end + 1 }
    return Frame(bytes: Array(input.bytes[input.start...end]))
  }

  private static func end(of input: (bytes: [UInt8], start: Int)) -> Int? {
    // SAFETY: the array is lent for the closure; what is found lies within it.
    unsafe input.bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress,
        let found = unsafe memchr(base + input.start, 0, bytes.count - input.start)
      else { return nil }
      return unsafe UnsafeRawPointer(found) - base
    }
  }
}
