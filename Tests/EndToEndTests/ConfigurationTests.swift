import ControlClient
import Foundation
import LinuxIO
import Testing

/// The daemon goes by its configuration, or says what is wrong with it and does not serve.
@Suite struct ConfigurationTests {
  @Test func `a bad value keeps it from starting, and it says where`() throws {
    let place = try Place("[Countdownd]\nMaxConnections=none\n")
    var daemon = try place.start()
    #expect(try daemon.wait() == .exited(status: 1))
    #expect(
      try place.said()
        == "\(place.configuration):2: MaxConnections=none: a whole number is needed, such as 500 or"
        + " 2M\n")
    #expect(!FileManager.default.fileExists(atPath: place.socket))
  }

  @Test func `its limits, its socket and its log are as configured, unknown keys are warned of`()
    throws
  {
    let place = try Place(
      "[Countdownd]\nMaxPayloadBytes=2\nSocketMode=0600\nLogLevel=warning\nFuture=1\n")
    var daemon = try place.start()
    do {
      try awaitService(at: place.socket)
      let attributes = try FileManager.default.attributesOfItem(atPath: place.socket)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
      var client = try Connection(to: place.socket)
      _ = try client.start("short", 60_000_000, payload: "{}")
      let refused = try refusal { _ = try client.start("long", 60_000_000, payload: "{ }") }
      #expect(refused?.name == "io.countdownd.Countdown.QuotaExceeded")
    } catch {
      try daemon.send(.kill)
      _ = try daemon.wait()
      throw error
    }
    try daemon.send(.terminate)
    #expect(try daemon.wait() == .exited(status: 0))
    #expect(try place.said() == "\(place.configuration):5: unknown key Future=, ignoring\n")
  }

  @Test func `the command line's log level wins`() throws {
    let place = try Place("[Countdownd]\nLogLevel=debug\nFuture=1\n")
    var daemon = try place.start("--log-level", "error")
    do {
      try awaitService(at: place.socket)
    } catch {
      try daemon.send(.kill)
      _ = try daemon.wait()
      throw error
    }
    try daemon.send(.terminate)
    #expect(try daemon.wait() == .exited(status: 0))
    #expect(try place.said() == "")
  }
}
