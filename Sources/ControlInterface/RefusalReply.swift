package import Countdowns
package import JSON
internal import Varlink

extension JSONWriter {
  /// The error reply for a refusal: each with the fields that a program can act on.
  ///
  /// - Parameter name: The name the call gave, UTF-8; of a call without one, nothing.
  package mutating func refusal(_ refusal: Refusal, name: [UInt8]) {
    switch refusal {
    case .noSuchCountdown:
      beginNamed("NoSuchCountdown", name)
    case .countdownExists(let remaining, let revision, let state):
      beginNamed("CountdownExists", name)
      field(.remainingUSec, remaining)
      field(.revision, revision)
      field(.state, state.wireName)
    case .alreadyExpired(let state, let revision):
      beginNamed("AlreadyExpired", name)
      field(.state, state.wireName)
      field(.revision, revision)
    case .wrongState(let state, let revision):
      beginNamed("WrongState", name)
      field(.state, state.wireName)
      field(.revision, revision)
    case .wrongClock(let clock):
      beginNamed("WrongClock", name)
      field(.clock, clock.wireName)
    case .revisionMismatch(let revision):
      beginNamed("RevisionMismatch", name)
      field(.revision, revision)
    case .outOfRange(let parameter, let bounds):
      begin("DurationOutOfRange")
      field(.parameter, parameter)
      field(.minimumUSec, bounds.lowerBound)
      field(.maximumUSec, bounds.upperBound)
    case .quotaExceeded(let resource, let limit, let used):
      begin("QuotaExceeded")
      field(.resource, resource.rawValue)
      field(.limit, Int64(limit))
      field(.used, Int64(used))
    case .storageFailed(let errno, let outcomeUnknown):
      begin("StorageFailed")
      field(.errno, Int64(errno))
      field(.errnoName, errnoName(errno))
      if outcomeUnknown {
        key(.outcomeUnknown)
        boolean(true)
      }
    }
    endReply()
  }

  private mutating func begin(_ error: String) {
    beginError(InterfaceFile.name + "." + error)
  }

  private mutating func beginNamed(_ error: String, _ name: [UInt8]) {
    begin(error)
    key(.name)
    string(name.span)
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
