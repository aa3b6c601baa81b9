// What libFuzzer calls with each input; the properties themselves are the tests' own. Built
// together with the module's sources, so that all of them are instrumented (SCRATCH is any empty
// folder):
//
//   swiftc -parse-as-library -O -g -swift-version 6 -use-ld=lld -sanitize=fuzzer,address -D FUZZING
//     -package-name countdownd -enable-experimental-feature Lifetimes -module-name JSONFuzzer
//     Sources/JSON/*.swift Tests/JSONTests/JSONProperties.swift Tests/Fuzzing/JSON/JSONFuzzer.swift
//     -o SCRATCH/json-fuzzer
//   mkdir SCRATCH/corpus
//   SCRATCH/json-fuzzer -max_total_time=60 -timeout=10 -max_len=4096
//     -artifact_prefix=SCRATCH/ SCRATCH/corpus Tests/Fuzzing/JSON/corpus
//
// It exits with 0 when nothing was found. New inputs go to the first folder; one that failed is
// written to SCRATCH and is added to Tests/Fuzzing/JSON/corpus, which the tests read as well.

/// Traps on the first property that the input breaks, which libFuzzer reports and keeps.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  // SAFETY: libFuzzer owns the bytes and keeps them until this call returns; they are copied.
  let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
  for maximumDepth in [3, 32] {
    if let broken = brokenProperty(of: bytes, maximumDepth: maximumDepth) {
      fatalError("depth \(maximumDepth): \(broken)")
    }
  }
  return 0
}
