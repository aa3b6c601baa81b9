import Countdowns
import Testing

@Suite struct UserTableTests {
  @Test func `users come in the order of their uids, whichever was seen first`() {
    var users = UserTable()
    #expect(users.next(after: nil) == nil && users.next(after: 0) == nil)
    let uids: [UInt32] = [1_000, 0, 70_000, 5, 4_294_967_294, 999]
    for uid in uids + uids { _ = users.index(of: uid) }
    #expect(users.count == uids.count)
    var order: [UInt32] = []
    var next = users.next(after: nil)
    while let user = next {
      order.append(users[user].uid)
      next = users.next(after: users[user].uid)
    }
    #expect(order == uids.sorted())
    // Whether there is one of that uid or not.
    #expect(users.next(after: 6) == users.known(999))
    #expect(users.next(after: .max) == nil)
  }

  @Test func `whoever was never seen is nobody, and stays unknown`() {
    var users = UserTable()
    #expect(users.known(7) == UserTable.nobody && users.count == 0)
    let index = users.index(of: 7)
    #expect(users.known(7) == index && users[index].uid == 7)
    #expect(users.known(8) == UserTable.nobody)
  }
}
