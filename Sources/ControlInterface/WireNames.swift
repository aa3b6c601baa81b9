package import Countdowns

// How the vocabulary is spelled on the wire: the enumerations of the interface file.

/// A word of the vocabulary that has a spelling.
package protocol WireNamed: CaseIterable, Sendable {
  /// As the interface file writes it.
  var wireName: String { get }
}

extension CountdownClock: WireNamed {
  package var wireName: String {
    switch self {
    case .boottime: "boottime"
    case .monotonic: "monotonic"
    case .realtime: "realtime"
    }
  }
}

extension CountdownState: WireNamed {
  package var wireName: String {
    switch self {
    case .running: "running"
    case .paused: "paused"
    case .expired: "expired"
    case .missed: "missed"
    case .cancelled: "cancelled"
    }
  }
}

extension Durability: WireNamed {
  package var wireName: String {
    switch self {
    case .memory: "memory"
    case .synced: "synced"
    }
  }
}

extension CatchUp: WireNamed {
  package var wireName: String {
    switch self {
    case .fire: "fire"
    case .skip: "skip"
    }
  }
}

extension OnConflict: WireNamed {
  package var wireName: String {
    switch self {
    case .fail: "fail"
    case .keep: "keep"
    case .once: "once"
    case .replace: "replace"
    case .extendOnly: "extendOnly"
    }
  }
}

extension LateReason: WireNamed {
  package var wireName: String {
    switch self {
    case .none: "none"
    case .suspend: "suspend"
    case .clockStep: "clockStep"
    case .storage: "storage"
    case .overload: "overload"
    }
  }
}

extension EventKind: WireNamed {
  package var wireName: String {
    switch self {
    case .started: "started"
    case .changed: "changed"
    case .paused: "paused"
    case .resumed: "resumed"
    case .expired: "expired"
    case .missed: "missed"
    case .cancelled: "cancelled"
    case .clockStepped: "clockStepped"
    case .slept: "slept"
    }
  }
}

extension Discontinuity.Kind: WireNamed {
  package var wireName: String {
    switch self {
    case .slept: "slept"
    case .stepped: "stepped"
    case .sleptAndStepped: "sleptAndStepped"
    case .stalled: "stalled"
    }
  }
}
