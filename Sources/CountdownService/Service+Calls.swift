internal import ControlInterface
internal import Countdowns
internal import JSON
internal import TimingWheel
internal import Varlink

/// Calls: read, decided, answered, in the order they came on each connection.
extension Service {
  /// Handles what a connection has to handle, within the bounds of one turn.
  mutating func handle(_ index: Int) {
    switch connections[index].activity {
    case .listing:
      continueListing(index)
      return
    case .subscribed:
      serveStream(index)
      return
    case .watching:
      queueWatch(index)
      return
    case .changingMany:
      continueMany(index)
      if case .calling = connections[index].activity { enqueue(index) }
      return
    case .awaitingVerdict, .awaitingHost, .blocked: return
    case .calling: break
    }
    // The buffer is moved out, so that a message can be lent while the rest of the service changes.
    var input = InputBuffer()
    swap(&input, &connections[index].input)
    var calls = 0
    var bytes = 0
    while case .calling = connections[index].activity, !connections[index].isClosing {
      guard mayBeAnswered(index) else { break }  // It goes on when its replies are read.
      guard let message = input.nextMessage() else {
        if input.count > limits.messageBytes { refuseOverlong(index, bytes: input.count) }
        break
      }
      guard message.count <= limits.messageBytes else {
        refuseOverlong(index, bytes: message.count)
        break
      }
      guard calls < callShare, bytes < Service.bytesPerTurn, callBudget > 0 else {
        enqueue(index)
        break
      }
      calls += 1
      callBudget -= 1 + message.count / Service.bytesPerCost
      bytes += message.count
      if carryOut(input.message(message), from: index) {
        input.take(message)
        tallies.note(.calls, of: connections[index].user)
      }
      if connections[index].isDeaf { abandonStream(index) }
    }
    if input.count == 0 { spare.put(input.takeMemory()) }
    guard !connections[index].isClosing else { return }
    swap(&input, &connections[index].input)
    noteInput(index)
  }

  /// Bytes of a call that cost as much as a short call does.
  private static let bytesPerCost = 512
  /// Calls and bytes that are handled for one connection in a turn, at most; the rest waits for the
  /// next.
  static let callsPerTurn = 256
  private static let bytesPerTurn = 1 << 20

  private mutating func refuseOverlong(_ index: Int, bytes: Int) {
    let limit = limits.messageBytes
    write(to: index) {
      $0.refusal(
        .quotaExceeded(resource: .messageBytes, limit: limit, used: bytes), name: [])
    }
    close(index)
  }

  /// Carries out one call.
  ///
  /// - Returns: Whether the message is done with; false where it has to wait for a verdict on its name.
  private mutating func carryOut(_ message: Span<UInt8>, from index: Int) -> Bool {
    let envelope: CallEnvelope
    do {
      envelope = try CallEnvelope.read(message)
    } catch {
      close(index)
      return true
    }
    let isOneway = envelope.flags.contains(.oneway)
    let written = connections[index].output.count
    defer {
      // Nobody waits for the answer to a oneway call, whatever it is.
      if isOneway, connections[index].output.count > written {
        connections[index].output.removeLast(connections[index].output.count - written)
        noteOutput(index)
      }
    }
    do {
      let call = try DecodedCall.decode(
        envelope, in: message, standard: scheduler.terms.standard)
      name.removeAll(keepingCapacity: true)
      if let text = call.name {
        text.appendDecoded(from: message, to: &name)
        if Name.problem(in: name.span) != nil { throw ServiceError.invalidParameter("name") }
      }
      let hasMore = envelope.flags.contains(.more)
      let owners = try owners(of: call, from: index)
      return try perform(
        call.command, of: owners, in: message, from: index,
        flags: (isOneway: isOneway, hasMore: hasMore))
    } catch let error as ServiceError {
      write(to: index) { error.write(to: &$0) }
    } catch let refusal as Refusal {
      let name = name
      write(to: index) { $0.refusal(refusal, name: name) }
    } catch {
      fatalError("an error that no call has: \(error)")
    }
    return true
  }

