import CLinux
import Glibc

/// The groups of users that the system knows.
package enum Group {
  /// The number of a group; `nil` if there is none of that name.
  ///
  /// It asks whatever name services the system is set up with, so it may take long: not for the loop.
  package static func number(of name: String) throws(SystemCallError) -> UInt32? {
    var number: UInt32 = 0
    let found = try check("getgrnam") {
      // SAFETY: the name is lent for the call, and the number is written before it returns.
      unsafe name.withCString { unsafe cl_group_number($0, &number) }
    }
    return found == 1 ? number : nil
  }
}
