import ControlClient
import LinuxIO
import Testing

@Suite struct ConnectionTests {
  /// A client and the server's end of its connection, both played by the test.
  private struct Pair: ~Copyable {
    var client: Connection
    let server: StreamSocket
    private let directory: TemporaryDirectory
    private let listener: ListeningSocket

    init() throws {
      let directory = try TemporaryDirectory(prefix: "control-client-")
      let listener = try ListeningSocket(bindingTo: "\(directory.path)/s", mode: 0o600)
      let client = try Connection(to: "\(directory.path)/s")
      guard let server = try listener.accept() else { throw ClientError.closed }
      self.client = client
      self.server = server
      self.directory = directory
      self.listener = listener
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws { #expect(try server.sendAll(bytes.span)) }

    func received() throws -> String {
      var bytes: [UInt8] = []
      while case .moved = try server.receive(appendingTo: &bytes, atMost: 4_096) {}
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  @Test func `a call is sent and its reply returned`() throws {
    var pair = try Pair()
    try pair.send(#"{"parameters":{"revision":7,"remainingUSec":5}}"# + "\0")
    let reply = try pair.client.call(
      "Cancel", parameters: encodeParameters { $0.member("name", "tea") })
    #expect(try CancelReply(reply).revision == 7)
    let sent = try pair.received()
    #expect(
      sent == #"{"method":"io.countdownd.Countdown.Cancel","parameters":{"name":"tea"}}"# + "\0")
  }

  @Test func `a method of another interface is named whole`() throws {
    var pair = try Pair()
    try pair.send("{}\0")
    _ = try pair.client.call("io.systemd.service.Ping")
    #expect(try pair.received().hasPrefix(#"{"method":"io.systemd.service.Ping""#))
  }

  @Test func `replies are read whichever pieces they come in`() throws {
    var pair = try Pair()
    try pair.client.begin("List", parameters: encodeParameters { _ in })
    #expect(try pair.received().hasSuffix(#""more":true}"# + "\0"))
    let replies =
      #"{"parameters":{"n":1},"continues":true}"# + "\0" + #"{"parameters":{"n":2}}"# + "\0"
    var numbers: [Int64?] = []
    for byte in replies.utf8 {
      try pair.send([byte])
      while let reply = try pair.client.nextReply(timeoutMSec: 0) {
        numbers.append(try Members(parsing: reply.parameters).integer("n"))
      }
    }
    #expect(numbers == [1, 2])
  }

  @Test func `several replies that come at once are read in order`() throws {
    var pair = try Pair()
    try pair.client.begin("Subscribe", parameters: encodeParameters { _ in })
    try pair.send((0..<50).map { #"{"parameters":{"n":\#($0)},"continues":true}"# + "\0" }.joined())
    for number in 0..<50 as Range<Int64> {
      let reply = try #require(try pair.client.nextReply(timeoutMSec: 0))
      #expect(try Members(parsing: reply.parameters).integer("n") == number)
    }
    #expect(try pair.client.nextReply(timeoutMSec: 0) == nil)
  }

  @Test func `an error reply leaves the connection usable`() throws {
    var pair = try Pair()
    try pair.send(#"{"error":"a.B"}"# + "\0" + #"{"parameters":{"n":1}}"# + "\0")
    let refusal = CallRefusal(name: "a.B", parameters: Array("{}".utf8))
    #expect(throws: ClientError.refused(refusal)) { try pair.client.call("Get") }
    #expect(try pair.client.call("Get").integer("n") == 1)
  }

  @Test(arguments: ["hello\0", "\0", "[]\0", "HTTP/1.1 400 Bad Request\r\n\r\n\0"])
  func `garbage is told as such`(text: String) throws {
    var pair = try Pair()
    try pair.send(text)
    #expect(isGarbled { () throws(ClientError) in _ = try pair.client.call("Get") })
  }

  @Test func `a second reply to a call that wants one is garbage`() throws {
    var pair = try Pair()
    try pair.send(#"{"continues":true}"# + "\0")
    #expect(isGarbled { () throws(ClientError) in _ = try pair.client.call("Get") })
  }

  @Test(arguments: ["", #"{"parameters":{"n"#, #"{"parameters":{}}"#])
  func `a server that dies before the end of its reply is told as such`(text: String) throws {
    var pair = try Pair()
    try pair.send(text)
    pair.server.shutDown()
    #expect(throws: ClientError.closed) { try pair.client.call("Get") }
  }

  @Test func `a server's last word is heard though it reads no more`() throws {
    var pair = try Pair()
    try pair.send(#"{"error":"a.TooMany"}"# + "\0")
    pair.server.shutDown()
    let refusal = CallRefusal(name: "a.TooMany", parameters: Array("{}".utf8))
    #expect(throws: ClientError.refused(refusal)) { try pair.client.call("Get") }
  }

  @Test func `a message that never ends is given up at the limit`() throws {
    var pair = try Pair()
    try pair.client.begin("List", parameters: encodeParameters { _ in })
    let chunk = [UInt8](repeating: 0x20, count: 32 << 10)
    var sent = 0
    var error: ClientError?
    while error == nil, sent < 64 << 20 {
      if case .moved(let count) = try pair.server.send(chunk.span) { sent += count }
      do throws(ClientError) {
        #expect(try pair.client.nextReply(timeoutMSec: 0) == nil)
      } catch let thrown {
        error = thrown
      }
    }
    #expect(error == .oversized)
    #expect(sent > Connection.maximumMessageBytes)
    #expect(sent < Connection.maximumMessageBytes + 1 << 20)
  }

  @Test(arguments: [(0, true), (1, false)])
  func `a reply of the longest length is read, and one byte more is refused`(
    more: Int, isRead: Bool
  ) throws {
    var pair = try Pair()
    try pair.client.begin("List", parameters: encodeParameters { _ in })
    let padding = [UInt8](repeating: 0x20, count: Connection.maximumMessageBytes - 2 + more)
    let message = Array("{}".utf8) + padding + [0]
    var sent = 0
    var outcome: Bool?
    while outcome == nil {
      if sent < message.count,
        case .moved(let count) = try pair.server.send(message.span.extracting(sent..<message.count))
      {
        sent += count
      }
      do throws(ClientError) {
        if try pair.client.nextReply(timeoutMSec: 0) != nil { outcome = true }
      } catch {
        #expect(error == .oversized)
        outcome = false
      }
    }
    #expect(outcome == isRead)
  }

  @Test func `a call that is too long is not sent`() throws {
    var pair = try Pair()
    let name = String(repeating: "x", count: Connection.maximumMessageBytes)
    #expect(throws: ClientError.oversized) {
      try pair.client.call("Get", parameters: encodeParameters { $0.member("name", name) })
    }
    #expect(try pair.received() == "")
  }

  @Test func `where nobody listens is told with the path`() throws {
    let directory = try TemporaryDirectory(prefix: "control-client-")
    let path = "\(directory.path)/none"
    let cause = SystemCallError(call: "connect", code: 2, path: path)
    #expect(throws: ClientError.unreachable(path: path, cause)) {
      _ = try Connection(to: path).rawValue
    }
  }

  @Test func `the second path is tried where the first has no socket`() throws {
    let directory = try TemporaryDirectory(prefix: "control-client-")
    let listener = try ListeningSocket(bindingTo: "\(directory.path)/s", mode: 0o600)
    _ = try Connection(toFirstOf: ["\(directory.path)/none", "\(directory.path)/s"]).rawValue
    let isAccepted = try listener.accept() != nil
    #expect(isAccepted)
    #expect(throws: ClientError.self) {
      _ = try Connection(toFirstOf: ["\(directory.path)/a", "\(directory.path)/b"]).rawValue
    }
  }

  @Test func `the socket is sought where the daemon puts it`() {
    let name = "countdownd/io.countdownd.Countdown"
    let variables = ["XDG_RUNTIME_DIR": "/run/user/7", "COUNTDOWND_SOCKET": "/var"]
    func find(_ named: String?, _ user: UInt32, without: String = "") -> [String] {
      SocketPath.candidates(named: named, userID: user) { $0 == without ? nil : variables[$0] }
    }
    #expect(find("/named", 0) == ["/named"])
    #expect(find(nil, 7) == ["/var"])
    let own = ["/run/user/7/\(name)", "/run/\(name)"]
    #expect(find(nil, 7, without: "COUNTDOWND_SOCKET") == own)
    #expect(find(nil, 0, without: "COUNTDOWND_SOCKET") == ["/run/\(name)"])
    let bare = SocketPath.candidates(named: nil, userID: 7) { _ in "" }
    #expect(bare == ["/run/\(name)"])
  }
}