  /// Whose countdowns a call is about, if its caller may ask about them.
  private mutating func owners(
    of call: DecodedCall, from index: Int
  ) throws(ServiceError) -> Owners {
    let caller = connections[index].user
    let isAdmin = connections[index].isAdmin
    if call.isAboutAll {
      guard isAdmin else { throw .permissionDenied }
      return .all
    }
    owner = call.owner ?? scheduler.users[caller].uid
    guard owner != scheduler.users[caller].uid else { return .one(caller) }
    guard isAdmin else { throw .permissionDenied }
    // Naming somebody makes nobody known, unless he is given something: see ``known(_:uid:)``. Root is.
    return .one(owner == 0 ? scheduler.users.index(of: 0) : scheduler.users.known(owner))
  }

  /// Makes the owner that a call names known, where he was not.
  ///
  /// - Parameter user: The index that he has so far.
  /// - Returns: The one that he has from here on.
  mutating func known(_ user: UInt32, uid: UInt32) throws(Refusal) -> UInt32 {
    guard user == UserTable.nobody else { return user }
    let used = scheduler.users.count
    guard used < limits.namedUsers else {
      throw .quotaExceeded(resource: .users, limit: limits.namedUsers, used: used)
    }
    return scheduler.users.index(of: uid)
  }

  private mutating func perform(
    _ command: Command, of owners: Owners, in message: Span<UInt8>, from index: Int,
    flags: (isOneway: Bool, hasMore: Bool)
  ) throws -> Bool {
    // Only methods that look at `owners` can be about all of them.
    let user = if case .one(let owner) = owners { owner } else { connections[index].user }
    switch command {
    case .start(let request, let payload):
      let existing = scheduler.find(user: user, name: name.span)
      guard isFree(existing, user: user, for: index) else { return false }
      handOut(existing)
      switch try scheduler.decideStart(request, user: user, existing: existing) {
      case .standing(let id): writeStarted(id, created: false, to: index)
      case .change(var plan):
        plan.user = try known(user, uid: owner)
        let created = plan.action == .start
        // One that only moves what stands keeps that one's payload.
        try carry(
          plan, of: existing, payload: created ? payload.map { message.copy(of: $0) } : nil,
          reply: .started(created: created), from: index, isOneway: flags.isOneway)
      }
    case .get:
      guard let id = scheduler.find(user: user, name: name.span) else {
        throw Refusal.noSuchCountdown
      }
      handOut(id)
      writeOne(id, to: index)
    case .getMany(let names): try getMany(names, of: user, in: message, from: index)
    case .list(let request):
      try list(request, of: owners, in: message, from: index, isStreamed: flags.hasMore)
    case .count: writeCount(of: owners, to: index)
    case .pause(let revision):
      return try verb(index, of: user, flags.isOneway) { scheduler, id throws(Refusal) in
        try scheduler.decidePause(id, revision: revision)
      }
    case .resume(let revision):
      return try verb(index, of: user, flags.isOneway) { scheduler, id throws(Refusal) in
        try scheduler.decideResume(id, revision: revision)
      }
    case .restart(let revision):
      return try verb(index, of: user, flags.isOneway) { scheduler, id throws(Refusal) in
        try scheduler.decideRestart(id, revision: revision)
      }
    case .extend(let extent, let revision):
      return try verb(index, of: user, flags.isOneway) { scheduler, id throws(Refusal) in
        try scheduler.decideExtend(id, extent, revision: revision)
      }
    case .cancel(let revision):
      return try verb(index, of: user, flags.isOneway) { scheduler, id throws(Refusal) in
        try scheduler.decideCancel(id, revision: revision)
      }
    case .setPayload(let payload, let revision):
      return try verb(
        index, of: user, flags.isOneway, payload: payload.map { message.copy(of: $0) }
      ) { scheduler, id throws(Refusal) in
        try scheduler.decideSetPayload(id, payloadBytes: payload?.count, revision: revision)
      }
    case .startMany(let items):
      try startMany(items, of: user, in: message, from: index, isOneway: flags.isOneway)
    case .cancelMany(let selection):
      try cancelMany(
        selection, of: owners, in: message, from: index, isOneway: flags.isOneway)
    case .subscribe(let request): try subscribe(request, of: owners, in: message, from: index)
    case .getClocks: writeClocks(of: owners, to: index)
    case .getStatistics: writeStatistics(of: owners, to: index)
    case .watch(let request): try watch(request, of: owners, in: message, from: index)
    case .getInfo: writeInfo(to: index)
    case .getInterfaceDescription(let interface):
      try writeDescription(of: interface.text(in: message), to: index)
    case .ping: writeDone(to: index)
    case .reload: try ask(.reload, from: index, isOneway: flags.isOneway)
    case .setLogLevel(let level):
      try ask(.setLogLevel(level), from: index, isOneway: flags.isOneway)
    }
    return true
  }

