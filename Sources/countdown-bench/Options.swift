/// The command line of the measurements.
struct Options {
  var workload = ""
  var size: Int?
  var seed: UInt64 = 1
  var operations: Int?
  var rounds: Int?
  var cycles: Int?
  var only: String?

  struct UsageError: Error {
    let text: String
  }

  static let help = """
    Usage: countdown-bench WORKLOAD [--size N] [--seed N] [--rounds N] [--operations N]
           [--cycles N] [--only NAME]

    wheel      start, stop and expire on the timing wheel beside a binary heap
               (--size live entries, --operations stop + start pairs, --only wheel or heap,
               --cycles times more, start all and expire all)
    lateness   how late a single countdown expires, beside a bare timerfd and epoll loop
               (--size others pending, --operations countdowns a round)
    crowd      many due at the same instant, told to one subscriber, with calls meanwhile
               (--size countdowns, --operations other subscribers)
    fanout     events of 1 KiB to one subscriber, while another one does not read
               (--size events)
    list       calls while all countdowns are listed, beside calls alone
               (--size countdowns)
    watch      how late the ticks of watched names are, and what they cost, beside a bare loop
               (--size names, 1000 a stream; --rounds seconds)

    """

  init(_ arguments: [String]) throws(UsageError) {
    var rest = arguments[...]
    guard let workload = rest.popFirst() else { throw UsageError(text: "name a workload") }
    self.workload = workload
    while let option = rest.popFirst() {
      guard let value = rest.popFirst() else { throw UsageError(text: "\(option) needs a value") }
      switch option {
      case "--size": size = try Options.number(value, option)
      case "--seed": seed = UInt64(try Options.number(value, option))
      case "--operations": operations = try Options.number(value, option)
      case "--rounds": rounds = try Options.number(value, option)
      case "--cycles": cycles = try Options.number(value, option)
      case "--only": only = value
      default: throw UsageError(text: "unknown option \(option)")
      }
    }
  }

  private static func number(_ text: String, _ option: String) throws(UsageError) -> Int {
    guard let number = Int(text), number >= 0 else {
      throw UsageError(text: "\(option) \(text): is no number")
    }
    return number
  }
}
