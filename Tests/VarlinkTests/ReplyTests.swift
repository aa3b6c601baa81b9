import JSON
import Testing
import Varlink

@Suite("Reply")
struct ReplyTests {
  private func written(_ body: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter(reusing: [])
    body(&writer)
    return String(decoding: writer.take(), as: UTF8.self)
  }

  @Test func `a reply is its parameters and a NUL`() {
    let text = written {
      $0.beginReply()
      $0.key("a")
      $0.integer(Int64(1))
      $0.endReply()
    }
    #expect(text == "{\"parameters\":{\"a\":1}}\0")
  }

  @Test func `an empty reply has parameters`() {
    #expect(
      written {
        $0.beginReply()
        $0.endReply()
      } == "{\"parameters\":{}}\0")
  }

  @Test func `a reply that goes on says so`() {
    let text = written {
      $0.beginReply()
      $0.endReply(continues: true)
      $0.beginReply()
      $0.endReply()
    }
    #expect(text == "{\"parameters\":{},\"continues\":true}\0{\"parameters\":{}}\0")
  }

  @Test(arguments: [
    (
      ServiceError.interfaceNotFound("a\"b"),
      #"{"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":"a\"b"}}"#
    ),
    (
      .methodNotFound("m"),
      #"{"error":"org.varlink.service.MethodNotFound","parameters":{"method":"m"}}"#
    ),
    (
      .methodNotImplemented("m"),
      #"{"error":"org.varlink.service.MethodNotImplemented","parameters":{"method":"m"}}"#
    ),
    (
      .invalidParameter("p"),
      #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"p"}}"#
    ),
    (.permissionDenied, #"{"error":"org.varlink.service.PermissionDenied","parameters":{}}"#),
    (.expectedMore, #"{"error":"org.varlink.service.ExpectedMore","parameters":{}}"#),
  ])
  func `each standard error has its name and its field`(error: ServiceError, text: String) {
    #expect(written { error.write(to: &$0) } == text + "\0")
  }

  @Test func `what a caller wrote is told back at most in part`() {
    let text = String(repeating: "é", count: 500_000)
    let reply = written { ServiceError.methodNotFound(text).write(to: &$0) }
    #expect(reply.contains(String(repeating: "é", count: 1_024) + "\""))
    #expect(reply.utf8.count < 3_000)
  }
}
