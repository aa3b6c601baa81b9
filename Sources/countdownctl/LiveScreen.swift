import ControlClient
import LinuxIO

/// A table on the terminal that is kept up to date, until `q` is pressed or a signal says so.
///
/// What is shown by name is watched. What was not named is listed first, then watched, and a
/// subscription tells of names that come: with new ones the watching begins anew, now and then.
struct LiveScreen: ~Copyable {
  private let session: Session
  private let prefix: String?
  private let owners: Owners
  private var board: WatchBoard
  private var watching: Connection?
  private var arrivals: Connection?
  /// Names have come that are not watched yet.
  private var hasUnwatched = false
  /// Boot time.
  private var watchedAtUSec: Int64 = 0

  private let epoll: Epoll
  private let wake: TimerDescriptor
  private let signals: SignalDescriptor
  /// `nil` where the standard input is no terminal: then there are no keys.
  private var input: TerminalInput?
  private var isOnScreen = false
  private var drawn: [String] = []
  private var drawnAtUSec: Int64 = 0

  private enum Token {
    static let watching: UInt64 = 1
    static let arrivals: UInt64 = 2
    static let wake: UInt64 = 3
    static let signals: UInt64 = 4
    static let input: UInt64 = 5
  }

  /// The daemon's limit on the names of one call.
  private static let mostNames = 1_000
  /// Between two drawings pass at least so many microseconds: a storm of news is shown at that rate.
  private static let restUSec: Int64 = 33_000
  /// However many names come, the watching begins anew no more often than this.
  private static let rewatchUSec: Int64 = 250_000

  /// - Parameter names: Those to show; empty shows all that begin with `prefix`.
  init(
    _ session: Session, names: [String], prefix: String?, of owners: Owners, intervalUSec: Int64
  ) throws {
    var board = WatchBoard(
      names: names, unit: Remaining.Unit(refreshedEveryUSec: intervalUSec))
    let epoll = try Epoll()
    let wake = try TimerDescriptor()
    try epoll.add(wake.rawValue, .readable, token: Token.wake)
    var arrivals: Connection?
    if names.isEmpty {
      // Asked first, so that none falls between it and the lists.
      arrivals = try Self.subscribe(to: prefix, of: owners, session, epoll)
      try Self.list(prefix, of: owners, into: &board, session)
    }
    let watching = try Self.watch(board.names, of: owners, session, epoll)
    // From here on: while it was asking a daemon that may not answer, they end it as they end any program.
    let signals = try SignalDescriptor([
      .interrupt, .terminate, .hangup, .windowChanged, .terminalStop, .resume,
    ])
    try epoll.add(signals.rawValue, .readable, token: Token.signals)
    var input: TerminalInput?
    if StandardStream.input.isTerminal {
      input = try TerminalInput()
      try epoll.add(StandardStream.input.rawValue, .readable, token: Token.input)
    }
    self.session = session
    self.prefix = prefix
    self.owners = owners
    self.board = board
    self.epoll = epoll
    self.wake = wake
    self.signals = signals
    self.arrivals = arrivals
    self.watching = watching
    self.input = input
  }

  private static func subscribe(
    to prefix: String?, of owners: Owners, _ session: Session, _ epoll: borrowing Epoll
  ) throws -> Connection {
    var connection = try session.connect()
    try connection.begin(
      "Subscribe",
      parameters: encodeParameters { writer in
        writer.member("prefix", prefix)
        writer.member("kinds", ["started"])
        owners.write(to: &writer)
      })
    try epoll.add(connection.rawValue, .readable, token: Token.arrivals)
    return connection
  }

  /// Puts on the board what runs or is paused, as far as there is room, by name.
  private static func list(
    _ prefix: String?, of owners: Owners, into board: inout WatchBoard, _ session: Session
  ) throws {
    board.beginListing()
    for state in ["running", "paused"] {
      var connection = try session.connect()
      try connection.begin(
        "List",
        parameters: encodeParameters { writer in
          writer.member("prefix", prefix)
          writer.member("state", state)
          owners.write(to: &writer)
        })
      var continues = true
      while continues, !board.isPartial {
        guard let message = try connection.nextReply(timeoutMSec: session.patienceMSec) else {
          throw ClientError.silent(seconds: Connection.patienceSeconds)
        }
        continues = message.continues
        let reply = try ListReply(Members(parsing: message.parameters))
        for countdown in reply.countdowns { board.expect(countdown.name, atMost: mostNames) }
      }
    }
  }

  private static func watch(
    _ names: [String], of owners: Owners, _ session: Session, _ epoll: borrowing Epoll
  ) throws -> Connection? {
    guard !names.isEmpty else { return nil }
    var connection = try session.connect()
    try connection.beginWatching(names, of: owners, intervalUSec: nil)
    try epoll.add(connection.rawValue, .readable, token: Token.watching)
    return connection
  }

  // MARK: The loop

