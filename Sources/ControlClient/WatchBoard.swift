/// The countdowns that somebody looks at, and how they are shown on a terminal.
///
/// It is told what the daemon says, and counts down by itself from the deadlines: on the same machine
/// the clocks are the daemon's own. It knows no terminal and no clock.
package struct WatchBoard: Sendable {
  /// The three clocks at one moment, in microseconds.
  package struct Moment: Equatable, Sendable {
    package let boottimeUSec: Int64
    package let monotonicUSec: Int64
    package let realtimeUSec: Int64

    /// CLOCK_BOOTTIME, CLOCK_MONOTONIC and CLOCK_REALTIME.
    package init(boottimeUSec: Int64, monotonicUSec: Int64, realtimeUSec: Int64) {
      self.boottimeUSec = boottimeUSec
      self.monotonicUSec = monotonicUSec
      self.realtimeUSec = realtimeUSec
    }
  }

  /// One countdown, as it was last told.
  struct Row: Sendable {
    let name: String
    /// Empty until it was told.
    var state = ""
    var deadline: Timestamp?
    /// Of one that does not run.
    var remainingUSec: Int64 = 0
    /// What the whole bar stands for.
    var lengthUSec: Int64 = 0
    /// Boot time.
    var toldAtUSec: Int64 = 0

    init(name: String) { self.name = name }

    /// It has ended, or is no more.
    var isOver: Bool { Countdown.isEnd(state) || state == "absent" }

    /// What remains, by the clock that it is measured on.
    func remaining(at moment: Moment) -> Int64 {
      guard state == "running", let deadline else { return remainingUSec }
      if let boottime = deadline.boottimeUSec {
        return boottime.subtractingSaturated(moment.boottimeUSec)
      }
      if let monotonic = deadline.monotonicUSec {
        return monotonic.subtractingSaturated(moment.monotonicUSec)
      }
      guard let realtime = deadline.realtimeUSec else { return remainingUSec }
      return realtime.subtractingSaturated(moment.realtimeUSec)
    }

    /// How much of its length remains, 0 to 1.
    func share(at moment: Moment) -> Double? {
      guard state == "running" || state == "paused" else { return nil }
      guard lengthUSec > 0 else { return 0 }
      return min(1, max(0, Double(remaining(at: moment)) / Double(lengthUSec)))
    }

    /// Running ones come first, then paused ones.
    var rank: Int {
      switch state {
      case "running": 0
      case "paused": 1
      default: 2
      }
    }
  }

  /// How long one that was not named still stands there after its end.
  private static let farewellUSec: Int64 = 10_000_000

  /// Whether these were named: then they stay, in that order. Else the next to end comes first.
  private let isFixed: Bool
  private let unit: Remaining.Unit
  private(set) var rows: [Row] = []
  /// Some that should stand there have found no place.
  package private(set) var isPartial = false

  /// - Parameters:
  ///   - names: Those to show, in this order; one that comes twice is shown once. Empty shows whatever
  ///     it is told of.
  ///   - unit: The smallest step that is shown.
  package init(names: [String], unit: Remaining.Unit) {
    isFixed = !names.isEmpty
    self.unit = unit
    for name in names { expect(name) }
  }

  /// Those that stand there.
  package var names: [String] { rows.map(\.name) }

  /// Gives a name its place, unless it has one, before it is told how it stands. O(rows).
  ///
  /// - Parameter limit: Where so many stand already, one that has ended gives way to it; where none has,
  ///   it gets no place, and ``isPartial`` is set.
  package mutating func expect(_ name: String, atMost limit: Int = .max) {
    guard place(of: name) == nil else { return }
    if rows.count >= limit, let ended = rows.firstIndex(where: \.isOver) { rows.remove(at: ended) }
    if rows.count < limit { rows.append(Row(name: name)) } else { isPartial = true }
  }

  /// All that there are will be told anew by ``expect(_:atMost:)``.
  package mutating func beginListing() { isPartial = false }

  /// Bytewise: to Swift, two names may be equal that differ.
  private func place(of name: String) -> Int? {
    rows.firstIndex { $0.name.utf8.elementsEqual(name.utf8) }
  }

  // MARK: What the daemon says

  /// Takes note of how one stands, as told at `moment`. O(rows).
  package mutating func note(_ countdown: WatchedCountdown, at moment: Moment) {
    var row = Row(name: countdown.name)
    row.state = countdown.state
    row.deadline = countdown.deadline
    row.remainingUSec = countdown.remainingUSec ?? 0
    row.lengthUSec = max(countdown.durationUSec ?? 0, row.remainingUSec)
    row.toldAtUSec = moment.boottimeUSec
    if let place = place(of: countdown.name) { rows[place] = row } else { rows.append(row) }
  }

  /// Drops those that were not named and are no more, puts the others in order, and counts them.
  private mutating func tidy(at moment: Moment) {
    guard !isFixed else { return }
    rows.removeAll { row in
      row.state == "absent"
        || row.isOver && moment.boottimeUSec - row.toldAtUSec >= Self.farewellUSec
    }
    let keyed = rows.map { (rank: $0.rank, remaining: $0.remaining(at: moment), row: $0) }
    rows = keyed.sorted { ($0.rank, $0.remaining) < ($1.rank, $1.remaining) }.map(\.row)
  }

  // MARK: How it looks

  /// The screen: lines of text that are harmless and not wider than it, the rest of them in one line.
  ///
  /// - Parameters:
  ///   - columns: The terminal's width, at least 20 to be of use.
  ///   - height: Its lines, at least 3.
  ///   - isStyled: Whether there may be colours.
  ///   - hasKeys: Whether keys can be pressed.
  ///   - now: The moment shown.
  ///   - clock: What to say of a point in time; may be anything short.
  package mutating func lines(
    columns width: Int, height: Int, isStyled: Bool, hasKeys: Bool, at now: Moment,
    clock: (Timestamp) -> String
  ) -> [String] {
    tidy(at: now)
    let room = max(height - 2, 1)  // The headings, and the line at the end.
    let shown = rows.prefix(room)
    let cells = shown.map { row in
      Cells(
        name: harmless(row.name), state: harmless(row.state),
        remaining: text(of: row, at: now),
        ends: row.state == "running" ? row.deadline.map(clock) ?? "" : "",
        share: row.share(at: now))
    }
    let layout = Layout(cells, width: width)
    var lines = [layout.headings(isStyled: isStyled)]
    lines += cells.map { layout.line(of: $0, isStyled: isStyled) }
    var notes: [String] = []
    if rows.count > shown.count { notes.append("\(rows.count - shown.count) more below") }
    if isPartial { notes.append("not all there are") }
    if hasKeys { notes.append("q quits") }
    lines.append(paint(fitted(notes.joined(separator: "; "), to: width), .dim, isStyled))
    return lines
  }

  private func text(of row: Row, at now: Moment) -> String {
    switch row.state {
    case "running", "paused":
      Remaining(usec: row.remaining(at: now), hasEnded: false).text(in: unit)
    case "expired": Remaining(usec: 0, hasEnded: true).text(in: unit)
    default: "–"
    }
  }

  /// When the screen changes next by itself, as microseconds from `now`; `nil` if only the daemon can
  /// change it.
  package func untilChange(at now: Moment) -> Int64? {
    var next: Int64?
    for row in rows {
      var until: Int64?
      if row.state == "running" {
        let remaining = Remaining(usec: row.remaining(at: now), hasEnded: false)
        until = remaining.untilTextChanges(in: unit)
      } else if row.isOver, !isFixed {
        until = row.toldAtUSec + Self.farewellUSec - now.boottimeUSec
      }
      if let until { next = min(next ?? .max, max(until, 0)) }
    }
    return next
  }
}

