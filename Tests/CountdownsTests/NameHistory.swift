import Countdowns
import TestSupport

/// Random calls on an index and on a sorted array, compared after each.
struct NameHistory: ~Copyable {
  var names = StoredNames()

  /// The oracle: all keys in order.
  var model: [OwnedKey] = []

  private let owners: [UInt32]
  private let alphabet: [String]
  private let longest: Int
  private let insertions: Int

  /// The seed chooses what names look like: few letters and short ones, so that many share prefixes
  /// and begin each other; or long ones; or any letters.
  init(seed: UInt64, using random: inout SplitMix64) {
    let alphabets: [[String]] = [
      ["a", "b"], ["/", "a", "\u{e9}", "\u{ea}", "\u{20ac}"],
      (0x20...0x7E).map { String(Unicode.Scalar($0 as UInt8)) },
      (0..<300).map { _ in
        String(Unicode.Scalar(.random(in: 0xA0...0xD7FF, using: &random) as UInt32)!)
      },
    ]
    alphabet = alphabets[Int(seed % 4)]
    owners = seed % 3 == 0 ? [5] : [0, 1, 255, 256, 1000, 1001, .max - 1, .max]
    longest = [1, 3, 6, 84][Int(seed / 4 % 4)]
    insertions = [40, 55, 70][Int(seed / 16 % 3)]
  }

  /// The key of a record of the index.
  func key(_ record: UInt32) -> OwnedKey {
    let key = names.records.key(of: record)
    return OwnedKey(owner: key.owner, name: key.name.indices.map { key.name[$0] })
  }

  private func anyName(shortest: Int = 1, using random: inout SplitMix64) -> [UInt8] {
    let letters = Int.random(in: shortest...longest, using: &random)
    return (0..<letters).flatMap { _ in Array(alphabet.randomElement(using: &random)!.utf8) }
  }

  private func anyKey(using random: inout SplitMix64) -> OwnedKey {
    if let old = model.randomElement(using: &random), Bool.random(using: &random) {
      // One that exists, or the beginning of one, or that and more.
      let name = old.name.prefix(.random(in: 1...old.name.count, using: &random))
      switch Int.random(in: 0..<3, using: &random) {
      case 0: return old
      case 1: return OwnedKey(owner: old.owner, name: Array(name))
      default:
        let more = name + anyName(using: &random)
        return OwnedKey(owner: old.owner, name: Array(more.prefix(255)))
      }
    }
    return OwnedKey(owner: owners.randomElement(using: &random)!, name: anyName(using: &random))
  }

  /// Makes one call; what went wrong, in words.
  mutating func step(using random: inout SplitMix64) -> String? {
    let key = anyKey(using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<insertions: return insert(key)
    case insertions..<80: return remove(key)
    case 80..<90: return find(key)
    default: return list(from: key, using: &random)
    }
  }

  private mutating func insert(_ key: OwnedKey) -> String? {
    let place = model.firstIndex { key <= $0 } ?? model.count
    let exists = place < model.count && model[place] == key
    let next = names.nextRecord
    switch names.insert(owner: key.owner, key.name) {
    case .inserted where !exists:
      model.insert(key, at: place)
      return self.key(next) == key ? nil : "\(key) has another name"
    case .taken(let record) where exists && self.key(record) == key: return nil
    case let insertion: return "insert \(key), exists: \(exists): \(insertion)"
    }
  }

  mutating func remove(_ key: OwnedKey) -> String? {
    let found = names.find(owner: key.owner, key.name)
    let removed = names.remove(owner: key.owner, key.name)
    let place = model.firstIndex(of: key)
    if let place { model.remove(at: place) }
    guard found == removed, (removed != nil) == (place != nil) else {
      return "remove \(key): \(String(describing: removed))"
    }
    return names.find(owner: key.owner, key.name) == nil ? nil : "\(key) is still there"
  }

  private func find(_ key: OwnedKey) -> String? {
    let found = names.find(owner: key.owner, key.name).map { self.key($0) }
    return found == (model.contains(key) ? key : nil) ? nil : "find \(key): \(found as Any)"
  }

  private func list(from key: OwnedKey, using random: inout SplitMix64) -> String? {
    let start: OwnedStart = [.first, .at(key), .after(key)].randomElement(using: &random)!
    let other = anyKey(using: &random)
    let owner = [nil, key.owner, other.owner].randomElement(using: &random)!
    let length = Int.random(in: 0...min(other.name.count, 4), using: &random)
    let prefix = [[], Array(other.name.prefix(length)), other.name].randomElement(using: &random)!
    let limit = [0, 1, 2, 10, .max].randomElement(using: &random)!
    let page = names.page(from: start, owner: owner, prefix: prefix, limit: limit)
    let expected = model.filter { candidate in
      start.admits(candidate) && (owner == nil || owner == candidate.owner)
        && candidate.name.starts(with: prefix)
    }
    return page.map { self.key($0) } == Array(expected.prefix(limit))
      ? nil : "list \(start), owner \(owner as Any), prefix \(prefix), limit \(limit)"
  }
}
