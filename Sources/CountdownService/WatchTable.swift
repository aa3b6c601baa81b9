/// Who watches which name: looked up whenever one changes of whose owner anything is watched.
struct WatchTable: Sendable {
  /// One stream that follows the name, and the name's place there.
  struct Watcher: Sendable {
    let connection: ConnectionID
    let place: Int
  }

  /// Never empty lists. Only looked up: its order reaches nobody.
  private var watchers: [OwnedName: [Watcher]] = [:]

  /// How many names are watched, each as often as it is; for the invariants. O(names).
  var watcherCount: Int { watchers.values.reduce(0) { $0 + $1.count } }

  /// Who watches a name, in the order of their calls. O(length of the name).
  subscript(name: OwnedName) -> [Watcher] { watchers[name] ?? [] }

  mutating func add(_ watcher: Watcher, to name: OwnedName) {
    watchers[name, default: []].append(watcher)
  }

  /// O(watchers of the name).
  mutating func remove(_ connection: ConnectionID, from name: OwnedName) {
    watchers[name]?.removeAll { $0.connection == connection }
    if watchers[name]?.isEmpty == true { watchers[name] = nil }
  }
}
