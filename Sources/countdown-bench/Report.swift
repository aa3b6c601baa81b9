internal import LinuxIO

/// Measures spans of time within one thread.
struct Stopwatch {
  private var start = Clocks.boottimeNSec()

  /// Nanoseconds since the last lap.
  mutating func lap() -> Double {
    let now = Clocks.boottimeNSec()
    defer { start = now }
    return Double(now - start)
  }
}

func median(_ values: [Double]) -> Double { percentile(values, 50) }

/// The value below which `percent` of them lie (nearest rank); 0 where there are none.
func percentile(_ values: [Double], _ percent: Double) -> Double {
  guard !values.isEmpty else { return 0 }
  let rank = Int((percent / 100 * Double(values.count)).rounded(.up))
  return values.sorted()[min(max(rank, 1), values.count) - 1]
}

/// With one decimal.
func tenths(_ value: Double) -> String {
  let scaled = Int64((value * 10).rounded())
  return "\(scaled / 10).\(abs(scaled % 10))"
}

/// With two decimals.
func hundredths(_ value: Double) -> String {
  let scaled = Int64((value * 100).rounded())
  let fraction = abs(scaled % 100)
  return "\(scaled / 100).\(fraction < 10 ? "0" : "")\(fraction)"
}

func left(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(width - text.count, 0))
}

func right(_ text: String, _ width: Int) -> String {
  String(repeating: " ", count: max(width - text.count, 0)) + text
}

/// As the tests' generator: the same seed gives the same workload everywhere.
///
/// Source: G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number Generators",
/// OOPSLA 2014.
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15  // Wraps by design, as do the products below.
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
