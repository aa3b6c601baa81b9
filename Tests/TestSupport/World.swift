internal import ControlInterface
package import CountdownService
package import Countdowns
internal import TimingWheel

/// A whole daemon in a test: a service, its clients, its ledger and its clocks, and what a host does
/// between them. Nothing moves but by ``turn()`` and what calls it.
///
/// Every reply is held against the interface file; what does not fit it stands in ``problems``.
package final class World {
  package var clock: VirtualClock
  package var service: Service
  package private(set) var clients: [VirtualClient] = []
  package private(set) var ledger: DelayingLedger?
  /// The reading of each turn.
  package private(set) var readings: [Reading] = []
  /// What was not as promised, in words.
  package var problems: [String] = []
  /// What has been asked, answered and seen.
  package private(set) var coverage = Coverage()
  /// The replies that were written in the last turn, and those that were read in it.
  package private(set) var written: [News] = []
  package private(set) var news: [News] = []
  /// Asked after each turn, while a test looks for broken invariants.
  package var checksInvariants = true
  /// The ledger keeps its verdicts to itself.
  package var holdsVerdicts = false
  /// What was asked of the host, in order; and why it refuses each configuration, `nil` if it does not.
  package private(set) var requests: [ControlRequest.Action] = []
  package var configurationRefusal: ConfigurationRefusal?
  /// Called after each turn.
  package var afterTurn: ((World) -> Void)?
  /// Cuts what goes through the sockets into random pieces; `nil` for whole ones.
  private var pieces: SplitMix64?

  /// Which boot of its machine it is.
  package static let bootID = "0123456789abcdef0123456789abcdef"

  /// One reply to a client.
  package struct News {
    package let client: Int
    /// The place of its call among the client's; `nil` where it belongs to none.
    package let call: Int?
    package let reply: VirtualClient.Reply
  }

  /// - Parameters:
  ///   - ledger: `nil` for one that answers at once.
  ///   - piecesSeed: Cuts the streams of bytes by this seed.
  package init(
    limits: Limits = Limits(), clock: VirtualClock = VirtualClock(), ledger: DelayingLedger? = nil,
    terms: LedgerTerms? = nil, piecesSeed: UInt64? = nil
  ) {
    self.clock = clock
    self.ledger = ledger
    pieces = piecesSeed.map(SplitMix64.init(seed:))
    let inMemory = LedgerTerms.inMemory(wallClock: clock.reading.realtime, notSupported: 95)
    service = Service(
      at: clock.reading, limits: limits,
      terms: terms ?? (ledger == nil ? inMemory : DelayingLedger.terms),
      identity: Service.Identity(version: "0", uid: World.daemonUID, bootID: World.bootID),
      reserving: 0)
    service.machine.residentBytes = 1 << 20
  }

  /// The user that the daemon runs as.
  package static let daemonUID: UInt32 = 900

  // MARK: Clients

  /// A client of that user connects.
  ///
  /// - Parameter isAdmin: It may name other owners; unless said, root may.
  /// - Returns: Its place among the clients.
  package func connect(uid: UInt32 = 1_000, isAdmin: Bool? = nil) -> Int {
    let id = service.open(uid: uid, isAdmin: isAdmin ?? (uid == 0))
    clients.append(VirtualClient(id: id, uid: uid))
    return clients.count - 1
  }

  /// Sends bytes as they are. What they are answered with is nobody's call.
  package func send(_ bytes: [UInt8], from client: Int) {
    clients[client].outbox += bytes
  }

  package func send(_ text: String, from client: Int) { send(Array(text.utf8), from: client) }

  /// How a call is to be answered.
  package enum Flag: String {
    case more, oneway, upgrade
  }

  /// Sends a call. A method without a dot is one of our interface.
  package func post(
    _ method: String, _ parameters: JSONTree = [:], _ flag: Flag? = nil, from client: Int
  ) {
    coverage.note(call: method, parameters)
    post(method, text: parameters.text, parameters, flag, from: client)
  }

  /// Sends a call with parameters as they are written.
  package func post(
    _ method: String, text: String, _ parameters: JSONTree = [:], _ flag: Flag? = nil,
    from client: Int
  ) {
    let name = method.contains(".") ? method : InterfaceFile.name + "." + method
    let flagText = flag.map { ",\"\($0.rawValue)\":true" } ?? ""
    send("{\"method\":\"\(name)\",\"parameters\":\(text)\(flagText)}\0", from: client)
    guard flag != .oneway else { return }
    clients[client].calls.append(
      VirtualClient.Call(
        method: method, parameters: parameters, isStreamed: flag == .more,
        sentAfter: readings.count))
  }

  /// Sends a call, lets the world settle, and gives its last reply; for one that cannot fail to come.
  @discardableResult
  package func call(
    _ method: String, _ parameters: JSONTree = [:], _ flag: Flag? = nil, from client: Int
  ) -> VirtualClient.Reply {
    post(method, parameters, flag, from: client)
    return lastReply(of: client)
  }

  /// As above, with parameters as they are written.
  @discardableResult
  package func call(
    _ method: String, text: String, _ flag: Flag? = nil, from client: Int
  ) -> VirtualClient.Reply {
    post(method, text: text, [:], flag, from: client)
    return lastReply(of: client)
  }

  private func lastReply(of client: Int) -> VirtualClient.Reply {
    let place = clients[client].calls.count - 1
    settle()
    if let reply = clients[client].calls[place].replies.last { return reply }
    problems.append("\(clients[client].calls[place].method) was not answered")
    return VirtualClient.Reply(error: "none", parameters: [:], continues: false)
  }

  /// The client does not read any more, or does again.
  package func setReading(_ isReading: Bool, _ client: Int) {
    clients[client].isReading = isReading
  }

  /// What the client reads is kept as it is, and not looked at.
  package func keepBytes(of client: Int) { clients[client].keepsBytes = true }

  /// What goes to the client is never cut.
  package func sendWhole(to client: Int) { clients[client].isWhole = true }

  /// The client sends no more, and goes on reading.
  package func shutDown(_ client: Int) { clients[client].hasShutDown = true }

  /// The client is gone.
  package func vanish(_ client: Int) { clients[client].hasVanished = true }

  /// What waits to be sent to a client, as it is.
  package func waitingText(for client: Int) -> String {
    String(decoding: service.withOutput(of: clients[client].id) { $0.array }, as: UTF8.self)
  }

  /// The events that a subscriber has been told, in order.
  package func events(of client: Int) -> [JSONTree] {
    clients[client].calls.flatMap(\.replies).flatMap { $0["events"]?.array ?? [] }
  }

  /// The kinds and names of those events, `expired a`.
  package func told(to client: Int) -> [String] {
    events(of: client).map { "\($0["kind"]?.string ?? "") \($0["name"]?.string ?? "")" }
  }

  /// Of a hundred changes the ledger refuses so many from now on.
  package func setRefusals(_ percent: Int) { ledger?.habits.refusedPercent = percent }

  // MARK: Turning

  /// One turn, as the host makes it: read, read the clocks, turn, send.
  package func turn() {
    for client in clients.indices { read(client) }
    readings.append(clock.reading)
    news.removeAll(keepingCapacity: true)
    service.turn(at: clock.reading, verdicts: holdsVerdicts ? [] : ledger?.verdicts() ?? [])
    let batch = service.takeBatch()
    ledger?.take(batch)
    if ledger == nil, !batch.isEmpty { problems.append("a change was to be stored: \(batch)") }
    for request in service.takeRequests() {
      requests.append(request.action)
      service.conclude(request, refused: request.action == .reload ? configurationRefusal : nil)
    }
    let touched = Set(service.takeTouched())
    written.removeAll(keepingCapacity: true)
    for client in clients.indices where touched.contains(clients[client].id) { look(client) }
    for client in clients.indices {
      // One that was not read before is looked at again as soon as it is.
      let isTouched = touched.contains(clients[client].id)
      if isTouched || canSend(client) { serve(client) }
    }
    service.beginWait(at: clock.reading.boottime)
    if let ledger, let problem = ledger.problems.first { problems.append(problem) }
    if checksInvariants, let broken = service.brokenInvariant() {
      problems.append("turn \(readings.count): \(broken)")
    }
    afterTurn?(self)
  }

  /// Turns, while the clocks stand, until nothing is left to do.
  package func settle(atMost turns: Int = 100_000) {
    for _ in 0..<turns {
      turn()
      if isSettled { return }
    }
    problems.append("the world does not come to rest")
  }

  /// Nothing is left to do before the clocks move.
  package var isSettled: Bool {
    guard service.nextWake != .now, holdsVerdicts || ledger?.isEmpty ?? true else { return false }
    return !clients.indices.contains { canSend($0) || canRead($0) }
  }

  /// Lets time go by, with a turn whenever the service wants one.
  ///
  /// - Returns: How often it woke.
  @discardableResult
  package func run(_ usec: Int64) -> Int {
    let end = clock.reading.boottime + usec
    var wakes = 0
    settle()
    while case .at(let instant) = service.nextWake, Int64(instant.rawValue) <= end {
      clock.run(max(Int64(instant.rawValue) - clock.reading.boottime, 0))
      settle()
      wakes += 1
    }
    clock.run(end - clock.reading.boottime)
    settle()
    return wakes
  }

  // MARK: The host's part

  private func canRead(_ client: Int) -> Bool {
    let peer = clients[client]
    if peer.isClosed || peer.isEndTold { return false }
    if peer.outbox.isEmpty { return peer.hasVanished || peer.hasShutDown }
    return service.wish(of: peer.id)?.wantsInput ?? false
  }

  private func canSend(_ client: Int) -> Bool {
    let peer = clients[client]
    guard !peer.isClosed, peer.isReading || peer.hasVanished else { return false }
    return service.wish(of: peer.id)?.hasOutput ?? false
  }

  private func read(_ client: Int) {
    guard canRead(client) else { return }
    let id = clients[client].id
    let length = piece(of: clients[client].outbox.count)
    if length > 0 {
      let bytes = Array(clients[client].outbox.prefix(length))
      clients[client].outbox.removeFirst(length)
      service.receive(bytes.span, from: id)
    }
    guard clients[client].outbox.isEmpty else { return }
    if clients[client].hasVanished {
      clients[client].isEndTold = true
      service.peerVanished(id)
    } else if clients[client].hasShutDown {
      clients[client].isEndTold = true
      service.peerEnded(id)
    }
  }

  private func piece(of count: Int) -> Int {
    let most = min(count, 208 << 10)  // What a Unix socket takes at once.
    guard most > 1, pieces != nil else { return most }
    return pieces.map {
      var random = $0; defer { pieces = random }; return cut(most, &random)
    } ?? most
  }

  /// Often all, often little, sometimes anything.
  private func cut(_ most: Int, _ random: inout SplitMix64) -> Int {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: Int.random(in: 1...min(most, 8), using: &random)
    case 1: Int.random(in: 1...most, using: &random)
    default: most
    }
  }

  private func look(_ client: Int) {
    guard !clients[client].isClosed, !clients[client].isEndTold || !clients[client].hasVanished,
      !clients[client].keepsBytes
    else { return }
    let known = clients[client].knownBytes
    let new = service.withOutput(of: clients[client].id) {
      $0.extracting(droppingFirst: known).array
    }
    for (call, reply) in clients[client].look(at: new, problems: &problems) {
      written.append(News(client: client, call: call, reply: reply))
      let method = call.map { clients[client].calls[$0].method }
      if let problem = coverage.note(reply: reply, to: method) { problems.append(problem) }
    }
  }

  private func serve(_ client: Int) {
    let id = clients[client].id
    guard !clients[client].isClosed, let wish = service.wish(of: id) else { return }
    if wish.hasOutput { send(to: client) }
    guard service.wish(of: id)?.isDone == true else { return }
    service.forget(id)
    clients[client].isClosed = true
  }

  private func send(to client: Int) {
    let id = clients[client].id
    if clients[client].hasVanished {
      clients[client].isEndTold = true
      service.peerVanished(id)
      return
    }
    guard clients[client].isReading else { return }
    let isWhole = clients[client].isWhole
    let output = service.withOutput(of: id) { output in
      output.extracting(first: isWhole ? output.count : piece(of: output.count)).array
    }
    service.sent(output.count, to: id)
    for (call, reply) in clients[client].take(output, turn: readings.count, problems: &problems) {
      news.append(News(client: client, call: call, reply: reply))
    }
  }
}

extension Span<UInt8> {
  /// A copy.
  package var array: [UInt8] {
    // SAFETY: the span's bytes are copied before the pointer to them ends.
    unsafe withUnsafeBufferPointer { bytes in unsafe Array(bytes) }
  }
}
