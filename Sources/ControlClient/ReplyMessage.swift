package import JSON

/// One Varlink message from a server, taken apart.
package struct ReplyMessage: Equatable, Sendable {
  /// The reply's parameters: a JSON object, as it was sent; `{}` if it had none.
  package let parameters: [UInt8]

  /// Whether another reply to the same call will follow.
  package let continues: Bool

  /// Reads what stood before the NUL.
  ///
  /// - Throws: `refused` if it is an error; `garbled` if it is no Varlink reply at all.
  package init(parsing message: [UInt8]) throws(ClientError) {
    let members = try Members(parsing: message)
    parameters = try members.object("parameters")?.json ?? Array("{}".utf8)
    continues = try members.boolean("continues") ?? false
    if let error = try members.string("error") {
      throw .refused(CallRefusal(name: error, parameters: parameters))
    }
  }
}

/// A Varlink call, as the bytes that are sent, with the NUL that ends it.
package func encodeCall(
  _ method: String, parameters: [UInt8], wantsMore: Bool
) -> [UInt8] {
  var writer = JSONWriter(reusing: [])
  writer.beginObject()
  writer.key("method")
  writer.string(method)
  writer.key("parameters")
  writer.raw(parameters.span)
  if wantsMore {
    writer.key("more")
    writer.boolean(true)
  }
  writer.endObject()
  writer.terminate(with: 0)
  return writer.take()
}

/// A call's parameters, written by `write` as members of one object.
package func encodeParameters(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
  var writer = JSONWriter(reusing: [])
  writer.beginObject()
  write(&writer)
  writer.endObject()
  return writer.take()
}

extension JSONWriter {
  /// Writes a member, unless it is `nil`.
  package mutating func member(_ key: String, _ value: String?) {
    guard let value else { return }
    self.key(key)
    string(value)
  }

  /// Writes a member, unless it is `nil`.
  package mutating func member(_ key: String, _ value: Int64?) {
    guard let value else { return }
    self.key(key)
    integer(value)
  }

  /// Writes a member, unless it is false, which is the same as missing.
  package mutating func member(_ key: String, _ value: Bool) {
    guard value else { return }
    self.key(key)
    boolean(value)
  }

  /// Writes a member that is JSON already, unless it is `nil`.
  package mutating func member(_ key: String, json: [UInt8]?) {
    guard let json else { return }
    self.key(key)
    raw(json.span)
  }

  /// Writes a member that is an array of strings, unless it is `nil`.
  package mutating func member(_ key: String, _ values: [String]?) {
    guard let values else { return }
    self.key(key)
    beginArray()
    for value in values { string(value) }
    endArray()
  }
}

/// Cuts what arrives into messages, at each NUL.
struct MessageCutter {
  /// What has arrived and is not part of a message that was taken.
  var bytes: [UInt8] = []
  /// Where the first message not yet taken begins.
  private var start = 0
  /// Up to where there is no NUL from `start` on.
  private var searched = 0

  let maximumBytes: Int

  init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

  /// The next message without its NUL; `nil` until all of it has come. Every byte is searched once.
  ///
  /// - Throws: `oversized`, as soon as the message cannot end within the maximum.
  mutating func next() throws(ClientError) -> [UInt8]? {
    while searched < bytes.count {
      if bytes[searched] == 0 {
        guard searched - start <= maximumBytes else { throw .oversized }
        let message = Array(bytes[start..<searched])
        searched += 1
        start = searched
        return message
      }
      searched += 1
    }
    guard searched - start <= maximumBytes else { throw .oversized }
    bytes.removeSubrange(..<start)
    searched -= start
    start = 0
    return nil
  }
}
