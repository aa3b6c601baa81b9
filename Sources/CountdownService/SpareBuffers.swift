/// Memory that connections took for what came in and goes out, and need no more: the next one that is
/// busy takes it. So an idle connection keeps none, and a busy one allocates none.
///
/// Invariant: `byteCount` is the capacity of all buffers together, at most `limit`.
struct SpareBuffers: Sendable {
  private var buffers: [[UInt8]] = []
  private var byteCount = 0

  /// Enough for the calls of one turn.
  private static let limit = 4 << 20
  /// A larger one is given back to the system.
  private static let largest = 64 << 10

  /// An empty array, with room where there is a spare one. O(1).
  mutating func take() -> [UInt8] {
    guard let buffer = buffers.popLast() else { return [] }
    byteCount -= buffer.capacity
    return buffer
  }

  /// Keeps the array's memory for others. O(1).
  mutating func put(_ buffer: consuming [UInt8]) {
    let capacity = buffer.capacity
    guard capacity > 0, capacity <= SpareBuffers.largest, byteCount + capacity <= SpareBuffers.limit
    else { return }
    buffer.removeAll(keepingCapacity: true)
    buffers.append(buffer)
    byteCount += capacity
  }

  /// The first invariant that does not hold, in words. O(buffers).
  func brokenInvariant() -> String? {
    let capacity = buffers.reduce(0) { $0 + $1.capacity }
    if capacity != byteCount { return "spare buffers have \(capacity) bytes, not \(byteCount)" }
    if byteCount > SpareBuffers.limit { return "spare buffers have \(byteCount) bytes" }
    return buffers.allSatisfy(\.isEmpty) ? nil : "a spare buffer is in use"
  }
}
