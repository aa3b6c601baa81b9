import Countdowns
import TestSupport

/// Records with nothing but an owner and a name, as the index needs them.
struct Records: ~Copyable, NamedRecords {
  var owners: [UInt32] = []
  var references: [NameReference] = []
  var store = NameStore()

  @_lifetime(borrow self)
  borrowing func key(of record: UInt32) -> NameKey {
    NameKey(owner: owners[Int(record)], name: store.bytes(of: references[Int(record)]))
  }
}

/// A store and an index, used together as the countdowns use them.
struct StoredNames: ~Copyable {
  var records = Records()
  var index: NameIndex
  private var free: [UInt32] = []

  init(index: consuming NameIndex = NameIndex()) { self.index = index }

  /// The record that the next insertion will use.
  var nextRecord: UInt32 { free.last ?? UInt32(records.owners.count) }

  mutating func insert(owner: UInt32, _ name: [UInt8]) -> NameIndex.Insertion {
    let record = nextRecord
    let key = NameKey(owner: owner, name: name.span)
    let insertion = index.insert(key, record: record, in: records)
    guard insertion == .inserted else { return insertion }
    let reference = records.store.insert(name.span)!
    if free.popLast() != nil {
      records.owners[Int(record)] = owner
      records.references[Int(record)] = reference
    } else {
      records.owners.append(owner)
      records.references.append(reference)
    }
    return .inserted
  }

  func find(owner: UInt32, _ name: [UInt8]) -> UInt32? {
    index.find(NameKey(owner: owner, name: name.span), in: records)
  }

  mutating func remove(owner: UInt32, _ name: [UInt8]) -> UInt32? {
    guard let record = find(owner: owner, name), index.remove(record, in: records) else {
      return nil
    }
    records.store.remove(records.references[Int(record)])
    free.append(record)
    return record
  }

  /// A page that starts with the first, at, or after a key.
  func page(
    from start: OwnedStart = .first, owner: UInt32? = nil, prefix: [UInt8] = [], limit: Int
  ) -> [UInt32] {
    var list: [UInt32] = []
    switch start {
    case .first:
      index.collect(
        from: .first, owner: owner, prefix: prefix.span, limit: limit, in: records, into: &list)
    case .at(let key):
      index.collect(
        from: .at(NameKey(owner: key.owner, name: key.name.span)), owner: owner,
        prefix: prefix.span, limit: limit, in: records, into: &list)
    case .after(let key):
      index.collect(
        from: .after(NameKey(owner: key.owner, name: key.name.span)), owner: owner,
        prefix: prefix.span, limit: limit, in: records, into: &list)
    }
    return list
  }

  func brokenInvariant() -> String? {
    records.store.brokenInvariant() ?? index.brokenInvariant(in: records)
  }
}

/// A key that owns its bytes, in the order of keys.
struct OwnedKey: Hashable, Comparable {
  var owner: UInt32
  var name: [UInt8]

  static func < (left: OwnedKey, right: OwnedKey) -> Bool {
    left.owner == right.owner
      ? left.name.lexicographicallyPrecedes(right.name) : left.owner < right.owner
  }
}

/// ``NameStart`` with keys that own their bytes.
enum OwnedStart {
  case first
  case at(OwnedKey)
  case after(OwnedKey)

  func admits(_ key: OwnedKey) -> Bool {
    switch self {
    case .first: true
    case .at(let start): start <= key
    case .after(let start): start < key
    }
  }
}

extension SplitMix64 {
  /// A generator that starts anew at each use.
  static var fixed: SplitMix64 {
    get { SplitMix64(seed: 1) }
    set {}
  }
}
