import Foundation
import TestSupport
import Testing

@Suite("Simulation")
struct SimulationTests {
  /// More of them by the environment: COUNTDOWND_SEEDS=100000, or one, COUNTDOWND_SEEDS=#4711.
  private static let seeds: Range<UInt64> = {
    let given = ProcessInfo.processInfo.environment["COUNTDOWND_SEEDS"] ?? ""
    if given.hasPrefix("#"), let one = UInt64(given.dropFirst()) { return one..<one + 1 }
    return 0..<(UInt64(given) ?? 256)
  }()

  /// In batches, for a test case costs more than a short history.
  private static let batches = stride(from: seeds.lowerBound, to: seeds.upperBound, by: 32).map {
    $0..<min($0 + 32, seeds.upperBound)
  }

  @Test(arguments: batches, [false, true])
  func `every history keeps the contract`(seeds: Range<UInt64>, isDelayed: Bool) {
    for seed in seeds {
      let outcome = Simulation(seed: seed, isDelayed: isDelayed).run(steps: 100)
      if let problem = outcome.problems.first {
        Issue.record("seed \(seed), \(isDelayed ? "delaying" : "at once"): \(problem)")
        return
      }
    }
  }

  /// A simulation that never meets something proves nothing about it.
  @Test func `a few histories meet every call, refusal, state and event`() {
    var coverage = Coverage()
    var events = 0
    var ticks = 0
    var passed: Int64 = 0
    for seed in 1_000..<1_048 as Range<UInt64> {
      for isDelayed in [false, true] {
        let outcome = Simulation(seed: seed, isDelayed: isDelayed).run(steps: 100)
        #expect(outcome.problems == [], "seed \(seed)")
        coverage.formUnion(outcome.coverage)
        events += outcome.events
        ticks += outcome.ticks
        passed += outcome.passedUSec
      }
    }
    #expect(events > 1_000 && ticks > 1_000)
    #expect(passed / 96 > .days(60))
    let interface = InterfaceDescription.countdown
    #expect(coverage.methods == Set(interface.methods.keys))
    // The limits are far away, and it is the host that reads a configuration.
    #expect(
      Set(interface.errors.keys).subtracting(coverage.errors) == [
        "QuotaExceeded", "ConfigurationRefused",
      ])
    for (name, kind) in interface.types {
      guard case .enumeration(let words) = kind else { continue }
      for word in words {
        #expect(coverage.words.contains("\(name).\(word)"))
      }
    }
    #expect(coverage.fields.contains("Event.missedOccurrences"))
    #expect(coverage.fields.contains("Subscribe.gap"))
  }

  @Test func `the same seed is the same history`() {
    for isDelayed in [false, true] {
      let events = (0..<2).map { _ in
        Simulation(seed: 7, isDelayed: isDelayed).run(steps: 100).events
      }
      #expect(events[0] == events[1] && events[0] > 0)
    }
  }
}
