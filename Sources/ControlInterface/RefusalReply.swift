package import Countdowns
package import JSON
internal import Varlink

extension JSONWriter {
  /// The error reply for a refusal: each with the fields that a program can act on.
  ///
  /// - Parameter name: The name the call gave, UTF-8; of a call without one, nothing.
  package mutating func refusal(_ refusal: Refusal, name: [UInt8]) {
    beginError(refusal.wireName)
    fields(of: refusal, name: name)
    endReply()
  }

  /// The members `error` and `errorParameters`, for one of the items of a call.
  package mutating func refusedItem(_ refusal: Refusal, name: [UInt8]) {
    field(.error, refusal.wireName)
    key(.errorParameters)
    beginObject()
    fields(of: refusal, name: name)
    endObject()
  }

  private mutating func fields(of refusal: Refusal, name: [UInt8]) {
    switch refusal {
    case .noSuchCountdown: field(.name, name)
    case .countdownExists(let remaining, let revision, let state):
      field(.name, name)
      field(.remainingUSec, remaining)
      field(.revision, revision)
      field(.state, state.wireName)
    case .alreadyExpired(let state, let revision), .wrongState(let state, let revision):
      field(.name, name)
      field(.state, state.wireName)
      field(.revision, revision)
    case .wrongClock(let clock):
      field(.name, name)
      field(.clock, clock.wireName)
    case .revisionMismatch(let revision):
      field(.name, name)
      field(.revision, revision)
    case .outOfRange(let parameter, let bounds):
      field(.parameter, parameter)
      field(.minimumUSec, bounds.lowerBound)
      field(.maximumUSec, bounds.upperBound)
    case .quotaExceeded(let resource, let limit, let used):
      field(.resource, resource.rawValue)
      field(.limit, Int64(limit))
      field(.used, Int64(used))
    case .storageFailed(let errno, let outcomeUnknown):
      field(.errno, Int64(errno))
      field(.errnoName, errnoName(errno))
      if outcomeUnknown {
        key(.outcomeUnknown)
        boolean(true)
      }
    }
  }

  private mutating func field(_ key: JSONLiteral, _ name: [UInt8]) {
    self.key(key)
    string(name.span)
  }
}

extension Refusal {
  /// The error's full name.
  fileprivate var wireName: String {
    let name =
      switch self {
      case .noSuchCountdown: "NoSuchCountdown"
      case .countdownExists: "CountdownExists"
      case .alreadyExpired: "AlreadyExpired"
      case .wrongState: "WrongState"
      case .wrongClock: "WrongClock"
      case .revisionMismatch: "RevisionMismatch"
      case .outOfRange: "DurationOutOfRange"
      case .quotaExceeded: "QuotaExceeded"
      case .storageFailed: "StorageFailed"
      }
    return InterfaceFile.name + "." + name
  }
}

/// The name of an errno that storing can end with (Linux, asm-generic/errno.h).
private func errnoName(_ errno: Int32) -> String {
  switch errno {
  case 1: "EPERM"
  case 5: "EIO"
  case 12: "ENOMEM"
  case 13: "EACCES"
  case 23: "ENFILE"
  case 24: "EMFILE"
  case 27: "EFBIG"
  case 28: "ENOSPC"
  case 30: "EROFS"
  case 95: "ENOTSUP"
  case 122: "EDQUOT"
  default: "E\(errno)"
  }
}
