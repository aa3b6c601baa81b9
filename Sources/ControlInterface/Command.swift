package import Countdowns
package import JSON
package import Varlink

/// What a call asks for, its parameters read and their types checked. Ranges and names are not
/// looked at yet: what they may be depends on what stands.
package enum Command: Sendable {
  case start(StartRequest, payload: Range<Int>?)
  case get
  case getMany([JSONString])
  case list(ListRequest)
  case count
  case pause(revision: Int64?)
  case resume(revision: Int64?)
  case restart(revision: Int64?)
  case extend(Scheduler.Extension, revision: Int64?)
  case cancel(revision: Int64?)
  case setPayload(Range<Int>?, revision: Int64?)
  case cancelMany(Selection)
  case startMany([StartItem])
  case subscribe(SubscribeRequest)
  case getClocks
  case getStatistics
  case watch(WatchRequest)
  case getInfo
  case getInterfaceDescription(interface: JSONString)
  case ping
  case reload
  /// 0 … 7, as in syslog(3).
  case setLogLevel(Int)
}

/// One of the countdowns of a `StartMany`.
package struct StartItem: Sendable {
  package let name: JSONString
  package let request: StartRequest
  /// Where its payload stands in the message; `nil` without one.
  package let payload: Range<Int>?
}

/// Which countdowns a `CancelMany` is about.
package enum Selection: Sendable {
  case names([JSONString])
  case prefix(JSONString)
}

/// Which countdowns a `List` is about.
package struct ListRequest: Sendable {
  package var prefix: JSONString?
  package var state: CountdownState?
  package var after: JSONString?
  package var limit: Int64 = 100

  package init() {}
}

/// What a `Subscribe` wants to hear.
package struct SubscribeRequest: Sendable {
  package var prefix: JSONString?
  package var kinds = EventKinds.standard
  package var includesState = false
  /// µs; its range is not checked yet.
  package var heartbeatUSec: Int64 = 30_000_000

  package init() {}
}

/// What a `Watch` follows.
package struct WatchRequest: Sendable {
  package var names: [JSONString]
  /// µs; `nil` for changes alone. Its range is not checked yet.
  package var intervalUSec: Int64?
  /// µs; its range is not checked yet.
  package var heartbeatUSec: Int64 = 30_000_000
}

/// A call, ready to be carried out.
package struct DecodedCall: Sendable {
  package var command: Command
  /// The parameter `name`, of the methods that have one.
  package var name: JSONString?
  /// The user whose countdowns it is about; `nil` for the caller.
  package var owner: UInt32?
  /// It is about everybody's.
  package var isAboutAll = false
}

extension DecodedCall {
  /// Reads the method and the parameters of a call.
  ///
  /// - Parameters:
  ///   - message: The bytes the envelope was read from.
  ///   - standard: The durability of a `Start` that gives none.
  /// - Complexity: O(bytes).
  package static func decode(
    _ envelope: CallEnvelope, in message: Span<UInt8>, standard: Durability
  ) throws(ServiceError) -> DecodedCall {
    guard !envelope.flags.contains(.upgrade) else {
      throw .methodNotImplemented(envelope.method.text(in: message))
    }
    let method = try Method.named(envelope.method, in: message)
    if method.needsMore, !envelope.flags.contains(.more) { throw .expectedMore }
    var parameters = try ParameterReader(
      envelope.parameters, in: message, scope: method.scope)
    var call: DecodedCall =
      switch method {
      case .start: try decodeStart(&parameters, standard: standard)
      case .get: DecodedCall(command: .get, name: try decodeName(&parameters))
      case .getMany: try decodeGetMany(&parameters)
      case .list: try decodeList(&parameters)
      case .count: try decodeNothing(&parameters, .count)
      case .pause: try decodeVerb(&parameters) { .pause(revision: $0) }
      case .resume: try decodeVerb(&parameters) { .resume(revision: $0) }
      case .restart: try decodeVerb(&parameters) { .restart(revision: $0) }
      case .extend: try decodeExtend(&parameters)
      case .cancel: try decodeVerb(&parameters) { .cancel(revision: $0) }
      case .setPayload: try decodeSetPayload(&parameters)
      case .startMany: try decodeStartMany(&parameters, in: message, standard: standard)
      case .cancelMany: try decodeCancelMany(&parameters)
      case .subscribe: try decodeSubscribe(&parameters)
      case .getClocks: try decodeNothing(&parameters, .getClocks)
      case .getStatistics: try decodeNothing(&parameters, .getStatistics)
      case .watch: try decodeWatch(&parameters)
      case .getInfo: try decodeNothing(&parameters, .getInfo)
      case .getInterfaceDescription: try decodeDescription(&parameters)
      case .ping: try decodeNothing(&parameters, .ping)
      case .reload: try decodeNothing(&parameters, .reload)
      case .setLogLevel: try decodeLogLevel(&parameters)
      }
    if let owner = parameters.owner {
      // The largest number means nobody, to the kernel as well.
      guard let uid = UInt32(exactly: owner), uid < .max else { throw .invalidParameter("owner") }
      if parameters.isAboutAll { throw .invalidParameter("allOwners") }
      call.owner = uid
    }
    call.isAboutAll = parameters.isAboutAll
    return call
  }

