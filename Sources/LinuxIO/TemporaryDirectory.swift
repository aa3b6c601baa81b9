import CLinux
import Glibc

/// A new directory of one's own, mode 0700, that goes with all it holds when this value ends.
package struct TemporaryDirectory: ~Copyable, Sendable {
  package let path: String

  /// Creates it in `$TMPDIR` or `/tmp`, named `prefix` and six random characters.
  package init(prefix: String) throws(SystemCallError) {
    var base = CurrentProcess.environmentVariable("TMPDIR") ?? "/tmp"
    if base.isEmpty { base = "/tmp" }
    var template = Array("\(base)/\(prefix)XXXXXX".utf8CString)
    // SAFETY: mkdtemp replaces the six last characters in place; the array outlives the call.
    guard unsafe mkdtemp(&template) != nil else {
      throw SystemCallError(call: "mkdtemp", code: errno, path: base)
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    // What cannot be removed stays for the system's own cleaning of temporary files.
    // SAFETY: the path is read, and kept alive by Swift, during the call only.
    _ = unsafe cl_remove_tree(path)
  }
}
