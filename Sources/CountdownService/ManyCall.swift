internal import Countdowns

/// A call that makes many changes, between its turns.
struct ManyCall: Sendable {
  let isOneway: Bool
  /// How many of its changes are with the ledger.
  var underway = 0
  /// It waits for a name of which another's change is with the ledger.
  var isWaiting = false
  var cancelling: Cancelling?

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