  private static func decodeStart(
    _ parameters: inout ParameterReader, standard: Durability
  ) throws(ServiceError) -> DecodedCall {
    let item = try startItem(&parameters, standard: standard)
    return DecodedCall(
      command: .start(item.request, payload: item.payload), name: item.name)
  }

  private static func decodeStartMany(
    _ parameters: inout ParameterReader, in message: Span<UInt8>, standard: Durability
  ) throws(ServiceError) -> DecodedCall {
    var objects: [Range<Int>]?
    while try parameters.next() {
      guard parameters.at("countdowns", 0) else { throw parameters.unknown() }
      objects = try parameters.objects()
    }
    guard let objects else { throw .invalidParameter("countdowns") }
    var items: [StartItem] = []
    items.reserveCapacity(objects.count)
    for (place, object) in objects.enumerated() {
      do {
        var parameters = try ParameterReader(object, in: message, scope: .none)
        items.append(try startItem(&parameters, standard: standard))
      } catch {
        guard case .invalidParameter(let parameter) = error else { throw error }
        throw .invalidParameter("countdowns[\(place)].\(parameter)")
      }
    }
    return DecodedCall(command: .startMany(items))
  }

  /// The parameters of a `Start`.
  private static func startItem(
    _ parameters: inout ParameterReader, standard: Durability
  ) throws(ServiceError) -> StartItem {
    var name: JSONString?
    var length: Int64?
    var instant: Int64?
    var clock: CountdownClock?
    var payload: Range<Int>?
    var request = StartRequest(end: .length(0), clock: .boottime, durability: standard)
    while try parameters.next() {
      if parameters.at("name", 0) {
        name = try parameters.string()
      } else if parameters.at("durationUSec", 1) {
        length = try parameters.integer()
      } else if parameters.at("deadlineUSec", 2) {
        instant = try parameters.integer()
      } else if parameters.at("clock", 3) {
        clock = try parameters.word(CountdownClock.self)
      } else if parameters.at("onConflict", 4) {
        request.onConflict = try parameters.word(OnConflict.self) ?? .fail
      } else if parameters.at("catchUp", 5) {
        request.catchUp = try parameters.word(CatchUp.self) ?? .fire
      } else if parameters.at("graceUSec", 6) {
        request.graceUSec = try parameters.integer()
      } else if parameters.at("repeatUSec", 7) {
        request.repeatUSec = try parameters.integer()
      } else if parameters.at("durability", 8) {
        request.durability = try parameters.word(Durability.self) ?? standard
      } else if parameters.at("payload", 9) {
        payload = try parameters.object()
      } else if parameters.at("revision", 10) {
        request.revision = try parameters.integer()
      } else {
        throw parameters.unknown()
      }
    }
    guard let name else { throw .invalidParameter("name") }
    switch (length, instant) {
    case (.some, .some): throw .invalidParameter("deadlineUSec")
    case (nil, nil): throw .invalidParameter("durationUSec")
    case (let length?, nil):
      request.end = .length(length)
      request.clock = clock ?? .boottime
      if request.clock == .realtime { throw .invalidParameter("durationUSec") }
    case (nil, let instant?):
      request.end = .instant(instant)
      request.clock = clock ?? .realtime
      if request.clock != .realtime { throw .invalidParameter("deadlineUSec") }
    }
    if request.graceUSec != nil, request.catchUp == .fire { throw .invalidParameter("graceUSec") }
    if request.revision != nil, request.onConflict != .replace {
      throw .invalidParameter("revision")
    }
    request.payloadBytes = payload?.count
    return StartItem(name: name, request: request, payload: payload)
  }

