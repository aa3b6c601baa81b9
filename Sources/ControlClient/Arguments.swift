package import SystemdSyntax

/// An option that a verb understands.
package struct Option: Sendable {
  /// With its dashes: `--until`.
  package let name: String
  /// What stands for its value in the help; `nil` for one that has none.
  package let value: String?
  package let help: String

  /// Describes one.
  package init(_ name: String, _ value: String? = nil, help: String) {
    self.name = name
    self.value = value
    self.help = help
  }
}

/// What was typed after the program's name, told apart: words, and options with their values.
package struct Arguments: Equatable, Sendable {
  /// What is no option, in order.
  package private(set) var words: [String] = []
  private var values: [String: String] = [:]

  /// Takes `arguments` apart. Options may stand anywhere, as `--name value` or `--name=value`; what
  /// follows `--` are words, and so is `-5min`: what begins with a dash and a digit.
  ///
  /// - Throws: What was mistyped, and what it may have been meant to be.
  package init(_ arguments: [String], options: [Option]) throws(ParseError) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--" {
        words += rest
        return
      }
      let second = argument.dropFirst().first
      guard argument.hasPrefix("-"), argument != "-", second?.isASCIIDigit != true else {
        words.append(argument)
        continue
      }
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      guard let option = options.first(where: { $0.name == name }) else {
        let names = options.map(\.name)
        throw ParseError("unknown option '\(name)'" + suggestion(for: name, among: names))
      }
      guard values[name] == nil else { throw ParseError("'\(name)' was given twice") }
      switch (option.value, parts.count > 1) {
      case (nil, false): values[name] = ""
      case (nil, true): throw ParseError("'\(name)' takes no value")
      case (.some, true): values[name] = String(parts[1])
      case (.some(let placeholder), false):
        guard let value = rest.popFirst() else {
          throw ParseError("'\(name)' needs a value: \(name) \(placeholder)")
        }
        values[name] = value
      }
    }
  }

  /// Whether an option was given.
  package func has(_ option: String) -> Bool { values[option] != nil }

  /// The value of an option; `nil` if it was not given.
  package subscript(option: String) -> String? { values[option] }

  /// The value of an option, if it is one of `choices`; `nil` if it was not given.
  package func choice(_ option: String, among choices: [String]) throws(ParseError) -> String? {
    guard let value = values[option] else { return nil }
    guard choices.contains(value) else {
      let known = choices.joined(separator: ", ")
      throw ParseError(
        "'\(option) \(value)': it must be one of \(known)" + suggestion(for: value, among: choices))
    }
    return value
  }

  /// The value of an option as a length; `nil` if it was not given.
  package func length(_ option: String) throws(ParseError) -> Int64? {
    guard let value = values[option] else { return nil }
    return try TimeSpan(parsing: value).usec
  }

  /// The value of an option as a whole number, 0 or more; `nil` if it was not given.
  package func number(_ option: String) throws(ParseError) -> Int64? {
    guard let value = values[option] else { return nil }
    guard value.allSatisfy(\.isASCIIDigit), let number = Int64(value) else {
      throw ParseError("'\(option) \(value)': a whole number is needed")
    }
    return number
  }
}

/// `; did you mean 'cancel'?`, if one of `known` is near enough to what was typed; else nothing.
package func suggestion(for typed: String, among known: [String]) -> String {
  let limit = max(1, typed.count / 3)
  var best: (word: String, distance: Int)?
  for word in known {
    // A beginning is as good as one slip: nobody types more than is needed.
    let isBeginning = typed.count > 2 && word.hasPrefix(typed)
    let distance = isBeginning ? 1 : editDistance(typed, word)
    if distance <= limit, distance < best?.distance ?? .max { best = (word, distance) }
  }
  return best.map { "; did you mean '\($0.word)'?" } ?? ""
}

/// How many characters must be put in, left out, replaced or swapped with their neighbour to make one
/// word the other. O(n·m).
///
/// Source: "optimal string alignment", after F. Damerau, CACM 7(3), 1964.
func editDistance(_ first: String, _ second: String) -> Int {
  let (first, second) = (Array(first), Array(second))
  var older: [Int] = []
  var last = Array(0...second.count)
  for (row, character) in first.enumerated() {
    var current = [row + 1]
    for (column, other) in second.enumerated() {
      let replaced = last[column] + (character == other ? 0 : 1)
      var least = min(replaced, last[column + 1] + 1, current[column] + 1)
      if row > 0, column > 0, character == second[column - 1], first[row - 1] == other {
        least = min(least, older[column - 1] + 1)
      }
      current.append(least)
    }
    (older, last) = (last, current)
  }
  return last[second.count]
}