  /// A verb on a countdown that must be there.
  private mutating func verb(
    _ index: Int, of user: UInt32, _ isOneway: Bool, payload: [UInt8]? = nil,
    _ decide: (borrowing Scheduler, EntryID) throws(Refusal) -> Plan
  ) throws(Refusal) -> Bool {
    let existing = scheduler.find(user: user, name: name.span)
    guard isFree(existing, user: user, for: index) else { return false }
    guard let id = existing else { throw .noSuchCountdown }
    handOut(id)
    let plan = try decide(scheduler, id)
    let reply: ChangeReply =
      switch plan.action {
      case .cancel: .cancelled
      case .setPayload: .payloadSet
      case .start, .restart, .extend, .pause, .resume: .moved
      }
    try carry(plan, of: id, payload: payload, reply: reply, from: index, isOneway: isOneway)
    return true
  }

  /// Due time decides: what is due but was not handed out is handed out before a call acts on it.
  mutating func handOut(_ id: EntryID?) {
    guard let id, let event = scheduler.expireIfDue(id) else { return }
    publish(event)
  }

  // MARK: Replies

  /// Appends to a connection's output what `body` writes while it looks at the service.
  @discardableResult
  mutating func write<Result>(
    to index: Int, _ body: (inout Service, inout JSONWriter) -> Result
  ) -> Result {
    var bytes: [UInt8] = []
    swap(&bytes, &connections[index].output)  // Moved, so that it grows in place.
    if bytes.capacity == 0 { bytes = spare.take() }
    var writer = JSONWriter(reusing: bytes)
    bytes = []
    let result = body(&self, &writer)
    connections[index].output = writer.take()
    noteOutput(index)
    touch(index)
    return result
  }

  /// Appends to a connection's output.
  mutating func write(to index: Int, _ body: (inout JSONWriter) -> Void) {
    write(to: index) { _, writer in body(&writer) }
  }

  /// The reply to a `Start`.
  mutating func writeStarted(_ id: EntryID, created: Bool, to index: Int) {
    let view = scheduler.view(of: id)
    let (now, anchor) = (scheduler.now, scheduler.anchor)
    write(to: index) {
      $0.beginReply()
      $0.started(view, created: created, at: now, by: anchor)
      $0.endReply()
    }
  }

  /// The reply to the verbs that move a countdown.
  mutating func writeMoved(_ id: EntryID, to index: Int) {
    let view = scheduler.view(of: id)
    let (now, anchor) = (scheduler.now, scheduler.anchor)
    write(to: index) {
      $0.beginReply()
      $0.field(.revision, view.revision)
      $0.field(.remainingUSec, view.remainingUSec)
      if let deadline = view.deadline {
        $0.deadline(.deadline, deadline, on: view.clock, by: anchor)
      }
      $0.timestamp(.now, now)
      $0.endReply()
    }
  }

