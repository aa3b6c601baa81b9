import ControlClient
import Foundation
import LinuxIO
import Testing

/// `AdminGroup=`: its members may name other users, by what the kernel says of their groups.
///
/// The clients run as users that nobody else is, which takes root.
@Suite(.enabled(if: CurrentProcess.effectiveUserID == 0)) struct AdminGroupTests {
  /// A daemon with such a group, and a client that anybody may run.
  private struct Stage: ~Copyable {
    let place: Place
    let client: String
    let group: UInt32

    init(adminGroup: String = "games") throws {
      let place = try Place("[Countdownd]\nSocketMode=0666\nAdminGroup=\(adminGroup)\n")
      let client = "\(place.path)/client"
      let group = try #require(try Group.number(of: "games"))
      let built = "\(try #require(CurrentProcess.folder))/countdownctl"
      try FileManager.default.copyItem(atPath: built, toPath: client)
      for path in [place.path, client] {
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
      }
      self.place = place
      self.client = client
      self.group = group
    }

    /// Runs the client as a user with these groups, the first of them the primary one.
    func run(_ arguments: String..., groups: [UInt32]) throws -> ClientTests.Run {
      try run(arguments, groups: groups)
    }

    func run(_ arguments: [String], groups: [UInt32]) throws -> ClientTests.Run {
      let others = groups.dropFirst().map { "\($0)" }.joined(separator: ",")
      return try ClientTests.run(
        arguments, at: place.socket,
        under: [
          "setpriv", "--reuid", "\(AdminGroupTests.uid)", "--regid", "\(groups[0])",
          others.isEmpty ? "--clear-groups" : "--groups=\(others)",
        ], program: client)
    }
  }

  /// Nobody's, as far as anybody knows.
  private static let uid = 61_001

  @Test func `by a primary or any other group one may act for others, and else not`() throws {
    let stage = try Stage()
    try ending(stage.place.start()) { _ in
      try awaitService(at: stage.place.socket)
      var root = try Connection(to: stage.place.socket)
      _ = try root.start("of root", 3_600_000_000)
      // More groups than anybody has, with the one that counts at the end.
      let many = (0..<200).map { UInt32(70_000 + $0) }
      for groups in [[stage.group], [61_001, stage.group], [61_001] + many + [stage.group]] {
        let get = try stage.run("get", "of root", "--owner", "root", groups: groups)
        #expect(get.status == 0, "\(get.error)")
        #expect(get.output.contains("owner       root"))
        let list = try stage.run("list", "--all-owners", groups: groups)
        #expect(list.output.contains("root   of root"))
        let start = try stage.run(
          "start", "mine", "1h", "--on-conflict", "keep", "--owner", "61002", groups: groups)
        #expect(start.status == 0)
      }
      let count = try CountReply(
        root.call("Count", parameters: encodeParameters { $0.member("owner", 61_002 as Int64) }))
      #expect(count.running == 1)
      for groups in [[61_001], [61_001] + many, [stage.group - 1, stage.group + 1]] {
        for arguments in [
          ["get", "of root", "--owner", "0"], ["list", "--all-owners"],
          ["cancel", "--prefix", "", "--all-owners"], ["cancel", "of root", "--owner", "root"],
        ] {
          let result = try stage.run(arguments, groups: groups)
          #expect(result.status == 1, "\(arguments)")
          #expect(result.error.contains("you have no right to do that"))
          #expect(result.output == "")
        }
        // It has names of its own all the same, and may name itself.
        let own = try stage.run(
          "start", "own", "1h", "--on-conflict", "keep", "--owner", "61001", groups: groups)
        #expect(own.status == 0)
      }
      #expect(try root.get("of root").countdown.state == "running")
      let all = try CountReply(
        root.call("Count", parameters: encodeParameters { $0.member("allOwners", true) }))
      #expect(all.running == 3)
    }
  }

  @Test func `without one nobody but root may`() throws {
    let stage = try Stage(adminGroup: "")
    try ending(stage.place.start()) { _ in
      try awaitService(at: stage.place.socket)
      let result = try stage.run("list", "--all-owners", groups: [0, stage.group])
      #expect(result.status == 1)
      #expect(try ClientTests.run("list", "--all-owners", at: stage.place.socket).status == 0)
    }
  }

  @Test func `one that does not exist refuses the start`() throws {
    let stage = try Stage(adminGroup: "no-such-group")
    try expectExit(of: stage.place.start(), status: 1)
    #expect(try stage.place.said() == "AdminGroup=no-such-group: there is no such group\n")
  }
}
