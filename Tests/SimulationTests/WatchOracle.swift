import CountdownService
import Countdowns
import TestSupport

/// Judges what watchers are told, by what the ``Oracle`` knows to stand.
///
/// Whatever is told stands, or stood in that turn, and is told for a reason. Once the world is at rest
/// and a watcher has read everything, the newest it was told of each name is what stands, and no multiple
/// of its interval has gone by untold, but for 10 ms where another one is to be told with it; and those
/// that are to be told together are.
final class WatchOracle {
  private struct Told {
    let standing: Standing?
    let remaining: Int64
    let turn: Int
  }

  private struct Stream {
    let uid: UInt32
    let names: Set<String>
    let interval: Int64?
    var told: [String: Told] = [:]
  }

  private(set) var problems: [String] = []
  /// How many countdowns were told for a multiple alone.
  private(set) var tickCount = 0
  private let oracle: Oracle
  private var streams: [Int: Stream] = [:]
  private var lastReading: Reading?
  /// The turn that saw the clocks stand otherwise to each other than the one before.
  private var lastShift = 0

  init(_ oracle: Oracle) { self.oracle = oracle }

  func watch(_ client: Int, uid: UInt32, names: [String], interval: Int64?) {
    streams[client] = Stream(uid: uid, names: Set(names), interval: interval)
  }

  func leaves(_ client: Int) { streams[client] = nil }

  /// The shortest interval that anybody watches with, µs.
  var shortestInterval: Int64? { streams.values.compactMap(\.interval).min() }

  func judge(_ world: World) {
    guard problems.isEmpty, let reading = world.readings.last else { return }
    if let last = lastReading,
      (reading.realtime - reading.boottime, reading.boottime - reading.monotonic)
        != (last.realtime - last.boottime, last.boottime - last.monotonic)
    {
      lastShift = world.readings.count
    }
    lastReading = reading
    for news in world.written where streams[news.client] != nil {
      judge(news.reply, of: news.client, world, reading)
    }
    guard world.service.nextWake != .now else { return }
    for (client, stream) in streams where !stream.told.isEmpty && hasReadAll(client, world) {
      judgeRest(stream, client, world, reading)
    }
  }

  private func fail(_ world: World, _ text: String) {
    problems.append("turn \(world.readings.count): \(text)")
  }

  private func hasReadAll(_ client: Int, _ world: World) -> Bool {
    let peer = world.clients[client]
    return peer.isReading && !peer.hasVanished && !peer.isClosed
      && world.service.wish(of: peer.id)?.hasOutput == false
  }

  // MARK: What is told

  private func judge(
    _ reply: VirtualClient.Reply, of client: Int, _ world: World, _ reading: Reading
  ) {
    guard var stream = streams[client] else { return }
    defer { streams[client] = stream }
    if reply.error != nil || reply["now"]?["boottimeUSec"] != .integer(reading.boottime) {
      return fail(world, "a watcher is told \(reply)")
    }
    var names: Set<String> = []
    var latest: Int64?
    var hidden: Int64 = 0
    for countdown in reply["countdowns"]?.array ?? [] {
      let name = countdown["name"]?.string ?? ""
      let key = Oracle.Key(uid: stream.uid, name: name)
      if !stream.names.contains(name) || !names.insert(name).inserted {
        fail(world, "a watcher is told what it did not ask for, or twice: \(countdown.text)")
      }
      let stood = oracle.history(key)
      let shown = stood.first {
        ($0?.isDue(at: reading) != true || oracle.isLocked(key, world))
          && shows(countdown, $0, reading)
      }
      guard let standing = shown else {
        return fail(world, "a watcher is told \(countdown.text), but \(stood)")
      }
      let remaining = standing?.remaining(at: reading) ?? 0
      if let last = stream.told[name] {
        let isNews = last.standing != standing || oracle.lastChange[key] ?? 0 > last.turn
        if !isNews, lastShift <= last.turn {
          guard let level = crossing(of: last, stream), remaining <= level else {
            return fail(world, "told for nothing, or early: \(countdown.text) after \(last)")
          }
          latest = max(latest ?? 0, level - remaining)
          tickCount += 1
        } else if lastShift <= last.turn, let old = last.standing,
          let level = crossing(of: last, stream), old.remaining(at: reading) <= level
        {
          // It had come to its multiple in this turn, before it changed.
          hidden = max(hidden, level - old.remaining(at: reading))
        }
      }
      stream.told[name] = Told(
        standing: standing, remaining: remaining, turn: world.readings.count)
    }
    guard var latest else { return }
    latest = max(latest, hidden)
    for (name, told) in stream.told where told.turn < world.readings.count {
      let key = Oracle.Key(uid: stream.uid, name: name)
      guard lastShift <= told.turn, oracle.lastChange[key] ?? 0 <= told.turn,
        let level = crossing(of: told, stream), let standing = told.standing
      else { continue }
      let wait = standing.remaining(at: reading) - level
      if wait > 0, wait <= 10_000 - latest - 1_000 {
        fail(world, "not told together: \(name), with what crossed \(latest) µs before \(wait) µs")
      }
    }
  }