/// What stands in one line.
private struct Cells {
  let name: String
  let state: String
  let remaining: String
  let ends: String
  /// 0 to 1; `nil` has no bar.
  let share: Double?
}

/// How wide the columns are.
private struct Layout {
  private let name: Int
  private let state: Int
  private let remaining: Int
  /// 0 if there is no room for one.
  private let bar: Int
  private let ends: Int
  private let width: Int

  /// Where there is little room the bar goes first, then the end; then the name is cut.
  init(_ cells: [Cells], width: Int) {
    func widest(_ heading: String, _ text: (Cells) -> String) -> Int {
      cells.reduce(columns(of: heading)) { max($0, columns(of: text($1))) }
    }
    state = widest("STATE", \.state)
    remaining = widest("REMAINING", \.remaining)
    let wished = min(widest("NAME", \.name), 40)
    let fixed = state + remaining + 2 * 2
    var ends = widest("ENDS", \.ends)
    if width < 8 + fixed + ends + 2 { ends = 0 }
    let taken = fixed + (ends > 0 ? ends + 2 : 0)
    var bar = min(30, width - taken - 2 - wished)
    if bar < 8 { bar = 0 }
    self.ends = ends
    self.bar = bar
    name = max(1, min(wished, width - taken - (bar > 0 ? bar + 2 : 0)))
    self.width = width
  }

  func headings(isStyled: Bool) -> String {
    paint(line(["NAME", "STATE", "REMAINING", "", "ENDS"]), .dim, isStyled)
  }

  func line(of cells: Cells, isStyled: Bool) -> String {
    let style = TextStyle.style(ofState: cells.state)
    let filled = cells.share.map { share in Int((share * Double(bar)).rounded(.up)) } ?? 0
    let full = String(repeating: "█", count: filled)
    let empty = cells.share == nil ? "" : String(repeating: "░", count: bar - filled)
    return line(
      [
        cells.name, paint(cells.state, style, isStyled), cells.remaining,
        paint(full, style, isStyled) + paint(empty, .dim, isStyled), cells.ends,
      ],
      widths: [
        columns(of: cells.name), columns(of: cells.state), columns(of: cells.remaining),
        cells.share == nil ? 0 : bar, columns(of: cells.ends),
      ])
  }

  private func line(_ texts: [String]) -> String { line(texts, widths: texts.map(columns)) }

  /// - Parameter widths: Of the texts as they are seen.
  private func line(_ texts: [String], widths: [Int]) -> String {
    func space(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
    let name = fitted(texts[0], to: name)
    var line = name + space(self.name - columns(of: name)) + "  "
    line += texts[1] + space(state - widths[1]) + "  "
    line += space(remaining - widths[2]) + texts[2]
    if bar > 0, widths[3] + widths[4] > 0 { line += "  " + texts[3] }
    if ends > 0, widths[4] > 0 { line += space(bar > 0 ? bar - widths[3] : 0) + "  " + texts[4] }
    let seen = self.name + state + remaining + 4
    // On a terminal too narrow for even these, plain letters can be cut where colours cannot.
    return seen > width ? fitted(name + "  " + texts[2], to: width) : line
  }
}

private func paint(_ text: String, _ style: TextStyle, _ isStyled: Bool) -> String {
  isStyled ? style.applied(to: text) : text
}

/// `text` cut to so many columns, with a mark where it was cut.
private func fitted(_ text: String, to width: Int) -> String {
  guard columns(of: text) > width else { return text }
  var result = ""
  var taken = 0
  for character in text {
    let needed = columns(of: String(character))
    guard taken + needed <= width - 1 else { break }
    result.append(character)
    taken += needed
  }
  return width > 0 ? result + "…" : ""
}
