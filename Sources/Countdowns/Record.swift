/// What is kept of every countdown, in 40 bytes; the rest of those that need more is in an `Extra`.
///
/// It stands at the index of the countdown's entry in the wheel, so the two need no reference to
/// each other. With the wheel's 20 bytes, the name and the name's place in the index this is what a
/// countdown costs (goal: 96 bytes).
struct Record: Sendable {
  /// Running and ended: the deadline on its own clock. Paused: what remains. µs. For a timer of the
  /// service: its token.
  var time: Int64
  /// The original length in the low 53 bits, the packed words above.
  private var lengthAndWords: UInt64
  /// That of the change which last set the countdown.
  var revision: Int64
  /// The wall-clock time of the start, or, where `hasExtra`, the index of the `Extra`.
  private var startedAtOrExtra: Int64
  /// The owner's place in the table of users.
  var user: UInt32
  var name: NameReference

  /// Nothing stands here.
  static let vacant = Record(role: .vacant)

  /// What the cell is used for.
  enum Role: UInt64 {
    case vacant
    case countdown
    /// Something else that the daemon waits for: a heartbeat, a watch.
    case timer
  }

  private init(role: Role) {
    time = 0
    lengthAndWords = role.rawValue << Self.roleShift
    revision = 0
    startedAtOrExtra = 0
    user = 0
    name = NameReference(rawValue: 0)
  }

  /// A timer of the service's.
  init(timerToken token: UInt64) {
    self.init(role: .timer)
    time = Int64(bitPattern: token)
  }

  /// A countdown without an `Extra`.
  init(
    state: CountdownState, clock: CountdownClock, durability: Durability, catchUp: CatchUp,
    time: Int64, lengthUSec: Int64, revision: Int64, startedAt: Int64, user: UInt32,
    name: NameReference
  ) {
    self.init(role: .countdown)
    self.time = time
    self.revision = revision
    self.startedAtOrExtra = startedAt
    self.user = user
    self.name = name
    lengthAndWords |=
      UInt64(lengthUSec) | UInt64(clock.rawValue) << Self.clockShift
      | UInt64(durability.rawValue) << Self.durabilityShift
      | UInt64(catchUp.rawValue) << Self.catchUpShift
    self.state = state
  }

  private static let lengthMask: UInt64 = (1 << 53) - 1
  private static let stateShift: UInt64 = 53  // Three bits,
  private static let clockShift: UInt64 = 56  // two,
  private static let durabilityShift: UInt64 = 58  // and one each.
  private static let catchUpShift: UInt64 = 59
  private static let extraShift: UInt64 = 60
  private static let roleShift: UInt64 = 61  // Two bits,
  private static let lockShift: UInt64 = 63  // and one.

  var role: Role { Role(rawValue: lengthAndWords >> Self.roleShift & 3) ?? .vacant }

  /// The length it was started with, µs, 0 … 2^53 − 1.
  var lengthUSec: Int64 { Int64(lengthAndWords & Self.lengthMask) }

  var state: CountdownState {
    get { CountdownState(rawValue: UInt8(lengthAndWords >> Self.stateShift & 7)) ?? .cancelled }
    set {
      lengthAndWords &= ~(7 << Self.stateShift)
      lengthAndWords |= UInt64(newValue.rawValue) << Self.stateShift
    }
  }

  var clock: CountdownClock {
    CountdownClock(rawValue: UInt8(lengthAndWords >> Self.clockShift & 3)) ?? .boottime
  }

  var durability: Durability { lengthAndWords >> Self.durabilityShift & 1 == 0 ? .memory : .synced }

  var catchUp: CatchUp { lengthAndWords >> Self.catchUpShift & 1 == 0 ? .fire : .skip }

  /// A change of it is with the ledger: it neither expires nor goes away before the verdict.
  var isLocked: Bool {
    get { lengthAndWords >> Self.lockShift == 1 }
    set {
      lengthAndWords &= ~(1 << Self.lockShift)
      if newValue { lengthAndWords |= 1 << Self.lockShift }
    }
  }

  /// The index of its `Extra`; `nil` where it has none.
  var extra: Int? {
    lengthAndWords >> Self.extraShift & 1 == 0 ? nil : Int(startedAtOrExtra)
  }

  /// The wall-clock time of the start; only where there is no `Extra`, which then keeps it.
  var plainStartedAt: Int64 { startedAtOrExtra }

  mutating func setExtra(_ index: Int) {
    startedAtOrExtra = Int64(index)
    lengthAndWords |= 1 << Self.extraShift
  }

  mutating func setPlainStartedAt(_ startedAt: Int64) {
    startedAtOrExtra = startedAt
    lengthAndWords &= ~(1 << Self.extraShift)
  }
}
