import Configuration
import DaemonHost
import Testing

@Suite struct DaemonOptionsTests {
  private static func parse(_ arguments: String...) throws -> DaemonOptions {
    guard case .serve(let options) = try DaemonOptions.parse(arguments) else {
      Issue.record("it does not serve")
      return DaemonOptions()
    }
    return options
  }

  private static func refusal(_ arguments: [String]) -> String {
    do throws(DaemonOptions.UsageError) {
      _ = try DaemonOptions.parse(arguments)
      return ""
    } catch {
      return error.text
    }
  }

  @Test func `what is not given is left to the configuration and the environment`() throws {
    let options = try Self.parse()
    #expect(options == DaemonOptions())
    #expect(options.configurationFile == nil)
    #expect(options.socketPath == nil)
    #expect(options.logLevel == nil)
  }

  @Test func `values stand behind their option, or behind =; the last one counts`() throws {
    let options = try Self.parse(
      "--config", "a", "--config=b=c", "--socket=/s", "--log-level", "debug")
    #expect(options.configurationFile == "b=c")
    #expect(options.socketPath == "/s")
    #expect(options.logLevel == .debug)
  }

  @Test(arguments: [
    (["--config"], "--config needs a value"), (["--config="], "--config needs a value"),
    (["--config", ""], "--config needs a value"), (["x"], "unknown argument x"),
    (["--configuration", "x"], "unknown argument --configuration"),
    (["--log-level", "loud"], "--log-level loud: is none of error, warning, info, debug"),
    (["--help=x"], "--help takes no value"),
  ])
  func `a wrong command line is refused in words`(arguments: [String], text: String) {
    #expect(Self.refusal(arguments) == text)
  }

  @Test func `the help tells every option and where the configuration is`() {
    for option in ["--config FILE", "--socket PATH", "--log-level LEVEL", "--version", "--help"] {
      #expect(DaemonOptions.help.contains(option))
    }
    #expect(DaemonOptions.help.contains("/etc/countdownd/countdownd.conf.d/*.conf"))
  }

  @Test func `the default socket is the service's, root's or the user's`() {
    func path(_ runtime: String?, _ user: String?, isRoot: Bool) -> String? {
      DaemonOptions.defaultSocketPath(
        runtimeDirectory: runtime, userRuntimeDirectory: user, isRoot: isRoot)
    }
    let file = "io.countdownd.Countdown"
    #expect(path("/run/a:/run/b", "/run/user/1", isRoot: true) == "/run/a/\(file)")
    #expect(path(nil, "/run/user/1", isRoot: true) == "/run/countdownd/\(file)")
    #expect(path(nil, "/run/user/1", isRoot: false) == "/run/user/1/countdownd/\(file)")
    #expect(path(nil, nil, isRoot: false) == nil)
    #expect(path("", "", isRoot: false) == nil)
  }
}
