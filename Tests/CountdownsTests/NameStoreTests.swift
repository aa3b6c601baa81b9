import Countdowns
import TestSupport
import Testing

@Suite struct NameStoreTests {
  /// `length` letters that depend on `seed`.
  private func name(_ seed: Int, length: Int) -> [UInt8] {
    (0..<length).map { UInt8(0x61 + (seed + $0 * 7) % 26) }
  }

  private func bytes(_ store: borrowing NameStore, _ name: NameReference) -> [UInt8] {
    let span = store.bytes(of: name)
    return span.indices.map { span[$0] }
  }

  @Test func `names of every length come back as they went in`() {
    var store = NameStore()
    var kept: [(NameReference, [UInt8])] = []
    for length in 1...255 {
      let spelled = name(length, length: length)
      kept.append((store.insert(spelled.span)!, spelled))
      #expect(store.brokenInvariant() == nil)
    }
    for (reference, spelled) in kept {
      #expect(bytes(store, reference) == spelled)
      #expect(store.length(of: reference) == spelled.count)
    }
    #expect(store.count == 255)
    for (reference, _) in kept {
      store.remove(reference)
      #expect(store.brokenInvariant() == nil)
    }
    #expect(store.count == 0)
    #expect(store.arenaBytes == 0)
  }

  @Test func `a name takes its length, a byte, and what fills four bytes, at least sixteen`() {
    for (length, size) in [
      (1, 16), (12, 16), (15, 16), (16, 20), (19, 20), (20, 24), (251, 252), (255, 256),
    ] {
      var store = NameStore()
      _ = store.insert(name(1, length: length).span)
      #expect(store.arenaBytes == size)
      #expect(store.liveBytes == size)
    }
  }

  @Test func `a full store refuses, and takes what fits again later`() {
    var store = NameStore(limit: 64)
    let names = (0..<4).map { store.insert(name($0, length: 15).span)! }
    let one = [0x61] as [UInt8]
    let tooMany = store.insert(one.span)
    #expect(tooMany == nil)
    #expect(store.brokenInvariant() == nil)
    store.remove(names[1])
    store.remove(names[2])
    let tooLong = store.insert(name(5, length: 32).span)
    #expect(tooLong == nil)
    let fitting = store.insert(name(5, length: 31).span)
    #expect(fitting == names[1])
    let again = store.insert(one.span)
    #expect(again == nil)
    #expect(store.brokenInvariant() == nil)
    #expect(bytes(store, names[3]) == name(3, length: 15))
  }

  @Test(arguments: 0..<60 as Range<UInt64>)
  func `the store and a plain dictionary agree on every history`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var store = NameStore()
    var model: [UInt32: [UInt8]] = [:]
    var live: [NameReference] = []
    let longest = [1, 16, 40, 255].randomElement(using: &random)!
    for step in 0..<400 {
      // Grows for a while, shrinks for a while.
      if Int.random(in: 0..<10, using: &random) < (step / 100 % 2 == 0 ? 7 : 3) || live.isEmpty {
        let spelled = name(step, length: .random(in: 1...longest, using: &random))
        let reference = store.insert(spelled.span)!
        #expect(model.updateValue(spelled, forKey: reference.rawValue) == nil)
        live.append(reference)
      } else {
        let reference = live.remove(at: .random(in: 0..<live.count, using: &random))
        #expect(bytes(store, reference) == model.removeValue(forKey: reference.rawValue))
        store.remove(reference)
      }
      #expect(store.brokenInvariant() == nil, "seed \(seed), step \(step)")
    }
    #expect(store.count == live.count)
    for reference in live {
      #expect(bytes(store, reference) == model[reference.rawValue], "seed \(seed)")
      store.remove(reference)
    }
    #expect(store.arenaBytes == 0)
  }

  @Test func `names of other lengths reuse what shorter and longer ones gave back`() {
    var store = NameStore()
    _ = store.insert(name(0, length: 12).span)
    var largest = 0
    for length in [10, 200, 33, 17, 120, 16, 255, 1] {
      let count = 64_000 / (length + 16)
      var names = (0..<count).map { store.insert(name($0, length: length).span)! }
      // One stays to the end of the round, so that the array cannot just be cut off.
      let last = names.removeLast()
      largest = max(largest, store.arenaBytes)
      for name in names { store.remove(name) }
      let pinned = store.insert(name(1, length: 12).span)!
      store.remove(last)
      _ = pinned
      #expect(store.brokenInvariant() == nil)
    }
    #expect(largest < 2 * 64_000)
  }

  @Test func `removing a name twice traps`() async {
    await #expect(processExitsWith: .failure) {
      var store = NameStore()
      let names = (0..<3).map { _ in store.insert([0x61].span)! }
      store.remove(names[0])
      store.remove(names[1])  // Merged with the one before it.
      store.remove(names[1])
    }
  }

  @Test func `the byte that marks free blocks cannot come in`() async {
    await #expect(processExitsWith: .failure) {
      var store = NameStore()
      _ = store.insert([0xFF].span)
    }
  }
}
