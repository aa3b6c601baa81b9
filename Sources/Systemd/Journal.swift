import CSystemd
import LinuxIO

/// Where log entries go: the journal with all their fields, or a line each on standard error.
package struct Journal: Sendable {
  /// As in syslog(3).
  package enum Priority: Int, Comparable, Sendable {
    case emergency, alert, critical, error, warning, notice, info, debug

    package static func < (one: Priority, other: Priority) -> Bool { one.rawValue < other.rawValue }
  }

  /// A field of an entry besides its message, such as `COUNTDOWN_NAME`.
  package struct Field: Equatable, Sendable {
    /// Capital letters, digits and `_`, with a letter first.
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  private enum Destination { case journal, descriptor(Int32) }
  private let destination: Destination

  /// Chooses the journal if standard error goes there, which systemd tells by `$JOURNAL_STREAM`.
  package init() {
    let isJournal = Self.isJournal(
      stream: CurrentProcess.environmentVariable("JOURNAL_STREAM"),
      descriptor: StandardStream.error.rawValue)
    destination = isJournal ? .journal : .descriptor(StandardStream.error.rawValue)
  }

  /// Writes lines to `descriptor`, which stays the caller's.
  package init(writingLinesTo descriptor: Int32) { destination = .descriptor(descriptor) }

  /// Whether `descriptor` is the stream that `stream`, a `$JOURNAL_STREAM` of "DEVICE:INODE", names.
  /// The variable is inherited by programs whose standard error leads elsewhere: so it is compared.
  package static func isJournal(stream: String?, descriptor: Int32) -> Bool {
    guard let stream else { return false }
    let parts = stream.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let device = UInt64(parts[0]), let inode = UInt64(parts[1])
    else { return false }
    return FileIdentity(ofDescriptor: descriptor) == FileIdentity(device: device, inode: inode)
  }

  /// Writes an entry. It may wait for the journal. What cannot be written is lost.
  package func send(_ priority: Priority, _ message: String, fields: [Field] = []) {
    switch destination {
    case .descriptor(let fd): writeLine(message, to: fd)
    case .journal:
      let all = [Field("PRIORITY", "\(priority.rawValue)"), Field("MESSAGE", message)] + fields
      if sendv(all) < 0 { writeLine(message, to: StandardStream.error.rawValue) }
    }
  }

  /// The message alone: the line is for people, the fields are for programs. One entry is one line.
  private func writeLine(_ message: String, to fd: Int32) {
    let line = String(message.map { $0.isNewline ? " " : $0 }) + "\n"
    _ = try? writeAll(line, to: fd)  // There is nobody left to tell.
  }

  /// Hands all fields to sd_journal_sendv(3); its result, negative if it failed.
  private func sendv(_ fields: [Field]) -> Int32 {
    // All text lies in one buffer; each element of the vector is a range of it.
    var text: [UInt8] = []
    var ends: [Int] = []
    for field in fields {
      text += "\(field.name)=\(field.value)".utf8
      ends.append(text.count)
    }
    // SAFETY: the vector points into `text`, alive and unmoved during this closure; libsystemd only
    // reads it and keeps nothing.
    return unsafe text.withUnsafeMutableBytes { buffer in
      var start = 0
      var vector: [iovec] = unsafe []
      for end in ends {
        unsafe vector.append(
          iovec(iov_base: buffer.baseAddress! + start, iov_len: end - start))
        start = end
      }
      return unsafe sd_journal_sendv(vector, Int32(vector.count))
    }
  }
}
