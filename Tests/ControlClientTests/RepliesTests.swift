import ControlClient
import Testing

@Suite struct RepliesTests {
  private static let start =
    #"{"created":true,"revision":3,"remainingUSec":4,"deadline":{"boottimeUSec":5},"#
    + #""now":{"boottimeUSec":1},"state":"running","owner":{}}"#

  @Test func `each reply is read`() throws {
    let start = try StartReply(CountdownTests.members(Self.start))
    #expect(start.created && start.revision == 3 && start.remainingUSec == 4)
    #expect(start.deadline?.boottimeUSec == 5 && start.now.boottimeUSec == 1)
    #expect(start.state == "running")
    let move = try MoveReply(
      CountdownTests.members(#"{"revision":3,"remainingUSec":4,"now":{},"deadline":null}"#))
    #expect(move.revision == 3 && move.remainingUSec == 4 && move.deadline == nil)
    let cancel = try CancelReply(CountdownTests.members(#"{"revision":3,"remainingUSec":4}"#))
    #expect(cancel.revision == 3 && cancel.remainingUSec == 4)
    let count = try CountReply(CountdownTests.members(#"{"running":1,"paused":2,"ended":3}"#))
    #expect(count.running == 1 && count.paused == 2 && count.ended == 3)
    let list = try ListReply(
      CountdownTests.members(#"{"countdowns":[],"next":"a","now":{"realtimeUSec":1}}"#))
    #expect(list.countdowns.isEmpty && list.next == "a" && list.now.realtimeUSec == 1)
    let get = try GetReply(
      CountdownTests.members(
        #"{"countdown":{"name":"a","state":"paused","clock":"boottime","durationUSec":1,"#
          + #""remainingUSec":1,"revision":8},"now":{}}"#))
    #expect(get.countdown.revision == 8)
  }

  @Test(arguments: ["created", "revision", "remainingUSec", "now", "state"])
  func `a reply that lacks what it promises is garbage`(field: String) {
    let text = Self.start.replacing("\"\(field)\":", with: "\"no\":")
    #expect(throws: ClientError.garbled("'\(field)' is missing")) {
      try StartReply(CountdownTests.members(text))
    }
  }
}
