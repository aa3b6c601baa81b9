import Foundation
import JSON
import TestSupport
import Testing

/// Foundation's JSONSerialization as the oracle: another's reading of the same RFC.
@Suite struct FoundationAgreementTests {
  private func read(_ bytes: [UInt8]) -> Any? {
    try? JSONSerialization.jsonObject(with: Data(bytes), options: [.fragmentsAllowed])
  }

  /// Whether a value of ours and one of Foundation's are the same.
  private func agree(_ value: Value, _ other: Any) -> Bool {
    switch value {
    case .null: return other is NSNull
    case .boolean(let value):
      // NSNumber is both; only a Boolean is a "c" here.
      guard let other = other as? NSNumber else { return false }
      return kind(other) == "c" && other.boolValue == value
    case .integer(let value):
      guard let other = other as? NSNumber else { return false }
      let kind = kind(other)
      return kind == "d"
        ? other.doubleValue == Double(value) : kind != "c" && other.int64Value == value
    case .number(let text): return (other as? NSNumber)?.doubleValue == Double(text)
    case .string(let bytes): return (other as? String).map { Array($0.utf8) } == bytes
    case .array(let elements):
      guard let other = other as? [Any], other.count == elements.count else { return false }
      return zip(elements, other).allSatisfy { agree($0, $1) }
    case .object(let members):
      guard let other = other as? [String: Any], other.count == members.count else { return false }
      return members.allSatisfy { member in
        other[text(member.key)].map { agree(member.value, $0) } ?? false
      }
    }
  }

  private func kind(_ number: NSNumber) -> String {
    // SAFETY: the number owns the string, and it is copied at once.
    unsafe String(cString: number.objCType)
  }

  /// `value` as Foundation writes it.
  private func object(_ value: Value) -> Any {
    switch value {
    case .null: NSNull()
    case .boolean(let value): value
    case .integer(let value): NSNumber(value: value)
    case .number(let text): NSNumber(value: Double(text)!)
    case .string(let bytes): text(bytes)
    case .array(let elements): elements.map(object)
    case .object(let members):
      [String: Any](uniqueKeysWithValues: members.map { (text($0.key), object($0.value)) })
    }
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `random documents mean the same to both, whoever wrote them`(seed: UInt64) throws {
    var documents = RandomDocuments(seed: seed)
    for step in 0..<100 {
      let value = documents.value()
      let place: Comment = "seed \(seed), step \(step)"

      // Written at random, read by both.
      let document = documents.text(of: value)
      #expect(try Value(document) == value, place)
      let theirs = try #require(read(document), place)
      #expect(agree(value, theirs), place)

      // Written by us, read by them.
      let ours = try #require(read(value.written), place)
      #expect(agree(value, ours), place)

      // Written by them, read by us.
      let options: [JSONSerialization.WritingOptions] = [
        [], .prettyPrinted, .sortedKeys, .withoutEscapingSlashes,
      ]
      let data = try JSONSerialization.data(
        withJSONObject: object(value),
        options: [.fragmentsAllowed, options.randomElement(using: &documents.random)!])
      let back = try Value([UInt8](data))
      #expect(agree(back, object(value)), place)
    }
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `changed documents are refused by both, but for the differences listed`(seed: UInt64) {
    var documents = RandomDocuments(seed: seed)
    for step in 0..<200 {
      let value = documents.value(depth: 3)
      var document = documents.text(of: value)
      for _ in 0...Int.random(in: 0..<2, using: &documents.random) where !document.isEmpty {
        let index = Int.random(in: document.indices, using: &documents.random)
        switch Int.random(in: 0..<4, using: &documents.random) {
        case 0: document.remove(at: index)
        case 1: document.insert(document[index], at: index)
        case 2: document[index] = UInt8.random(in: 0...255, using: &documents.random)
        default:
          document[index] = bytes("{}[]:,\"\\ 0123456789-+.eEu/").randomElement(
            using: &documents.random)!
        }
      }
      let ours = refusal(document)
      let theirs = read(document)
      if (ours == nil) != (theirs != nil), !isKnownDifference(document, ours) {
        Issue.record("seed \(seed), step \(step): \(String(describing: ours)): \(text(document))")
      }
    }
  }

  /// Where Foundation (of Swift 6.3.1 on Linux) is known to depart from RFC 8259 or from this
  /// module.
  private func isKnownDifference(_ document: [UInt8], _ ours: JSONError?) -> Bool {
    // It refuses a number that no Double can hold. We keep its text, as the grammar allows.
    guard let ours else { return hasInfiniteNumber(document) }
    // It takes a comma before a closing bracket.
    if ours.kind == .unexpectedByte,
      [UInt8(ascii: "]"), UInt8(ascii: "}")].contains(document[ours.offset]),
      document[..<ours.offset].last(where: { $0 > 0x20 }) == UInt8(ascii: ",")
    {
      return true
    }
    // It guesses UTF-16 and UTF-32 from where the zeros are, and takes a byte order mark.
    if document.prefix(4).contains(0) || document.starts(with: [0xEF, 0xBB, 0xBF]) { return true }
    // It allows 512 levels.
    return ours.kind == .tooDeep
  }

  private func hasInfiniteNumber(_ document: [UInt8]) -> Bool {
    text(document).split(whereSeparator: { !"+-.0123456789eE".contains($0) })
      .contains { Double($0)?.isInfinite ?? false }
  }

  @Test(arguments: [
    "[1,]", "{\"a\":1,}", "\u{FEFF}{}", "[1e400]",
    String(repeating: "[", count: 33) + String(repeating: "]", count: 33),
  ])
  func `the differences listed are real`(input: String) {
    #expect((refusal(input) == nil) != (read(bytes(input)) != nil))
    #expect(isKnownDifference(bytes(input), refusal(input)))
  }
}
