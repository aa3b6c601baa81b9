package import JSON
package import Varlink

/// The methods of the two interfaces.
package enum Method: Sendable, CaseIterable {
  case start, startMany, get, getMany, list, count
  case pause, resume, restart, extend, cancel, cancelMany, setPayload, subscribe
  case getClocks, getStatistics
  case getInfo, getInterfaceDescription

  /// Whose countdowns its calls may be about.
  enum Scope {
    /// It is about no countdowns.
    case none
    /// The caller's, or by `owner` another user's.
    case owner
    /// By `allOwners` everybody's as well.
    case allOwners
  }

  var scope: Scope {
    switch self {
    case .start, .startMany, .get, .getMany, .pause, .resume, .restart, .extend, .cancel,
      .setPayload:
      .owner
    case .list, .count, .cancelMany, .subscribe, .getStatistics: .allOwners
    case .getClocks, .getInfo, .getInterfaceDescription: .none
    }
  }

  /// The method that a call names.
  package static func named(
    _ name: JSONString, in message: Span<UInt8>
  ) throws(ServiceError) -> Method {
    // The hot ones come first.
    if name.matches("io.countdownd.Countdown.Start", in: message) { return .start }
    if name.matches("io.countdownd.Countdown.Get", in: message) { return .get }
    if name.matches("io.countdownd.Countdown.Cancel", in: message) { return .cancel }
    if name.matches("io.countdownd.Countdown.Extend", in: message) { return .extend }
    if name.matches("io.countdownd.Countdown.GetMany", in: message) { return .getMany }
    if name.matches("io.countdownd.Countdown.List", in: message) { return .list }
    if name.matches("io.countdownd.Countdown.Count", in: message) { return .count }
    if name.matches("io.countdownd.Countdown.Pause", in: message) { return .pause }
    if name.matches("io.countdownd.Countdown.Resume", in: message) { return .resume }
    if name.matches("io.countdownd.Countdown.Restart", in: message) { return .restart }
    if name.matches("io.countdownd.Countdown.SetPayload", in: message) { return .setPayload }
    if name.matches("io.countdownd.Countdown.CancelMany", in: message) { return .cancelMany }
    if name.matches("io.countdownd.Countdown.StartMany", in: message) { return .startMany }
    if name.matches("io.countdownd.Countdown.Subscribe", in: message) { return .subscribe }
    if name.matches("io.countdownd.Countdown.GetClocks", in: message) { return .getClocks }
    if name.matches("io.countdownd.Countdown.GetStatistics", in: message) { return .getStatistics }
    if name.matches("org.varlink.service.GetInfo", in: message) { return .getInfo }
    if name.matches("org.varlink.service.GetInterfaceDescription", in: message) {
      return .getInterfaceDescription
    }
    let text = name.text(in: message)
    let interface = text.lastIndex(of: ".").map { String(text[..<$0]) } ?? ""
    if interface == InterfaceFile.name || interface == ServiceInterface.name {
      throw .methodNotFound(text)
    }
    throw .interfaceNotFound(interface)
  }
}

extension JSONString {
  /// Its value as a `String`. O(length), and allocates: for errors and other rare things.
  package func text(in message: Span<UInt8>) -> String {
    var bytes: [UInt8] = []
    appendDecoded(from: message, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}
