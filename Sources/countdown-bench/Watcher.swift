internal import ControlClient
internal import JSON
internal import LinuxIO

/// One stream of `Watch`, read with as little work as it takes to learn how late each tick was.
final class Watcher {
  /// What came in.
  struct Tally {
    /// Of each tick, µs from the crossing to its arrival here.
    var latenesses: [Double] = []
    var replies = 0
    var bytes = 0
  }

  let socket: StreamSocket
  var tally = Tally()
  private let intervalUSec: Int64
  private var input: [UInt8] = []

  /// Asks to watch `sale/N` for these numbers.
  init(_ path: String, names: Range<Int>, _ intervalUSec: Int64) throws {
    self.intervalUSec = intervalUSec
    socket = try StreamSocket(connectingTo: path)
    let call = encodeCall(
      "\(Connection.interface).Watch",
      parameters: encodeParameters { writer in
        writer.member("names", names.map { "sale/\($0)" })
        writer.member("intervalUSec", intervalUSec)
      }, wantsMore: true)
    _ = try socket.sendAll(call.span)
  }

  /// Takes in what has come.
  func read() throws {
    guard case .moved(let count) = try socket.receive(appendingTo: &input, atMost: 64 << 10) else {
      throw ClientError.closed
    }
    tally.bytes += count
    let arrival = WatchWorkload.nowUSec
    var start = 0
    while let end = input[start...].firstIndex(of: 0) {
      try take(Array(input[start..<end]), at: arrival)
      start = end + 1
    }
    input.removeSubrange(..<start)
  }

  private func take(_ message: [UInt8], at arrival: Int64) throws {
    tally.replies += 1
    var scanner = JSONScanner(message.span)
    try scanner.beginObject()
    while let key = try scanner.nextKey() {
      guard scanner.matches(key, "parameters") else {
        _ = try scanner.skipValue()
        continue
      }
      try takeParameters(&scanner, at: arrival)
    }
  }

  @_lifetime(scanner: copy scanner)
  private func takeParameters(_ scanner: inout JSONScanner, at arrival: Int64) throws {
    var remaining: [Int64] = []
    var now: Int64 = 0
    try scanner.beginObject()
    while let key = try scanner.nextKey() {
      if scanner.matches(key, "now") {
        now = try integer("boottimeUSec", in: &scanner) ?? 0
      } else if scanner.matches(key, "countdowns") {
        try scanner.beginArray()
        while try scanner.nextElement() {
          if let left = try integer("remainingUSec", in: &scanner) { remaining.append(left) }
        }
      } else {
        _ = try scanner.skipValue()
      }
    }
    for left in remaining {
      // The multiple that was reached last, and when that was.
      let crossed = (left + intervalUSec - 1) / intervalUSec * intervalUSec
      tally.latenesses.append(Double(arrival - (now - (crossed - left))))
    }
  }

  /// Reads an object, and the integer of that key in it.
  @_lifetime(scanner: copy scanner)
  private func integer(_ name: String, in scanner: inout JSONScanner) throws -> Int64? {
    var found: Int64?
    try scanner.beginObject()
    while let key = try scanner.nextKey() {
      if scanner.matches(key, name) {
        found = try scanner.readInteger()
      } else {
        _ = try scanner.skipValue()
      }
    }
    return found
  }
}
