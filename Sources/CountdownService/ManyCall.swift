internal import Countdowns

/// A call that makes many changes, between its turns.
struct ManyCall: Sendable {
  let isOneway: Bool
  /// How many of its changes are with the ledger.
  var underway = 0
  /// It waits for a name of which another's change is with the ledger.
  var isWaiting = false
  var cancelling: Cancelling?
  var starting: Starting?

  /// What is left of a `StartMany`, and what it has come to.
  struct Starting: Sendable {
    struct Item: Sendable {
      let name: [UInt8]
      let request: StartRequest
      let payload: [UInt8]?
    }

    /// Whose they are to be; `user` is nobody until one of them was accepted.
    let uid: UInt32
    var user: UInt32
    var items: [Item] = []
    /// The places of those that are not decided yet, in order.
    var open: [Int] = []
    /// What each has come to, as JSON; empty where it is not known yet.
    var results: [[UInt8]] = []
  }

  /// What is left of a `CancelMany`, and what it has come to.
  struct Cancelling: Sendable {
    var selection: Selection
    var cancelled: Int64 = 0
    var ended: Int64 = 0
    var missing: Int64 = 0
    /// What ended it before its time.
    var failure: Refusal?

    enum Selection: Sendable {
      case names(NameList, user: UInt32, next: Int)
      case listing(Listing)
    }
  }
}

/// Names in one piece of memory: a message may have a quarter of a million.
struct NameList: Sendable {
  private var bytes: [UInt8] = []
  private var ends: [Int] = []

  var count: Int { ends.count }

  /// O(length).
  subscript(place: Int) -> [UInt8] {
    Array(bytes[(place == 0 ? 0 : ends[place - 1])..<ends[place]])
  }

  mutating func append(_ name: [UInt8]) {
    bytes += name
    ends.append(bytes.count)
  }
}
