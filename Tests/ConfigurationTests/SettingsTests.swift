import Configuration
import Countdowns
import SystemdSyntax
import TestSupport
import Testing

@Suite struct SettingsTests {
  /// Reads texts as files `a`, `b` and so on.
  private static func read(_ texts: String...) throws(SourceError) -> SettingsRead {
    let files = texts.enumerated().map { place, text in
      SourceFile(name: ["a", "b", "c"][place], bytes: Array(text.utf8))
    }
    return try Settings.read(files)
  }

  /// The error that a text is refused with, as it would be logged; empty if it is taken.
  private static func refusal(_ texts: String) -> String {
    do throws(SourceError) {
      _ = try read(texts)
      return ""
    } catch {
      return error.description
    }
  }

  @Test func `the defaults are the contract's`() throws {
    let settings = try Settings.read([]).settings
    #expect(settings == Settings())
    #expect(settings.limits == Limits())
    #expect(settings.socketMode == 0o660)
    #expect(settings.adminGroup == nil)
    #expect(settings.logLateUSec == 1_000_000)
    #expect(settings.logLevel == .info)
  }

  @Test func `later files win key by key, later lines too, and an empty value resets`() throws {
    let read = try Self.read(
      "[Countdownd]\nMaxStreams=5\nMaxStreams=6\nMaxConnections=7\nLogLevel=debug\n",
      "[Countdownd]\nMaxConnections=8\nLogLevel=\n", "[Countdownd]\nMaxConnections=9\n")
    #expect(read.settings.limits.streams == 6)
    #expect(read.settings.limits.connections == 9)
    #expect(read.settings.logLevel == .info)
    #expect(read.warnings == [])
  }

  @Test func `what is unknown or misplaced is warned of with file and line, and ignored`() throws {
    let read = try Self.read(
      "MaxStreams=1\n[Countdownd]\nMaxStream=2\n\n[Timer]\nMaxStreams=3\nOther=4\n[Countdownd]\n"
        + "MaxStreams=5\n",
      "LogLevel=debug\n[countdownd]\n")
    #expect(read.settings.limits.streams == 5)
    #expect(read.settings.logLevel == .info)
    #expect(
      read.warnings == [
        "a:1: MaxStreams= is not below [Countdownd], ignoring",
        "a:3: unknown key MaxStream=, ignoring", "a:5: unknown section [Timer], ignoring",
        "b:1: LogLevel= is not below [Countdownd], ignoring",
        "b:2: unknown section [countdownd], ignoring",
      ])
  }

  @Test func `sections and keys that begin with X- are for others`() throws {
    let read = try Self.read("[Countdownd]\nX-Owner=me\n[X-Ours]\nMaxStreams=1\n")
    #expect(read == SettingsRead())
  }

  @Test(arguments: [
    ("[Countdownd]\nMaxStreams=0\n", "a:2: MaxStreams=0: out of range; it may be 1 to 1M"),
    (
      "[Countdownd]\n\n  RetainEndedSec = 5x \n",
      "a:3: RetainEndedSec=5x: 'x' is no unit of time; known are us, ms, s, min, h, d, w, month, y"
    ),
    (
      "[Countdownd]\nLogLevel=a\\\n# comment\nb\n",
      "a:2: LogLevel=a b: must be one of error, warning, info, debug"
    ),
    ("[Countdownd]\nMaxStreams=x\nMaxStreams=5\n", "a:2: MaxStreams=x: a whole number is needed"),
    ("[Countdownd]\nAdminGroup=\u{1b}[2J\n", "a:2: AdminGroup=\\u{1b}[2J: the name of one group"),
    ("[Countdownd]\nMaxStreams\n", "a:2: MaxStreams: write Key=value"),
    ("[Countdownd\n", "a:1: [Countdownd: a section is written [Name]"),
  ])
  func `a bad line is refused with file, line, key, value and what would be right`(
    text: String, error: String
  ) {
    #expect(Self.refusal(text).hasPrefix(error))
  }

  @Test func `replies must have room for two messages, whichever key comes first`() throws {
    func text(_ messages: String, _ replies: String) -> String {
      "[Countdownd]\nMaxQueuedReplyBytes=\(replies)\nMaxMessageBytes=\(messages)\n"
    }
    #expect(Self.refusal(text("64K", "128K")) == "")
    #expect(
      Self.refusal(text("64K", "131071"))
        == "a:2: MaxQueuedReplyBytes=131071: must be at least twice MaxMessageBytes=64K, so 128K"
        + " or more")
    #expect(Self.refusal("[Countdownd]\nMaxQueuedReplyBytes=1M\n").hasPrefix("a:2: MaxQueued"))
    #expect(Self.refusal("[Countdownd]\nMaxQueuedReplyBytes=1M\nMaxQueuedReplyBytes=\n") == "")
    let read = try Self.read(
      "[Countdownd]\nMaxQueuedReplyBytes=8K\n", "[Countdownd]\nMaxMessageBytes=4K\n")
    #expect(read.settings.limits.queuedReplyBytes == 8_192)
  }

  @Test func `many warnings are the first few and a count`() throws {
    let limit = SettingsRead.warningLimit
    let few = try Self.read(String(repeating: "x=1\n", count: limit))
    #expect(few.warnings.count == limit)
    #expect(few.warnings.last == "a:\(limit): x= is not below [Countdownd], ignoring")
    let many = try Self.read(String(repeating: "x=1\n", count: limit + 3))
    #expect(many.warnings.count == limit + 1)
    #expect(many.warnings.last == "3 more lines of the configuration were ignored")
  }

  @Test func `a long value is cut in what is said of it`() {
    let long = String(repeating: "9", count: 100_000)
    let error = Self.refusal("[Countdownd]\nMaxStreams=\(long)x\n")
    #expect(error.utf8.count < 600, "\(error)")
    #expect(error.contains("99…: "))
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func `no bytes are too strange: they are read, or refused with a line of theirs`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var bytes: [UInt8] = []
    let keys = Key.all.map(\.name) + ["X-Y", "Nonsense"]
    let values = [
      "", "5", "0", "9E", "1min 30s", "0660", "wheel", "debug", "\\", "18446744073709551616",
    ]
    while bytes.count < 400 {
      switch Int.random(in: 0..<8, using: &random) {
      case 0: bytes += Array("[Countdownd]\n".utf8)
      case 1...4:
        bytes += Array(keys.randomElement(using: &random)!.utf8) + [UInt8(ascii: "=")]
        bytes += Array(values.randomElement(using: &random)!.utf8) + [UInt8(ascii: "\n")]
      case 5: bytes.append(Array("\r\n \t\\#;[]=".utf8).randomElement(using: &random)!)
      case 6: bytes += Array("é\u{300}".utf8)
      default:
        // Rare, so that there is something to read before.
        if Int.random(in: 0..<20, using: &random) == 0 {
          bytes.append(.random(in: 0...255, using: &random))
        }
      }
    }
    let lines = bytes.count { $0 == 10 } + 1
    do throws(SourceError) {
      let read = try Settings.read([SourceFile(name: "f", bytes: bytes)])
      var again = Settings()
      for key in Key.all {
        #expect(throws: Never.self) { try key.set(key.text(in: read.settings), in: &again) }
      }
      #expect(again == read.settings, "seed \(seed)")
    } catch {
      #expect((1...lines).contains(error.position.line), "seed \(seed): \(error)")
    }
  }
}
