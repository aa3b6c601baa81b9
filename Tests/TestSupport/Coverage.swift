/// What of the interface has been asked, answered and seen, each reply held against its file.
package struct Coverage: Sendable {
  /// Methods that were answered by a reply, errors that were answered.
  package private(set) var methods: Set<String> = []
  package private(set) var errors: Set<String> = []
  /// `method.parameter` of calls, `method.field` of replies, `Type.field` within them.
  package private(set) var parameters: Set<String> = []
  package private(set) var fields: Set<String> = []
  /// Words of enumerations: `Clock.boottime`, sent or received.
  package private(set) var words: Set<String> = []

  private var strangeWord: String?

  package init() {}

  package mutating func formUnion(_ other: Coverage) {
    methods.formUnion(other.methods)
    errors.formUnion(other.errors)
    parameters.formUnion(other.parameters)
    fields.formUnion(other.fields)
    words.formUnion(other.words)
  }

  mutating func note(call method: String, _ call: JSONTree) {
    let interface = InterfaceDescription.countdown
    for field in interface.methods[method]?.parameters ?? [] {
      guard let value = call[field.name], value != .null else { continue }
      parameters.insert("\(method).\(field.name)")
      noteWords(of: value, as: field.type)
    }
  }

  private mutating func noteWords(of value: JSONTree, as kind: InterfaceDescription.Kind) {
    switch (kind, value) {
    case (.optional(let inner), _): noteWords(of: value, as: inner)
    case (.array(let inner), .array(let list)): for item in list { noteWords(of: item, as: inner) }
    case (.named(let name), .string(let word)):
      if case .enumeration(let words)? = InterfaceDescription.countdown.types[name],
        words.contains(word)
      {
        self.words.insert("\(name).\(word)")
      }
    case (.named(let name), .object(let members)):
      guard case .structure(let inner)? = InterfaceDescription.countdown.types[name] else { return }
      for field in inner {
        guard let value = members[field.name] else { continue }
        fields.insert("\(name).\(field.name)")
        noteWords(of: value, as: field.type)
      }
    default: break
    }
  }

  /// - Returns: What is wrong with the reply; `nil` if nothing.
  mutating func note(reply: VirtualClient.Reply, to method: String?) -> String? {
    let interface = InterfaceDescription.countdown
    if let error = reply.error { return note(error: error, reply.parameters) }
    guard let method, let declared = interface.methods[method] else { return nil }
    methods.insert(method)
    noteFields(reply.parameters, declared.reply, of: method)
    return strangeWord
      ?? interface.problem(in: reply.parameters, fields: declared.reply, at: method)
  }

  private mutating func note(error: String, _ parameters: [String: JSONTree]) -> String? {
    let interface = InterfaceDescription.countdown
    let prefix = interface.name + "."
    if error.hasPrefix(prefix) {
      let name = String(error.dropFirst(prefix.count))
      guard let fields = interface.errors[name] else { return "\(error) is not declared" }
      errors.insert(name)
      noteFields(parameters, fields, of: name)
      return interface.problem(in: parameters, fields: fields, at: name)
    }
    let standard: [String: [String]] = [
      "InterfaceNotFound": ["interface"], "MethodNotFound": ["method"],
      "MethodNotImplemented": ["method"], "InvalidParameter": ["parameter"],
      "PermissionDenied": [], "ExpectedMore": [],
    ]
    let name = error.split(separator: ".").last.map(String.init) ?? ""
    guard error == "org.varlink.service." + name, let fields = standard[name] else {
      return "\(error) is not declared"
    }
    errors.insert(name)
    let isComplete =
      parameters.keys.sorted() == fields && parameters.values.allSatisfy { $0.string != nil }
    return isComplete ? nil : "\(error) has the fields \(parameters)"
  }

  private mutating func noteFields(
    _ members: [String: JSONTree], _ declared: [InterfaceDescription.Field], of owner: String
  ) {
    for field in declared {
      guard let value = members[field.name] else { continue }
      noteWord(value, of: field.name, in: owner)
      if fields.insert("\(owner).\(field.name)").inserted || field.type.isCompound {
        noteInner(value, field.type)
      }
    }
  }

  /// In replies the words are strings, so that there can be more of them one day.
  private mutating func noteWord(_ value: JSONTree, of field: String, in owner: String) {
    let type = Coverage.wordsOfFields["\(owner).\(field)"] ?? Coverage.wordsOfFields[field]
    guard let type, let word = value.string else { return }
    guard case .enumeration(let known)? = InterfaceDescription.countdown.types[type] else { return }
    if known.contains(word) {
      words.insert("\(type).\(word)")
    } else if word != "heartbeat", word != "absent" {
      strangeWord = "\(field) is \(word), which is none of \(known)"
    }
  }

  private static let wordsOfFields = [
    "state": "State", "clock": "Clock", "catchUp": "CatchUp", "durability": "Durability",
    "lateReason": "LateReason",
    "kind": "EventKind", "Discontinuity.kind": "DiscontinuityKind",
  ]

  private mutating func noteInner(_ value: JSONTree, _ kind: InterfaceDescription.Kind) {
    switch (kind, value) {
    case (.optional(let inner), _): noteInner(value, inner)
    case (.array(let inner), .array(let list)): for item in list { noteInner(item, inner) }
    case (.named(let name), .object(let members)):
      if case .structure(let inner)? = InterfaceDescription.countdown.types[name] {
        noteFields(members, inner, of: name)
      }
    default: break
    }
  }
}

extension InterfaceDescription.Kind {
  /// Something is declared within it.
  fileprivate var isCompound: Bool {
    switch self {
    case .optional(let inner), .array(let inner): inner.isCompound
    case .named, .structure: true
    default: false
    }
  }
}
