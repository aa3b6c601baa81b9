import ControlClient
import LinuxIO

extension Verb {
  /// The third story: what may be done again only after a while, and what only once.
  static func tellSMSCode(
    on stage: inout DemoStage, _ signals: borrowing SignalDescriptor
  ) throws {
    try stage.heading(
      3, "SMS code",
      [
        "A code may be sent again after a minute (here 1.5 s). One call asks and",
        "starts the wait, so two presses can never both send one.",
      ])
    let first = try stage.start("sms/alice", lengthUSec: 1_500_000, onConflict: "keep")
    try stage.answer("created \(first.created): a code is sent")
    let due = first.deadline?.boottimeUSec ?? stage.nowUSec + first.remainingUSec
    _ = try stage.wait(until: stage.nowUSec + 300_000, signals)
    let second = try stage.start("sms/alice", lengthUSec: 1_500_000, onConflict: "keep")
    let left = Remaining(usec: second.remainingUSec, hasEnded: false).text(in: .seconds)
    try stage.answer("created \(second.created): wait \(left)")

    try stage.say("An order is begun, its reply is lost, the shop asks again:")
    let begun = try stage.start("orders/2001", lengthUSec: 500_000, onConflict: "once")
    try stage.answer("created \(begun.created), revision \(begun.revision)")
    let again = try stage.start("orders/2001", lengthUSec: 500_000, onConflict: "once")
    try stage.answer("created \(again.created), revision \(again.revision): the same one")
    let orderDue = begun.deadline?.boottimeUSec ?? stage.nowUSec + begun.remainingUSec
    _ = try stage.waitForExpiry(of: "orders/2001", dueUSec: orderDue, signals)
    let late = try stage.start("orders/2001", lengthUSec: 500_000, onConflict: "once")
    try stage.answer("created \(late.created), state \(late.state): not even now a second time")

    _ = try stage.waitForExpiry(of: "sms/alice", dueUSec: due, signals)
    let third = try stage.start("sms/alice", lengthUSec: 1_500_000, onConflict: "keep")
    try stage.answer("created \(third.created): the wait is over, a new code is sent")
    guard first.created, !second.created, begun.created, !again.created, !late.created,
      third.created, begun.revision == again.revision
    else {
      throw Failure(message: "that is not what keep and once mean: a fault of the daemon")
    }
  }
}
