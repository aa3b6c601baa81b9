internal import LinuxIO
internal import TimingWheel

/// `wheel`: starts, stops and expires entries on the wheel as shipped and on a binary heap, with the
/// same seed; both must come to the same checksum of what expired.
enum WheelWorkload {
  struct Timing {
    var fill: Double
    var pair: Double
    var expire: Double
    var checksum: UInt64
  }

  /// Deadlines are spread evenly over 2^22 ticks of 64 µs, some four and a half minutes.
  private static let reach: UInt64 = 1 << 28

  static func run(_ options: Options) {
    let sizes = options.size.map { [$0] } ?? [10_000, 100_000, 1_000_000]
    print("wheel: ns per operation; stop + start is one pair at random, expire includes cascades")
    print(row("live", "structure", "start", "stop + start", "expire", "checksum"))
    for size in sizes {
      var rounds: [String: [Timing]] = [:]
      for _ in 0..<(options.rounds ?? 3) {
        switch options.only {
        case "wheel": rounds["wheel", default: []].append(wheel(size, options))
        case "heap": rounds["binary heap", default: []].append(heap(size, options))
        default:
          rounds["wheel", default: []].append(wheel(size, options))
          rounds["binary heap", default: []].append(heap(size, options))
        }
      }
      for name in ["wheel", "binary heap"] {
        guard let timings = rounds[name] else { continue }
        print(
          row(
            "\(size)", name, tenths(median(timings.map(\.fill))),
            tenths(median(timings.map(\.pair))), tenths(median(timings.map(\.expire))),
            String(timings[0].checksum, radix: 16)))
      }
      if let wheel = rounds["wheel"], let heap = rounds["binary heap"] {
        precondition(
          wheel.allSatisfy { $0.checksum == heap[0].checksum }, "the wheel and the heap disagree")
      }
    }
  }

  private static func wheel(_ size: Int, _ options: Options) -> Timing {
    var random = SplitMix64(seed: options.seed)
    var wheel = Wheel(now: Instant(rawValue: 0), reserving: size)
    var ids: [EntryID] = []
    ids.reserveCapacity(size)
    var clock = Stopwatch()
    for _ in 0..<size { ids.append(wheel.start(at: Instant(rawValue: deadline(&random)))) }
    let fill = clock.lap() / Double(max(size, 1))
    let pairs = options.operations ?? max(size, 200_000)
    for _ in 0..<pairs {
      let place = Int(random.next() % UInt64(size))
      wheel.release(ids[place])
      ids[place] = wheel.start(at: Instant(rawValue: deadline(&random)))
    }
    let pair = clock.lap() / Double(max(pairs, 1))
    var checksum: UInt64 = 0
    expireAll(&wheel, &checksum)
    let expire = clock.lap() / Double(max(size, 1))
    for _ in 0..<(options.cycles ?? 0) {
      let start = wheel.now.rawValue
      for _ in 0..<size { _ = wheel.start(at: Instant(rawValue: start + deadline(&random))) }
      expireAll(&wheel, &checksum)
    }
    return Timing(fill: fill, pair: pair, expire: expire, checksum: checksum)
  }

  private static func expireAll(_ wheel: inout Wheel, _ checksum: inout UInt64) {
    var due = DueEntries()
    while let wake = wheel.nextWake {
      _ = wheel.advance(to: wake, limit: .max, into: &due)
      for place in 0..<due.count {
        checksum = mix(checksum, wake.rawValue)
        wheel.release(due[place])
      }
      due.removeAll()
    }
  }

  private static func heap(_ size: Int, _ options: Options) -> Timing {
    var random = SplitMix64(seed: options.seed)
    var heap = BinaryHeap(reserving: size)
    var ids: [UInt32] = []
    ids.reserveCapacity(size)
    var clock = Stopwatch()
    for _ in 0..<size { ids.append(heap.start(at: deadline(&random))) }
    let fill = clock.lap() / Double(max(size, 1))
    let pairs = options.operations ?? max(size, 200_000)
    for _ in 0..<pairs {
      let place = Int(random.next() % UInt64(size))
      heap.stop(ids[place])
      ids[place] = heap.start(at: deadline(&random))
    }
    let pair = clock.lap() / Double(max(pairs, 1))
    var checksum: UInt64 = 0
    while heap.earliest != nil { checksum = mix(checksum, heap.expire().deadline) }
    let expire = clock.lap() / Double(max(size, 1))
    return Timing(fill: fill, pair: pair, expire: expire, checksum: checksum)
  }

  private static func deadline(_ random: inout SplitMix64) -> UInt64 { 1 + random.next() % reach }

  /// Wraps by design.
  private static func mix(_ sum: UInt64, _ value: UInt64) -> UInt64 {
    (sum ^ value) &* 0x100_0000_01b3
  }

  private static func row(
    _ size: String, _ name: String, _ fill: String, _ pair: String, _ expire: String, _ sum: String
  ) -> String {
    right(size, 9) + "  " + left(name, 12) + right(fill, 8) + right(pair, 14) + right(expire, 9)
      + "  " + sum
  }
}
