// Varlink (varlink.org; UAPI.20): messages of JSON, each ended by a NUL, over a stream of bytes. This
// module knows how they are framed and what their envelopes say; it knows no socket, no interface but
// `org.varlink.service`, and does not keep messages. Read next: CallEnvelope.swift.

/// What has arrived on one connection and was not handled yet.
///
/// It keeps no memory of its own when nothing waits, if what ``takeMemory()`` gives back is taken.
///
/// Invariant: `start` is the first byte not taken; no NUL stands in `start..<searched`.
package struct InputBuffer: Sendable {
  private var bytes: [UInt8] = []
  private var start = 0
  private var searched = 0

  package init() {}

  /// Bytes that wait, whole messages and the beginning of one.
  package var count: Int { bytes.count - start }

  /// Whether a whole message was found that is not taken yet. What arrived since the last
  /// ``nextMessage()`` is not looked at.
  package var holdsMessage: Bool { searched < bytes.count && bytes[searched] == 0 }

  package mutating func append(_ arrived: Span<UInt8>) {
    guard !arrived.isEmpty else { return }
    if start > Self.mostTaken, start > bytes.count / 2 {
      bytes = Array(bytes[start...])  // Rather than moved, so that it takes no more than it needs.
      searched -= start
      start = 0
    }
    bytes.append(addingCapacity: arrived.count) { (output: inout OutputSpan<UInt8>) in
      for index in arrived.indices { output.append(arrived[index]) }
    }
  }

  /// Where the first whole message stands, without its NUL; `nil` while there is none.
  ///
  /// Each byte is looked at once, however the messages are cut.
  package mutating func nextMessage() -> Range<Int>? {
    searched = bytes.span.firstNUL(from: max(searched, start))
    return searched < bytes.count ? start..<searched : nil
  }

  /// The bytes of a message that ``nextMessage()`` has found; good until it is taken.
  @_lifetime(borrow self)
  package borrowing func message(_ range: Range<Int>) -> Span<UInt8> {
    bytes.span.extracting(range)
  }

  /// The message that was found is done with, and its NUL.
  package mutating func take(_ message: Range<Int>) {
    start = message.upperBound + 1
    searched = start
  }

  /// Gives back what waits, and the memory.
  package mutating func removeAll() { self = InputBuffer() }

  /// Whether it has memory, be it for what was taken.
  package var hasMemory: Bool { bytes.capacity > 0 }

  /// Gives back the memory, for use elsewhere; nothing may wait.
  package mutating func takeMemory() -> [UInt8] {
    precondition(count == 0)
    var memory: [UInt8] = []
    swap(&memory, &bytes)
    start = 0
    searched = 0
    return memory
  }

  /// Uses that memory, an empty array, from here on; it must have none.
  package mutating func use(_ memory: consuming [UInt8]) {
    precondition(!hasMemory && memory.isEmpty)
    bytes = memory
  }

  /// So many bytes that were taken stay at most in front of those that wait.
  private static let mostTaken = 64 << 10
}

extension Span<UInt8> {
  /// The index of the first NUL at or after `start`; `count` where there is none.
  fileprivate func firstNUL(from start: Int) -> Int {
    var index = start
    while index < count, self[index] != 0 { index += 1 }
    return index
  }
}
