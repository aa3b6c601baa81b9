// The words of a countdown's life (DESIGN: sections 2, 3 and 5), in memory one byte each. How they
// are spelled on the wire is ControlInterface's business.

/// The clock a countdown is measured on.
package enum CountdownClock: UInt8, CaseIterable, Sendable {
  case boottime
  case monotonic
  case realtime
}

/// Where a countdown stands.
package enum CountdownState: UInt8, CaseIterable, Sendable {
  case running
  case paused
  case expired
  case missed
  case cancelled

  /// No verb but `Restart` moves it any more; its name is free for `Start`.
  package var isEnded: Bool {
    switch self {
    case .running, .paused: false
    case .expired, .missed, .cancelled: true
    }
  }
}

/// What an answered call promises about a crash.
package enum Durability: UInt8, CaseIterable, Comparable, Sendable {
  /// Gone with the daemon.
  case memory
  /// The answer means that it is on disk.
  case synced

  package static func < (lhs: Durability, rhs: Durability) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// What is done about a deadline that passed while nobody could look.
package enum CatchUp: UInt8, CaseIterable, Sendable {
  case fire
  case skip
}

/// What `Start` does about a name that runs or is paused.
package enum OnConflict: UInt8, CaseIterable, Sendable {
  case fail
  case keep
  case once
  case replace
  case extendOnly
}

/// Why a countdown was handed out late: the largest part of its lateness; of equal ones, the first here.
package enum LateReason: UInt8, CaseIterable, Sendable {
  /// It was not: by less than 10 ms, apart from what was past when it was given.
  case none
  /// The machine slept.
  case suspend
  /// The wall clock was set forward.
  case clockStep
  /// A change of it was being stored when it came due.
  case storage
  /// The daemon, or the machine, was busy, or stopped.
  case overload
}

/// What an event tells.
package enum EventKind: UInt8, CaseIterable, Sendable {
  case started
  case changed
  case paused
  case resumed
  case expired
  case missed
  case cancelled
  /// Of the machine: somebody set the wall clock.
  case clockStepped
  /// Of the machine.
  case slept

  /// It is about the machine, and no countdown: told to everybody who wants the kind.
  package var isOfMachine: Bool {
    switch self {
    case .started, .changed, .paused, .resumed, .expired, .missed, .cancelled: false
    case .clockStepped, .slept: true
    }
  }
}

/// Kinds of events, as a set of bits.
package struct EventKinds: OptionSet, Hashable, Sendable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  package init(_ kind: EventKind) { self.init(rawValue: 1 << UInt16(kind.rawValue)) }

  /// How a countdown ended, and what happened to the machine: what a subscriber hears who does not name
  /// kinds.
  package static let standard: EventKinds = [
    EventKinds(.expired), EventKinds(.missed), EventKinds(.cancelled),
    EventKinds(.clockStepped), EventKinds(.slept),
  ]

  package func contains(_ kind: EventKind) -> Bool { contains(EventKinds(kind)) }
}
