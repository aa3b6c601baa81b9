// What libFuzzer calls with each input: the bytes of one connection to a service, in which some
// control bytes, which no message can contain outside of a string, stand for what else happens:
//
//   1  a turn              2  a second passes       3  a suspend of a minute
//   4  a step of the wall clock                     5  what waits is read
//   6  the peer ends       7  verdicts are refused from now on
//
// build.sh makes it out of the sources of all modules, so that all of them are instrumented:
//
//   Tests/Fuzzing/Varlink/build.sh SCRATCH      (any empty folder)
//   mkdir SCRATCH/corpus
//   SCRATCH/varlink-fuzzer -max_total_time=60 -timeout=10 -max_len=4096
//     -dict=Tests/Fuzzing/Varlink/words.txt -artifact_prefix=SCRATCH/
//     SCRATCH/corpus Tests/Fuzzing/Varlink/corpus
//
// It exits with 0 when nothing was found.

/// Traps on the first promise that the input breaks, which libFuzzer reports and keeps.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  // SAFETY: libFuzzer owns the bytes and keeps them until this call returns; they are copied.
  let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
  for isDelayed in [false, true] {
    var peer = FuzzedPeer(isDelayed: isDelayed)
    peer.play(bytes)
  }
  return 0
}

/// A service and the one client that it has.
private struct FuzzedPeer: ~Copyable {
  private var service: Service
  private let id: ConnectionID
  private var reading: Reading
  private var verdicts: [Verdict] = []
  private var revision: Int64 = 1
  private var isRefusing = false
  private let limits: Limits

  init(isDelayed: Bool) {
    reading = Reading(monotonic: 1_000_000, boottime: 2_000_000, realtime: 1_796_000_000_000_000)
    var limits = Limits()
    limits.countdownsPerUser = 8
    limits.retainedPerUser = 3
    limits.messageBytes = 1_000
    limits.queuedReplyBytes = 64 << 10
    limits.listBytes = 10_000
    limits.payloadBytes = 100
    limits.payloadBytesPerUser = 300
    limits.recentEventsBytes = 2_000
    self.limits = limits
    let delayed = LedgerTerms(
      memory: .byVerdict, synced: .byVerdict, standard: .synced, firstNumber: 1)
    service = Service(
      at: reading, limits: limits,
      terms: isDelayed ? delayed : .inMemory(wallClock: 1, notSupported: 95),
      identity: Service.Identity(version: "0", uid: 1_000, bootID: "0"), reserving: 0)
    id = service.open(uid: 1_000, isAdmin: false)
  }

  mutating func play(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while let first = rest.first {
      let text = rest.prefix { !(1...7).contains($0) }
      if !text.isEmpty {
        if service.wish(of: id)?.wantsInput == true { service.receive(Array(text).span, from: id) }
        rest = rest.dropFirst(text.count)
        continue
      }
      rest = rest.dropFirst()
      act(first)
    }
    act(6)
    for _ in 0..<50 { turn() }
    read(.max)
    for _ in 0..<50 {
      turn()
      read(.max)
    }
    if let broken = service.brokenInvariant() { fatalError(broken) }
  }

  private mutating func act(_ command: UInt8) {
    switch command {
    case 1: break
    case 2: run(1_000_000)
    case 3:
      reading.boottime += 60_000_000
      reading.realtime += 60_000_000
    case 4: reading.realtime += reading.monotonic % 2 == 0 ? 90_000_000 : -120_000_001
    case 5: read(1_000)
    case 6: service.peerEnded(id)
    default: isRefusing = true
    }
    turn()
  }

  private mutating func run(_ usec: Int64) {
    reading.monotonic += usec + 1
    reading.boottime += usec + 1
    reading.realtime += usec + 1
  }

  private mutating func turn() {
    service.turn(at: reading, verdicts: verdicts)
    verdicts = service.takeBatch().map { change in
      revision += 1
      return Verdict(
        ticket: change.ticket,
        answer: isRefusing
          ? .refused(errno: 28, outcomeUnknown: revision % 2 == 0) : .committed(revision: revision))
    }
    for request in service.takeRequests() {
      let refusal = ConfigurationRefusal(message: "refused", file: "a", line: 1)
      service.conclude(request, refused: isRefusing ? refusal : nil)
    }
    _ = service.takeTouched()
    service.beginWait(at: reading.boottime)
    let waiting = service.withOutput(of: id) { $0.count }
    // What a stream runs ahead, and the one reply that goes beyond it.
    guard waiting <= limits.queuedReplyBytes + 30_000 else { fatalError("\(waiting) bytes wait") }
  }

  /// Whole messages are read, and looked at.
  private mutating func read(_ most: Int) {
    let taken = service.withOutput(of: id) { (output: Span<UInt8>) -> Int in
      var start = 0
      for index in output.indices where output[index] == 0 && start < most {
        var scanner = JSONScanner(output.extracting(start..<index), maximumDepth: 40)
        do {
          _ = try scanner.skipIJSONObject(maximumDepth: 40)
          try scanner.end()
        } catch {
          fatalError("a reply is no JSON: \(error)")
        }
        start = index + 1
      }
      return start
    }
    service.sent(taken, to: id)
  }
}
