import TestSupport
import Testing
import Varlink

@Suite("ServiceInterface")
struct ServiceInterfaceTests {
  @Test func `its description declares what the specification demands`() throws {
    let description = try InterfaceDescription(ServiceInterface.text)
    #expect(description.name == ServiceInterface.name)
    #expect(description.methods.keys.sorted() == ["GetInfo", "GetInterfaceDescription"])
    #expect(
      description.methods["GetInfo"]?.reply.map(\.name)
        == ["vendor", "product", "version", "url", "interfaces"])
    #expect(
      description.errors.mapValues { $0.map(\.name) } == [
        "InterfaceNotFound": ["interface"], "MethodNotFound": ["method"],
        "MethodNotImplemented": ["method"], "InvalidParameter": ["parameter"],
        "PermissionDenied": [], "ExpectedMore": [],
      ])
  }
}
