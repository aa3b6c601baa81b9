import ControlClient
import LinuxIO
import Testing

@Suite struct ExplanationTests {
  private static func explain(_ name: String, _ parameters: String) -> Explanation {
    Explanation(
      CallRefusal(name: "io.countdownd.Countdown.\(name)", parameters: Array(parameters.utf8)))
  }

  @Test(arguments: [
    ("NoSuchCountdown", #"{"name":"tea"}"#, "there is no countdown named 'tea'"),
    (
      "CountdownExists", #"{"name":"tea","remainingUSec":61000001,"revision":1,"state":"running"}"#,
      "'tea' is running already, with 1:02 left"
    ),
    (
      "AlreadyExpired", #"{"name":"tea","state":"expired","revision":5}"#,
      "too late: 'tea' has expired already (revision 5)"
    ),
    (
      "AlreadyExpired", #"{"name":"tea","state":"missed","revision":5}"#,
      "too late: 'tea' was missed already (revision 5)"
    ),
    (
      "WrongState", #"{"name":"tea","state":"paused","revision":5}"#,
      "that cannot be done to 'tea': it is paused"
    ),
    (
      "WrongClock", #"{"name":"tea","clock":"realtime"}"#,
      "that cannot be done to 'tea': it runs on the clock realtime"
    ),
    (
      "RevisionMismatch", #"{"name":"tea","revision":8}"#,
      "'tea' was changed meanwhile: its revision is now 8"
    ),
    (
      "DurationOutOfRange",
      #"{"parameter":"repeatUSec","minimumUSec":1000000,"maximumUSec":9007199254740991}"#,
      "the interval is out of range: it must be from 1s to 104249d 23h 47min 34s 740ms 991us"
    ),
    (
      "DurationOutOfRange",
      #"{"parameter":"deadlineUSec","minimumUSec":-9007199254740991,"#
        + #""maximumUSec":9007199254740991}"#,
      "the point in time is out of range: it must be from 1684-07-28T00:12:26+00:00 to "
        + "2255-06-05T23:47:34+00:00"
    ),
    (
      "QuotaExceeded", #"{"resource":"MaxCountdownsPerUser","limit":10,"used":10}"#,
      "the daemon's limit MaxCountdownsPerUser= of 10 is reached, 10 in use"
    ),
    (
      "QuotaExceeded", #"{"resource":"MaxPayloadBytes","limit":4096,"used":4097}"#,
      "the payload has 4097 bytes, and the daemon takes at most 4096"
    ),
    (
      "QuotaExceeded", #"{"resource":"MaxMessageBytes","limit":4096,"used":5000}"#,
      "the call has 5000 bytes, and the daemon takes at most 4096"
    ),
    (
      "QuotaExceeded", #"{"resource":"NamesPerCall","limit":1000,"used":1001}"#,
      "1001 names in one call are too many"
    ),
    (
      "QuotaExceeded", #"{"resource":"NameBytes","limit":10,"used":10}"#,
      "the daemon's memory for names is used up"
    ),
    (
      "StorageFailed", #"{"errno":28,"errnoName":"ENOSPC"}"#,
      "the daemon could not store it (ENOSPC); nothing was done"
    ),
    (
      "StorageFailed", #"{"errno":5,"errnoName":"EIO","outcomeUnknown":true}"#,
      "the daemon could not store it (EIO); whether it was done is unknown"
    ),
    (
      "StorageFailed", #"{"errno":95,"errnoName":"ENOTSUP"}"#,
      "this daemon stores nothing, so it can promise nothing that outlives it"
    ),
    (
      "DurationOutOfRange", #"{"parameter":"newUSec","minimumUSec":0,"maximumUSec":1}"#,
      "newUSec is out of range: it must be from 0s to 1us"
    ),
  ])
  func `each error of the interface is put in words`(
    name: String, parameters: String, text: String
  ) {
    #expect(Self.explain(name, parameters).message == text)
  }

  @Test(arguments: [
    "NoSuchCountdown", "CountdownExists", "AlreadyExpired", "WrongState", "WrongClock",
    "RevisionMismatch", "DurationOutOfRange", "QuotaExceeded", "StorageFailed", "NeverHeardOf",
  ])
  func `odd fields spoil no explanation`(name: String) {
    let odd =
      #"{"name":5,"remainingUSec":-9223372036854775808,"minimumUSec":-9223372036854775808,"#
      + #""maximumUSec":9223372036854775807,"state":[],"revision":1.5,"limit":"x"}"#
    for parameters in ["{}", odd, "", "[]", "\u{1b}[2J"] {
      let explanation = Self.explain(name, parameters)
      #expect(!explanation.message.isEmpty)
      #expect(!explanation.message.contains("\u{1b}"))
    }
    #expect(!Self.explain("NoSuchCountdown", #"{"name":"\u001b[2J"}"#).message.contains("\u{1b}"))
  }

  @Test func `a daemon that is not there comes with what to do`() {
    let cause = SystemCallError(call: "connect", code: 2, path: "/run/x")
    let explanation = Explanation(.unreachable(path: "/run/x", cause))
    #expect(explanation.message == "no daemon listens at /run/x")
    #expect(
      explanation.advice
        == "start it with 'systemctl start countdownd', or name another with --socket")
    // The service does not listen where somebody else said.
    for source in ["--socket", "$COUNTDOWND_SOCKET"] {
      let named = Explanation(.unreachable(path: "/run/x", cause), socketNamedBy: source)
      #expect(named.message == "no daemon listens at /run/x")
      #expect(
        named.advice == "check \(source), or start a daemon there: countdownd --socket /run/x")
    }
    let forbidden = SystemCallError(call: "connect", code: 13, path: "/run/x")
    #expect(
      Explanation(.unreachable(path: "/run/x", forbidden)).message.contains("may not connect"))
    let long = SystemCallError(call: "connect", code: 36, path: "/run/x")
    #expect(Explanation(.unreachable(path: "/run/x", long)).message.contains("File name too long"))
  }

  @Test func `the standard errors are put in words`() {
    func explain(_ name: String, _ parameters: String) -> String {
      let name = "org.varlink.service.\(name)"
      return Explanation(CallRefusal(name: name, parameters: Array(parameters.utf8))).message
    }
    #expect(
      explain("InvalidParameter", #"{"parameter":"clock"}"#)
        == "the daemon refuses the value of 'clock'")
    #expect(explain("PermissionDenied", "{}") == "you have no right to do that")
    #expect(
      explain("MethodNotFound", #"{"method":"a.B"}"#) == "the daemon does not know a.B")
    #expect(explain("InterfaceNotFound", "{}") == "this is not countdownd")
    #expect(explain("ExpectedMore", "{}").contains("org.varlink.service.ExpectedMore {}"))
  }
}
