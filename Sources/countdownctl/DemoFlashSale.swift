import ControlClient
import LinuxIO

extension Verb {
  /// The first story: a countdown to a point in time, shown in tenths, and one that is paused.
  static func tellFlashSale(
    on stage: inout DemoStage, _ signals: borrowing SignalDescriptor
  ) throws {
    // A whole second of the wall clock, two and a half to three and a half from now.
    let end = (stage.session.nowUSec + 3_500_000) / 1_000_000 * 1_000_000
    let clock = Zone.local.time(at: end / 1_000_000).timeText
    try stage.heading(
      1, "Flash sale",
      [
        "It ends at \(clock) by the wall clock, for everybody alike. The basket's",
        "countdown beside it is a length, and can be paused.",
      ])
    let sale = try StartReply(
      stage.call(
        "Start",
        encodeParameters { writer in
          writer.member("name", "sale")
          writer.member("deadlineUSec", end)
        }))
    var display = RunningDisplay(
      remainingUSec: sale.remainingUSec, at: stage.nowUSec, in: .tenths)
    try stage.answer("\(sale.state), \(DemoStage.exact(sale.remainingUSec)) left")
    let basket = try stage.start("basket", lengthUSec: 1_500_000)
    try stage.answer("\(basket.state), \(DemoStage.exact(basket.remainingUSec)) left")
    _ = try show(&display, until: stage.nowUSec + 700_000, on: &stage, signals)
    try stage.endRewriting()

    let paused = try MoveReply(stage.call("Pause", name: "basket"))
    try stage.answer("\(DemoStage.exact(paused.remainingUSec)) kept")
    try stage.say("The viewer closes the page, for a second …")
    _ = try stage.wait(until: stage.nowUSec + 1_000_000, signals)

    let found = try GetReply(stage.call("Get", name: "sale")).countdown
    display = RunningDisplay(remainingUSec: found.remainingUSec, at: stage.nowUSec, in: .tenths)
    try stage.answer(
      "\(DemoStage.exact(found.remainingUSec)) left: right at once, as nothing ticks here")
    let resumed = try MoveReply(stage.call("Resume", name: "basket"))
    guard resumed.remainingUSec == paused.remainingUSec else {
      throw Failure(message: "a pause changed what remains, which is a fault of the daemon")
    }
    try stage.answer(
      "\(DemoStage.exact(resumed.remainingUSec)) left: to the microsecond what was kept")
    guard let event = try show(&display, until: .max, on: &stage, signals) else { return }
    try stage.endRewriting()
    let late = latenessText(event.lateUSec ?? 0)
    try stage.say("The sale has ended at \(clock), \(late) late, and never early.")
  }

  /// Shows what remains of the sale, until a time of CLOCK_BOOTTIME or its end, which is returned.
  private static func show(
    _ display: inout RunningDisplay, until endUSec: Int64, on stage: inout DemoStage,
    _ signals: borrowing SignalDescriptor
  ) throws -> Event? {
    // Far beyond any story: the daemon has failed then.
    let patience = stage.nowUSec + 10_000_000
    while stage.nowUSec < endUSec {
      guard stage.nowUSec < patience else {
        throw Failure(message: "'sale' did not expire, which is a fault of the daemon")
      }
      if let text = display.text(at: stage.nowUSec) { try stage.rewrite("sale", text) }
      let change = display.nextChange(after: stage.nowUSec) ?? patience
      guard let event = try stage.nextEvent(until: min(change, endUSec), signals) else { continue }
      guard event.kind == "expired" else { continue }
      if event.name == "sale" {
        try stage.rewrite("sale", display.endText)
        return event
      }
      try stage.eraseRewriting()
      let late = latenessText(event.lateUSec ?? 0)
      try stage.say("basket 0:00.0, expired \(late) late")
    }
    return nil
  }
}
