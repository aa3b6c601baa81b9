import ControlClient
import LinuxIO

extension Verb {
  /// The second story: orders that are cancelled unless they are paid in time.
  static func tellUnpaidOrder(
    on stage: inout DemoStage, _ signals: borrowing SignalDescriptor
  ) throws {
    try stage.heading(
      2, "Unpaid order",
      [
        "Who has not paid when the countdown expires loses the order. Fifteen minutes",
        "in a shop; a second or two here.",
      ])
    let unpaid = try start(1001, lengthUSec: 1_000_000, on: &stage)
    let paid = try start(1002, lengthUSec: 2_000_000, on: &stage)
    let contested = try start(1003, lengthUSec: 1_600_000, on: &stage)

    _ = try stage.wait(until: stage.nowUSec + 400_000, signals)
    try stage.say("Order 1002 is being paid.")
    let cancelled = try CancelReply(stage.call("Cancel", name: "orders/1002"))
    try stage.answer(
      "cancelled with \(DemoStage.tenths(cancelled.remainingUSec)) left: it will not expire")

    let event = try stage.waitForExpiry(of: "orders/1001", dueUSec: unpaid, signals)
    let payload = oneLine(json: event.payload ?? [], escapingControls: true)
    try stage.answer("event expired: orders/1001, payload \(payload)")
    try stage.say("Its subscriber cancels order 1001.")

    try stage.say("Order 1003 is being paid in the very last moment.")
    let lastMoment = contested - 400
    // On a busy machine this program itself may be late: then the notice is here before the payment.
    let isTooLate =
      try stage.wait(until: lastMoment - 5_000, orExpiryOf: "orders/1003", signals) != nil
    Clocks.sleep(untilBoottimeNSec: lastMoment * 1_000)
    let isCancelled = try cancelInTheLastMoment(on: &stage)
    // Until every deadline has passed for long enough to have heard of it.
    let end = max(contested, paid) + 100_000
    let hasExpired =
      try isTooLate || stage.wait(until: end, orExpiryOf: "orders/1003", signals) != nil
    guard isCancelled != hasExpired else {
      throw Failure(message: "a Cancel and an expiry agreed, which is a fault of the daemon")
    }
    try stage.say(
      isCancelled
        ? "Paid in time, so no event came. It is always one of the two, never both."
        : "The event came instead. It is always one of the two, never both.")
  }

  /// Starts an order's countdown; returns when it is due by CLOCK_BOOTTIME, in microseconds.
  private static func start(
    _ order: Int, lengthUSec: Int64, on stage: inout DemoStage
  ) throws -> Int64 {
    let reply = try stage.start(
      "orders/\(order)", lengthUSec: lengthUSec, payload: "{\"order\":\(order)}")
    try stage.answer("\(reply.state), \(DemoStage.tenths(reply.remainingUSec)) left")
    return reply.deadline?.boottimeUSec ?? stage.nowUSec + reply.remainingUSec
  }

  /// Whether the Cancel came before the expiry.
  private static func cancelInTheLastMoment(on stage: inout DemoStage) throws -> Bool {
    do {
      let reply = try CancelReply(stage.call("Cancel", name: "orders/1003"))
      try stage.answer("cancelled with \(latenessText(reply.remainingUSec)) left")
      return true
    } catch ClientError.refused(let refusal) where refusal.name.hasSuffix(".AlreadyExpired") {
      try stage.answer("error AlreadyExpired: the countdown was faster")
      return false
    }
  }
}
