internal import SystemdSyntax

/// Takes a typed point in time apart, from its beginning to its end.
struct PointReader {
  private let text: String
  private var rest: Substring

  init(_ text: String) {
    self.text = text
    rest = Substring(text).trimmingSpaces()
  }

  /// Reads all of it.
  mutating func read() throws(ParseError) -> TypedPoint {
    if take("@") { return try unixTime() }
    let looksLikeTime = rest.prefix { $0.isASCIIDigit }.count <= 2 && rest.contains(":")
    if looksLikeTime {
      let (hour, minute, second) = try timeOfDay()
      let fraction = try self.fraction()
      let offset = try self.offset()
      try end()
      let check = CivilTime(
        year: 2000, month: 1, day: 1, hour: hour, minute: minute, second: second)
      guard check.isOnTheCalendar else { throw noSuchTime() }
      return TypedPoint(
        text: text, kind: .timeOfDay(hour: hour, minute: minute, second: second, offset: offset),
        fractionUSec: fraction)
    }
    let year = try number(digits: 4)
    guard take("-") else { throw wrongForm() }
    let month = try number(digits: 2)
    guard take("-") else { throw wrongForm() }
    let day = try number(digits: 2)
    var time = (hour: 0, minute: 0, second: 0)
    var fraction: Int64 = 0
    let hasSeparator = take("T") || take("t") || takeSpaces()
    let hasTime = hasSeparator && rest.first?.isASCIIDigit == true
    if hasTime {
      time = try timeOfDay()
      fraction = try self.fraction()
    }
    // After a date alone, -18:00 would rather be a time of day than an offset.
    let offset = try self.offset(allowsNumbers: hasTime)
    try end()
    let civil = CivilTime(
      year: year, month: month, day: day, hour: time.hour, minute: time.minute,
      second: time.second)
    guard civil.isOnTheCalendar else { throw noSuchTime() }
    return TypedPoint(text: text, kind: .civil(civil, offset: offset), fractionUSec: fraction)
  }

  /// What follows `@`: seconds since 1970, perhaps negative, perhaps with a fraction.
  private mutating func unixTime() throws(ParseError) -> TypedPoint {
    let isNegative = take("-")
    let digits = rest.prefix { $0.isASCIIDigit }
    guard !digits.isEmpty else { throw wrongForm() }
    rest = rest.dropFirst(digits.count)
    let fraction = try self.fraction()
    try end()
    guard let seconds = Int64(digits) else {
      throw TypedPoint(text: text, kind: .unix(seconds: 0), fractionUSec: 0).outOfRange
    }
    // Before 1970 a fraction counts backwards: @-0.25 is 750 ms after the second before.
    let isBorrowing = isNegative && fraction > 0
    return TypedPoint(
      text: text, kind: .unix(seconds: (isNegative ? -seconds : seconds) - (isBorrowing ? 1 : 0)),
      fractionUSec: isBorrowing ? 1_000_000 - fraction : fraction)
  }

  private mutating func timeOfDay() throws(ParseError) -> (hour: Int, minute: Int, second: Int) {
    let hour = try number(digits: 2, orFewer: true)
    guard take(":") else { throw wrongForm() }
    let minute = try number(digits: 2)
    return (hour, minute, take(":") ? try number(digits: 2) : 0)
  }

  /// A fraction of a second in microseconds, rounded up: 0 to 1 000 000.
  private mutating func fraction() throws(ParseError) -> Int64 {
    guard take(".") else { return 0 }
    let digits = rest.prefix { $0.isASCIIDigit }
    guard (1...18).contains(digits.count) else { throw wrongForm() }
    rest = rest.dropFirst(digits.count)
    let micros = (digits.prefix(6) + String(repeating: "0", count: max(0, 6 - digits.count)))
    let hasMore = digits.dropFirst(6).contains { $0 != "0" }
    return (Int64(micros) ?? 0) + (hasMore ? 1 : 0)
  }

  /// What to add to UTC; `nil` where nothing says so.
  private mutating func offset(allowsNumbers: Bool = true) throws(ParseError) -> Int64? {
    _ = takeSpaces()
    if take("UTC") || take("Z") || take("z") { return 0 }
    guard allowsNumbers else { return nil }
    let isNegative = rest.first == "-"
    guard take("+") || take("-") else { return nil }
    let hours = try number(digits: 2)
    guard take(":") else { throw wrongForm() }
    let minutes = try number(digits: 2)
    guard hours < 24, minutes < 60 else { throw noSuchTime() }
    let seconds = Int64(hours * 3_600 + minutes * 60)
    return isNegative ? -seconds : seconds
  }

  private mutating func number(digits count: Int, orFewer: Bool = false) throws(ParseError) -> Int {
    let digits = rest.prefix { $0.isASCIIDigit }
    guard let value = Int(digits), orFewer ? digits.count <= count : digits.count == count else {
      throw wrongForm()
    }
    rest = rest.dropFirst(digits.count)
    return value
  }

  private mutating func take(_ prefix: String) -> Bool {
    guard rest.hasPrefix(prefix) else { return false }
    rest = rest.dropFirst(prefix.count)
    return true
  }

  private mutating func takeSpaces() -> Bool {
    guard rest.first?.isASCIISpace == true else { return false }
    rest = rest.trimmingSpaces()
    return true
  }

  private func end() throws(ParseError) {
    guard rest.isEmpty else { throw wrongForm() }
  }

  private func wrongForm() -> ParseError {
    ParseError("'\(text)' is no time; write for example \(PointInTime.forms)")
  }

  private func noSuchTime() -> ParseError {
    ParseError("'\(text)': there is no such date or time of day")
  }
}
