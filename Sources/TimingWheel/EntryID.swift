/// Names one entry of one wheel, from its allocation to its release.
///
/// Only a wheel makes these. An id that outlives its entry is *stale*: its cell may have a new
/// tenant, but never again this generation, so that ``Wheel/isLive(_:)`` tells the two apart.
package struct EntryID: Hashable, Sendable {
  private let bits: UInt64  // One number: it travels in one register.

  /// The entry's place, below ``Wheel/capacityInUse``: the index for arrays kept beside the wheel.
  package var index: UInt32 { UInt32(truncatingIfNeeded: bits) }

  /// Which tenant of that place; odd, and growing from tenant to tenant.
  package var generation: UInt32 { UInt32(truncatingIfNeeded: bits >> 32) }

  @inline(__always)
  init(index: UInt32, generation: UInt32) {
    bits = UInt64(generation) << 32 | UInt64(index)
  }
}
