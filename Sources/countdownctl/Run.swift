import ControlClient
import ControlInterface
import JSON
import LinuxIO
import SystemdSyntax

/// The exit statuses, as documented in the help.
enum ExitStatus {
  static let done: Int32 = 0
  static let refused: Int32 = 1
  static let usage: Int32 = 2
  static let unreachable: Int32 = 3
  static let cancelled: Int32 = 4
  static let missed: Int32 = 5
}

/// What every verb understands.
let globalOptions = [
  Option("--socket", "PATH", help: "the daemon's socket; else $COUNTDOWND_SOCKET, else the usual"),
  Option("--json", help: "what the daemon sends, one JSON object a line"),
  Option("--no-color", help: "no colours, as with $NO_COLOR; there are none but on a terminal"),
  Option("--help", help: "what a verb takes, with an example"),
  Option("--version", help: "the version of this program"),
]

/// Carries out what was typed after the program's name, and says how it went; `nil` is what cannot be
/// read.
func run(_ typed: [String]?) -> Int32 {
  guard let typed else {
    complain("an argument is no UTF-8", advice: "names and all else are UTF-8")
    return ExitStatus.usage
  }
  let arguments = typed.map { $0 == "-h" ? "--help" : $0 }
  let isJSON = arguments.prefix { $0 != "--" }.contains("--json")
  do {
    let (name, rest) = takeVerb(from: arguments)
    guard let name, name != "help" else { return try runWithoutVerb(rest) }
    guard let verb = verbs.first(where: { $0.name == name }) else {
      let near = suggestion(for: name, among: verbs.map(\.name) + ["help"])
      throw ParseError("unknown verb '\(name)'\(near)")
    }
    return try run(verb, rest)
  } catch let error as ParseError {
    complain(error.message, advice: "see 'countdownctl help'")
    return ExitStatus.usage
  } catch let error as UsageError {
    complain(error.message, advice: "see 'countdownctl \(error.verb) --help'")
    return ExitStatus.usage
  } catch let error as ClientError {
    return report(error, asJSON: isJSON, socketNamedBy: socketName(arguments))
  } catch let error as Failure {
    complain(error.message, advice: error.advice)
    return ExitStatus.refused
  } catch {
    complain("\(error)", advice: nil)
    return ExitStatus.refused
  }
}

/// What was mistyped after a verb.
private struct UsageError: Error {
  let verb: String
  let message: String
}

/// What went wrong here and not in the daemon.
struct Failure: Error {
  let message: String
  var advice: String?
}

private func run(_ verb: Verb, _ rest: [String]) throws -> Int32 {
  do {
    let arguments = try Arguments(rest, options: verb.options + globalOptions)
    if arguments.has("--help") {
      try StandardStream.output.write(verb.help)
      return ExitStatus.done
    }
    return try verb.run(Session(arguments))
  } catch let error as ParseError {
    throw UsageError(verb: verb.name, message: error.message)
  }
}

/// The first word that is neither an option of all verbs nor such an option's value, and all the rest.
private func takeVerb(from arguments: [String]) -> (verb: String?, rest: [String]) {
  var index = 0
  while index < arguments.count, arguments[index].hasPrefix("-") {
    index += arguments[index] == "--socket" ? 2 : 1
  }
  guard index < arguments.count else { return (nil, arguments) }
  var rest = arguments
  return (rest.remove(at: index), rest)
}

/// `help`, `help VERB`, `--help`, `--version`, or nothing at all.
private func runWithoutVerb(_ rest: [String]) throws -> Int32 {
  let arguments = try Arguments(rest, options: globalOptions)
  if arguments.has("--version") {
    try StandardStream.output.write("countdownctl \(programVersion)\n")
  } else if let word = arguments.words.first {
    guard let verb = verbs.first(where: { $0.name == word }) else {
      throw ParseError("unknown verb '\(word)'\(suggestion(for: word, among: verbs.map(\.name)))")
    }
    try StandardStream.output.write(verb.help)
  } else {
    try StandardStream.output.write(overview)
  }
  return ExitStatus.done
}

/// What says where the daemon's socket is; `nil` where nobody does.
private func socketName(_ arguments: [String]) -> String? {
  let options = arguments.prefix { $0 != "--" }
  if options.contains(where: { $0 == "--socket" || $0.hasPrefix("--socket=") }) {
    return "--socket"
  }
  let variable = CurrentProcess.environmentVariable("COUNTDOWND_SOCKET") ?? ""
  return variable.isEmpty ? nil : "$COUNTDOWND_SOCKET"
}

/// Says what went wrong on the standard error; with `--json` a refusal also on the standard output.
private func report(
  _ error: ClientError, asJSON: Bool, socketNamedBy source: String?
) -> Int32 {
  let explanation = Explanation(error, socketNamedBy: source)
  guard case .refused(let refusal) = error else {
    complain(explanation.message, advice: explanation.advice)
    return ExitStatus.unreachable
  }
  complain(explanation.message, advice: explanation.advice)
  if asJSON { printRefusal(refusal) }
  return ExitStatus.refused
}

/// Prints a refusal as one line of JSON.
func printRefusal(_ refusal: CallRefusal) {
  let json = encodeParameters { writer in
    writer.member("error", refusal.name)
    writer.member("parameters", json: refusal.parameters)
  }
  let isTerminal = StandardStream.output.isTerminal
  // Who cannot be told the reason still sees the exit status.
  try? StandardStream.output.write(oneLine(json: json, escapingControls: isTerminal) + "\n")
}

/// Writes to the standard error what is wrong and what to do.
func complain(_ message: String, advice: String?) {
  var text = "countdownctl: \(harmless(message))\n"
  if let advice { text += "  \(harmless(advice))\n" }
  try? StandardStream.error.write(text)  // If nobody can read it, the exit status remains.
}
