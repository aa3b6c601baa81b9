internal import Countdowns
internal import TimingWheel

/// What one `Watch` follows, and what of it is still to be told.
///
/// No queue is kept of what happens: a name is up to date or not, and one that is not is told as it
/// then stands. So a watcher that does not read costs what its names cost, and no more.
///
/// Invariants, tested by ``brokenInvariant()``:
/// - A name is in the queue of those to be told once if it is not up to date, and else not at all; what
///   was told takes no more room there than the names do.
/// - One that is up to date and runs has a crossing if an interval is asked for and more than one
///   interval remains; no other has any.
/// - The timer waits no longer than until the crossings to be told next.
struct Watching: Sendable {
  struct Item: Sendable {
    let name: [UInt8]
    /// What stands under it, as far as that was looked up.
    var id: EntryID?
    /// It was told as running.
    var isRunning = false
    /// What was told of it holds no more, or nothing was told yet.
    var isDirty = true
    /// What remains of it at its crossing, µs.
    var level: Int64 = 0
  }

  /// Whose names they are.
  let user: UInt32
  let intervalUSec: Int64?
  let heartbeatUSec: Int64
  let timer: EntryID
  /// Each name once.
  private(set) var items: [Item]
  /// When each comes to a multiple of the interval, on boot time and as the clocks stand to each other;
  /// ``never`` where it does not. Apart from the items: the first is found by looking at all.
  private(set) var crossings: [Int64]
  /// The places of those to be told, from ``nextDirty`` on, in the order in which they came to it.
  private var dirty: [Int]
  private var nextDirty = 0
  /// It stands in the queue of those with something to tell.
  var isQueued = false
  /// When something was last told, µs of boot time.
  var lastTold: Int64
  /// When the timer wakes it, µs of boot time.
  var timerAt: Int64

  /// Crossings within so much of the first are told with the last of them, µs.
  static let togetherUSec: Int64 = 10_000
  private static let never = Int64.max

  /// Nothing of it was told yet.
  init(
    _ names: [[UInt8]], of user: UInt32, intervalUSec: Int64?, heartbeatUSec: Int64,
    timer: EntryID, at now: Int64
  ) {
    self.user = user
    self.intervalUSec = intervalUSec
    self.heartbeatUSec = heartbeatUSec
    self.timer = timer
    items = names.map { Item(name: $0) }
    crossings = Array(repeating: Self.never, count: names.count)
    dirty = Array(names.indices)
    lastTold = now
    timerAt = now + heartbeatUSec
  }

  /// The place of the name to be told next; `nil` when all were told. O(1).
  var firstDirty: Int? { nextDirty < dirty.count ? dirty[nextDirty] : nil }

  // MARK: What happens to a name

  /// It changed, or, where `isGone`, was removed. O(1).
  mutating func noteChange(of place: Int, isGone: Bool) {
    if isGone { items[place].id = nil }
    crossings[place] = Self.never
    guard !items[place].isDirty else { return }
    items[place].isDirty = true
    dirty.append(place)
  }

  /// The clocks have moved against each other: what was told of those that run holds no more.
  /// O(names).
  mutating func noteShift() {
    for place in items.indices where items[place].isRunning { noteChange(of: place, isGone: false) }
  }

  /// The crossing of one has come, or, as its own clock has it, is still so far away.
  ///
  /// - Returns: Whether it has come.
  mutating func noteCrossing(of place: Int, remainingUSec: Int64, at now: Int64) -> Bool {
    guard remainingUSec <= items[place].level else {
      crossings[place] = now + (remainingUSec - items[place].level)
      return false
    }
    noteChange(of: place, isGone: false)
    return true
  }

  /// The first to be told is told, as it stands now. O(1), amortised.
  ///
  /// - Parameter remainingUSec: `nil` where it does not run.
  mutating func noteTold(_ id: EntryID?, remainingUSec: Int64?, at now: Int64) {
    let place = dirty[nextDirty]
    nextDirty += 1
    if nextDirty == dirty.count || nextDirty > items.count {
      // One that always has something to tell never comes to the end.
      dirty.removeFirst(nextDirty)
      nextDirty = 0
    }
    items[place].id = id
    items[place].isDirty = false
    items[place].isRunning = remainingUSec != nil
    crossings[place] = Self.never
    // The next multiple is below what remains: one that is met exactly has just been told.
    guard let intervalUSec, let remainingUSec, remainingUSec > intervalUSec else { return }
    items[place].level = (remainingUSec - 1) / intervalUSec * intervalUSec
    crossings[place] = now + (remainingUSec - items[place].level)
  }

  // MARK: When it has to look again

  /// When the first crossings are told: with the last within ``togetherUSec``. O(names).
  var nextTelling: Int64 {
    // A straight look at a thousand numbers costs less than keeping them in order: each moves as often
    // as the first is asked for.
    var first = Self.never
    for crossing in crossings { first = min(first, crossing) }
    guard first != Self.never else { return first }
    var last = first
    let end = first + Self.togetherUSec
    for crossing in crossings where crossing <= end { last = max(last, crossing) }
    return last
  }

  /// When and by which timer it has to be woken, where that is before the timer would; else `nil`.
  mutating func earlierTimer() -> (id: EntryID, at: Int64)? {
    let wake = nextWake
    guard wake < timerAt else { return nil }
    timerAt = wake
    return (timer, wake)
  }

  /// Whether it has something to tell and is not queued yet; then it is from here on.
  mutating func enqueue() -> Bool {
    guard !isQueued, firstDirty != nil else { return false }
    isQueued = true
    return true
  }

  /// When it next has something to do, if nothing happens before. O(names) with an interval.
  var nextWake: Int64 {
    let heartbeat = lastTold + heartbeatUSec
    return intervalUSec == nil ? heartbeat : min(heartbeat, nextTelling)
  }

  /// The first invariant that does not hold, in words. O(names).
  func brokenInvariant() -> String? {
    let queued = dirty[nextDirty...]
    guard queued.count == Set(queued).count else { return "a name is to be told twice" }
    guard Set(queued) == Set(items.indices.filter { items[$0].isDirty }) else {
      return "those to be told are not those that are not up to date"
    }
    guard dirty.count <= 2 * items.count else { return "\(dirty.count) places are queued" }
    for (place, item) in items.enumerated() {
      let hasCrossing = crossings[place] != Self.never
      if hasCrossing, item.isDirty || !item.isRunning || intervalUSec == nil || item.level <= 0 {
        return "name \(place) waits for a crossing that nobody is told"
      }
      if !item.isDirty, item.id == nil, item.isRunning { return "name \(place) runs nowhere" }
    }
    return timerAt <= nextWake ? nil : "the timer waits until \(timerAt), past \(nextWake)"
  }
}
