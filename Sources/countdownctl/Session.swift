import ControlClient
import LinuxIO
import SystemdSyntax

/// One run of a verb: what was typed, where the daemon is, and how to show what it says.
struct Session: Sendable {
  let arguments: Arguments
  /// Where to look for it.
  private let socketPaths: [String]
  /// Whether to print what the daemon sends, and nothing else.
  let isJSON: Bool
  let hasColor: Bool

  init(_ arguments: Arguments) {
    self.arguments = arguments
    let variable = CurrentProcess.environmentVariable
    socketPaths = SocketPath.candidates(
      named: arguments["--socket"], userID: CurrentProcess.effectiveUserID, environment: variable)
    isJSON = arguments.has("--json")
    hasColor =
      !isJSON && StandardStream.output.isTerminal && !arguments.has("--no-color")
      && (variable("NO_COLOR") ?? "").isEmpty && variable("TERM") != "dumb"
  }

  func connect() throws(ClientError) -> Connection { try Connection(toFirstOf: socketPaths) }

  /// Writes to the standard output. `text` must be harmless.
  func write(_ text: String) throws { try StandardStream.output.write(text) }

  /// Prints an object of JSON on a line of its own.
  func write(json: [UInt8]) throws {
    try write(line(json: json))
  }

  /// An object of JSON as a line.
  func line(json: [UInt8]) -> String {
    oneLine(json: json, escapingControls: StandardStream.output.isTerminal) + "\n"
  }

  func styled(_ text: String, _ style: TextStyle) -> String {
    hasColor ? style.applied(to: text) : text
  }

  /// The wall clock, in microseconds since 1970.
  var nowUSec: Int64 { Clocks.read().realtimeNSec / 1_000 }

  /// When something is, in the user's zone; a dash if that is not known.
  func time(_ timestamp: Timestamp?) -> String {
    guard let seconds = timestamp?.unixSeconds else { return "–" }
    return Zone.local.shortText(of: seconds, today: nowUSec / 1_000_000)
  }

  /// The name that must be the only word typed.
  func onlyName() throws(ParseError) -> String {
    guard let name = arguments.words.first else { throw ParseError("a name is missing") }
    guard arguments.words.count == 1 else {
      throw ParseError("one name is enough; '\(arguments.words[1])' is too much")
    }
    return name
  }

  /// The names typed, at least one.
  func names() throws(ParseError) -> [String] {
    guard !arguments.words.isEmpty else { throw ParseError("a name is missing") }
    return arguments.words
  }
}
