internal import Countdowns
internal import Varlink

/// What of unread replies and of unfinished calls may be kept, for each connection, each user, and in all.
extension Service {
  /// Whether its unread replies leave room for one more.
  func mayBeAnswered(_ index: Int) -> Bool {
    hasRoom(index, below: max(limits.queuedReplyBytes - limits.messageBytes, 0))
  }

  /// Whether a connection has not more than `bytes` unread, and may have so many: beyond a share that is
  /// everyone's, only while its user and all together have not too much.
  ///
  /// Nobody has to be woken when others have read: who has more than the share goes on at the latest when
  /// it has read its own.
  func hasRoom(_ index: Int, below bytes: Int) -> Bool {
    let pending = connections[index].pendingBytes
    guard pending <= bytes else { return false }
    return pending <= Service.unreadShare || reachedBound(of: index) == nil
  }

  /// Which bound on unread replies is reached, that of all or that of a connection's user: the longest
  /// reply would go beyond it. `nil` while neither is.
  ///
  /// Until it is not, nobody is answered with more than a list has at once: what would be longer is
  /// refused. So a connection has no more unread than its share and that, however many there are.
  func reachedBound(of index: Int) -> Refusal? {
    if unreadBytes > max(limits.queuedReplyBytesTotal - limits.messageBytes, 0) {
      return .quotaExceeded(
        resource: .queuedReplyBytesTotal, limit: limits.queuedReplyBytesTotal, used: unreadBytes)
    }
    let user = scheduler.users[connections[index].user]
    if user.uid != 0,
      user.unreadBytes > max(limits.queuedReplyBytesPerUser - limits.messageBytes, 0)
    {
      return .quotaExceeded(
        resource: .queuedReplyBytesPerUser, limit: limits.queuedReplyBytesPerUser,
        used: user.unreadBytes)
    }
    return nil
  }

  /// Some dozens of short replies: who reads is not slowed down much by those who do not.
  static let unreadShare = 16 << 10

  /// A connection's output has changed: it is counted, and gives back the memory it does not need.
  mutating func noteOutput(_ index: Int) {
    if connections[index].pendingBytes == 0 || connections[index].isDeaf {
      spare.put(connections[index].takeOutput())
    }
    let added = connections[index].pendingBytes - connections[index].countedBytes
    connections[index].countedBytes += added
    scheduler.users.addUnread(added, of: connections[index].user)
    unreadBytes += added
  }

  // MARK: Long calls

  /// A connection's input has changed. A call of which much has come takes a place for such, or waits for
  /// one; it gives it back when it was handled, or never will be.
  ///
  /// What has come of calls is bounded so: with a place by the longest message, without by little more
  /// than what is read ahead.
  mutating func noteInput(_ index: Int) {
    let holdsMuch =
      connections[index].isOpen && connections[index].input.count >= Service.aheadBytes
    guard connections[index].isLong else {
      if holdsMuch, !connections[index].waitsToBeLong, awaitsMore(index) { becomeLong(index) }
      return
    }
    switch connections[index].activity {
    case .calling where holdsMuch, .blocked where holdsMuch: return
    default: break
    }
    connections[index].isLong = false
    longCalls -= 1
    scheduler.users[connections[index].user].longCalls -= 1
    serveLongWaiting()
  }

  mutating func becomeLong(_ index: Int) {
    guard mayBeLong(index) else {
      connections[index].waitsToBeLong = true
      longWaiting.append(connections[index].id)
      return
    }
    connections[index].isLong = true
    longCalls += 1
    scheduler.users[connections[index].user].longCalls += 1
  }

  /// Whether there is a place for a long call of a connection's user. For his first there always is:
  /// others cannot keep him waiting, and of those who wait for each other one goes on.
  func mayBeLong(_ index: Int) -> Bool {
    let user = scheduler.users[connections[index].user]
    if user.longCalls == 0 { return true }
    return longCalls < limits.longCalls
      && (user.uid == 0 || user.longCalls < limits.longCallsPerUser)
  }

  /// A place may have become free: those who wait take it in their order. O(those who wait).
  mutating func serveLongWaiting() {
    guard !longWaiting.isEmpty else { return }
    let waiting = longWaiting
    longWaiting.removeAll(keepingCapacity: true)
    for id in waiting {
      guard let index = place(of: id) else { continue }
      connections[index].waitsToBeLong = false
      // One that cannot use it now comes again when it can.
      guard awaitsMore(index), connections[index].input.count >= Service.aheadBytes else {
        continue
      }
      becomeLong(index)
      // The host is to hear that more is wanted, in a turn.
      if connections[index].isLong { enqueue(index) }
    }
  }
}
