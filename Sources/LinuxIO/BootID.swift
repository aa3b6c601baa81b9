import Glibc

/// Which boot of the machine this is.
package enum BootID {
  /// What stands for a boot that is not known, as systemd writes an ID that is none.
  package static let unknown = String(repeating: "0", count: 32)

  /// As 32 hexadecimal digits, as the journal writes it in `_BOOT_ID`.
  ///
  /// - Parameter path: Where it stands.
  /// - Throws: Where that cannot be read; EINVAL if what is there is none.
  package static func read(
    from path: String = "/proc/sys/kernel/random/boot_id"
  ) throws(SystemCallError) -> String {
    let text = try [UInt8](contentsOfFile: path, atMost: 100)
    // 8-4-4-4-12 digits and a line's end.
    let digits = String(decoding: text, as: UTF8.self).filter { $0 != "-" && $0 != "\n" }
    guard digits.utf8.count == 32, digits.allSatisfy(\.isHexDigit) else {
      throw SystemCallError(call: "read", code: EINVAL, path: path)
    }
    return digits
  }
}
