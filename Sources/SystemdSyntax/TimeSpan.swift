/// A length of time in whole microseconds, read and written as systemd.time(7) does.
package struct TimeSpan: Equatable, Sendable {
  /// Within ±``limitUSec``.
  package let usec: Int64

  /// The longest there can be, 2^53 − 1: every JSON reader keeps that exact.
  package static let limitUSec: Int64 = 1 << 53 - 1

  /// Each unit's names and length. A month is a twelfth of a year, 30.44 days; a year 365.25 days.
  private static let units: [(names: [String], usec: UInt128)] = [
    (["usec", "us", "µs", "μs"], 1),  // Both of Unicode's micro signs.
    (["msec", "ms"], 1_000),
    (["seconds", "second", "sec", "s"], 1_000_000),
    (["minutes", "minute", "min", "m"], 60_000_000),
    (["hours", "hour", "hr", "h"], 3_600_000_000),
    (["days", "day", "d"], 86_400_000_000),
    (["weeks", "week", "w"], 604_800_000_000),
    (["months", "month", "M"], 2_629_800_000_000),
    (["years", "year", "y"], 31_557_600_000_000),
  ]

  /// The most digits a fraction may have, and what stands for 1 when it is kept as an integer.
  private static let fractionDigits = 18
  private static let fractionScale: UInt128 = 1_000_000_000_000_000_000

  /// - Parameter usec: Within ±``limitUSec``.
  package init(usec: Int64) {
    precondition(usec.magnitude <= Self.limitUSec.magnitude)
    self.usec = usec
  }

  /// Reads `15min`, `1h 30min`, `1.5s`, `2days12h`; a bare number is seconds.
  ///
  /// A number without a unit may only stand alone: in `1h 30` it could mean two things. The sum is
  /// exact; what lies below a microsecond is rounded up, once.
  ///
  /// - Parameter allowsSign: Whether `-` or `+` may come first.
  /// - Throws: What was wrong, with the part at fault.
  package init(parsing text: String, allowsSign: Bool = false) throws(ParseError) {
    var rest = Substring(text).trimmingSpaces()
    var isNegative = false
    if let sign = rest.first, sign == "-" || sign == "+" {
      guard allowsSign else { throw ParseError(in: text, "a length cannot have a sign here") }
      isNegative = sign == "-"
      rest = rest.dropFirst().trimmingSpaces()
    }
    guard !rest.isEmpty else { throw ParseError(in: text, "a length is missing") }
    guard rest != "infinity" else {
      throw ParseError(in: text, "a length must have an end")
    }
    var total: UInt128 = 0  // In 10^-18 µs, so that nothing is rounded but the sum.
    var isFirst = true
    while !rest.isEmpty {
      let (whole, fraction) = try Self.takeNumber(from: &rest, of: text)
      let number = whole.multiplied(fittingBy: Self.fractionScale)?.adding(fitting: fraction)
      rest = rest.trimmingSpaces()
      let name = rest.prefix { !($0.isASCIIDigit || $0 == "." || $0.isASCIISpace) }
      rest = rest.dropFirst(name.count).trimmingSpaces()
      let unit: UInt128
      if name.isEmpty {
        guard isFirst, rest.isEmpty else {
          throw ParseError(in: text, "a number has no unit; write for example 30s or 30min")
        }
        unit = 1_000_000
      } else {
        unit = try Self.length(of: name, in: text)
      }
      let part = number?.multiplied(fittingBy: unit)
      guard let part, let sum = total.adding(fitting: part) else { throw Self.tooLong(text) }
      total = sum
      isFirst = false
    }
    let (quotient, remainder) = total.quotientAndRemainder(dividingBy: Self.fractionScale)
    let rounded = remainder > 0 ? quotient + 1 : quotient
    guard rounded <= UInt128(Self.limitUSec) else { throw Self.tooLong(text) }
    usec = isNegative ? -Int64(rounded) : Int64(rounded)
  }

  /// A number's whole part, and its fraction in 10^-18.
  private static func takeNumber(
    from rest: inout Substring, of text: String
  ) throws(ParseError) -> (whole: UInt128, fraction: UInt128) {
    let digits = rest.prefix { $0.isASCIIDigit }
    guard !digits.isEmpty else {
      let part = rest.prefix { !$0.isASCIISpace }
      throw ParseError(in: text, "a number is missing before '\(part)'")
    }
    rest = rest.dropFirst(digits.count)
    var fraction: Substring = ""
    if rest.first == "." {
      fraction = rest.dropFirst().prefix { $0.isASCIIDigit }
      rest = rest.dropFirst(fraction.count + 1)
      guard !fraction.isEmpty else {
        throw ParseError(in: text, "digits are missing after the point")
      }
    }
    guard fraction.count <= fractionDigits else {
      throw ParseError(in: text, "more than \(fractionDigits) digits after the point")
    }
    guard let whole = UInt128(digits) else { throw tooLong(text) }
    let padding = String(repeating: "0", count: fractionDigits - fraction.count)
    return (whole, UInt128(fraction + padding) ?? 0)
  }

  private static func length(of name: Substring, in text: String) throws(ParseError) -> UInt128 {
    for unit in units where unit.names.contains(where: { $0 == name }) { return unit.usec }
    let known = "us, ms, s, min, h, d, w, month, y"
    throw ParseError(in: text, "'\(name)' is no unit of time; known are \(known)")
  }

  private static func tooLong(_ text: String) -> ParseError {
    ParseError(in: text, "too long; the longest is \(TimeSpan(usec: limitUSec).text)")
  }

  /// As it would be typed: `1h 30min`, `-2s 500ms`, `0s`. Exact, and read back as the same.
  ///
  /// Days are the longest unit written, as months and years are no whole number of them.
  package var text: String { Self.text(ofMagnitude: usec.magnitude, isNegative: usec < 0) }

  /// As ``text``, rounded up to what a table has room for: to seconds from a minute on, to
  /// milliseconds from a second on.
  package var briefText: String {
    guard usec.magnitude >= 1_000_000 else { return text }
    let unit: UInt64 = usec.magnitude >= 60_000_000 ? 1_000_000 : 1_000
    let rounded = (usec.magnitude + unit - 1) / unit * unit
    return Self.text(ofMagnitude: rounded, isNegative: usec < 0)
  }

  private static func text(ofMagnitude usec: UInt64, isNegative: Bool) -> String {
    let written: [(name: String, usec: UInt64)] = [
      ("d", 86_400_000_000), ("h", 3_600_000_000), ("min", 60_000_000), ("s", 1_000_000),
      ("ms", 1_000), ("us", 1),
    ]
    var rest = usec
    var parts: [String] = []
    for unit in written {
      let (count, remainder) = rest.quotientAndRemainder(dividingBy: unit.usec)
      if count > 0 { parts.append("\(count)\(unit.name)") }
      rest = remainder
    }
    return parts.isEmpty ? "0s" : (isNegative ? "-" : "") + parts.joined(separator: " ")
  }
}

extension UInt128 {
  /// The product; `nil` where it does not fit.
  fileprivate func multiplied(fittingBy other: UInt128) -> UInt128? {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? nil : product
  }

  /// The sum; `nil` where it does not fit.
  fileprivate func adding(fitting other: UInt128) -> UInt128? {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? nil : sum
  }
}
