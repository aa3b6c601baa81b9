/// The bytes of one name in a ``NameStore``: good until the name is removed.
package struct NameReference: Equatable, Sendable {
  /// Where the name's block starts, in units of four bytes.
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// The bytes of all names, in one array, without an allocation or a header per name.
///
/// A name takes a block of a ``BlockArena``: its length in one byte, its bytes, and zeros up to a
/// multiple of four bytes, sixteen at least. Memory goes back to be used for names of any length.
///
/// A block in use is told from a free one without a tag: no name has length 0, and none contains 0xFF.
///
/// Invariants: those of the arena; `count` and `liveBytes` are what the blocks in use say.
package struct NameStore: ~Copyable {
  private var arena: BlockArena<UInt8>

  /// How many names there are.
  package private(set) var count = 0

  /// How many bytes the blocks of all names take.
  package private(set) var liveBytes = 0

  /// How many bytes the array takes, names and free blocks.
  package var arenaBytes: Int { 4 * arena.units }

  /// - Parameters:
  ///   - bytes: Room to take from the start, so that growing copies nothing until it is used up; the
  ///     system gives memory to it only as it is written.
  ///   - limit: How many bytes the array may take; at most, and unless said, the 16 GiB that a
  ///     reference can address.
  package init(reserving bytes: Int = 0, limit: Int = 1 << 34) {
    arena = BlockArena(reserving: bytes, limit: limit, headUnits: 0)
  }

  /// Takes in a copy of `name`; `nil`, and nothing changed, if there is no room left.
  ///
  /// - Parameter name: Must keep the rule of ``Name``; its length and 0xFF are checked.
  /// - Complexity: O(length), amortised over the growth of the array.
  package mutating func insert(_ name: Span<UInt8>) -> NameReference? {
    precondition(Name.lengths.contains(name.count))
    let units = Self.units(ofLength: name.count)
    guard let block = arena.allocate(units) else { return nil }
    let first = 4 * block + 1
    let end = 4 * (block + units)
    var bytes = arena.elements.mutableSpan
    var looksFree = false
    bytes[first - 1] = UInt8(name.count)
    for index in 0..<name.count {
      looksFree = looksFree || name[index] == 0xFF
      bytes[first + index] = name[index]
    }
    precondition(!looksFree)
    for index in first + name.count..<end { bytes[index] = 0 }
    count += 1
    liveBytes += 4 * units
    return NameReference(rawValue: UInt32(block))
  }

  /// The bytes of `name`.
  @_lifetime(borrow self)
  package borrowing func bytes(of name: NameReference) -> Span<UInt8> {
    let first = 4 * Int(name.rawValue) + 1
    return arena.elements.span.extracting(first..<first + length(of: name))
  }

  /// The length of `name`, in bytes.
  package borrowing func length(of name: NameReference) -> Int {
    Int(arena.elements[4 * Int(name.rawValue)])
  }

  /// Gives the room of `name` back. Removing a name twice is a programmer error.
  package mutating func remove(_ name: NameReference) {
    let length = length(of: name)
    precondition(length > 0)
    let units = Self.units(ofLength: length)
    arena.elements[4 * Int(name.rawValue)] = 0  // A second time is noticed until it is used again.
    arena.free(Int(name.rawValue), units: units)
    count -= 1
    liveBytes -= 4 * units
  }

  private static func units(ofLength length: Int) -> Int {
    max(BlockArena<UInt8>.smallest, (1 + length + 3) / 4)
  }

  /// The first invariant that does not hold, in words; `nil` when all hold. O(`arenaBytes`).
  package borrowing func brokenInvariant() -> String? {
    var names = 0
    var live = 0
    let broken = arena.brokenInvariant { block in
      Self.units(ofLength: length(of: NameReference(rawValue: UInt32(block))))
    } inUse: { block in
      names += 1
      live += 4 * Self.units(ofLength: length(of: NameReference(rawValue: UInt32(block))))
    }
    if let broken { return broken }
    if names != count { return "count is \(count), but there are \(names) names" }
    return live == liveBytes ? nil : "liveBytes is \(liveBytes), but names take \(live)"
  }
}
