import ControlClient
import LinuxIO
import SystemdSyntax

extension Verb {
  static let clocks = Verb(
    name: "clocks", words: "", summary: "show the clocks, and what happened to them",
    options: [.owner, .allOwners],
    details: [
      "Sleeps of the machine, settings of its wall clock, and times when the daemon could not run: the",
      "latest since it started. LATE and MISSED: how many of your countdowns expired late for it, and how",
      "many were missed.",
    ],
    examples: ["clocks", "clocks --json"],
    run: { session in
      guard session.arguments.words.isEmpty else { throw ParseError("it takes no name") }
      let owners = try session.owners()
      var connection = try session.connect()
      let reply = try connection.call(
        "GetClocks", parameters: encodeParameters { owners.write(to: &$0) })
      if session.isJSON {
        try session.write(json: reply.json)
      } else {
        let page = ClocksPage(try ClocksReply(reply), in: .local)
        try session.write(page.text(withStyles: session.hasColor))
      }
      return ExitStatus.done
    })

  static let statistics = Verb(
    name: "statistics", words: "",
    summary: "show what there is, how much happens, and how late",
    options: [.owner, .allOwners],
    details: [
      "What is yours; administrators are told of the daemon itself as well. How late countdowns expired",
      "is counted since the daemon started.",
    ],
    examples: ["statistics", "statistics --all-owners", "statistics --json"],
    run: { session in
      guard session.arguments.words.isEmpty else { throw ParseError("it takes no name") }
      let owners = try session.owners()
      var connection = try session.connect()
      let reply = try connection.call(
        "GetStatistics", parameters: encodeParameters { owners.write(to: &$0) })
      if session.isJSON {
        try session.write(json: reply.json)
      } else {
        let width = StandardStream.output.terminalSize?.columns ?? 80
        let page = StatisticsPage(try StatisticsReply(reply), width: width)
        try session.write(page.text(withStyles: session.hasColor))
      }
      return ExitStatus.done
    })
}
