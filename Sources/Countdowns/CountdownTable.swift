internal import TimingWheel

/// The records and names of all countdowns, by the index of their entry in the wheel.
///
/// It stands apart from the index of names so that the index can ask for keys while it changes.
struct CountdownTable: ~Copyable, NamedRecords {
  private var records: [Record] = []
  var names: NameStore

  /// - Parameter countdowns: For how many to reserve address space; more only cost a copy.
  init(reserving countdowns: Int) {
    records.reserveCapacity(countdowns)
    names = NameStore(reserving: 16 * countdowns)
  }

  /// One more than the greatest index that was ever written to.
  var count: Int { records.count }

  /// The record at an entry's index, which was written to before.
  subscript(index: UInt32) -> Record {
    _read { yield records[Int(index)] }
    _modify { yield &records[Int(index)] }
  }

  /// Writes a record, at an index that may be one past those used so far.
  mutating func put(_ record: Record, at index: UInt32) {
    while records.count <= Int(index) { records.append(.vacant) }
    records[Int(index)] = record
  }

  @_lifetime(borrow self)
  borrowing func key(of record: UInt32) -> NameKey {
    NameKey(owner: records[Int(record)].user, name: names.bytes(of: records[Int(record)].name))
  }
}
