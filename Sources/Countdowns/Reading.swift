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
  /// How far its differences may be from the truth, because something came between the looks at the
  /// clocks; 0 of one that was taken closely enough.
  package var uncertaintyUSec: Int64

  package init(
    monotonic: Int64, boottime: Int64, realtime: Int64, uncertaintyUSec: Int64 = 0
  ) {
    self.monotonic = monotonic
    self.boottime = boottime
    self.realtime = realtime
    self.uncertaintyUSec = uncertaintyUSec
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
  /// the noise of reading them one after the other, and so is what a coarse one does not know.
  package func hasMoved(from other: Reading) -> Bool {
    let least = 1_000 + uncertaintyUSec + other.uncertaintyUSec
    return abs((realtime - boottime) - (other.realtime - other.boottime)) >= least
      || abs((boottime - monotonic) - (other.boottime - other.monotonic)) >= least
  }
}
