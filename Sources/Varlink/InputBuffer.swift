// Varlink (varlink.org; UAPI.20): messages of JSON, each ended by a NUL, over a stream of bytes. This
// module knows how they are framed and what their envelopes say; it knows no socket, no interface but
// `org.varlink.service`, and does not keep messages. Read next: CallEnvelope.swift.

/// What has arrived on one connection and was not handled yet.
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
    if start == bytes.count {
      bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptCapacity)
      start = 0
      searched = 0
    } else if start > Self.keptCapacity, start > bytes.count / 2 {
      bytes.removeSubrange(..<start)
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

  /// An empty buffer keeps so much storage for what comes next.
  private static let keptCapacity = 64 << 10
}

extension Span<UInt8> {
  /// The index of the first NUL at or after `start`; `count` where there is none.
  fileprivate func firstNUL(from start: Int) -> Int {
    var index = start
    while index < count, self[index] != 0 { index += 1 }
    return index
  }
}
