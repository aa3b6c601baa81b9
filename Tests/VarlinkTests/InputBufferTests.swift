import TestSupport
import Testing
import Varlink

@Suite("InputBuffer")
struct InputBufferTests {
  /// Every whole message that is there, taken.
  private func drain(_ buffer: inout InputBuffer) -> [[UInt8]] {
    var messages: [[UInt8]] = []
    while let range = buffer.nextMessage() {
      messages.append(buffer.message(range).array)
      buffer.take(range)
    }
    return messages
  }

  @Test(arguments: 1...40)
  func `messages are the same in pieces of every size`(size: Int) {
    let messages: [[UInt8]] = [
      Array("{}".utf8), [], Array("a longer one".utf8), [255, 254], [1], [],
    ]
    let stream: [UInt8] = messages.flatMap { message -> [UInt8] in message + [0] }
    var buffer = InputBuffer()
    var got: [[UInt8]] = []
    var at = 0
    while at < stream.count {
      let piece = Array(stream[at..<min(at + size, stream.count)])
      buffer.append(piece.span)
      got += drain(&buffer)
      at += size
    }
    #expect(got == messages)
    #expect(buffer.count == 0)
  }

  @Test func `what is no whole message waits`() {
    var buffer = InputBuffer()
    #expect(buffer.nextMessage() == nil)
    buffer.append([1, 2].span)
    #expect(buffer.nextMessage() == nil)
    #expect(buffer.count == 2)
    buffer.append([0, 3].span)
    #expect(drain(&buffer) == [[1, 2]])
    #expect(buffer.count == 1)
    buffer.removeAll()
    #expect(buffer.count == 0)
    buffer.append([0].span)
    #expect(drain(&buffer) == [[]])
  }

  @Test func `a message that was found and not taken is found again`() {
    var buffer = InputBuffer()
    buffer.append([7, 0, 8, 0].span)
    #expect(!buffer.holdsMessage)
    #expect(buffer.nextMessage() == 0..<1)
    #expect(buffer.holdsMessage)
    #expect(buffer.nextMessage() == 0..<1)
    #expect(drain(&buffer) == [[7], [8]])
    #expect(!buffer.holdsMessage)
  }

  @Test(arguments: 0..<15 as Range<UInt64>)
  func `every history of pieces gives what splitting the stream gives`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var stream: [UInt8] = []
    for _ in 0..<Int.random(in: 1...40, using: &random) {
      let length = [0, 1, 5, 300, 20_000].randomElement(using: &random)!
      stream += Array(repeating: UInt8.random(in: 1...255, using: &random), count: length) + [0]
    }
    let expected = stream.split(separator: 0, omittingEmptySubsequences: false).dropLast().map(
      Array.init)
    var buffer = InputBuffer()
    var got: [[UInt8]] = []
    var at = 0
    while at < stream.count {
      let most = [1, 10, 1_000, 100_000].randomElement(using: &random)!
      let end = min(at + Int.random(in: 1...most, using: &random), stream.count)
      buffer.append(Array(stream[at..<end]).span)
      at = end
      if Bool.random(using: &random) { got += drain(&buffer) }
    }
    got += drain(&buffer)
    #expect(got == expected, "seed \(seed)")
  }
}