  private static func decodeName(
    _ parameters: inout ParameterReader
  ) throws(ServiceError) -> JSONString {
    var name: JSONString?
    while try parameters.next() {
      guard parameters.at("name", 0) else { throw parameters.unknown() }
      name = try parameters.string()
    }
    guard let name else { throw .invalidParameter("name") }
    return name
  }

  private static func decodeGetMany(
    _ parameters: inout ParameterReader
  ) throws(ServiceError) -> DecodedCall {
    var names: [JSONString]?
    while try parameters.next() {
      guard parameters.at("names", 0) else { throw parameters.unknown() }
      names = try parameters.strings()
    }
    guard let names else { throw .invalidParameter("names") }
    return DecodedCall(command: .getMany(names))
  }

  private static func decodeVerb(
    _ parameters: inout ParameterReader, _ command: (Int64?) -> Command
  ) throws(ServiceError) -> DecodedCall {
    var name: JSONString?
    var revision: Int64?
    while try parameters.next() {
      if parameters.at("name", 0) {
        name = try parameters.string()
      } else if parameters.at("revision", 1) {
        revision = try parameters.integer()
      } else {
        throw parameters.unknown()
      }
    }
    guard let name else { throw .invalidParameter("name") }
    return DecodedCall(command: command(revision), name: name)
  }

  private static func decodeExtend(
    _ parameters: inout ParameterReader
  ) throws(ServiceError) -> DecodedCall {
    var name: JSONString?
    var change: Int64?
    var remaining: Int64?
    var revision: Int64?
    while try parameters.next() {
      if parameters.at("name", 0) {
        name = try parameters.string()
      } else if parameters.at("byUSec", 1) {
        change = try parameters.integer()
      } else if parameters.at("toRemainingUSec", 2) {
        remaining = try parameters.integer()
      } else if parameters.at("revision", 3) {
        revision = try parameters.integer()
      } else {
        throw parameters.unknown()
      }
    }
    guard let name else { throw .invalidParameter("name") }
    switch (change, remaining) {
    case (.some, .some): throw .invalidParameter("toRemainingUSec")
    case (nil, nil): throw .invalidParameter("byUSec")
    case (let change?, nil):
      return DecodedCall(command: .extend(.by(change), revision: revision), name: name)
    case (nil, let remaining?):
      return DecodedCall(command: .extend(.toRemaining(remaining), revision: revision), name: name)
    }
  }

  private static func decodeSetPayload(
    _ parameters: inout ParameterReader
  ) throws(ServiceError) -> DecodedCall {
    var name: JSONString?
    var payload: Range<Int>?
    var revision: Int64?
    while try parameters.next() {
      if parameters.at("name", 0) {
        name = try parameters.string()
      } else if parameters.at("payload", 1) {
        payload = try parameters.object()
      } else if parameters.at("revision", 2) {
        revision = try parameters.integer()
      } else {
        throw parameters.unknown()
      }
    }
    guard let name else { throw .invalidParameter("name") }
    return DecodedCall(command: .setPayload(payload, revision: revision), name: name)
  }

