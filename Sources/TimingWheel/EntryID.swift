/// Names one entry of one wheel, from its allocation to its release.
///
/// Only a wheel makes these. An id that outlives its entry is *stale*: its cell may have a new
/// tenant, but never again this generation, so that ``Wheel/isLive(_:)`` tells the two apart.
package struct EntryID: Hashable, Sendable {
  /// The entry's place, below ``Wheel/capacityInUse``: the index for arrays kept beside the wheel.
  package let index: UInt32

  /// Which tenant of that place; odd, and growing from tenant to tenant.
  package let generation: UInt32

  init(index: UInt32, generation: UInt32) {
    self.index = index
    self.generation = generation
  }
}
