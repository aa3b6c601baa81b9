import ControlClient
import LinuxIO

/// Where the demo's stories are told: two connections to the daemon, and the screen.
struct DemoStage: ~Copyable {
  /// Tokens of what is waited for.
  private enum Token {
    static let signals: UInt64 = 1
    static let events: UInt64 = 2
  }

  let session: Session
  /// Whether a line can be written over.
  let isTerminal = StandardStream.output.isTerminal

  private var calls: Connection
  private var events: Connection
  private let epoll: Epoll
  private var wakeups: [Epoll.Event] = []
  /// Events that came and were not asked for yet.
  private var queue: [Event] = []
  private var lateness: [(name: String, usec: Int64)] = []

  /// Connects, and listens to what happens from now on.
  init(
    _ socketPath: String, _ signals: borrowing SignalDescriptor, _ session: Session
  ) throws {
    let calls = try Connection(to: socketPath)
    var events = try Connection(to: socketPath)
    let epoll = try Epoll()
    try epoll.add(signals.rawValue, .readable, token: Token.signals)
    try epoll.add(events.rawValue, .readable, token: Token.events)
    try events.begin("Subscribe", parameters: encodeParameters { _ in })
    let timeout = Int32(Connection.patienceSeconds * 1_000)
    var isReady = false
    while !isReady {
      guard let message = try events.nextReply(timeoutMSec: timeout) else {
        throw ClientError.silent(seconds: Connection.patienceSeconds)
      }
      isReady = try SubscriptionReply(Members(parsing: message.parameters)).isReady
    }
    self.session = session
    self.calls = calls
    self.events = events
    self.epoll = epoll
  }

  // What is done.

  /// Calls a method, and shows what is called.
  mutating func call(_ method: String, _ parameters: [UInt8]) throws -> Members {
    let json = oneLine(json: parameters, escapingControls: true)
    try write("  \(session.styled("→ \(method)", .bold)) \(json)\n")
    return try calls.call(method, parameters: parameters)
  }

  /// Calls `Start` for a length, and shows what is called.
  mutating func start(
    _ name: String, lengthUSec: Int64, onConflict: String? = nil, payload: String? = nil
  ) throws -> StartReply {
    let parameters = encodeParameters { writer in
      writer.member("name", name)
      writer.member("durationUSec", lengthUSec)
      writer.member("onConflict", onConflict)
      writer.member("payload", json: payload.map { Array($0.utf8) })
    }
    return try StartReply(call("Start", parameters))
  }

  /// Calls a method that takes a name only, and shows what is called.
  mutating func call(_ method: String, name: String) throws -> Members {
    try call(method, encodeParameters { $0.member("name", name) })
  }

  /// CLOCK_BOOTTIME in microseconds, rounded down.
  var nowUSec: Int64 { Clocks.boottimeNSec() / 1_000 }

  /// The next event; `nil` once the time `endUSec` of CLOCK_BOOTTIME has come.
  ///
  /// - Throws: `Interruption` if a signal came.
  mutating func nextEvent(
    until endUSec: Int64, _ signals: borrowing SignalDescriptor
  ) throws -> Event? {
    while true {
      if let signal = try signals.next() { throw Interruption(signal: signal) }
      if !queue.isEmpty { return note(queue.removeFirst()) }
      let left = endUSec - nowUSec
      guard left > 0 else { return nil }
      try epoll.wait(timeoutMSec: Int32(min((left + 999) / 1_000, 1_000)), into: &wakeups)
      guard wakeups.contains(where: { $0.token == Token.events }) else { continue }
      while let message = try events.nextReply(timeoutMSec: 0) {
        queue += try SubscriptionReply(Members(parsing: message.parameters)).events
      }
    }
  }

  /// Lets the time pass until `endUSec` of CLOCK_BOOTTIME, or until `name` has expired.
  ///
  /// - Returns: The event of `name`, if it came.
  mutating func wait(
    until endUSec: Int64, orExpiryOf name: String? = nil, _ signals: borrowing SignalDescriptor
  ) throws -> Event? {
    while let event = try nextEvent(until: endUSec, signals) {
      if event.kind == "expired", event.name == name { return event }
    }
    return nil
  }

  /// Lets a reader finish a story before the next one begins.
  mutating func pauseForReading(_ signals: borrowing SignalDescriptor) throws {
    _ = try wait(until: nowUSec + 1_500_000, signals)
  }

  /// Waits for the expiry of `name`, which must come within two seconds of `dueUSec`.
  mutating func waitForExpiry(
    of name: String, dueUSec: Int64, _ signals: borrowing SignalDescriptor
  ) throws -> Event {
    guard let event = try wait(until: dueUSec + 2_000_000, orExpiryOf: name, signals) else {
      throw Failure(message: "'\(name)' did not expire, which is a fault of the daemon")
    }
    return event
  }

  private mutating func note(_ event: Event) -> Event {
    if event.kind == "expired", let name = event.name, let late = event.lateUSec {
      lateness.append((name, late))
    }
    return event
  }

  // What is shown.

  func write(_ text: String) throws { try session.write(text) }

  /// The title of a story, and what it is about.
  func heading(_ number: Int, _ title: String, _ lines: [String]) throws {
    try write("\n\(session.styled("\(number). \(title)", .bold))\n")
    for line in lines { try write("  \(session.styled(line, .dim))\n") }
  }

  /// What came back.
  func answer(_ text: String) throws { try write("  \(session.styled("←", .green)) \(text)\n") }

  /// What that means.
  func say(_ text: String) throws { try write("    \(text)\n") }

  /// Writes over the line written last this way; where that is not possible, a line now and then.
  func rewrite(_ label: String, _ text: String) throws {
    if isTerminal {
      try write("\r\u{1b}[K    \(label) \(session.styled(text, .green))")
    } else if text.hasSuffix("0") || text.hasSuffix("5") {
      try write("    \(label) \(text)\n")
    }
  }

  /// Ends a line that was written over.
  func endRewriting() throws { if isTerminal { try write("\n") } }

  /// Takes a line that was written over away.
  func eraseRewriting() throws { if isTerminal { try write("\r\u{1b}[K") } }

  /// How late each countdown expired.
  func writeLateness() throws {
    try write("\n\(session.styled("How late they expired", .bold))\n")
    var table = Table([("  NAME", .left), ("LATE BY", .right)])
    for (name, usec) in lateness {
      table.add([.init("  \(name)"), .init(latenessText(usec), usec < 10_000 ? .green : .red)])
    }
    try write(table.text(withStyles: session.hasColor))
  }

  /// `1.512345 s`: to the microsecond.
  static func exact(_ usec: Int64) -> String {
    "\(usec / 1_000_000).\((usec % 1_000_000).padded(to: 6)) s"
  }

  /// What remains, in tenths.
  static func tenths(_ usec: Int64) -> String {
    Remaining(usec: usec, hasEnded: false).text(in: .tenths)
  }
}