  private mutating func getMany(
    _ names: [JSONString], of user: UInt32, in message: Span<UInt8>, from index: Int
  ) throws {
    guard names.count <= limits.namesPerGet else {
      throw Refusal.quotaExceeded(
        resource: .namesPerCall, limit: limits.namesPerGet, used: names.count)
    }
    callBudget -= names.count
    var found: [EntryID] = []
    var missing: [[UInt8]] = []
    for (place, text) in names.enumerated() {
      let name = try name(text, in: message, "names[\(place)]")
      if let id = scheduler.find(user: user, name: name.span) {
        found.append(id)
      } else {
        missing.append(name)
      }
    }
    for id in found { handOut(id) }
    let bound = reachedBound(of: index)
    let written = connections[index].output.count
    write(to: index) { service, writer in
      writer.beginReply()
      writer.key(.countdowns)
      writer.beginArray()
      for id in found { service.writeCountdown(id, to: &writer) }
      writer.endArray()
      writer.key(.missing)
      writer.beginArray()
      for name in missing { writer.string(name.span) }
      writer.endArray()
      writer.timestamp(.now, service.scheduler.now)
      writer.endReply()
    }
    let added = connections[index].output.count - written
    guard let bound, added > limits.listBytes else { return }
    connections[index].output.removeLast(added)
    noteOutput(index)
    throw bound
  }

  /// A name that is not the parameter `name`.
  func name(
    _ text: JSONString, in message: Span<UInt8>, _ parameter: String
  ) throws(ServiceError) -> [UInt8] {
    var bytes: [UInt8] = []
    text.appendDecoded(from: message, to: &bytes)
    if Name.problem(in: bytes.span) != nil { throw .invalidParameter(parameter) }
    return bytes
  }

  private mutating func writeOne(_ id: EntryID, to index: Int) {
    write(to: index) { service, writer in
      writer.beginReply()
      writer.key(.countdown)
      service.writeCountdown(id, to: &writer)
      writer.timestamp(.now, service.scheduler.now)
      writer.endReply()
    }
  }

  /// A countdown as a value.
  func writeCountdown(_ id: EntryID, to writer: inout JSONWriter) {
    let view = scheduler.view(of: id)
    writer.countdown(
      view, name: scheduler.name(of: id), owner: scheduler.users[view.user].uid,
      by: scheduler.anchor)
  }

  private mutating func writeCount(of owners: Owners, to index: Int) {
    let counts = counts(of: owners)
    write(to: index) {
      $0.beginReply()
      $0.field(.running, Int64(counts.running))
      $0.field(.paused, Int64(counts.paused))
      $0.field(.ended, Int64(counts.ended))
      $0.endReply()
    }
  }

  private mutating func writeInfo(to index: Int) {
    let version = identity.version
    write(to: index) {
      $0.beginReply()
      $0.field(.vendor, "countdownd")
      $0.field(.product, "countdownd")
      $0.field(.version, version)
      $0.field(.url, "")
      $0.key(.interfaces)
      $0.beginArray()
      $0.string(ServiceInterface.name)
      $0.string(InterfaceFile.name)
      $0.string(ServiceControl.name)
      $0.endArray()
      $0.endReply()
    }
  }

  private mutating func writeDescription(of interface: String, to index: Int) throws(ServiceError) {
    let text = try Service.description(of: interface)
    write(to: index) {
      $0.beginReply()
      $0.key(.description)
      $0.string(text.span)
      $0.endReply()
    }
  }

  private static func description(of interface: String) throws(ServiceError) -> [UInt8] {
    switch interface {
    case InterfaceFile.name: InterfaceFile.text
    case ServiceInterface.name: Array(ServiceInterface.text.utf8)
    case ServiceControl.name: Array(ServiceControl.text.utf8)
    default: throw .interfaceNotFound(interface)
    }
  }
}
