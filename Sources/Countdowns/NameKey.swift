/// What a countdown is found by: its owner, then its name, both borrowed from where they stand.
///
/// As a sequence of bytes a key is the owner's four bytes, highest first, the name, and one NUL that
/// no name contains. No key is therefore the beginning of another, and the bytewise order of keys is
/// the order of owners and, within an owner, the bytewise order of names.
package struct NameKey: ~Escapable {
  /// A number for the owner: the scheduler takes the place in its table of users.
  package let owner: UInt32

  /// The name's bytes: ``Name`` says which are allowed. Others may be looked for, never inserted.
  package let name: Span<UInt8>

  @_lifetime(copy name)
  package init(owner: UInt32, name: Span<UInt8>) {
    self.owner = owner
    self.name = name
  }

  /// How many bytes of a key come before its name.
  static let ownerBytes = 4

  /// The byte at `position`, from 0; NUL at the key's end and anywhere past it.
  @inline(__always)  // A step down the index is hardly more than this.
  func byte(at position: Int) -> UInt8 {
    if position < Self.ownerBytes {
      return UInt8(truncatingIfNeeded: owner >> UInt32(24 - 8 * position))
    }
    let index = position - Self.ownerBytes
    return index < name.count ? name[index] : 0
  }

  /// The first position at which the two differ; `nil` if they are the same key. O(length).
  func firstDifference(from other: NameKey) -> Int? {
    if owner != other.owner { return (owner ^ other.owner).leadingZeroBitCount / 8 }
    let common = min(name.count, other.name.count)
    for index in 0..<common where name[index] != other.name[index] {
      return Self.ownerBytes + index
    }
    return name.count == other.name.count ? nil : Self.ownerBytes + common
  }

  /// Whether the two are the same key. O(length).
  func isSame(as other: NameKey) -> Bool {
    guard owner == other.owner, name.count == other.name.count else { return false }
    for index in name.indices where name[index] != other.name[index] { return false }
    return true
  }
}

/// Whoever holds the records that a ``NameIndex`` points to, and can say by which key each is found.
package protocol NamedRecords: ~Copyable {
  /// The key of a record that the index was given; it stays the same for as long as the index has it.
  @_lifetime(borrow self)
  borrowing func key(of record: UInt32) -> NameKey
}
