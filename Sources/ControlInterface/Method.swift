package import JSON
package import Varlink

/// The methods of the three interfaces.
package enum Method: Sendable, CaseIterable {
  case start, startMany, get, getMany, list, count
  case pause, resume, restart, extend, cancel, cancelMany, setPayload, subscribe, watch
  case getClocks, getStatistics
  case getInfo, getInterfaceDescription
  case ping, reload, setLogLevel

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
      .setPayload, .watch:
      .owner
    case .list, .count, .cancelMany, .subscribe, .getClocks, .getStatistics: .allOwners
    case .getInfo, .getInterfaceDescription, .ping, .reload, .setLogLevel: .none
    }
  }

  /// It is answered by a stream of replies, and by nothing else.
  var needsMore: Bool { self == .subscribe || self == .watch }

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
    if name.matches("io.countdownd.Countdown.Watch", in: message) { return .watch }
    if name.matches("org.varlink.service.GetInfo", in: message) { return .getInfo }
    if name.matches("org.varlink.service.GetInterfaceDescription", in: message) {
      return .getInterfaceDescription
    }
    if name.matches("io.systemd.service.Ping", in: message) { return .ping }
    if name.matches("io.systemd.service.Reload", in: message) { return .reload }
    if name.matches("io.systemd.service.SetLogLevel", in: message) { return .setLogLevel }
    let text = name.text(in: message)
    let interface = text.lastIndex(of: ".").map { String(text[..<$0]) } ?? ""
    if [InterfaceFile.name, ServiceInterface.name, ServiceControl.name].contains(interface) {
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
