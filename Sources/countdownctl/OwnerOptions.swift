import ControlClient
import JSON
import LinuxIO
import SystemdSyntax

/// Whose countdowns a verb is about.
struct Owners: Sendable {
  /// `nil` for the caller.
  let uid: Int64?
  let areAll: Bool

  /// Writes them as parameters of a call.
  func write(to writer: inout JSONWriter) {
    writer.member("owner", uid)
    writer.member("allOwners", areAll)
  }
}

extension Option {
  static let owner = Option(
    "--owner", "USER", help: "another user's, by name or number; for administrators")
  static let allOwners = Option("--all-owners", help: "everybody's; for administrators")
}

extension Session {
  /// What `--owner` and `--all-owners` say.
  func owners() throws(ParseError) -> Owners {
    let areAll = arguments.has("--all-owners")
    guard let user = arguments["--owner"] else { return Owners(uid: nil, areAll: areAll) }
    guard !areAll else { throw ParseError("--owner or --all-owners, not both") }
    return Owners(uid: Int64(try Self.number(ofUser: user)), areAll: false)
  }

  /// A number is one, whatever users are named; the largest means nobody.
  private static func number(ofUser user: String) throws(ParseError) -> UInt32 {
    if !user.isEmpty, user.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    {
      guard let number = UInt32(user), number < .max else {
        throw ParseError("'--owner \(user)': a user's number is at most 4294967294")
      }
      return number
    }
    do throws(SystemCallError) {
      if let number = try User.number(of: user) { return number }
    } catch {
      throw ParseError("'--owner \(user)': the user cannot be looked up: \(error)")
    }
    throw ParseError("'--owner \(user)': there is no such user")
  }
}

/// The names of users, each looked up once.
struct UserNames {
  private var known: [UInt32: String] = [:]

  /// The user's name; the number where there is none.
  mutating func name(of uid: UInt32?) -> String {
    guard let uid else { return "–" }
    if let name = known[uid] { return name }
    let name = ((try? User.name(of: uid)) ?? nil) ?? "\(uid)"
    known[uid] = name
    return name
  }
}
