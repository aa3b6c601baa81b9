import ControlClient

extension Verb {
  static let demo = Verb(
    name: "demo", words: "", summary: "see what countdowns are for, in fifteen seconds",
    details: ["It starts a daemon of its own and leaves nothing behind."], examples: ["demo"],
    run: { _ in 0 })
}
