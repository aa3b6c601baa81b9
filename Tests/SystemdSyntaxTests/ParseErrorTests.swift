import SystemdSyntax
import Testing

@Suite struct ParseErrorTests {
  @Test func `it names the text at fault, where there is one`() {
    #expect(ParseError("a name is missing").message == "a name is missing")
    #expect(ParseError(in: "5x", "no unit").message == "'5x': no unit")
    #expect(ParseError(in: "5x", "no unit").problem == "no unit")
  }
}
