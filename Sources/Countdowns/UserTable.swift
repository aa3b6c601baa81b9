/// Everybody who ever had a countdown or a connection, or was listened to, and what they use.
///
/// A user is known by a dense index, so that nothing hot looks a uid up. Users are never removed: who
/// adds one sees to it that there are not more of them than ``Limits`` allow.
package struct UserTable: ~Copyable {
  /// What one user has.
  package struct Usage: Sendable {
    package let uid: UInt32
    package var running = 0
    package var paused = 0
    package var ended = 0
    /// Countdowns whose `Start` the ledger has not answered yet: they count against the limit.
    package var starting = 0
    package var payloadBytes = 0
    package var connections = 0
    package var streams = 0
    /// Bytes of replies that its connections have not read.
    package fileprivate(set) var unreadBytes = 0
    /// Calls of which much has come, and the end has not.
    package var longCalls = 0
    /// Names of this user's that are watched, each as often as it is.
    package var watched = 0
    /// The ends of the list of ended countdowns, as entry indices; `UInt32.max` where it is empty.
    var oldestEnded: UInt32 = .max
    var newestEnded: UInt32 = .max
    /// More have ended than may stay, and the scheduler has noted it.
    var isCrowded = false

    init(uid: UInt32) { self.uid = uid }

    /// Running, paused, and about to be.
    package var live: Int { running + paused + starting }
  }

  private var users: [Usage] = []
  private var indices: [UInt32: UInt32] = [:]
  /// All indices, in the order of their uids.
  private var inOrder: [UInt32] = []
  /// Running, paused and starting, in all.
  package private(set) var live = 0
  /// Everybody's countdowns, and the bytes of all payloads. Kept, not summed up: they are asked for in
  /// every turn.
  package private(set) var counts = (running: 0, paused: 0, ended: 0)
  package private(set) var payloadBytes = 0

  package init() {}

  /// The user's index, given at the first sight of the uid. O(1); of a new one O(users).
  package mutating func index(of uid: UInt32) -> UInt32 {
    if let known = indices[uid] { return known }
    let index = UInt32(users.count)
    users.append(Usage(uid: uid))
    indices[uid] = index
    inOrder.insert(index, at: place(after: uid))
    return index
  }

  /// Nobody's index: no countdown is found by it.
  package static let nobody = UInt32.max
  /// The uid under which those are kept who are turned away without becoming known: nobody has it.
  package static let strangers = UInt32.max

  /// The user's index; ``nobody`` where the uid was never seen. O(1).
  package func known(_ uid: UInt32) -> UInt32 { indices[uid] ?? UserTable.nobody }

  /// The user with the least uid, or the least above another; `nil` after the last. O(log users).
  package func next(after uid: UInt32?) -> UInt32? {
    let place = uid.map { self.place(after: $0) } ?? 0
    return place < inOrder.count ? inOrder[place] : nil
  }

  /// How many have that uid or a lower one.
  private func place(after uid: UInt32) -> Int {
    var (low, high) = (0, inOrder.count)
    while low < high {
      let middle = (low + high) / 2
      if users[Int(inOrder[middle])].uid <= uid { low = middle + 1 } else { high = middle }
    }
    return low
  }

  package var count: Int { users.count }

  /// What a user has; of ``nobody``, nothing.
  package func usage(of index: UInt32) -> Usage {
    index == UserTable.nobody ? Usage(uid: UserTable.strangers) : users[Int(index)]
  }

  /// So many bytes more of a user's replies are unread; negative where they were read. Each call does it
  /// twice, and to modify a user from another module takes memory.
  package mutating func addUnread(_ bytes: Int, of index: UInt32) {
    users[Int(index)].unreadBytes += bytes
  }

  package subscript(index: UInt32) -> Usage {
    _read { yield users[Int(index)] }
    _modify {
      let before = users[Int(index)]
      defer {
        let after = users[Int(index)]
        live += after.live - before.live
        counts.running += after.running - before.running
        counts.paused += after.paused - before.paused
        counts.ended += after.ended - before.ended
        payloadBytes += after.payloadBytes - before.payloadBytes
      }
      yield &users[Int(index)]
    }
  }
}
