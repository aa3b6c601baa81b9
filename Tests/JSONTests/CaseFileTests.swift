import Foundation
import JSON
import Testing

/// The files in Cases, and the fuzzer's corpus.
@Suite struct CaseFileTests {
  private static func files(in folder: String, prefix: String) throws -> [(String, [UInt8])] {
    let here = URL(filePath: #filePath).deletingLastPathComponent()
    let folder = here.appending(path: folder)
    return try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasPrefix(prefix) && $0.hasSuffix(".json") }.sorted()
      .map { ($0, [UInt8](try Data(contentsOf: folder.appending(path: $0)))) }
  }

  @Test func `every accept file is accepted, written and read again the same`() throws {
    let files = try Self.files(in: "Cases", prefix: "accept-")
    #expect(files.count >= 30)
    for (name, bytes) in files {
      #expect(refusal(bytes) == nil, "\(name)")
      let value = try Value(bytes)
      #expect(try Value(value.written) == value, "\(name)")
      #expect(brokenProperty(of: bytes) == nil, "\(name)")
    }
  }

  @Test func `every reject file is refused, skipped or read`() throws {
    let files = try Self.files(in: "Cases", prefix: "reject-")
    #expect(files.count >= 120)
    for (name, bytes) in files {
      #expect(refusal(bytes) != nil, "\(name)")
      #expect(throws: JSONError.self, "\(name)") { try Value(bytes) }
      #expect(brokenProperty(of: bytes) == nil, "\(name)")
    }
  }

  @Test func `the fuzzer's corpus breaks no property`() throws {
    let files = try Self.files(in: "../Fuzzing/JSON/corpus", prefix: "")
    #expect(files.count >= 20)
    for (name, bytes) in files { #expect(brokenProperty(of: bytes) == nil, "\(name)") }
  }
}
