/// Who watches which name: looked up whenever one changes of whose owner anything is watched.
///
/// A watcher that has gone is not sought at once, for a crowd of them may go together: what is left of
/// it is passed over, and cleared away in slices.
struct WatchTable: Sendable {
  /// One stream that follows the name, and the name's place there.
  struct Watcher: Sendable {
    let connection: ConnectionID
    let place: Int
  }

  /// A watcher that has gone, and how far it was cleared away.
  private struct Remains: Sendable {
    let user: UInt32
    let names: [[UInt8]]
    var next = 0
  }

  /// Never empty lists. Only looked up: its order reaches nobody.
  private var watchers: [OwnedName: [Watcher]] = [:]
  private var remains: [Remains] = []
  private var nextRemains = 0

  /// Whether nothing is left to be cleared away.
  var isTidy: Bool { nextRemains == remains.count }

  /// How many names are watched by those of whom `isGone` is not true, each as often as it is; for the
  /// invariants. O(names).
  func watcherCount(besides isGone: (Watcher) -> Bool) -> Int {
    watchers.values.reduce(0) { $0 + $1.count { !isGone($0) } }
  }

  /// How many more there are, of those who have gone, than will be cleared away: none; for the
  /// invariants. O(names).
  func forgottenCount(_ isGone: (Watcher) -> Bool) -> Int {
    var doomed: Set<OwnedName> = []
    for one in remains[nextRemains...] {
      for name in one.names[one.next...] { doomed.insert(OwnedName(user: one.user, name: name)) }
    }
    return watchers.count { name, list in list.contains(where: isGone) && !doomed.contains(name) }
  }

  /// Who watches a name, in the order of their calls; some may have gone. O(length of the name).
  subscript(name: OwnedName) -> [Watcher] { watchers[name] ?? [] }

  mutating func add(_ watcher: Watcher, to name: OwnedName) {
    watchers[name, default: []].append(watcher)
  }

  /// One has gone that watched these; ``tidy(limit:isGone:)`` clears it away.
  mutating func leave(_ user: UInt32, names: [[UInt8]]) {
    remains.append(Remains(user: user, names: names))
  }

  /// Clears away some of those that have gone.
  ///
  /// - Parameters:
  ///   - limit: About how many names and watchers to look at.
  ///   - isGone: Whether a watcher is one of those; all that are leave the list of a name together.
  mutating func tidy(limit: Int, isGone: (Watcher) -> Bool) {
    var looked = 0
    while looked < limit, nextRemains < remains.count {
      let first = remains[nextRemains]
      guard first.next < first.names.count else {
        nextRemains += 1
        continue
      }
      let name = OwnedName(user: first.user, name: first.names[first.next])
      remains[nextRemains].next += 1
      looked += 1
      guard let known = watchers[name] else { continue }
      looked += known.count
      let left = known.filter { !isGone($0) }
      watchers[name] = left.isEmpty ? nil : left
    }
    guard isTidy else { return }
    remains = []
    nextRemains = 0
  }
}
