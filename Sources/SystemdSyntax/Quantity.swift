/// A whole number with a suffix for its thousands, `64M`, as systemd writes sizes and counts.
package struct Quantity: Equatable, Sendable {
  /// What a thousand is. systemd takes 1024 for whatever is counted in bytes, else 1000.
  package enum Kilo: UInt64, Sendable {
    case decimal = 1_000
    case binary = 1_024
  }

  /// How many, or how many bytes.
  package let value: UInt64
  /// What its suffixes stand for.
  package let kilo: Kilo

  private static let suffixes: [Character] = ["K", "M", "G", "T", "P", "E"]

  /// Stands for `value`, to be written with suffixes of `kilo`.
  package init(_ value: UInt64, kilo: Kilo) {
    self.value = value
    self.kilo = kilo
  }

  /// Reads `100`, `64K`, `1M` and so on up to `E`; in bytes, `100B` too.
  ///
  /// - Throws: What was wrong: a fraction, a sign, another suffix, or 2^64 and more.
  package init(parsing text: String, kilo: Kilo) throws(ParseError) {
    let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    let rest = text.utf8.dropFirst(digits.count)
    guard !digits.isEmpty, rest.first != UInt8(ascii: ".") else {
      throw ParseError(in: text, "a whole number is needed, such as 500 or 2M")
    }
    let suffix = String(Substring(rest).trimmingSpaces())
    guard let multiplier = Self.multiplier(of: suffix, kilo: kilo) else {
      throw ParseError(
        in: text,
        "'\(suffix)' is no suffix of a number; known are K, M, G and T, each \(kilo.rawValue) times"
          + " the one before")
    }
    let product = UInt64(Substring(digits))?.multipliedReportingOverflow(by: multiplier)
    guard let product, !product.overflow else { throw ParseError(in: text, "too large") }
    self.init(product.partialValue, kilo: kilo)
  }

  private static func multiplier(of suffix: String, kilo: Kilo) -> UInt64? {
    if suffix.isEmpty || suffix.utf8.elementsEqual("B".utf8) && kilo == .binary { return 1 }
    var multiplier: UInt64 = 1
    for known in suffixes {
      multiplier *= kilo.rawValue  // At most 2^60.
      if suffix.utf8.elementsEqual(String(known).utf8) { return multiplier }
    }
    return nil
  }

  /// As it would be typed: with the largest suffix that leaves a whole number. Read back as the same.
  package var text: String {
    var value = value
    var suffix = ""
    for next in Self.suffixes where value > 0 && value.isMultiple(of: kilo.rawValue) {
      value /= kilo.rawValue
      suffix = String(next)
    }
    return "\(value)\(suffix)"
  }
}
