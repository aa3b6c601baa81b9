/// A file that was read, whole: its name, as messages give it, and its bytes.
package struct SourceFile: Equatable, Sendable {
  /// Its path, as messages give it.
  package let name: String
  /// All of it.
  package let bytes: [UInt8]

  /// Takes the bytes as they are: whether they make sense is seen when they are read as statements.
  package init(name: String, bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
  }
}

/// Where something stands: `/etc/x.conf:12`.
package struct SourcePosition: Equatable, Sendable, CustomStringConvertible {
  /// The file's name.
  package let file: String
  /// From 1; of what goes on over several lines, the first.
  package let line: Int

  /// - Parameter line: 1 or more.
  package init(file: String, line: Int) {
    self.file = file
    self.line = line
  }

  package var description: String { "\(file):\(line)" }
}

/// What is wrong with a file, and where: a sentence for whoever wrote it.
package struct SourceError: Error, Equatable, CustomStringConvertible {
  /// Where it stands.
  package let position: SourcePosition
  /// What is wrong, and what would be right.
  package let problem: String

  /// - Parameter problem: What is wrong and what would be right.
  package init(at position: SourcePosition, _ problem: String) {
    self.position = position
    self.problem = problem
  }

  /// `/etc/x.conf:12: what is wrong`.
  package var description: String { "\(position): \(problem)" }
}
