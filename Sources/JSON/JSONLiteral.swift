/// A string that a protocol knows beforehand, a key above all, prepared once for being written
/// often.
///
/// Keep it in a `static let`. It holds its own JSON as words, quotes and a colon included, so that
/// to write it takes one store for each eight bytes: a third of what a `String` costs. (There is
/// nothing to prepare for reading: `matches` knows the length of a literal when it is compiled.)
package struct JSONLiteral: Sendable {
  /// Its value.
  package let text: String

  /// `"text":`, the first byte of each word lowest; zeros after it, and zeros alone if it does not
  /// fit.
  let words: [4 of UInt64]

  /// How many bytes `text` has in UTF-8.
  let count: Int

  /// Whether `words` hold it: it has at most 29 bytes, and none that must be escaped.
  let isPrepared: Bool

  /// Prepares `text`, whatever its length. O(length).
  package init(_ text: String) {
    self.text = text
    count = text.utf8.count
    var writer = JSONWriter(reusing: [])
    writer.key(text)
    let json = writer.take()
    isPrepared = json.count == count + 3 && json.count <= 32
    var words = [4 of UInt64](repeating: 0)
    if isPrepared {
      for (index, byte) in json.enumerated() {
        words[index / 8] |= UInt64(byte) << UInt64(index % 8 * 8)
      }
    }
    self.words = words
  }
}
