internal import Foundation

/// JSON as a tree, read by Foundation: what the tests make calls from and look at replies with.
package enum JSONTree: Hashable, Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  /// A number that is no 64-bit integer.
  case fraction(Double)
  case string(String)
  case array([JSONTree])
  case object([String: JSONTree])

  /// `nil` for what is not JSON.
  package init?(parsing bytes: [UInt8]) {
    guard
      let value = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
    else { return nil }
    self.init(value)
  }

  private init(_ value: Any) {
    switch value {
    case let text as String: self = .string(text)
    case let list as [Any]: self = .array(list.map(JSONTree.init))
    case let object as [String: Any]: self = .object(object.mapValues(JSONTree.init))
    case let number as NSNumber: self = .init(number)
    default: self = .null
    }
  }

  private init(_ number: NSNumber) {
    let type = unsafe String(cString: number.objCType)
    if type == "c" || type == "B" {
      self = .boolean(number.boolValue)
    } else if type == "d" || type == "f" {
      self = .fraction(number.doubleValue)
    } else {
      self = .integer(number.int64Value)
    }
  }

  package var string: String? { if case .string(let text) = self { text } else { nil } }
  package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  package var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
  package var array: [JSONTree]? { if case .array(let list) = self { list } else { nil } }
  package var object: [String: JSONTree]? {
    if case .object(let members) = self { members } else { nil }
  }

  /// A member of an object.
  package subscript(key: String) -> JSONTree? { object?[key] }

  /// As JSON text, keys in order.
  package var text: String {
    switch self {
    case .null: "null"
    case .boolean(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .fraction(let value): "\(value)"
    case .string(let text): JSONTree.quoted(text)
    case .array(let list): "[" + list.map(\.text).joined(separator: ",") + "]"
    case .object(let members):
      "{"
        + members.sorted { $0.key < $1.key }
        .map { JSONTree.quoted($0.key) + ":" + $0.value.text }.joined(separator: ",") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case _ where scalar.value < 0x20:
        quoted += "\\u00" + (scalar.value < 0x10 ? "0" : "") + String(scalar.value, radix: 16)
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}

extension JSONTree: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
  ExpressibleByFloatLiteral
{
  package init(stringLiteral text: String) { self = .string(text) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(booleanLiteral value: Bool) { self = .boolean(value) }
  package init(floatLiteral value: Double) { self = .fraction(value) }
  package init(arrayLiteral elements: JSONTree...) { self = .array(elements) }
  package init(dictionaryLiteral members: (String, JSONTree)...) {
    self = .object(Dictionary(members) { _, last in last })
  }
}
