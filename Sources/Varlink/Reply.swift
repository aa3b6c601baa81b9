package import JSON

/// The envelopes of replies and errors, around parameters that the caller writes in between.
extension JSONWriter {
  /// Begins a reply; its parameters follow, as keys and values.
  package mutating func beginReply() {
    beginObject()
    key(EnvelopeKey.parameters)
    beginObject()
  }

  /// Ends a reply.
  ///
  /// - Parameter continues: More replies to the same call follow.
  package mutating func endReply(continues: Bool = false) {
    endObject()
    if continues {
      key(EnvelopeKey.continues)
      boolean(true)
    }
    endObject()
    terminate(with: 0)
  }

  /// Begins an error; its parameters follow. ``endReply(continues:)`` ends it.
  package mutating func beginError(_ name: String) {
    beginObject()
    key(EnvelopeKey.error)
    string(name)
    key(EnvelopeKey.parameters)
    beginObject()
  }
}

/// The keys of the envelopes, prepared once.
private enum EnvelopeKey {
  static let parameters = JSONLiteral("parameters")
  static let continues = JSONLiteral("continues")
  static let error = JSONLiteral("error")
}

/// The errors that every Varlink service knows (`org.varlink.service`).
package enum ServiceError: Error, Equatable, Sendable {
  case interfaceNotFound(String)
  case methodNotFound(String)
  case methodNotImplemented(String)
  /// The parameter's name; of an item of a list its place, `countdowns[3].name`.
  case invalidParameter(String)
  case permissionDenied
  /// The method answers with several replies and was called without `more`.
  case expectedMore

  package func write(to writer: inout JSONWriter) {
    switch self {
    case .interfaceNotFound(let name): Self.write("InterfaceNotFound", "interface", name, &writer)
    case .methodNotFound(let name): Self.write("MethodNotFound", "method", name, &writer)
    case .methodNotImplemented(let name):
      Self.write("MethodNotImplemented", "method", name, &writer)
    case .invalidParameter(let name): Self.write("InvalidParameter", "parameter", name, &writer)
    case .permissionDenied: Self.write("PermissionDenied", nil, "", &writer)
    case .expectedMore: Self.write("ExpectedMore", nil, "", &writer)
    }
  }

  /// Scalars of a caller's own text that an error repeats, at most.
  private static let longestEcho = 1_024

  private static func write(
    _ error: String, _ field: String?, _ value: String, _ writer: inout JSONWriter
  ) {
    writer.beginError("org.varlink.service." + error)
    if let field {
      writer.key(field)
      // What a caller wrote is told back to it, but not at any length: no message exceeds its limit.
      writer.string(String(String.UnicodeScalarView(value.unicodeScalars.prefix(longestEcho))))
    }
    writer.endReply()
  }
}
