package import CountdownService

/// A client of a ``World``: what it sends, and what it has been answered.
package struct VirtualClient {
  package let id: ConnectionID
  package let uid: UInt32

  /// A call that was sent whole, and its replies so far.
  package struct Call {
    package let method: String
    package let parameters: JSONTree
    package let isStreamed: Bool
    package var replies: [Reply] = []
    /// Its last reply has come.
    package var isAnswered = false
    /// The turns after which it was sent, and the one that answered it last.
    package let sentAfter: Int
    package var answeredIn = 0

    package init(
      method: String, parameters: JSONTree, isStreamed: Bool, sentAfter: Int
    ) {
      self.method = method
      self.parameters = parameters
      self.isStreamed = isStreamed
      self.sentAfter = sentAfter
    }
  }

  /// One message from the daemon.
  package struct Reply: Equatable, Sendable {
    /// The error's full name; `nil` of a reply.
    package let error: String?
    package let parameters: [String: JSONTree]
    package let continues: Bool

    package init(error: String?, parameters: [String: JSONTree], continues: Bool) {
      self.error = error
      self.parameters = parameters
      self.continues = continues
    }

    /// The error's last part, `AlreadyExpired`.
    package var errorName: String? { error?.split(separator: ".").last.map(String.init) }

    package subscript(key: String) -> JSONTree? { parameters[key] }
  }

  /// On the way: sent, and not yet read by the daemon.
  var outbox: [UInt8] = []
  /// Every message that was written for it; the bytes of those that it has read are given back.
  private var written: [(bytes: [UInt8], reply: Reply)] = []
  private var readMessages = 0
  /// The call that the next message is for.
  private var firstUnwritten = 0
  /// Received, up to a NUL that has not come yet.
  private var partial: [UInt8] = []
  /// Every call that is to be answered, in order.
  package internal(set) var calls: [Call] = []
  /// The first call that is not answered yet.
  package private(set) var firstOpen = 0
  /// Replies to no call.
  package private(set) var unexpected: [Reply] = []
  /// It takes what is sent to it.
  package var isReading = true
  /// It sends no more.
  var hasShutDown = false
  /// It is gone, and neither sends nor reads.
  package internal(set) var hasVanished = false
  /// The daemon was told that it sends no more, or is gone.
  var isEndTold = false
  /// The daemon has closed its connection.
  package internal(set) var isClosed = false
  /// How many bytes it has read.
  package private(set) var bytesRead = 0
  /// What it has read, where that is kept instead of being looked at.
  package private(set) var bytes: [UInt8] = []
  var keepsBytes = false
  /// What goes to it is never cut.
  var isWhole = false

  init(id: ConnectionID, uid: UInt32) {
    self.id = id
    self.uid = uid
  }

  /// How many bytes it was looked at that wait to be read.
  var knownBytes: Int {
    written[readMessages...].reduce(0) { $0 + $1.bytes.count + 1 } - partial.count
  }

  /// Looks at what the daemon has written for it since it was looked at last.
  ///
  /// - Returns: The replies in it, each with the place of its call.
  mutating func look(
    at new: [UInt8], problems: inout [String]
  ) -> [(call: Int?, reply: Reply)] {
    var looked: [(call: Int?, reply: Reply)] = []
    var start = 0
    while let end = new[start...].firstIndex(of: 0) {
      let message = Array(new[start..<end])
      start = end + 1
      guard let reply = VirtualClient.reply(message) else {
        problems.append("no reply: \(String(decoding: message, as: UTF8.self))")
        continue
      }
      written.append((message, reply))
      looked.append((firstUnwritten < calls.count ? firstUnwritten : nil, reply))
      if !reply.continues, firstUnwritten < calls.count { firstUnwritten += 1 }
    }
    if start != new.count { problems.append("half a reply was written") }
    return looked
  }

  /// Takes bytes in; gives the replies they complete, each with the place of its call.
  mutating func take(
    _ bytes: [UInt8], turn: Int, problems: inout [String]
  ) -> [(call: Int?, reply: Reply)] {
    bytesRead += bytes.count
    if keepsBytes {
      self.bytes += bytes
      return []
    }
    var completed: [(call: Int?, reply: Reply)] = []
    var start = bytes.startIndex
    while let end = bytes[start...].firstIndex(of: 0) {
      let message = partial + bytes[start..<end]
      partial = []
      start = end + 1
      guard readMessages < written.count, written[readMessages].bytes == message else {
        problems.append("sent otherwise than written: \(String(decoding: message, as: UTF8.self))")
        continue
      }
      let reply = written[readMessages].reply
      written[readMessages].bytes = []
      readMessages += 1
      completed.append((note(reply, turn: turn), reply))
    }
    partial += bytes[start...]
    return completed
  }

  private static func reply(_ message: [UInt8]) -> Reply? {
    guard case .object(let members)? = JSONTree(parsing: message),
      case .object(let parameters)? = members["parameters"],
      members.keys.allSatisfy({ ["parameters", "error", "continues"].contains($0) })
    else { return nil }
    return Reply(
      error: members["error"]?.string, parameters: parameters,
      continues: members["continues"]?.boolean ?? false)
  }

  /// Replies come in the order of the calls, so this one belongs to the first open call.
  private mutating func note(_ reply: Reply, turn: Int) -> Int? {
    guard firstOpen < calls.count else {
      unexpected.append(reply)
      return nil
    }
    let place = firstOpen
    calls[place].replies.append(reply)
    calls[place].answeredIn = turn
    if !reply.continues {
      calls[place].isAnswered = true
      firstOpen += 1
    }
    return place
  }
}
