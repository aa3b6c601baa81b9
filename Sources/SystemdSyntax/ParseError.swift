/// What is wrong with something that was typed, in words for whoever typed it.
package struct ParseError: Error, Equatable {
  /// The text at fault; `nil` where the words name it themselves.
  package let text: String?
  /// What is wrong with it.
  package let problem: String

  /// A problem whose words name what is at fault.
  package init(_ problem: String) {
    text = nil
    self.problem = problem
  }

  /// A problem of `text`.
  package init(in text: String, _ problem: String) {
    self.text = text
    self.problem = problem
  }

  /// `'5x': 'x' is no unit of time`.
  package var message: String { text.map { "'\($0)': \(problem)" } ?? problem }
}
