/// Copies of bytes that are lent: of names, prefixes and payloads.
extension Span<UInt8> {
  /// A copy of a part. O(length).
  package func copy(of range: Range<Int>) -> [UInt8] {
    [UInt8](capacity: range.count) { output in
      for index in range { output.append(self[index]) }
    }
  }

  /// Appends all of them to an array, so that its storage can be used again. O(length).
  package func append(to array: inout [UInt8]) {
    array.append(addingCapacity: count) { (output: inout OutputSpan<UInt8>) in
      for index in indices { output.append(self[index]) }
    }
  }
}