  private static func decodeCancelMany(
    _ parameters: inout ParameterReader
  ) throws(ServiceError) -> DecodedCall {
    var names: [JSONString]?
    var prefix: JSONString?
    while try parameters.next() {
      if parameters.at("names", 0) {
        names = try parameters.strings()
      } else if parameters.at("prefix", 1) {
        prefix = try parameters.string()
      } else {
        throw parameters.unknown()
      }
    }
    switch (names, prefix) {
    case (.some, .some): throw .invalidParameter("prefix")
    case (nil, nil): throw .invalidParameter("names")
    case (let names?, nil):
      // A name belongs to one owner; of everybody only a prefix selects.
      if parameters.isAboutAll { throw .invalidParameter("allOwners") }
      return DecodedCall(command: .cancelMany(.names(names)))
    case (nil, let prefix?): return DecodedCall(command: .cancelMany(.prefix(prefix)))
    }
  }

  private static func decodeList(
    _ parameters: inout ParameterReader
  ) throws(ServiceError) -> DecodedCall {
    var request = ListRequest()
    while try parameters.next() {
      if parameters.at("prefix", 0) {
        request.prefix = try parameters.string()
      } else if parameters.at("state", 1) {
        request.state = try parameters.word(CountdownState.self)
      } else if parameters.at("after", 2) {
        request.after = try parameters.string()
      } else if parameters.at("limit", 3) {
        request.limit = try parameters.integer() ?? request.limit
      } else {
        throw parameters.unknown()
      }
    }
    return DecodedCall(command: .list(request))
  }

  private static func decodeSubscribe(
    _ parameters: inout ParameterReader
  ) throws(ServiceError) -> DecodedCall {
    var request = SubscribeRequest()
    while try parameters.next() {
      if parameters.at("prefix", 0) {
        request.prefix = try parameters.string()
      } else if parameters.at("kinds", 1) {
        request.kinds = try parameters.kinds() ?? request.kinds
      } else if parameters.at("includeState", 2) {
        request.includesState = try parameters.boolean() ?? false
      } else if parameters.at("heartbeatUSec", 3) {
        request.heartbeatUSec = try parameters.integer() ?? request.heartbeatUSec
      } else {
        throw parameters.unknown()
      }
    }
    return DecodedCall(command: .subscribe(request))
  }

  private static func decodeWatch(
    _ parameters: inout ParameterReader
  ) throws(ServiceError) -> DecodedCall {
    var request = WatchRequest(names: [])
    while try parameters.next() {
      if parameters.at("names", 0) {
        request.names = try parameters.strings() ?? []
      } else if parameters.at("intervalUSec", 1) {
        request.intervalUSec = try parameters.integer()
      } else if parameters.at("heartbeatUSec", 2) {
        request.heartbeatUSec = try parameters.integer() ?? request.heartbeatUSec
      } else {
        throw parameters.unknown()
      }
    }
    // Nothing to follow is a mistake, not a wish.
    if request.names.isEmpty { throw .invalidParameter("names") }
    return DecodedCall(command: .watch(request))
  }

  private static func decodeDescription(
    _ parameters: inout ParameterReader
  ) throws(ServiceError) -> DecodedCall {
    var interface: JSONString?
    while try parameters.next() {
      guard parameters.at("interface", 0) else { throw parameters.unknown() }
      interface = try parameters.string()
    }
    guard let interface else { throw .invalidParameter("interface") }
    return DecodedCall(command: .getInterfaceDescription(interface: interface))
  }

  private static func decodeLogLevel(
    _ parameters: inout ParameterReader
  ) throws(ServiceError) -> DecodedCall {
    var level: Int64?
    while try parameters.next() {
      guard parameters.at("level", 0) else { throw parameters.unknown() }
      level = try parameters.integer()
    }
    guard let level, (0...7).contains(level) else { throw .invalidParameter("level") }
    return DecodedCall(command: .setLogLevel(Int(level)))
  }

  private static func decodeNothing(
    _ parameters: inout ParameterReader, _ command: Command
  ) throws(ServiceError) -> DecodedCall {
    if try parameters.next() { throw parameters.unknown() }
    return DecodedCall(command: command)
  }
}
