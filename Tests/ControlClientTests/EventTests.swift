import ControlClient
import Testing

@Suite struct EventTests {
  @Test func `an event gives what it tells`() throws {
    let event = try Event(
      CountdownTests.members(
        #"{"kind":"expired","name":"tea","owner":7,"revision":3,"occurrence":2,"#
          + #""at":{"realtimeUSec":1},"deadline":{"realtimeUSec":0},"lateUSec":54,"#
          + #""payload":{"order":1},"missedOccurrences":4,"replacedBy":9,"remainingUSec":6,"#
          + #""lateReason":"none"}"#))
    #expect(event.kind == "expired")
    #expect(event.name == "tea")
    #expect(event.revision == 3)
    #expect(event.occurrence == 2)
    #expect(event.at?.realtimeUSec == 1)
    #expect(event.deadline?.realtimeUSec == 0)
    #expect(event.lateUSec == 54 && event.lateReason == "none")
    #expect(event.payload == Array(#"{"order":1}"#.utf8))
    #expect(event.missedOccurrences == 4)
    #expect(event.replacedBy == 9)
    #expect(event.remainingUSec == 6)
  }

  @Test func `what happened to the machine is told in words`() throws {
    func text(_ json: String) throws -> String? {
      try Event(CountdownTests.members(json)).machineText
    }
    #expect(
      try text(#"{"kind":"slept","byUSec":28800000000}"#) == "the machine slept for 8h")
    #expect(
      try text(#"{"kind":"clockStepped","byUSec":3600000000}"#)
        == "the wall clock was set forward by 1h")
    #expect(
      try text(#"{"kind":"clockStepped","byUSec":-2000}"#) == "the wall clock was set back by 2ms")
    #expect(try text(#"{"kind":"clockStepped"}"#) == nil)
    #expect(try text(#"{"kind":"expired","name":"a","byUSec":5}"#) == nil)
  }

  @Test func `a subscription's replies are told apart`() throws {
    let state = try SubscriptionReply(
      CountdownTests.members(
        #"{"countdowns":[{"name":"a","state":"paused","clock":"boottime","durationUSec":1,"#
          + #""remainingUSec":1,"revision":1}]}"#))
    #expect(state.countdowns.map(\.name) == ["a"])
    #expect(!state.isReady)
    let ready = try SubscriptionReply(CountdownTests.members(#"{"ready":true,"cursor":"x"}"#))
    #expect(ready.isReady)
    #expect(ready.countdowns.isEmpty && ready.events.isEmpty && !ready.hasGap)
    let events = try SubscriptionReply(
      CountdownTests.members(
        #"{"events":[{"kind":"heartbeat"},{"kind":"sung","name":"b"}],"gap":true}"#))
    #expect(events.events.map(\.kind) == ["heartbeat", "sung"])
    #expect(events.hasGap)
  }

  @Test(arguments: [
    #"{"events":{}}"#, #"{"events":[5]}"#, #"{"events":[{}]}"#, #"{"ready":1}"#, #"{"gap":"no"}"#,
    #"{"countdowns":[{}]}"#, #"{"events":[{"kind":"expired","lateUSec":[]}]}"#,
  ])
  func `anything else is garbage`(text: String) {
    #expect(
      isGarbled { () throws(ClientError) in
        try SubscriptionReply(CountdownTests.members(text))
      })
  }
}
