/// One look at the three clocks, in microseconds, each rounded up.
///
/// Rounded up, because a length counts from an instant not before its call was read. That a
/// countdown is then never told early is the host's part: no effect of a turn leaves the process
/// before the instant of the turn's reading has really passed.
package struct Reading: Equatable, Sendable {
  /// CLOCK_MONOTONIC: stands still while the machine sleeps.
  package var monotonic: Int64
  /// CLOCK_BOOTTIME: goes on while the machine sleeps. The wheel runs on it.
  package var boottime: Int64
  /// CLOCK_REALTIME: the wall clock, microseconds since 1970; stepped by people and programs.
  package var realtime: Int64

  package init(monotonic: Int64, boottime: Int64, realtime: Int64) {
    self.monotonic = monotonic
    self.boottime = boottime
    self.realtime = realtime
  }

  /// What `clock` shows.
  package func value(of clock: CountdownClock) -> Int64 {
    switch clock {
    case .boottime: boottime
    case .monotonic: monotonic
    case .realtime: realtime
    }
  }

  /// Whether the clocks have moved against each other by 1 ms or more since another reading; less is
  /// the noise of reading them one after the other.
  package func hasMoved(from other: Reading) -> Bool {
    abs((realtime - boottime) - (other.realtime - other.boottime)) >= 1_000
      || abs((boottime - monotonic) - (other.boottime - other.monotonic)) >= 1_000
  }
}
