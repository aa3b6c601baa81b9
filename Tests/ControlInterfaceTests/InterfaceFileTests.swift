import ControlInterface
import Foundation
import TestSupport
import Testing
import Varlink

@Suite("InterfaceFile")
struct InterfaceFileTests {
  @Test func `the text that is served is the file, byte for byte`() throws {
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")
    let file = sources.appending(path: "ControlInterface/io.countdownd.Countdown.varlink")
    let world = World()
    let client = world.connect()
    let reply = world.call(
      "org.varlink.service.GetInterfaceDescription", ["interface": "io.countdownd.Countdown"],
      from: client)
    #expect(
      reply["description"]?.string.map { Array($0.utf8) } == Array(try Data(contentsOf: file)))
    #expect(InterfaceFile.text == Array(try Data(contentsOf: file)))
  }

  @Test(arguments: [
    ServiceInterface.name: ServiceInterface.text, ServiceControl.name: ServiceControl.text,
  ])
  func `the descriptions of the service's interfaces are served`(name: String, text: String) {
    let world = World()
    let client = world.connect()
    let reply = world.call(
      "org.varlink.service.GetInterfaceDescription", ["interface": .string(name)], from: client)
    #expect(reply["description"]?.string == text)
  }

  /// As systemd's own services have it (systemd 257): its clients rely on that.
  @Test func `io.systemd.service is declared as systemd declares it`() throws {
    let control = try InterfaceDescription(ServiceControl.text)
    #expect(control.name == "io.systemd.service")
    #expect(control.methods.keys.sorted() == ["Ping", "Reload", "SetLogLevel"])
    #expect(control.methods["SetLogLevel"]?.parameters.map(\.name) == ["level"])
    #expect(control.methods["SetLogLevel"]?.parameters.map(\.type) == [.integer])
    #expect(control.methods.values.allSatisfy { $0.reply.isEmpty })
    #expect(control.errors.isEmpty)
  }

  @Test func `GetInfo names all interfaces, and every field it declares`() throws {
    let world = World()
    let client = world.connect()
    let reply = world.call("org.varlink.service.GetInfo", from: client)
    let service = try InterfaceDescription(ServiceInterface.text)
    let fields = try #require(service.methods["GetInfo"]).reply
    #expect(service.problem(in: reply.parameters, fields: fields, at: "GetInfo") == nil)
    #expect(
      reply["interfaces"] == [
        "org.varlink.service", "io.countdownd.Countdown", "io.systemd.service",
      ])
    #expect(reply["version"] == "0")
  }

  @Test func `an interface that is not there is named`() {
    let world = World()
    let client = world.connect()
    let reply = world.call(
      "org.varlink.service.GetInterfaceDescription", ["interface": "a.B"], from: client)
    #expect(reply.error == "org.varlink.service.InterfaceNotFound")
    #expect(reply["interface"] == "a.B")
  }

  /// Each declared method is one that is known, and the other way round.
  @Test func `the methods declared are the methods there are`() throws {
    let service = try InterfaceDescription(ServiceInterface.text)
    let control = try InterfaceDescription(ServiceControl.text)
    let declared = [InterfaceDescription.countdown, service, control].map(\.methods.count)
    #expect(Method.allCases.count == declared.reduce(0, +))
    let world = World()
    let client = world.connect()
    for method in InterfaceDescription.countdown.methods.keys.sorted() {
      let reply = world.call(method, from: client)
      #expect(reply.errorName != "MethodNotFound", "\(method)")
    }
  }

  /// Clients that pass arguments by position rely on it.
  @Test func `a name comes first, then the length`() {
    let methods = InterfaceDescription.countdown.methods
    #expect(methods["Start"]?.parameters.map(\.name).prefix(2) == ["name", "durationUSec"])
    for (method, declared) in methods
    where declared.parameters.contains(where: { $0.name == "name" }) {
      #expect(declared.parameters.first?.name == "name", "\(method)")
    }
  }

  /// The Python package `varlink` reads neither.
  @Test func `no type is any, and no enumeration has one word only`() {
    for (name, kind) in InterfaceDescription.countdown.types {
      if case .enumeration(let words) = kind { #expect(words.count > 1, "\(name)") }
      if case .structure(let fields) = kind {
        #expect(!fields.contains { $0.type == .any || $0.type == .optional(.any) }, "\(name)")
      }
    }
  }
}
