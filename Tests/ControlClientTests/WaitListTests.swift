import ControlClient
import Testing

@Suite struct WaitListTests {
  private static func countdown(
    _ name: String, _ state: String = "running", revision: Int64 = 1
  ) throws -> Countdown {
    try Countdown(CountdownTests.minimal(name: name, state: state, revision: revision))
  }

  private static func event(
    _ kind: String, _ name: String, revision: Int64 = 1, replacedBy: Int64? = nil
  ) throws -> Event {
    let replaced = replacedBy.map { ",\"replacedBy\":\($0)" } ?? ""
    return try Event(
      CountdownTests.members(
        #"{"kind":"\#(kind)","name":"\#(name)","revision":\#(revision)\#(replaced)}"#))
  }

  @Test func `it is over when the last has expired`() throws {
    var list = WaitList(["a", "b", "a"])
    #expect(list.names == ["a", "b"])
    #expect(list.unknownNames == ["a", "b"])
    list.note(try Self.countdown("a"))
    #expect(list.unknownNames == ["b"])
    list.note(try Self.countdown("b", "paused"))
    list.note(try Self.countdown("other", "cancelled"))
    #expect(list.note(try Self.event("expired", "b")))
    #expect(list.outcome == nil)
    #expect(list.pendingNames == ["a"])
    #expect(list.note(try Self.event("expired", "a")))
    #expect(list.outcome == .allExpired)
  }

  @Test func `one that had expired before counts as expired`() throws {
    var list = WaitList(["a"])
    list.note(try Self.countdown("a", "expired"))
    #expect(list.outcome == .allExpired)
  }

  @Test func `one that is cancelled or missed ends it at once`() throws {
    for (kind, outcome) in [
      ("cancelled", WaitList.Outcome.cancelled("b")), ("missed", .missed("b")),
    ] {
      var told = WaitList(["a", "b"])
      told.note(try Self.countdown("b"))
      #expect(told.note(try Self.event(kind, "b")))
      #expect(told.outcome == outcome)
      #expect(try !told.note(Self.event("expired", "a")))
      #expect(told.outcome == outcome)
      var found = WaitList(["a", "b"])
      found.note(try Self.countdown("b", kind))
      #expect(found.outcome == outcome)
    }
  }

  @Test func `one that is replaced is waited for anew`() throws {
    var list = WaitList(["a"])
    list.note(try Self.countdown("a", revision: 3))
    #expect(list.note(try Self.event("cancelled", "a", revision: 3, replacedBy: 7)))
    #expect(list.outcome == nil)
    // What still comes of the one before is no news.
    #expect(try !list.note(Self.event("expired", "a", revision: 3)))
    #expect(try !list.note(Self.event("cancelled", "a", revision: 6)))
    #expect(list.outcome == nil)
    #expect(list.note(try Self.event("expired", "a", revision: 9)))  // Extended meanwhile.
    #expect(list.outcome == .allExpired)
  }

  @Test func `one that repeats is waited for until it expires next, though it runs on`() throws {
    var list = WaitList(["a", "b"])
    list.note(try Self.countdown("a", revision: 2))
    list.note(try Self.countdown("b", revision: 3))
    #expect(list.note(try Self.event("expired", "a", revision: 2)))
    #expect(list.pendingNames == ["b"])
    list.note(try Self.event("cancelled", "a", revision: 2))
    list.note(try Self.countdown("a", revision: 2))
    #expect(list.outcome == nil && list.pendingNames == ["b"])
  }

  @Test func `kinds it does not know are let pass`() throws {
    var list = WaitList(["a"])
    #expect(try !list.note(Self.event("sung", "a")))
    #expect(try !list.note(Self.event("heartbeat", "a")))
    #expect(list.unknownNames == ["a"])
  }

  @Test(arguments: [
    (["orders/1", "orders/2"], "orders/"), (["a"], "a"), (["a", "b"], ""), (["ab", "a"], "a"),
    (["té", "tè"], "t"), (["x", ""], ""),
  ])
  func `what all names begin with is asked for, cut between characters`(
    names: [String], prefix: String
  ) {
    #expect(WaitList(names).commonPrefix == prefix)
  }

  @Test func `names are compared bytewise`() throws {
    var list = WaitList(["caf\u{e9}", "cafe\u{301}"])
    #expect(list.names.count == 2)
    list.note(try Self.event("expired", "cafe\u{301}"))
    #expect(list.outcome == nil)
    #expect(list.pendingNames.first?.unicodeScalars.count == 4)
  }
}
