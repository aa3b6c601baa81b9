import CLinux
import Glibc

/// The three descriptors every program is started with.
package enum StandardStream: Int32, Sendable {
  case input = 0
  case output = 1
  case error = 2

  /// Fills the places of those that this process was started without. To be called first of all: else
  /// the next descriptor opened, a socket or a lock, would be taken for one of them.
  ///
  /// What is put there can neither be read from nor written to, just as if it were closed.
  package static func fillGaps() {
    for stream in [StandardStream.input, .output, .error] {
      let (_, code) = uninterrupted { fcntl(stream.rawValue, F_GETFD) }
      guard code == EBADF else { continue }
      let mode = stream == .input ? O_WRONLY : O_RDONLY
      // SAFETY: the kernel reads the path, which Swift keeps alive, during the call only.
      _ = uninterrupted { unsafe open("/dev/null", mode) }  // The lowest that is free: this one.
    }
  }

  package var isTerminal: Bool { isatty(rawValue) == 1 }

  /// The size of the terminal in characters; `nil` if it is none or does not say.
  package var terminalSize: (columns: Int, rows: Int)? {
    var columns: UInt16 = 0
    var rows: UInt16 = 0
    // SAFETY: both are written before the call returns and outlive it.
    let (_, code) = uninterrupted { unsafe cl_window_size(rawValue, &columns, &rows) }
    return code == 0 && columns > 0 && rows > 0 ? (Int(columns), Int(rows)) : nil
  }

  /// Appends what can be read to `bytes`, waiting until there is something.
  ///
  /// - Parameter limit: At most so many bytes, 1 or more.
  /// - Returns: How many they are; 0 at the end.
  package func read(
    appendingTo bytes: inout [UInt8], atMost limit: Int
  ) throws(SystemCallError) -> Int {
    let fd = rawValue
    precondition(limit > 0)
    while true {
      var outcome = (result: 0, code: CInt(0))
      bytes.append(addingCapacity: limit) { output in
        // SAFETY: `buffer` is the spare storage, alive and ours during this closure. The kernel fills
        // its first `result` bytes, never more than `limit`, and only those count as initialized.
        unsafe output.withUnsafeMutableBufferPointer { buffer, initializedCount in
          outcome = uninterrupted { unsafe Glibc.read(fd, buffer.baseAddress, limit) }
          initializedCount = max(outcome.result, 0)
        }
      }
      switch outcome.code {
      case 0: return outcome.result
      case EAGAIN: _ = try waitReadable(timeoutMSec: nil)  // Another program made it non-blocking.
      default: throw SystemCallError(call: "read", code: outcome.code)
      }
    }
  }

  /// Waits until there is something to read, the end for one; false if there is nothing within the time.
  ///
  /// - Parameter timeoutMSec: 0 only looks; `nil` is for ever.
  package func waitReadable(timeoutMSec: Int32?) throws(SystemCallError) -> Bool {
    var request = pollfd(fd: rawValue, events: Int16(POLLIN), revents: 0)
    // SAFETY: the kernel reads and writes the one element, which outlives the call.
    return try check("poll") { unsafe poll(&request, 1, timeoutMSec ?? -1) } > 0
  }

  /// Writes all of `text`, waiting as needed.
  ///
  /// - Throws: EPIPE if nobody reads it any more and SIGPIPE is ignored.
  package func write(_ text: String) throws(SystemCallError) {
    try writeAll(text, to: rawValue)
  }
}

/// Writes all of `text` to a descriptor, waiting as needed.
package func writeAll(_ text: String, to fd: Int32) throws(SystemCallError) {
  let bytes = Array(text.utf8)
  var written = 0
  while written < bytes.count {
    // SAFETY: the kernel reads the array's bytes, alive during this closure, from `written` on.
    let (count, code) = unsafe bytes.withUnsafeBytes { buffer in
      let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[written...])
      return uninterrupted { unsafe write(fd, rest.baseAddress, rest.count) }
    }
    switch code {
    case 0: written += count
    case EAGAIN:  // Another program made the terminal we share non-blocking.
      var request = pollfd(fd: fd, events: Int16(POLLOUT), revents: 0)
      // SAFETY: the kernel reads and writes the one element, which outlives the call.
      _ = try check("poll") { unsafe poll(&request, 1, -1) }
    default: throw SystemCallError(call: "write", code: code)
    }
  }
}
