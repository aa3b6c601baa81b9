internal import Systemd

/// What kind an entry of the log is, for programs: its `MESSAGE_ID`.
///
/// The catalog, systemd/catalog/countdownd.catalog, explains each to administrators. An id once given
/// stays with its kind for ever.
package enum EntryKind: String, CaseIterable, Sendable {
  /// It listens, and calls are served.
  case started = "6650cbc2cf8e451f88ee6970900d186c"
  /// It has ended in good order.
  case stopped = "8b9ced96f0dc451182087bf994f558bc"
  /// It cannot serve, and has ended.
  case failed = "40ffddfa11de485a9453f01eee8035e2"
  /// The configuration was read again.
  case reloaded = "51b67eb7dd1e40bea6d9f6c8268e38f1"
  /// The configuration was read again and refused; the old one stays.
  case reloadRefused = "c22986ef16784ac79c261efb0650c180"
  /// Clients wait for descriptors.
  case outOfDescriptors = "ac71d589eeb94860b32ef1523b14836e"
  /// Countdowns expired late. `LATE_COUNT` says how many, `LATE_USEC` by how much the worst of them
  /// and `LATE_REASON` why, `COUNTDOWN_NAME` and `COUNTDOWN_OWNER` which one that was.
  case expiredLate = "d8467ea05a024a7b8c51435408f47e8a"
  /// The machine slept, for `SLEPT_USEC`.
  case slept = "932afac4e32e43828388f1627a2061c1"
  /// The wall clock was set, by `STEPPED_USEC`, which is negative where it was set back.
  case stepped = "ec0461198d4d43fab1784295dc2c59aa"
  /// Both: `SLEPT_USEC` and `STEPPED_USEC`.
  case sleptAndStepped = "b881a63fba7c46cf8ea27ee46cb8f161"
  /// The daemon did nothing for `AWAY_USEC`, although there was something to do.
  case stalled = "f6158cc0fe494d408be66e8206ceb03d"

  /// The field of the journal that says so.
  var field: Journal.Field { Journal.Field("MESSAGE_ID", rawValue) }
}

extension LogQueue {
  /// Puts an entry of a kind into the queue.
  func send(
    _ priority: Journal.Priority, _ message: String, as kind: EntryKind,
    fields: [Journal.Field] = []
  ) {
    send(priority, message, fields: [kind.field] + fields)
  }
}
