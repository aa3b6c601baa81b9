/// The reply to `GetClocks`.
package struct ClocksReply: Equatable, Sendable {
  /// Something that happened to the clocks. Words the daemon may learn one day are kept as they came.
  package struct Discontinuity: Equatable, Sendable {
    /// `slept`, `stepped`, `sleptAndStepped` or `stalled`.
    package let kind: String
    package let at: Timestamp
    package let sleptUSec: Int64?
    package let steppedUSec: Int64?
    package let awayUSec: Int64?
    /// How many countdowns expired late for it.
    package let expired: Int64?
    package let missed: Int64?

    /// Reads it.
    package init(_ members: Members) throws(ClientError) {
      kind = try members.required("kind", members.string("kind"))
      at = try members.required("at", members.timestamp("at"))
      sleptUSec = try members.integer("sleptUSec")
      steppedUSec = try members.integer("steppedUSec")
      awayUSec = try members.integer("awayUSec")
      expired = try members.integer("expired")
      missed = try members.integer("missed")
    }
  }

  package let now: Timestamp
  package let bootID: String
  package let isSynchronized: Bool
  package let sleptUSec: Int64
  /// In the order in which they were noticed.
  package let discontinuities: [Discontinuity]

  /// Reads it. Throws `garbled`.
  package init(_ members: Members) throws(ClientError) {
    now = try members.required("now", members.timestamp("now"))
    bootID = try members.required("bootID", members.string("bootID"))
    isSynchronized = try members.required("synchronized", members.boolean("synchronized"))
    sleptUSec = try members.required("sleptUSec", members.integer("sleptUSec"))
    let list = try members.required("discontinuities", members.objects("discontinuities"))
    var read: [Discontinuity] = []
    for one in list { read.append(try Discontinuity(one)) }
    discontinuities = read
  }
}
