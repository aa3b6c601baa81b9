internal import ControlInterface
internal import Countdowns
internal import JSON
internal import TimingWheel
internal import Varlink

/// Calls that make many changes: each goes its own way to the ledger, and all are answered together.
extension Service {
  /// Changes that one turn makes for such a call; the rest waits for the next.
  private static let changesPerTurn = 256

  /// Goes on with a call of many changes, once the changes before have their verdicts.
  mutating func continueMany(_ index: Int) {
    guard let many = connections[index].many, many.underway == 0, !many.isWaiting else { return }
    if many.cancelling != nil { continueCancelling(index) }
    if many.starting != nil { continueStarting(index) }
    guard let many = connections[index].many, many.underway == 0, !many.isWaiting else { return }
    enqueue(index)
  }

  /// A verdict was favourable.
  mutating func note(_ outcome: Outcome, of place: Int, _ plan: Plan, _ index: Int) {
    connections[index].many?.underway -= 1
    connections[index].many?.cancelling?.cancelled += 1
    if connections[index].many?.starting != nil {
      let result = started(outcome.id, created: plan.action == .start)
      connections[index].many?.starting?.results[place] = result
    }
  }

  /// A change was not done.
  mutating func note(_ refusal: Refusal, of place: Int, name: [UInt8], _ index: Int) {
    connections[index].many?.underway -= 1
    connections[index].many?.cancelling?.failure = refusal
    if connections[index].many?.starting != nil {
      connections[index].many?.starting?.results[place] = Service.refused(refusal, name: name)
    }
  }

  /// Ends the call; the next one can be handled.
  private mutating func endMany(_ index: Int, _ answer: (inout JSONWriter) -> Void) {
    let isOneway = connections[index].many?.isOneway ?? true
    connections[index].many = nil
    connections[index].activity = .calling
    if !isOneway { write(to: index, answer) }
  }

  // MARK: StartMany

  /// What a result may take besides its name, of which each byte may be escaped.
  private static let resultBesidesName = 400

  mutating func startMany(
    _ items: [StartItem], of user: UInt32, in message: Span<UInt8>, from index: Int, isOneway: Bool
  ) throws {
    guard items.count <= limits.countdownsPerStart else {
      throw Refusal.quotaExceeded(
        resource: .countdownsPerCall, limit: limits.countdownsPerStart, used: items.count)
    }
    var starting = ManyCall.Starting(uid: owner, user: user)
    for (place, item) in items.enumerated() {
      starting.items.append(
        .init(
          name: try name(item.name, in: message, "countdowns[\(place)].name"),
          request: item.request, payload: item.payload.map { message.copy(of: $0) }))
    }
    // Once something is done it has to be told: before that it is seen to that there is room.
    if let bound = reachedBound(of: index) {
      let longest = starting.items.reduce(0) {
        $0 + 2 * $1.name.count + Service.resultBesidesName
      }
      if longest > limits.listBytes { throw bound }
    }
    starting.open = Array(items.indices)
    starting.results = Array(repeating: [], count: items.count)
    connections[index].many = ManyCall(isOneway: isOneway, starting: starting)
    connections[index].activity = .changingMany
    continueMany(index)
  }

  /// Decides all whose names are free, in order, and answers when nothing is left. A name that comes
  /// twice, or of which another's change is under way, is decided on the outcome of that.
  private mutating func continueStarting(_ index: Int) {
    // Moved out, so that it changes in place.
    guard var starting = connections[index].many?.starting else { return }
    connections[index].many?.starting = nil
    if starting.user == UserTable.nobody { starting.user = scheduler.users.known(starting.uid) }
    var later: [Int] = []
    var firstLocked: OwnedName?
    for place in starting.open {
      callBudget -= 1
      let name = OwnedName(user: starting.user, name: starting.items[place].name)
      let existing = scheduler.find(user: starting.user, name: name.name.span)
      if isFree(existing, name) {
        start(starting.items[place], existing, &starting, place, index)
      } else {
        firstLocked = firstLocked ?? name
        later.append(place)
      }
    }
    starting.open = later
    connections[index].many?.starting = starting
    if let firstLocked {
      waitAlone(for: firstLocked, index)
    } else if connections[index].many?.underway == 0 {
      endMany(index) { writer in
        writer.beginReply()
        writer.key(.results)
        writer.beginArray()
        for result in starting.results { writer.raw(result.span) }
        writer.endArray()
        writer.endReply()
      }
    }
  }

  private mutating func start(
    _ item: ManyCall.Starting.Item, _ existing: EntryID?, _ starting: inout ManyCall.Starting,
    _ place: Int, _ index: Int
  ) {
    handOut(existing)
    do throws(Refusal) {
      switch try scheduler.decideStart(item.request, user: starting.user, existing: existing) {
      case .standing(let id): starting.results[place] = started(id, created: false)
      case .change(var plan):
        starting.user = try known(starting.user, uid: starting.uid)
        plan.user = starting.user
        let created = plan.action == .start
        let outcome = try submit(
          plan, of: existing, name: item.name, payload: created ? item.payload : nil,
          reply: .ofMany(place), from: index, isOneway: true)
        if let outcome {
          starting.results[place] = started(outcome.id, created: created)
        } else {
          connections[index].many?.underway += 1
        }
      }
    } catch {
      starting.results[place] = Service.refused(error, name: item.name)
    }
  }

