import Countdowns
import TestSupport
import Testing

@Suite struct NameWalkTests {
  /// Owners 1 and 3, five names each, as records 0 to 9 in the order of keys.
  private func tenNames() -> StoredNames {
    var names = StoredNames()
    for owner: UInt32 in [1, 3] {
      for name in ["a", "a/1", "a/2", "b", "c/1"] {
        _ = names.insert(owner: owner, Array(name.utf8))
      }
    }
    return names
  }

  private func key(_ owner: UInt32, _ name: String) -> OwnedKey {
    OwnedKey(owner: owner, name: Array(name.utf8))
  }

  @Test func `a list is in the order of owners, then names, and no longer than its limit`() {
    let names = tenNames()
    #expect(names.page(limit: 100) == Array(0...9))
    #expect(names.page(limit: .max) == Array(0...9))
    #expect(names.page(limit: 7) == Array(0...6))
    #expect(names.page(limit: 1) == [0])
    #expect(names.page(limit: 0) == [])
    #expect(names.page(owner: 3, limit: 100) == Array(5...9))
    #expect(names.page(owner: 2, limit: 100) == [])
  }

  @Test func `a prefix selects the names that begin with it, itself among them`() {
    let names = tenNames()
    let prefix = Array("a".utf8)
    #expect(names.page(owner: 1, prefix: prefix, limit: 100) == [0, 1, 2])
    #expect(names.page(prefix: prefix, limit: 100) == [0, 1, 2, 5, 6, 7])
    #expect(names.page(prefix: prefix, limit: 4) == [0, 1, 2, 5])
    #expect(names.page(owner: 1, prefix: Array("a/".utf8), limit: 100) == [1, 2])
    #expect(names.page(owner: 1, prefix: Array("c/12".utf8), limit: 100) == [])
    #expect(names.page(owner: 2, prefix: prefix, limit: 100) == [])
  }

  @Test func `a page starts at a key or after it, whether the key is there or not`() {
    let names = tenNames()
    #expect(names.page(from: .at(key(1, "a/1")), limit: 2) == [1, 2])
    #expect(names.page(from: .after(key(1, "a/1")), limit: 2) == [2, 3])
    #expect(names.page(from: .at(key(1, "a/0")), limit: 2) == [1, 2])
    #expect(names.page(from: .after(key(1, "a/0")), limit: 2) == [1, 2])
    #expect(names.page(from: .after(key(1, "c/1")), limit: 2) == [5, 6])
    #expect(names.page(from: .after(key(2, "x")), limit: 2) == [5, 6])
    #expect(names.page(from: .after(key(3, "c/1")), limit: 2) == [])
    #expect(names.page(from: .after(key(3, "c/1")), owner: 1, limit: 2) == [])
    #expect(names.page(from: .after(key(0, "c/1")), owner: 1, limit: 2) == [0, 1])
    let prefix = Array("a/".utf8)
    #expect(names.page(from: .after(key(1, "a/1")), prefix: prefix, limit: 9) == [2, 6, 7])
    #expect(names.page(from: .at(key(1, "b")), prefix: prefix, limit: 9) == [6, 7])
    #expect(names.page(from: .at(key(1, "b")), owner: 1, prefix: prefix, limit: 9) == [])
    #expect(names.page(from: .at(key(1, "")), owner: 1, prefix: prefix, limit: 9) == [1, 2])
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func `what exists throughout is listed exactly once, whatever changes between pages`(
    seed: UInt64
  ) {
    var random = SplitMix64(seed: seed)
    var history = NameHistory(seed: seed, using: &random)
    for _ in 0..<300 { _ = history.step(using: &random) }
    let atFirst = Set(history.model)
    var throughout = atFirst
    var listed: [OwnedKey] = []
    var start = OwnedStart.first
    while true {
      let page = history.names.page(from: start, limit: .random(in: 1...9, using: &random))
      if page.isEmpty { break }
      listed += page.map { history.key($0) }
      start = .after(listed.last!)
      for _ in 0..<5 {
        _ = history.step(using: &random)
        throughout.formIntersection(history.model)
      }
    }
    #expect(zip(listed, listed.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed)")
    #expect(throughout.isSubset(of: listed), "seed \(seed)")
  }
}
