import SystemdSyntax
import Testing

@Suite struct SourceFileTests {
  @Test func `an error begins with file and line, as compilers write them`() {
    let position = SourcePosition(file: "/etc/x.conf", line: 12)
    #expect("\(position)" == "/etc/x.conf:12")
    #expect("\(SourceError(at: position, "bad"))" == "/etc/x.conf:12: bad")
  }
}
