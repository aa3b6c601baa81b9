import Glibc

/// What a directory holds, at the moment it was looked at.
package struct DirectoryListing: Equatable, Sendable {
  /// The names of its entries, without `.` and `..`, sorted bytewise.
  package let names: [String]

  /// Looks at the directory `path`.
  ///
  /// - Throws: ENOENT if there is none, ENOTDIR if it is something else.
  package init(of path: String) throws(SystemCallError) {
    // SAFETY: the C library reads the path, which Swift keeps alive, during the call only.
    guard let stream = unsafe opendir(path) else {
      throw SystemCallError(call: "opendir", code: errno, path: path)
    }
    // SAFETY: the stream is ours alone and is not used after this.
    defer { _ = unsafe closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0  // The end and a failure look alike but for this.
      // SAFETY: the stream is open, and the entry is read before the next call replaces it.
      guard let entry = unsafe readdir(stream) else { break }
      let name = unsafe String(
        cString: UnsafeRawPointer(entry).advanced(by: nameOffset)
          .assumingMemoryBound(to: CChar.self))
      if name != ".", name != ".." { names.append(name) }
    }
    let code = errno
    guard code == 0 else { throw SystemCallError(call: "readdir", code: code, path: path) }
    self.names = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}

/// Where the name stands in an entry: an entry ends after its name, so it is not copied as a whole.
private let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name)!
