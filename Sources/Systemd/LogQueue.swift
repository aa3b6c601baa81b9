package import LinuxIO
import Synchronization

/// Log entries on their way to the journal, which may make its writers wait: a bounded queue, and a
/// thread that waits in the loop's stead.
///
/// Nothing depends on an entry's arrival. What finds the queue full is dropped, counted, and told once
/// there is room again.
package final class LogQueue: Sendable {
  private struct Entry: Sendable {
    let priority: Journal.Priority
    let message: String
    let fields: [Journal.Field]
  }

  private struct State: Sendable {
    var entries: [Entry] = []
    var dropped = 0
    var hasEnded = false
  }

  private let state = Mutex(State())
  private let threshold: Atomic<Int>
  private let arrived: EventDescriptor
  private let emptied: EventDescriptor
  private let capacity: Int

  /// Starts its thread. Call it once the process blocks the signals that it collects.
  ///
  /// - Parameter capacity: Entries that may wait, 1 or more.
  package static func start(
    to journal: Journal, threshold: Journal.Priority, capacity: Int = 1_024
  ) throws(SystemCallError) -> LogQueue {
    let queue = try LogQueue(threshold, capacity)
    try Thread.start { queue.writeAll(to: journal) }
    return queue
  }

  private init(_ threshold: Journal.Priority, _ capacity: Int) throws(SystemCallError) {
    precondition(capacity > 0)
    arrived = try EventDescriptor()
    emptied = try EventDescriptor()
    self.threshold = Atomic(threshold.rawValue)
    self.capacity = capacity
  }

  /// What is less urgent is not written, from now on.
  package func setThreshold(_ priority: Journal.Priority) {
    threshold.store(priority.rawValue, ordering: .relaxed)
  }

  /// Puts an entry into the queue. Never waits for the journal.
  package func send(
    _ priority: Journal.Priority, _ message: String, fields: [Journal.Field] = []
  ) {
    guard priority.rawValue <= threshold.load(ordering: .relaxed) else { return }
    state.withLock { state in
      if state.entries.count < capacity {
        state.entries.append(Entry(priority: priority, message: message, fields: fields))
      } else {
        state.dropped += 1
      }
    }
    arrived.signal()
  }

  /// Waits until everything is written, and ends the thread; false if the time passed before: then
  /// what is left is lost.
  package func finish(timeoutMSec: Int32) -> Bool {
    state.withLock { $0.hasEnded = true }
    arrived.signal()
    return emptied.wait(timeoutMSec: timeoutMSec)
  }

  private func writeAll(to journal: Journal) {
    while true {
      let (entries, dropped, hasEnded) = state.withLock { state in
        defer {
          state.entries = []
          state.dropped = 0
        }
        return (state.entries, state.dropped, state.hasEnded)
      }
      for entry in entries { journal.send(entry.priority, entry.message, fields: entry.fields) }
      if dropped > 0 {
        journal.send(.warning, "\(dropped) log entries were dropped: the journal did not keep up")
      }
      if entries.isEmpty {
        if hasEnded { break }
        _ = arrived.wait(timeoutMSec: nil)
      }
    }
    emptied.signal()
  }
}