  private func shows(_ countdown: JSONTree, _ standing: Standing?, _ reading: Reading) -> Bool {
    guard let standing else {
      return countdown["state"] == "absent" && countdown.object?.count == 2
    }
    // Until an instant, the length depends on when the start was decided.
    let hasLength =
      countdown["durationUSec"] == .integer(standing.length) || standing.clock == "realtime"
    let hasDeadline = ["running", "expired", "missed"].contains(standing.state)
    return hasLength && countdown["state"] == .string(standing.state)
      && countdown["revision"] == .integer(standing.revision)
      && countdown["remainingUSec"] == .integer(standing.remaining(at: reading))
      && oracle.deadline(of: countdown)?.time == (hasDeadline ? standing.time : nil)
      && countdown["lateUSec"]?.integer == standing.late
      && countdown["lateReason"]?.string == standing.lateReason
  }

  /// What remains at the next multiple below what was told.
  private func crossing(of told: Told, _ stream: Stream) -> Int64? {
    guard let interval = stream.interval, told.standing?.state == "running",
      told.remaining > interval
    else { return nil }
    return (told.remaining - 1) / interval * interval
  }

  // MARK: What must have been told

  private func judgeRest(_ stream: Stream, _ client: Int, _ world: World, _ reading: Reading) {
    var latest: Int64?
    var next: [Int64] = []
    for name in stream.names.sorted() {
      let key = Oracle.Key(uid: stream.uid, name: name)
      if oracle.isLocked(key, world) || oracle.history(key).contains(where: { $0 == nil }) {
        // Whether one that ended long ago is gone yet is known to the ledger.
        if oracle.history(key).count > 1 { continue }
      }
      guard let told = stream.told[name], told.standing == oracle.history(key).last ?? nil else {
        return fail(
          world,
          "watcher \(client) was told \(String(describing: stream.told[name])) of \(name), "
            + "but \(oracle.history(key))")
      }
      guard let level = crossing(of: told, stream), let standing = told.standing else { continue }
      let late = level - standing.remaining(at: reading)
      if late >= 0 { latest = max(latest ?? 0, late) } else { next.append(-late) }
    }
    // Steps that nearly undo each other are noise to the daemon, and move a crossing as little.
    guard let latest else { return }
    let left = 10_000 - latest + 1_000
    if !next.contains(where: { $0 <= left }) {
      fail(world, "watcher \(client) was not told a crossing of \(latest) µs ago: \(stream)")
    }
  }

  /// At the end, when everybody has read everything.
  func judgeEnd(_ world: World) {
    for (client, stream) in streams where stream.told.isEmpty && hasReadAll(client, world) {
      fail(world, "watcher \(client) was told nothing: \(stream)")
    }
  }
}
