import Countdowns
import TestSupport
import Testing

@Suite struct NameIndexTests {
  @Test func `an empty index finds, lists and removes nothing`() {
    var names = StoredNames()
    #expect(names.find(owner: 0, [0x61]) == nil)
    #expect(names.page(limit: 10) == [])
    #expect(names.remove(owner: 0, [0x61]) == nil)
    #expect(names.index.count == 0)
    #expect(names.brokenInvariant() == nil)
  }

  @Test func `a key is taken only once, and free again when removed`() {
    var names = StoredNames()
    #expect(names.insert(owner: 7, [0x61]) == .inserted)
    #expect(names.insert(owner: 7, [0x61]) == .taken(by: 0))
    #expect(names.insert(owner: 8, [0x61]) == .inserted)
    #expect(names.index.count == 2)
    #expect(names.find(owner: 7, [0x61]) == 0)
    #expect(names.find(owner: 8, [0x61]) == 1)
    #expect(names.find(owner: 9, [0x61]) == nil)
    #expect(names.remove(owner: 7, [0x61]) == 0)
    #expect(names.remove(owner: 7, [0x61]) == nil)
    #expect(names.insert(owner: 7, [0x61]) == .inserted)
    #expect(names.brokenInvariant() == nil)
  }

  @Test func `a record that is not filed cannot be removed`() {
    var names = StoredNames()
    for name in ["a", "b", "ab"] { _ = names.insert(owner: 1, Array(name.utf8)) }
    let first = names.index.remove(2, in: names.records)
    let again = names.index.remove(2, in: names.records)
    #expect(first && !again)
    #expect(names.page(limit: 9) == [0, 1])
    #expect(names.brokenInvariant() == nil)
  }

  @Test func `a name that another begins with is its own and comes first`() {
    var names = StoredNames()
    let longest = [UInt8](repeating: 0x61, count: 255)
    for length in (1...255).reversed() {
      #expect(names.insert(owner: .max, Array(longest.prefix(length))) == .inserted)
      #expect(names.brokenInvariant() == nil)
    }
    #expect(names.page(limit: 300) == (0..<255).reversed())
    for length in 1...255 {
      #expect(names.find(owner: .max, Array(longest.prefix(length))) == UInt32(255 - length))
    }
    for length in (1...255).shuffled(using: &SplitMix64.fixed) {
      #expect(names.remove(owner: .max, Array(longest.prefix(length))) != nil)
      #expect(names.brokenInvariant() == nil)
    }
  }

  @Test func `a node grows to every byte a name can have and shrinks to nothing`() {
    // All first bytes that a test without UTF-8 can have: the index itself allows all but NUL.
    let letters = (1...254).map { [UInt8($0)] }
    var names = StoredNames()
    for letter in letters.shuffled(using: &SplitMix64.fixed) {
      #expect(names.insert(owner: 1, letter) == .inserted)
      #expect(names.brokenInvariant() == nil)
    }
    #expect(names.page(limit: .max).map { names.records.key(of: $0).byteValue } == Array(1...254))
    for (removed, letter) in letters.shuffled(using: &SplitMix64.fixed).enumerated() {
      #expect(names.remove(owner: 1, letter) != nil)
      #expect(names.index.count == 253 - removed)
      #expect(names.brokenInvariant() == nil)
    }
  }

  @Test func `names that keep no rule are looked for in vain`() {
    var names = StoredNames()
    for name in ["a", "ab", "b"] { _ = names.insert(owner: 1, Array(name.utf8)) }
    let long = [UInt8](repeating: 0x61, count: 5000)
    for name in [[], [0], [0x61, 0], [0x61, 0, 0x62], [0x61, 0x62, 0], [0xFF], long] as [[UInt8]] {
      #expect(names.find(owner: 1, name) == nil)
      #expect(names.remove(owner: 1, name) == nil)
      let start = OwnedStart.at(OwnedKey(owner: 1, name: name))
      #expect(names.page(from: start, limit: 9).last == (name == [0xFF] ? nil : 2))
      #expect(names.page(prefix: name, limit: 9).count == (name.isEmpty ? 3 : 0))
      #expect(names.page(owner: 1, prefix: name, limit: 9).count == (name.isEmpty ? 3 : 0))
    }
  }

  @Test func `a full index refuses and stays as it was`() {
    for limit in stride(from: 4, through: 600, by: 20) {
      var names = StoredNames(index: NameIndex(limit: limit))
      var taken: [[UInt8]] = []
      for value in 0..<200 {
        let name = Array("n\(value * 7 % 200)".utf8)
        if names.insert(owner: 1, name) == .inserted { taken.append(name) }
        #expect(names.brokenInvariant() == nil)
      }
      #expect(names.index.arenaBytes <= limit)
      #expect(names.index.count == taken.count)
      for name in taken { #expect(names.find(owner: 1, name) != nil) }
      for name in taken {
        #expect(names.remove(owner: 1, name) != nil)
        #expect(names.brokenInvariant() == nil)
      }
      #expect(names.index.arenaBytes == 4)
    }
  }

  @Test(arguments: 0..<240 as Range<UInt64>)
  func `the index and a sorted array agree on every history`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var history = NameHistory(seed: seed, using: &random)
    for step in 0..<300 {
      let message = history.step(using: &random)
      #expect(message == nil, "seed \(seed), step \(step)")
      if step % 10 == 9 {
        #expect(history.names.brokenInvariant() == nil, "seed \(seed), step \(step)")
      }
    }
    // Back to nothing.
    while let key = history.model.randomElement(using: &random) {
      #expect(history.remove(key) == nil, "seed \(seed), at the end")
    }
    #expect(history.names.brokenInvariant() == nil)
    #expect(history.names.index.count == 0)
    #expect(history.names.records.store.arenaBytes == 0)
  }

  @Test func `a hundred thousand names cost at most 25 bytes each, and churn adds none`() {
    var names = StoredNames()
    let orders = (0..<100_000).map { number in
      Array("order-\(String(repeating: "0", count: 6 - String(number).count))\(number)".utf8)
    }
    var sizes: Set<[Int]> = []
    for round in 0..<3 {
      for order in orders.shuffled(using: &SplitMix64.fixed) {
        _ = names.insert(owner: 1000, order)
      }
      let store = names.records.store.arenaBytes
      let index = names.index.arenaBytes
      #expect(store + index <= 25 * 100_000, "round \(round): \(store) + \(index)")
      sizes.insert([store, index])
      for order in orders.shuffled(using: &SplitMix64.fixed) {
        _ = names.remove(owner: 1000, order)
      }
    }
    #expect(sizes.count == 1)
    #expect(names.brokenInvariant() == nil)
  }
}

extension NameKey {
  /// The value of a name of one byte.
  var byteValue: UInt8 { name[0] }
}