  private func started(_ id: EntryID, created: Bool) -> [UInt8] {
    var writer = JSONWriter(reusing: [])
    writer.beginObject()
    writer.started(
      scheduler.view(of: id), created: created, at: scheduler.now, by: scheduler.anchor)
    writer.endObject()
    return writer.take()
  }

  private static func refused(_ refusal: Refusal, name: [UInt8]) -> [UInt8] {
    var writer = JSONWriter(reusing: [])
    writer.beginObject()
    writer.refusedItem(refusal, name: name)
    writer.endObject()
    return writer.take()
  }

  // MARK: CancelMany

  mutating func cancelMany(
    _ selection: Selection, of owners: Owners, in message: Span<UInt8>, from index: Int,
    isOneway: Bool
  ) throws {
    var many = ManyCall(isOneway: isOneway)
    switch selection {
    case .prefix(let prefix):
      let prefix = try nameOrNone(prefix, in: message, "prefix")
      many.cancelling = .init(
        selection: .listing(beginning(of: owners, prefix: prefix, state: nil)))
    case .names(let texts):
      guard case .one(let user) = owners else { throw ServiceError.invalidParameter("allOwners") }
      var names = NameList()
      for (place, text) in texts.enumerated() {
        names.append(try name(text, in: message, "names[\(place)]"))
      }
      many.cancelling = .init(selection: .names(names, user: user, next: 0))
    }
    connections[index].many = many
    connections[index].activity = .changingMany
    continueMany(index)
  }

  /// Cancels a slice, and answers when nothing is left.
  private mutating func continueCancelling(_ index: Int) {
    // Moved out, so that it changes in place.
    guard var cancelling = connections[index].many?.cancelling else { return }
    connections[index].many?.cancelling = nil
    let isEnd =
      switch cancelling.selection {
      case .names(let names, let user, var next):
        cancelSlice(of: names, of: user, &next, &cancelling, index)
      case .listing(var listing): cancelSlice(of: &listing, &cancelling, index)
      }
    connections[index].many?.cancelling = cancelling
    guard isEnd || cancelling.failure != nil, connections[index].many?.underway == 0 else { return }
    endMany(index) { writer in
      if let failure = cancelling.failure {
        writer.refusal(failure, name: [])
        return
      }
      writer.beginReply()
      writer.field(.cancelled, cancelling.cancelled)
      writer.field(.ended, cancelling.ended)
      writer.field(.missing, cancelling.missing)
      writer.endReply()
    }
  }

  /// - Returns: Whether it has come to the last name.
  private mutating func cancelSlice(
    of names: NameList, of user: UInt32, _ next: inout Int,
    _ cancelling: inout ManyCall.Cancelling, _ index: Int
  ) -> Bool {
    defer { cancelling.selection = .names(names, user: user, next: next) }
    let end = min(next + Service.changesPerTurn, names.count)
    while next < end, cancelling.failure == nil {
      callBudget -= 1
      let name = OwnedName(user: user, name: names[next])
      let existing = scheduler.find(user: user, name: name.name.span)
      guard isFree(existing, name) else {
        waitAlone(for: name, index)
        return false
      }
      if let existing {
        cancel(existing, name.name, &cancelling, index)
      } else {
        cancelling.missing += 1
      }
      next += 1
    }
    return next == names.count
  }

  /// - Returns: Whether it has come to the last countdown.
  private mutating func cancelSlice(
    of listing: inout Listing, _ cancelling: inout ManyCall.Cancelling, _ index: Int
  ) -> Bool {
    defer { cancelling.selection = .listing(listing) }
    guard let user = listing.user else { return true }
    page.removeAll(keepingCapacity: true)
    collect(listing, user: user, limit: Service.changesPerTurn)
    let slice = page
    for id in slice where cancelling.failure == nil {
      callBudget -= 1
      let name = OwnedName(user: user, name: scheduler.nameBytes(of: id))
      guard isFree(id, name) else {
        waitAlone(for: name, index)
        return false
      }
      cancel(id, name.name, &cancelling, index)
      listing.after = name.name
    }
    if slice.count < Service.changesPerTurn { goToNextOwner(&listing) }
    return listing.user == nil
  }

  /// Waits for another's change, unless it has changes of its own to wait for first.
  private mutating func waitAlone(for name: OwnedName, _ index: Int) {
    guard connections[index].many?.underway == 0 else { return }
    connections[index].many?.isWaiting = true
    wait(for: name, index)
  }

  /// Cancels one, unless it has ended.
  private mutating func cancel(
    _ id: EntryID, _ name: [UInt8], _ cancelling: inout ManyCall.Cancelling, _ index: Int
  ) {
    handOut(id)
    do throws(Refusal) {
      let plan = try scheduler.decideCancel(id, revision: nil)
      let outcome = try submit(
        plan, of: id, name: name, payload: nil, reply: .ofMany(0), from: index,
        isOneway: true)
      if outcome == nil {
        connections[index].many?.underway += 1
      } else {
        cancelling.cancelled += 1
      }
    } catch {
      switch error {
      case .alreadyExpired, .wrongState: cancelling.ended += 1
      default: cancelling.failure = error
      }
    }
  }
}
