/// Countdowns that somebody waits for, and what has become of them.
///
/// It is told what there is and what happens, in the order in which it comes. What it was told of one
/// counts from then on: an event of an older revision is about an earlier one of that name.
package struct WaitList: Sendable {
  /// What ended the waiting.
  package enum Outcome: Equatable, Sendable {
    /// All have expired.
    case allExpired
    /// One was cancelled, and nothing has taken its place: not all can expire any more.
    case cancelled(String)
    /// One was missed: its deadline passed while nobody could look, and it wanted to be skipped then.
    case missed(String)
  }

  /// What is known of one.
  private enum Progress {
    case unknown
    case waiting(revision: Int64)
    case expired
  }

  /// Each name once, as first given.
  package let names: [String]

  /// Of the name at the same index. No dictionary: to Swift, two names may be equal that differ.
  private var progress: [Progress]

  /// Set once, by what ended it.
  package private(set) var outcome: Outcome?

  /// - Parameter names: At least one; one that is there twice counts once. They are compared bytewise.
  package init(_ names: [String]) {
    precondition(!names.isEmpty)
    var distinct: [String] = []
    for name in names where !distinct.contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
      distinct.append(name)
    }
    self.names = distinct
    progress = Array(repeating: .unknown, count: distinct.count)
  }

  /// What all of them begin with: what to ask the daemon for. It may be empty.
  package var commonPrefix: String {
    var prefix = Array(names[0].utf8)
    for name in names.dropFirst() {
      let common = zip(prefix, name.utf8).prefix { $0 == $1 }.count
      prefix.removeLast(prefix.count - common)
    }
    // Cut within a character, it would be no text.
    while !prefix.isEmpty, String(validating: prefix, as: UTF8.self) == nil { prefix.removeLast() }
    return String(decoding: prefix, as: UTF8.self)
  }

  /// Those that nothing is known of yet.
  package var unknownNames: [String] {
    names.indices.filter { if case .unknown = progress[$0] { true } else { false } }
      .map { names[$0] }
  }

  /// Those that have not expired.
  package var pendingNames: [String] {
    names.indices.filter { if case .expired = progress[$0] { false } else { true } }
      .map { names[$0] }
  }

  /// Takes note of how one stands.
  package mutating func note(_ countdown: Countdown) {
    guard let index = awaited(countdown.name) else { return }
    switch countdown.state {
    case "expired": expire(index)
    case "cancelled": outcome = .cancelled(countdown.name)
    case "missed": outcome = .missed(countdown.name)
    default: progress[index] = .waiting(revision: countdown.revision)
    }
  }

  /// Takes note of what has happened to one.
  ///
  /// - Returns: Whether it is one that is waited for, and news.
  @discardableResult
  package mutating func note(_ event: Event) -> Bool {
    guard let name = event.name, let index = awaited(name) else { return false }
    if case .waiting(let known) = progress[index], let revision = event.revision, revision < known {
      return false
    }
    switch (event.kind, event.replacedBy) {
    case ("expired", _): expire(index)
    case ("missed", _): outcome = .missed(name)
    case ("cancelled", nil): outcome = .cancelled(name)
    case ("cancelled", let replacement?): progress[index] = .waiting(revision: replacement)
    default: return false
    }
    return true
  }

  /// Where that name stands, if it is one that still matters.
  private func awaited(_ name: String) -> Int? {
    guard outcome == nil,
      let index = names.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) })
    else { return nil }
    if case .expired = progress[index] { return nil }
    return index
  }

  private mutating func expire(_ index: Int) {
    progress[index] = .expired
    if pendingNames.isEmpty { outcome = .allExpired }
  }
}
