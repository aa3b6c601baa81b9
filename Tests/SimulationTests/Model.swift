import Countdowns
import TestSupport

/// A countdown as its contract has it, and nothing else: no wheel, no ledger, no connection.
struct Standing: Equatable {
  var state: String
  var clock: String
  /// The deadline on its clock; of a paused one what remains. µs.
  var time: Int64
  var length: Int64
  var revision: Int64 = 0
  /// 0 where it does not repeat.
  var interval: Int64 = 0
  var occurrence: Int64 = 1
  var payload: JSONTree?
  /// 0 where it expires however late.
  var grace: Int64 = 0
  /// When it was started, by the wall clock, where its instant was past then.
  var pastAt: Int64?
  /// Once it has come to its deadline; no reason where that is not known for certain.
  var late: Int64?
  var lateReason: String?

  var isEnded: Bool { state != "running" && state != "paused" }

  func now(_ reading: Reading) -> Int64 {
    switch clock {
    case "boottime": reading.boottime
    case "monotonic": reading.monotonic
    default: reading.realtime
    }
  }

  func remaining(at reading: Reading) -> Int64 {
    switch state {
    case "running": max(time - now(reading), 0)
    case "paused": time
    default: 0
    }
  }

  func isDue(at reading: Reading) -> Bool { state == "running" && time <= now(reading) }
}

/// What the contract says a call comes to.
enum Prediction: Equatable {
  case error(String, [String: JSONTree])
  /// It stands as it is.
  case stands(Standing)
  /// It becomes this, but for the revision.
  case becomes(Standing)
}

/// What a call on one name comes to, where `standing` is what stands there.
///
/// - Parameter refusesSynced: Nothing can be made durable.
func predict(
  _ method: String, _ parameters: JSONTree, on standing: Standing?, at reading: Reading,
  refusesSynced: Bool
) -> Prediction {
  let name = parameters["name"] ?? .null
  if method == "Start" {
    return predictStart(parameters, on: standing, at: reading, refusesSynced: refusesSynced)
  }
  guard let standing else { return .error("NoSuchCountdown", ["name": name]) }
  if method == "Get" { return .stands(standing) }
  if let revision = parameters["revision"], revision != .integer(standing.revision) {
    return .error("RevisionMismatch", ["name": name, "revision": .integer(standing.revision)])
  }
  let here: [String: JSONTree] = [
    "name": name, "state": .string(standing.state), "revision": .integer(standing.revision),
  ]
  let wrongClock = Prediction.error("WrongClock", ["name": name, "clock": .string(standing.clock)])
  var next = standing
  if method == "Restart" {
    if standing.clock == "realtime" { return wrongClock }
    next.state = "running"
    next.time = standing.now(reading) + standing.length
    next.occurrence = 1
    next.late = nil
    next.lateReason = nil
    return .becomes(next)
  }
  if standing.state == "cancelled" { return .error("WrongState", here) }
  if standing.isEnded { return .error("AlreadyExpired", here) }
  switch method {
  case "SetPayload":
    next.payload = parameters["payload"]
  case "Pause":
    if standing.clock == "realtime" { return wrongClock }
    if standing.state == "paused" { return .error("WrongState", here) }
    next.time = standing.remaining(at: reading)
    next.state = "paused"
  case "Resume":
    if standing.state == "running" { return .error("WrongState", here) }
    next.time = standing.now(reading) + standing.time
    next.state = "running"
  case "Extend":
    let remaining = standing.remaining(at: reading)
    let target =
      parameters["toRemainingUSec"]?.integer
      ?? max(remaining + (parameters["byUSec"]?.integer ?? 0), 0)
    next.time = standing.state == "paused" ? target : standing.now(reading) + target
  default:
    next.state = "cancelled"
  }
  return .becomes(next)
}

private func predictStart(
  _ parameters: JSONTree, on standing: Standing?, at reading: Reading, refusesSynced: Bool
) -> Prediction {
  let name = parameters["name"] ?? .null
  let length = parameters["durationUSec"]?.integer
  if let length, length < 0 || length > 9_007_199_254_740_991 {
    return .error(
      "DurationOutOfRange",
      ["parameter": "durationUSec", "minimumUSec": 0, "maximumUSec": 9_007_199_254_740_991])
  }
  let clock = parameters["clock"]?.string ?? (length == nil ? "realtime" : "boottime")
  var next = Standing(state: "running", clock: clock, time: 0, length: 0)
  next.time = length.map { next.now(reading) + $0 } ?? parameters["deadlineUSec"]?.integer ?? 0
  next.length = length ?? max(next.time - reading.realtime, 0)
  next.interval = parameters["repeatUSec"]?.integer ?? 0
  if clock == "realtime", next.length == 0 { next.pastAt = reading.realtime }
  if parameters["catchUp"] == "skip" {
    next.grace = parameters["graceUSec"]?.integer ?? 60_000_000
  }
  next.payload = parameters["payload"]
  let isSynced = parameters["durability"] == "synced"
  let becomes =
    isSynced && refusesSynced
    ? Prediction.error("StorageFailed", ["errno": 95, "errnoName": "ENOTSUP"]) : .becomes(next)
  guard let standing else {
    return parameters["revision"] == nil ? becomes : .error("NoSuchCountdown", ["name": name])
  }
  if let revision = parameters["revision"], revision != .integer(standing.revision) {
    return .error("RevisionMismatch", ["name": name, "revision": .integer(standing.revision)])
  }
  let conflict = parameters["onConflict"]?.string ?? "fail"
  let wrongClock = Prediction.error("WrongClock", ["name": name, "clock": .string(standing.clock)])
  if standing.isEnded {
    guard conflict == "once" else { return becomes }
    return clock == standing.clock ? .stands(standing) : wrongClock
  }
  switch conflict {
  case "keep", "once": return clock == standing.clock ? .stands(standing) : wrongClock
  case "replace": return becomes
  case "extendOnly":
    guard clock == standing.clock else { return wrongClock }
    let time = standing.state == "paused" ? max(next.time - next.now(reading), 0) : next.time
    guard time > standing.time else { return .stands(standing) }
    var moved = standing
    moved.time = time
    return .becomes(moved)
  default:
    return .error(
      "CountdownExists",
      [
        "name": name, "remainingUSec": .integer(standing.remaining(at: reading)),
        "revision": .integer(standing.revision), "state": .string(standing.state),
      ])
  }
}
