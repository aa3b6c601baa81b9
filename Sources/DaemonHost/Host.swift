package import Configuration
internal import CountdownService
internal import Countdowns
package import LinuxIO
package import Systemd
internal import SystemdSyntax
package import TimingWheel

/// The daemon's one thread: feeds real events to the service and carries out what it asks for.
///
/// One turn, always in this order: wait; tell the watchdog, if that is due; read what came in; read
/// the clocks, once; let the service take its turn; send. Input comes before the clocks, else a length
/// would count from before its call. It is the only module that sees both the service and the kernel.
///
/// It waits with one epoll for all: clients, the listening socket, signals, one timer that is armed
/// absolutely for the earliest thing that the wheel or the host itself waits for, and one that is
/// never due and only tells that the clocks were set.
package struct Host: ~Copyable {
  private var service: Service
  private let listener: ListeningSocket
  private let epoll: Epoll
  private let timer: TimerDescriptor
  private let clockChange: ClockChangeNotice
  private let signals: SignalDescriptor
  private let log: LogQueue
  private let version: String
  private let adminGroup: UInt32?
  private let configuration: ConfigurationFiles
  private let logLevel: LogLevel?
  private let notifier = ServiceNotifier()

  /// By the index of their connection.
  private var clients: [ClientSocket?] = []
  private var events: [Epoll.Event] = []
  private var received: [UInt8] = []
  /// What the timer is armed for, ns of boot time; the largest while it is disarmed.
  private var armedFor = Int64.max
  /// While no descriptor is left for another client: when to try again, ns of boot time.
  private var acceptsAgainAt: Int64?
  /// `nil` where systemd does not want to hear of it.
  private var watchdog: Watchdog?
  private var status = StatusLine()
  private var lateLog = LateLog()
  private var shortageLog = ShortageLog()
  private var machineWatch = MachineWatch()
  /// Until when it may still finish what was read before the signal, ns of boot time.
  private var stopsAt: Int64?

  /// Sets everything up; clients can connect from here on, and are served by ``run()``.
  ///
  /// - Parameters:
  ///   - socket: Where clients connect.
  ///   - settings: By what limits, and so on, until it is told to read `configuration` again.
  ///   - adminGroup: The group whose members may act for other users; `nil` for none.
  ///   - logLevel: Goes before that of all settings; `nil` for theirs.
  ///   - version: As `GetInfo` tells it.
  ///   - journal: Where log entries go.
  package init(
    listeningOn socket: consuming ListeningSocket, settings: Settings, adminGroup: UInt32?,
    configuration: ConfigurationFiles, logLevel: LogLevel?, version: String, journal: Journal
  ) throws(SystemCallError) {
    let epoll = try Epoll()
    let timer = try TimerDescriptor()
    let clockChange = try ClockChangeNotice()
    Signal.brokenPipe.ignore()
    let signals = try SignalDescriptor([.terminate, .interrupt, .hangup])
    let threshold = Journal.Priority(logLevel ?? settings.logLevel)
    let log = try LogQueue.start(to: journal, threshold: threshold)  // Its thread blocks them, too.
    try epoll.add(socket.rawValue, .readable, token: Token.listener)
    try epoll.add(timer.rawValue, .readable, token: Token.timer)
    try epoll.add(clockChange.rawValue, .readable, token: Token.clockChange)
    try epoll.add(signals.rawValue, .readable, token: Token.signals)
    let reading = Reading(roundingUp: Clocks.read())
    service = Service(
      at: reading, limits: settings.limits,
      terms: .inMemory(wallClock: reading.realtime, notSupported: Host.notSupported),
      identity: Service.Identity(
        version: version, uid: CurrentProcess.effectiveUserID, bootID: Host.bootID(log)),
      reserving: min(settings.limits.countdowns, Host.reservation))
    service.scheduler.notedAfterUSec = settings.logLateUSec
    self.log = log
    self.version = version
    self.adminGroup = adminGroup
    self.configuration = configuration
    self.logLevel = logLevel
    listener = socket
    self.epoll = epoll
    self.timer = timer
    self.clockChange = clockChange
    self.signals = signals
  }

  /// It is only told: nothing stands or falls with it.
  private static func bootID(_ log: LogQueue) -> String {
    do throws(SystemCallError) {
      return try BootID.read()
    } catch {
      log.send(.warning, "\(error); GetClocks tells zeros as the boot's ID")
      return BootID.unknown
    }
  }

  /// For so many countdowns address space is reserved at once; more only cost a copy now and then. A
  /// small machine may refuse to reserve for as many as can be configured.
  private static let reservation = 5_000_000

  /// ENOTSUP: there is no store to keep anything in.
  private static let notSupported: Int32 = 95

  /// Tokens that no connection has: their generation, the upper half, is never 0.
  private enum Token {
    static let listener: UInt64 = 1
    static let timer: UInt64 = 2
    static let clockChange: UInt64 = 3
    static let signals: UInt64 = 4
  }

  /// Serves until a signal ends it; then finishes what was read, within two seconds.
  package mutating func run() throws(SystemCallError) {
    _ = notifier.ready(status: status.text)
    if notifier.isSupervised, let interval = notifier.watchdogIntervalUSec {
      watchdog = Watchdog(intervalUSec: interval, at: Clocks.boottimeNSec())
    }
    log.send(.info, "Listening; version \(version)", as: .started)
    while !isFinished {
      let timeout = try armForNextWake()
      try epoll.wait(timeoutMSec: timeout, into: &events)
      tellWatchdog()
      for event in events { try take(event) }
      let clocks = Clocks.read()
      if let again = acceptsAgainAt, clocks.boottimeNSec >= again { try resumeAccepting() }
      if machineWatch.isDue(at: clocks.boottimeNSec) { askMachine() }
      service.turn(at: Reading(roundingUp: clocks))
      for request in service.takeRequests() { carryOut(request) }
      if service.hasToldByTime { hold(until: clocks) }
      for id in service.takeTouched() { serve(id) }
      if let discontinuity = service.discontinuity { report(discontinuity) }
      if let late = service.scheduler.takeLate() { lateLog.note(late) }
      if let late = lateLog.take(at: clocks.boottimeNSec) { report(late) }
      tellStatus(at: clocks.boottimeNSec)
      service.beginWait(at: Clocks.boottimeNSec() / 1_000)
    }
    for client in clients { client?.socket.shutDown() }
    if let late = lateLog.takeLast() { report(late) }
    log.send(.info, "Stopped", as: .stopped)
    _ = log.finish(timeoutMSec: 1_000)  // What cannot be written by then is lost.
  }

  /// The loop is alive. First of all, for after a suspend the manager may have waited too long already;
  /// and between the turns of a long drain as well.
  private mutating func tellWatchdog() {
    guard let dog = watchdog else { return }
    let now = Clocks.boottimeNSec()
    guard dog.isDue(at: now) else { return }
    watchdog?.noteTold(at: now, isDelivered: notifier.watchdog() == .sent)
  }

  /// Tells systemd what there is, where it has changed.
  private mutating func tellStatus(at boottimeNSec: Int64) {
    guard notifier.isSupervised, stopsAt == nil else { return }
    let counts = service.scheduler.users.counts
    let now = StatusLine.Counts(
      running: counts.running, paused: counts.paused, ended: counts.ended)
    if status.update(now, at: boottimeNSec) { _ = notifier.status(status.text) }
  }

  /// What the service cannot see for itself.
  private mutating func askMachine() {
    service.machine.residentBytes = CurrentProcess.residentBytes
    do throws(SystemCallError) {
      service.machine.isSynchronized = try Clocks.isSynchronized()
    } catch {
      service.machine.isSynchronized = false
      if let complaint = machineWatch.complaint(about: error) { log.send(.notice, complaint) }
    }
  }

  // MARK: Waiting

  /// Arms the timer for what the service or the host waits for; says how long epoll may wait: not at
  /// all, or, `nil`, for ever.
  private mutating func armForNextWake() throws(SystemCallError) -> Int32? {
    var wake = Int64.max
    switch service.nextWake {
    case .now: return 0
    case .at(let instant): wake = instant.nanoseconds
    case .never: break
    }
    // A stop ends in any case, a descriptor may have become free elsewhere, and systemd and the log may
    // have something to hear.
    if let stopsAt { wake = min(wake, stopsAt) }
    if let acceptsAgainAt { wake = min(wake, acceptsAgainAt) }
    if let statusAt = status.dueAt { wake = min(wake, statusAt) }
    if let lateAt = lateLog.dueAt { wake = min(wake, lateAt) }
    if let watchdog { wake = min(wake, watchdog.dueAt) }
    guard wake != armedFor else { return nil }
    if wake == .max { try timer.disarm() } else { try timer.arm(atNSec: wake) }
    armedFor = wake
    return nil
  }

  /// Waits, less than a microsecond, until the reading that was rounded up has really passed: what
  /// its time has come for by it is not told before.
  ///
  /// A step of the wall clock in between must not hold it for long.
  private func hold(until reading: ClockReading) {
    let up = Reading(roundingUp: reading)
    while true {
      let now = Clocks.read()
      let hasPassed =
        now.boottimeNSec >= up.boottime * 1_000 && now.monotonicNSec >= up.monotonic * 1_000
        && now.realtimeNSec >= up.realtime * 1_000
      if hasPassed || now.boottimeNSec > reading.boottimeNSec + 1_000_000 { return }
    }
  }

  // MARK: What came in

  private mutating func take(_ event: Epoll.Event) throws(SystemCallError) {
    switch event.token {
    case Token.listener: try accept()
    case Token.timer:
      if try timer.drain() { armedFor = .max }
    case Token.clockChange:
      // What has moved the next reading tells.
      if try clockChange.drain() { machineWatch.noteClockChange() }
    case Token.signals:
      while let signal = try signals.next() {
        if signal == .hangup { _ = reload() } else { stop(on: signal) }
      }
    default: receive(event)
    }
  }

  private mutating func accept() throws(SystemCallError) {
    guard stopsAt == nil else { return }  // The signal came in the same turn.
    // Bounded: a flood of clients must not keep the others waiting.
    for _ in 0..<64 {
      let socket: StreamSocket
      do throws(SystemCallError) {
        guard let accepted = try listener.accept() else { return }
        socket = accepted
      } catch {
        try pauseAccepting(because: error)
        return
      }
      do throws(SystemCallError) {
        let peer = try socket.peerCredentials()
        let id = service.open(uid: peer.uid, isAdmin: isAdmin(peer, at: socket))
        while clients.count <= id.place { clients.append(nil) }
        let client = ClientSocket(socket, interest: .readable)
        clients[id.place] = client
        do throws(SystemCallError) {
          try epoll.add(client.socket.rawValue, .readable, token: id.token)
        } catch {
          drop(id)
          throw error
        }
      } catch {
        log.send(.warning, "A client was turned away: \(error)")
      }
    }
  }

  /// Whether a peer may name other users. What the kernel does not tell gives no right.
  private func isAdmin(
    _ peer: StreamSocket.Credentials, at socket: borrowing StreamSocket
  ) -> Bool {
    if peer.uid == 0 { return true }
    guard let adminGroup else { return false }
    if peer.gid == adminGroup { return true }
    do throws(SystemCallError) {
      return try socket.peerGroups().contains(adminGroup)
    } catch {
      return false
    }
  }

  /// Out of descriptors: who waits to connect goes on waiting, and the loop does not spin. It tries
  /// again when a client leaves, and every second.
  private mutating func pauseAccepting(because error: SystemCallError) throws(SystemCallError) {
    let now = Clocks.boottimeNSec()
    if shortageLog.note(at: now) {
      let message = "Cannot accept another client: \(error); waiting until one leaves"
      log.send(.warning, message, as: .outOfDescriptors)
    }
    acceptsAgainAt = now + 1_000_000_000
    try epoll.remove(listener.rawValue)
  }

  private mutating func resumeAccepting() throws(SystemCallError) {
    guard acceptsAgainAt != nil, stopsAt == nil else { return }
    acceptsAgainAt = nil
    try epoll.add(listener.rawValue, .readable, token: Token.listener)
  }

  private mutating func receive(_ event: Epoll.Event) {
    let id = ConnectionID(token: event.token)
    guard let wish = service.wish(of: id), let client = clients[id.place] else { return }
    do throws(SystemCallError) {
      if event.isReadable, wish.wantsInput { try takeInput(of: client, id) }
      if event.isHangup || event.isError { try takeLeave(of: client, id) }
    } catch {
      fail(id, error)
    }
    serve(id)
  }

  private mutating func takeInput(
    of client: ClientSocket, _ id: ConnectionID
  ) throws(SystemCallError) {
    var bytes: [UInt8] = []
    swap(&bytes, &received)  // Lent to the service from here; the storage is used again.
    defer { swap(&bytes, &received) }
    bytes.removeAll(keepingCapacity: true)
    switch try client.socket.receive(appendingTo: &bytes, atMost: Host.bytesPerRead) {
    case .moved: service.receive(bytes.span, from: id)
    case .wouldBlock: break
    case .closed: service.peerEnded(id)
    }
  }

  /// The peer has closed: what it had sent is taken in, all of it, and epoll is not asked about it
  /// again, for it would go on telling so.
  private mutating func takeLeave(
    of client: ClientSocket, _ id: ConnectionID
  ) throws(SystemCallError) {
    if client.isWatched {
      client.isWatched = false
      try epoll.remove(client.socket.rawValue)
    }
    var bytes: [UInt8] = []
    // The kernel holds no more than a socket's buffer of it.
    while case .moved = try client.socket.receive(appendingTo: &bytes, atMost: Host.bytesPerRead) {}
    service.receive(bytes.span, from: id)
    service.peerVanished(id)
  }

  private static let bytesPerRead = 64 << 10

  // MARK: What goes out

  /// Sends what a client has waiting and asks epoll for what it wants next; closes it when all is said.
  private mutating func serve(_ id: ConnectionID) {
    guard let wish = service.wish(of: id), let client = clients[id.place] else { return }
    do throws(SystemCallError) {
      if wish.hasOutput { try send(to: client, id) }
      try ask(for: client, id)
    } catch {
      fail(id, error)
    }
    if service.wish(of: id)?.isDone == true { drop(id) }
  }

  private mutating func send(to client: ClientSocket, _ id: ConnectionID) throws(SystemCallError) {
    let transfer = try service.withOutput(of: id) { (output) throws(SystemCallError) in
      try client.socket.send(output)
    }
    switch transfer {
    case .moved(let bytes): service.sent(bytes, to: id)
    case .wouldBlock: break
    case .closed: service.peerVanished(id)
    }
  }

  /// Tells epoll what the client waits for, where that has changed.
  private func ask(for client: ClientSocket, _ id: ConnectionID) throws(SystemCallError) {
    guard let wish = service.wish(of: id), !wish.isDone, client.isWatched else { return }
    var interest: Epoll.Interest = []
    if wish.hasOutput { interest.insert(.writable) }
    if wish.wantsInput { interest.insert(.readable) }
    guard interest != client.interest else { return }
    client.interest = interest
    try epoll.modify(client.socket.rawValue, interest, token: id.token)
  }

  /// A system call failed for one client: it is given up, everybody else goes on.
  private mutating func fail(_ id: ConnectionID, _ error: SystemCallError) {
    log.send(.debug, "A client was given up: \(error)")
    service.peerVanished(id)
  }

  /// Closes a client's descriptor; epoll forgets it with that.
  private mutating func drop(_ id: ConnectionID) {
    service.forget(id)
    clients[id.place] = nil
    if acceptsAgainAt != nil { acceptsAgainAt = 0 }
  }

  // MARK: What the administrator hears and wants

  private func report(_ discontinuity: Discontinuity) {
    let entry = DiscontinuityEntry(discontinuity)
    log.send(entry.priority, entry.message, as: entry.kind, fields: entry.fields)
  }

  private func report(_ late: LateExpiries) {
    let entry = LateEntry(late)
    log.send(.notice, entry.message, as: .expiredLate, fields: entry.fields)
  }

  private mutating func carryOut(_ request: ControlRequest) {
    switch request.action {
    case .reload: service.conclude(request, refused: reload().map(ConfigurationRefusal.init))
    case .setLogLevel(let level):
      guard let priority = Journal.Priority(rawValue: level) else {
        fatalError("the service let level \(level) pass")
      }
      log.setThreshold(priority)
      service.conclude(request)
    }
  }

  /// Reads the configuration again: what it says holds from here on, for what is new. Where it cannot
  /// be followed the old one stays, and the reason is returned.
  private mutating func reload() -> ConfigurationError? {
    // Who stops has told so, and is not ready any more.
    let isServing = stopsAt == nil
    if isServing {
      _ = notifier.reloading(sinceMonotonicUSec: Clocks.read().monotonicNSec / 1_000)
    }
    defer { if isServing { _ = notifier.ready(status: status.text) } }
    do throws(ConfigurationError) {
      let read = try configuration.read()
      log.setThreshold(Journal.Priority(logLevel ?? read.settings.logLevel))
      for warning in read.warnings { log.send(.warning, warning) }
      service.adopt(read.settings.limits)
      service.scheduler.notedAfterUSec = read.settings.logLateUSec
      status.hasRefusedReload = false
      log.send(.info, "The configuration was read again", as: .reloaded)
      return nil
    } catch {
      status.hasRefusedReload = true
      log.send(.error, "\(error); the old configuration stays", as: .reloadRefused)
      return error
    }
  }

  // MARK: The end

  private mutating func stop(on signal: Signal) {
    guard stopsAt == nil else { return }
    log.send(.info, "Stopping on signal \(signal.rawValue)")
    stopsAt = Clocks.boottimeNSec() + 2_000_000_000
    _ = notifier.stopping(status: "Stopping")
    if acceptsAgainAt == nil { try? epoll.remove(listener.rawValue) }
    acceptsAgainAt = nil
  }

  /// Whether it was told to stop and everything that was read is answered, or its time is up.
  private var isFinished: Bool {
    guard let stopsAt else { return false }
    return service.isQuiet || Clocks.boottimeNSec() >= stopsAt
  }
}

extension Instant {
  /// Nanoseconds since boot, as the kernel's timers take them. What lies beyond the most that 64 bits
  /// can say, 292 years, becomes that.
  package var nanoseconds: Int64 {
    let (product, overflow) = Int64(rawValue).multipliedReportingOverflow(by: 1_000)
    return overflow ? .max : product
  }
}

extension ConfigurationRefusal {
  init(_ error: ConfigurationError) {
    switch error {
    case .unreadable(let cause):
      self.init(message: "\(error)", file: cause.path, line: nil)
    case .refused(let cause):
      self.init(message: "\(error)", file: cause.position.file, line: cause.position.line)
    }
  }
}

extension Reading {
  /// Microseconds, each clock rounded up: a length counts from not before its call was read.
  init(roundingUp reading: ClockReading) {
    self.init(
      monotonic: (reading.monotonicNSec + 999) / 1_000,
      boottime: (reading.boottimeNSec + 999) / 1_000,
      realtime: (reading.realtimeNSec + 999) / 1_000,
      uncertaintyUSec: reading.isCoarse ? (reading.spreadNSec + 999) / 1_000 : 0)
  }
}
