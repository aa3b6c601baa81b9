internal import ControlInterface
internal import Countdowns
internal import TimingWheel
internal import Varlink

/// Names a connection, from its opening until it is gone: an index and a generation, so that what
/// arrives for one already gone is recognised.
package struct ConnectionID: Hashable, Sendable {
  let index: UInt32
  let generation: UInt32

  init(index: UInt32, generation: UInt32) {
    self.index = index
    self.generation = generation
  }

  /// Its place among the open ones: small, and reused once it is forgotten.
  package var place: Int { Int(index) }

  /// Both in one number, for a token; never below 2^32.
  package var token: UInt64 { UInt64(generation) << 32 | UInt64(index) }

  package init(token: UInt64) {
    index = UInt32(truncatingIfNeeded: token)
    generation = UInt32(truncatingIfNeeded: token >> 32)
  }
}

/// One client: what it sent, what it is to be sent, and what it is about.
struct Connection: Sendable {
  let id: ConnectionID
  let user: UInt32
  /// It may name other owners than itself.
  let isAdmin: Bool
  /// False once it was forgotten; its place then waits for the next one.
  var isOpen = true
  var input = InputBuffer()
  /// Replies, of which the first `sent` bytes have left.
  var output: [UInt8] = []
  var sent = 0
  /// As how many bytes its unread replies count among those of its user and of all.
  var countedBytes = 0
  /// Much of a call has come, and it has one of the places for such.
  var isLong = false
  /// It waits for such a place.
  var waitsToBeLong = false
  var activity = Activity.calling
  /// What its call of many changes has come to; while it lasts.
  var many: ManyCall?
  /// What its watch follows; while it lasts.
  var watch: Watching?
  /// The peer sends no more; what it sent is still answered.
  var hasEnded = false
  /// Nothing more is handled; it closes once the output has left.
  var isClosing = false
  /// The peer does not read any more either: what is written is dropped.
  var isDeaf = false
  /// It stands in the queue of those with something to handle.
  var isQueued = false
  /// It stands in the list of those the host has to look at.
  var isTouched = false

  enum Activity: Sendable {
    /// Free for the next call.
    case calling
    /// Its call was decided and is with the ledger.
    case awaitingVerdict
    /// Its call is with the host, which carries it out after this turn.
    case awaitingHost
    /// Its next call is about a name of which a change is with the ledger.
    case blocked
    /// Its call of many changes goes on.
    case changingMany
    /// Its `List` with `more` goes on.
    case listing(Listing)
    /// Its `Subscribe` goes on.
    case subscribed(Subscription)
    /// Its `Watch` goes on.
    case watching
  }

  init(id: ConnectionID, user: UInt32, isAdmin: Bool) {
    self.id = id
    self.user = user
    self.isAdmin = isAdmin
  }

  /// Bytes of replies that have not left yet.
  var pendingBytes: Int { output.count - sent }

  /// Notes that so many bytes have left.
  mutating func consume(_ bytes: Int) {
    sent += bytes
    if sent > 64 << 10, sent < output.count, sent > output.count / 2 {
      // Who reads steadily and never catches up would keep all it ever read.
      output = Array(output[sent...])
      sent = 0
    }
  }

  /// Gives back the output's memory: all of it has left, or never will.
  mutating func takeOutput() -> [UInt8] {
    var bytes: [UInt8] = []
    swap(&bytes, &output)
    sent = 0
    return bytes
  }
}

/// Whose countdowns a call is about.
enum Owners: Equatable, Sendable {
  case one(UInt32)
  case all
}

/// Which part of the countdowns is still to be told.
struct Listing: Sendable {
  let owners: Owners
  let prefix: [UInt8]
  let state: CountdownState?
  /// The owner it has come to; `nil` after the last.
  var user: UInt32?
  /// The last name told of that owner; `nil` at the beginning.
  var after: [UInt8]?
}

/// What a subscriber hears, and how far it has heard.
struct Subscription: Sendable {
  let owners: Owners
  let prefix: [UInt8]
  let kinds: EventKinds
  let heartbeatUSec: Int64
  let timer: EntryID
  let seat: Seat
  /// The position of the next event to look at.
  var position: UInt64
  /// The state that is still to be told first; `nil` when `ready` was told.
  var state: Listing?
  var isReady = false
  /// When something was last told, µs of boot time.
  var lastTold: Int64
}
