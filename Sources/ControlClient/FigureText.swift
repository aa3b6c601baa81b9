internal import SystemdSyntax

/// A length that came from the daemon, which may be anything: `1h 30min`, as for a table.
package func lengthText(_ usec: Int64) -> String {
  usec.magnitude <= TimeSpan.limitUSec.magnitude ? TimeSpan(usec: usec).briefText : "?"
}

/// How late something was: `54 µs`, `1.204 ms`, `2s 100ms`.
package func latenessText(_ usec: Int64) -> String {
  switch usec {
  case ..<1_000: "\(usec) µs"
  case ..<1_000_000: "\(usec / 1_000).\((usec % 1_000).padded(to: 3)) ms"
  default: lengthText(usec)
  }
}

/// As above, and why, where there is a reason: `2h 3min late: the machine slept`.
///
/// - Parameter word: What stands behind the lateness.
package func latenessText(_ usec: Int64, _ word: String = "", because reason: String?) -> String {
  let text = latenessText(usec) + word
  switch reason {
  case nil, "none": return text
  case "suspend": return text + ": the machine slept"
  case "clockStep": return text + ": the wall clock was set"
  case "storage": return text + ": a change was being stored"
  case "overload": return text + ": the daemon was busy or stopped"
  case let reason?: return text + ": " + harmless(reason)
  }
}

/// `the machine slept for 8h`.
package func sleepText(_ usec: Int64) -> String { "the machine slept for \(lengthText(usec))" }

/// `the wall clock was set back by 1h`.
package func stepText(_ usec: Int64) -> String {
  // Not negated: there is one number that cannot be.
  let length = lengthText(usec == .min ? .max : abs(usec))
  return "the wall clock was set \(usec < 0 ? "back" : "forward") by \(length)"
}

/// A number of bytes: `712 B`, `1.5 KiB`, `64.0 MiB`; rounded to a tenth.
package func bytesText(_ bytes: Int64) -> String {
  guard bytes.magnitude >= 1_024 else { return "\(bytes) B" }
  var tenths = Double(bytes) * 10
  var unit = ""
  for next in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] where tenths.magnitude.rounded() >= 10_240
  {
    tenths /= 1_024
    unit = next
  }
  let rounded = Int64(tenths.rounded())
  return "\(rounded / 10).\((rounded % 10).magnitude) \(unit)"
}