  /// - Returns: The exit status.
  mutating func run() throws -> Int32 {
    enter()
    defer { leave() }
    var events: [Epoll.Event] = []
    while true {
      try watchArrivals()
      try draw()
      try epoll.wait(timeoutMSec: nil, into: &events)
      for event in events {
        switch event.token {
        case Token.watching: try takeNews()
        case Token.arrivals: try takeArrivals()
        case Token.wake: _ = try wake.drain()
        case Token.input: if try takeKeys() { return ExitStatus.done }
        default: if let status = try takeSignals() { return status }
        }
      }
    }
  }

  private var now: WatchBoard.Moment {
    let reading = Clocks.read()
    return WatchBoard.Moment(
      boottimeUSec: reading.boottimeNSec / 1_000, monotonicUSec: reading.monotonicNSec / 1_000,
      realtimeUSec: reading.realtimeNSec / 1_000)
  }

  private mutating func takeNews() throws {
    while let message = try watching?.nextReply(timeoutMSec: 0) {
      let reply = try WatchReply(Members(parsing: message.parameters))
      for countdown in reply.countdowns { board.note(countdown, at: now) }
      guard message.continues else { throw ClientError.closed }
    }
  }

  private mutating func takeArrivals() throws {
    let known = board.names.count
    while let message = try arrivals?.nextReply(timeoutMSec: 0) {
      let reply = try SubscriptionReply(Members(parsing: message.parameters))
      for name in reply.events.compactMap(\.name) { board.expect(name, atMost: Self.mostNames) }
      if reply.hasGap { try Self.list(prefix, of: owners, into: &board, session) }
      guard message.continues else { throw ClientError.closed }
    }
    if board.names.count != known { hasUnwatched = true }
  }

  /// Watches those that have come as well, unless it was done a moment ago.
  private mutating func watchArrivals() throws {
    if board.isPartial, arrivals != nil, board.names.count < Self.mostNames { hasUnwatched = true }
    guard hasUnwatched, now.boottimeUSec - watchedAtUSec >= Self.rewatchUSec else { return }
    hasUnwatched = false
    watchedAtUSec = now.boottimeUSec
    if board.isPartial, board.names.count < Self.mostNames {
      try Self.list(prefix, of: owners, into: &board, session)
    }
    // Closed first, for it counts against the limit of streams: the daemon sees that before it reads
    // what comes on a new connection.
    watching = nil
    watching = try Self.watch(board.names, of: owners, session, epoll)
  }

  /// Whether it is to end.
  private mutating func takeKeys() throws -> Bool {
    let keys = try input?.keys() ?? []
    // Without a terminal nobody sees anything any more. 4 is what Ctrl-D sends.
    return keys.isEmpty || keys.contains { [UInt8(ascii: "q"), UInt8(ascii: "Q"), 4].contains($0) }
  }

  /// The exit status, if it is to end.
  private mutating func takeSignals() throws -> Int32? {
    while let signal = try signals.next() {
      switch signal {
      case .windowChanged: drawn = []
      case .terminalStop:
        leave()
        try? input?.restore()
        try CurrentProcess.stop()
        // It goes on here once it was continued.
        try? input?.takeKeys()
        enter()
      case .resume: drawn = []
      default: return 128 + signal.rawValue
      }
    }
    return nil
  }

  // MARK: The screen

  /// Shows the other screen of the terminal, and no cursor.
  private mutating func enter() {
    drawn = []
    isOnScreen = true
    try? session.write("\u{1b}[?1049h\u{1b}[?25l")
  }

  /// Leaves the terminal as it was.
  private mutating func leave() {
    guard isOnScreen else { return }
    isOnScreen = false
    try? session.write("\u{1b}[?25h\u{1b}[?1049l")
  }

  private mutating func draw() throws {
    let moment = now
    let rest = drawnAtUSec + Self.restUSec - moment.boottimeUSec
    if rest > 0, !drawn.isEmpty {
      try wake.arm(atNSec: (moment.boottimeUSec + rest) * 1_000)
      return
    }
    let size = StandardStream.output.terminalSize ?? (columns: 80, rows: 24)
    let session = session
    let lines = board.lines(
      columns: size.columns, height: size.rows, isStyled: session.hasColor,
      hasKeys: input != nil, at: moment
    ) { session.time($0) }
    try write(lines)
    drawnAtUSec = moment.boottimeUSec
    var next = board.untilChange(at: moment)
    if hasUnwatched {
      next = min(next ?? .max, watchedAtUSec + Self.rewatchUSec - moment.boottimeUSec)
    }
    if let next {
      try wake.arm(atNSec: (moment.boottimeUSec + max(next, Self.restUSec)) * 1_000)
    } else {
      try wake.disarm()
    }
  }

  /// Writes the lines that have changed, all in one go.
  private mutating func write(_ lines: [String]) throws {
    var text = ""
    if drawn.isEmpty { text += "\u{1b}[2J" }
    for (index, line) in lines.enumerated()
    where index >= drawn.count || drawn[index] != line {
      text += "\u{1b}[\(index + 1);1H\(line)\u{1b}[K"
    }
    if lines.count < drawn.count { text += "\u{1b}[\(lines.count + 1);1H\u{1b}[J" }
    drawn = lines
    if !text.isEmpty { try session.write(text) }
  }
}
