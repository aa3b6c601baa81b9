internal import ControlInterface
internal import Countdowns
internal import JSON
internal import TimingWheel
internal import Varlink

/// Lists: in order of owners' uids, then bytewise order of names, a bounded piece at a time.
///
/// A piece begins after the last name of the one before, wherever that now is: what exists throughout
/// is told exactly once, however much comes and goes between two pieces.
extension Service {
  mutating func list(
    _ request: ListRequest, of owners: Owners, in message: Span<UInt8>, from index: Int,
    isStreamed: Bool
  ) throws {
    guard (1...Int64(limits.pageLength)).contains(request.limit) else {
      throw ServiceError.invalidParameter("limit")
    }
    var listing = beginning(
      of: owners, prefix: try nameOrNone(request.prefix, in: message, "prefix"),
      state: request.state)
    switch owners {
    case .one:
      if request.after != nil {
        listing.after = try nameOrNone(request.after, in: message, "after")
      }
    case .all: try go(to: request.after, in: message, &listing)
    }
    // Nobody would hear it, and of all calls it alone costs much.
    guard !connections[index].isDeaf else { return }
    if isStreamed {
      connections[index].activity = .listing(listing)
      continueListing(index)
    } else {
      writePiece(&listing, limit: Int(request.limit), isStreamed: false, to: index)
    }
  }

  /// A list that has told nothing yet.
  func beginning(of owners: Owners, prefix: [UInt8], state: CountdownState?) -> Listing {
    let first =
      switch owners {
      case .one(let user): user as UInt32?
      case .all: scheduler.users.next(after: nil)
      }
    return Listing(owners: owners, prefix: prefix, state: state, user: first, after: nil)
  }

  /// Where a list of everybody's goes on: the owner's uid, a slash, and the last name told of his,
  /// or nothing before the first.
  private func next(of listing: Listing) -> [UInt8]? {
    switch listing.owners {
    case .one: listing.after
    case .all:
      listing.user.map {
        Array("\(scheduler.users[$0].uid)/".utf8) + (listing.after ?? [])
      }
    }
  }

  private func go(
    to place: JSONString?, in message: Span<UInt8>, _ listing: inout Listing
  ) throws(ServiceError) {
    let bytes = decoded(place, in: message)
    if bytes.isEmpty { return }
    guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")),
      let uid = UInt32(String(decoding: bytes[..<slash], as: UTF8.self))
    else { throw .invalidParameter("after") }
    let name = Array(bytes[(slash + 1)...])
    if !name.isEmpty, Name.problem(in: name.span) != nil { throw .invalidParameter("after") }
    let user = scheduler.users.known(uid)
    let isKnown = user != UserTable.nobody
    listing.user = isKnown ? user : scheduler.users.next(after: uid)
    listing.after = isKnown && !name.isEmpty ? name : nil
  }

  /// Goes on with a `List` with `more`, as far as the connection's replies are read.
  mutating func continueListing(_ index: Int) {
    guard case .listing(var listing) = connections[index].activity else { return }
    guard hasRoom(index, below: aheadOfReader) else { return }
    let isEnd = writePiece(&listing, limit: limits.pageLength, isStreamed: true, to: index)
    connections[index].activity = isEnd ? .calling : .listing(listing)
    enqueue(index)
  }

  /// Nothing more is written for a stream whose reader has so many bytes still to read.
  var aheadOfReader: Int { min(256 << 10, limits.queuedReplyBytes / 4) }

  /// Countdowns that a piece looks at, at most.
  private static let entriesPerPiece = 4_096

  /// Writes one reply with a piece of the list.
  ///
  /// - Parameter isStreamed: More replies follow, rather than calls that ask for them.
  /// - Returns: Whether it was the last piece.
  @discardableResult
  private mutating func writePiece(
    _ listing: inout Listing, limit: Int, isStreamed: Bool, to index: Int
  ) -> Bool {
    write(to: index) { service, writer in
      writer.beginReply()
      let isEnd = service.writeCountdowns(&listing, limit: limit, to: &writer)
      if !isEnd, !isStreamed, let next = service.next(of: listing) {
        writer.key(.next)
        writer.string(next.span)
      }
      writer.timestamp(.now, service.scheduler.now)
      writer.endReply(continues: isStreamed && !isEnd)
      return isEnd
    }
  }

  /// Writes `countdowns`, up to the bounds of one reply, and moves the listing on.
  ///
  /// - Returns: Whether the list has ended.
  mutating func writeCountdowns(
    _ listing: inout Listing, limit: Int, to writer: inout JSONWriter
  ) -> Bool {
    let fullAt = writer.count + limits.listBytes - (limits.payloadBytes + Service.besidesPayload)
    var looked = 0
    var written = 0
    writer.key(.countdowns)
    writer.beginArray()
    defer { writer.endArray() }
    while let user = listing.user {
      page.removeAll(keepingCapacity: true)
      let wanted = min(listing.state == nil ? limit - written : 256, 256)
      collect(listing, user: user, limit: wanted)
      for id in page {
        handOut(id)
        looked += 1
        callBudget -= 1
        if listing.state == nil || scheduler.state(of: id) == listing.state {
          writeCountdown(id, to: &writer)
          written += 1
        }
        let isFull = written == limit || looked >= Service.entriesPerPiece
        if isFull || writer.count >= fullAt {
          listing.after = scheduler.nameBytes(of: id)
          return false
        }
      }
      if let last = page.last, page.count == wanted {
        listing.after = scheduler.nameBytes(of: last)
        continue
      }
      goToNextOwner(&listing)
      looked += 1
      if looked >= Service.entriesPerPiece { return listing.user == nil }
    }
    return true
  }

  /// Nothing is left of the owner it has come to.
  func goToNextOwner(_ listing: inout Listing) {
    listing.after = nil
    switch listing.owners {
    case .one: listing.user = nil
    case .all:
      listing.user = listing.user.flatMap { scheduler.users.next(after: scheduler.users[$0].uid) }
    }
  }

  /// What one more countdown may take in a list besides its payload, with the name's escapes, and what
  /// follows the list.
  static let besidesPayload = 2 << 10

  mutating func collect(_ listing: Listing, user: UInt32, limit: Int) {
    if let after = listing.after {
      scheduler.collect(
        user: user, prefix: listing.prefix.span, after: after.span, limit: limit, into: &page)
    } else {
      scheduler.collect(
        user: user, prefix: listing.prefix.span, after: nil, limit: limit, into: &page)
    }
  }

  private func decoded(_ text: JSONString?, in message: Span<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    text?.appendDecoded(from: message, to: &bytes)
    return bytes
  }

  /// What could be a name, or empty: the only prefixes and places that there are. A NUL above all
  /// would be taken for a name's end.
  func nameOrNone(
    _ text: JSONString?, in message: Span<UInt8>, _ parameter: String
  ) throws(ServiceError) -> [UInt8] {
    let bytes = decoded(text, in: message)
    if !bytes.isEmpty, Name.problem(in: bytes.span) != nil { throw .invalidParameter(parameter) }
    return bytes
  }
}
