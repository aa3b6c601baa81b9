/// A name, and whose it is: what tables of names are looked up by.
struct OwnedName: Hashable, Sendable {
  let user: UInt32
  let name: [UInt8]
}
