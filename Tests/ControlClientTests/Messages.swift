import SystemdSyntax

/// What a `ParseError` says; empty if there was none.
func message<Value>(_ body: () throws(ParseError) -> Value) -> String {
  do throws(ParseError) {
    _ = try body()
    return ""
  } catch {
    return error.message
  }
}
