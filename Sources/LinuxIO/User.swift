import CLinux
import Glibc

/// The users that the system knows.
///
/// It asks whatever name services the system is set up with, so it may take long: not for the loop.
package enum User {
  /// The number of a user; `nil` if there is none of that name.
  package static func number(of name: String) throws(SystemCallError) -> UInt32? {
    var number: UInt32 = 0
    let found = try check("getpwnam") {
      // SAFETY: the name is lent for the call, and the number is written before it returns.
      unsafe name.withCString { unsafe cl_user_number($0, &number) }
    }
    return found == 1 ? number : nil
  }

  /// The name of a user; `nil` if there is none of that number.
  package static func name(of number: UInt32) throws(SystemCallError) -> String? {
    let limit = 1_024
    var name = [CChar](repeating: 0, count: limit)
    let found = try check("getpwuid") {
      // SAFETY: at most `limit` bytes of the array, which is ours during the call, are written.
      unsafe cl_user_name(number, &name, limit)
    }
    guard found == 1 else { return nil }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
