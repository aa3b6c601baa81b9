import Configuration
import CountdownService
import Countdowns
import SystemdSyntax
import TestSupport
import Testing

@Suite struct KeyTests {
  private static func set(_ name: String, _ value: String) throws -> Settings {
    var settings = Settings()
    try #require(Key.named(name)).set(value, in: &settings)
    return settings
  }

  /// What a value is refused with; empty if it is taken.
  private static func refusal(_ name: String, _ value: String) throws -> String {
    let key = try #require(Key.named(name))
    var settings = Settings()
    do throws(ParseError) {
      try key.set(value, in: &settings)
      return ""
    } catch {
      #expect(settings == Settings())
      return error.problem
    }
  }

  @Test func `these are the keys, their defaults and what they take`() {
    let table = Key.all.map { "\($0.name)=\($0.text(in: Settings())) \($0.range)" }
    #expect(
      table == [
        "MaxCountdownsPerUser=1M 1 to 100M", "MaxCountdowns=5M 1 to 100M",
        "RetainEndedMax=100K 1 to 10M", "RetainEndedSec=5min 1s to 365d",
        "MaxConnectionsPerUser=1024 1 to 1M", "MaxConnections=4096 1 to 1M",
        "MaxStreamsPerUser=64 1 to 1M", "MaxStreams=1024 1 to 1M", "MaxPayloadBytes=4K 0 to 8K",
        "MaxPayloadBytesPerUser=64M 0 to 1T", "MaxMessageBytes=1M 4K to 1M",
        "MaxQueuedReplyBytes=4M 8K to 1G", "MaxQueuedReplyBytesPerUser=64M 0 to 1T",
        "MaxQueuedReplyBytesTotal=256M 0 to 1T", "RecentEventsBytesPerUser=16M 64K to 1T",
        "RecentEventsBytes=64M 64K to 1T",
        "SocketMode=0660 0200 to 0777", "AdminGroup= the name of a group",
        "LogLateSec=1s 0s to 365d", "LogLevel=info error, warning, info, debug",
      ])
  }

  /// The keys that set a limit, found by what they do; each set to its least, which is no default.
  @Test func `the statistics tell every limit that has a key, and no other`() throws {
    var settings = Settings()
    var names: [String] = []
    for key in Key.all {
      let before = settings.limits
      guard let least = key.range.split(separator: " ").first else { continue }
      do throws(ParseError) { try key.set(String(least), in: &settings) } catch { continue }
      if settings.limits != before { names.append(key.name) }
    }
    let world = World()
    world.service.adopt(settings.limits)
    let reply = world.call("GetStatistics", from: world.connect(uid: 0))
    let told = reply["daemon"]?["limits"]?.array ?? []
    #expect(told.map { $0["name"]?.string } == names)
    for limit in told {
      let name = try #require(limit["name"]?.string)
      var expected = Settings()
      let least = try #require(Key.named(name)?.range.split(separator: " ").first)
      try Key.named(name)?.set(String(least), in: &expected)
      // In the units of the wire; a length is written as one second, a number as it is.
      let value = try #require(limit["value"]?.integer)
      let isLength = name.hasSuffix("Sec")
      let written = isLength ? "\(value / 1_000_000)s" : "\(value)"
      var got = Settings()
      try Key.named(name)?.set(written, in: &got)
      #expect(got == expected, "\(name)")
    }
    #expect(names.count == 16)
  }

  @Test func `each key sets what it is named for, and nothing else`() throws {
    var settings = Settings()
    settings.limits.countdownsPerUser = 11
    #expect(try Self.set("MaxCountdownsPerUser", "11") == settings)
    settings = Settings()
    settings.limits.countdowns = 12
    #expect(try Self.set("MaxCountdowns", "12") == settings)
    settings = Settings()
    settings.limits.retainedPerUser = 13
    #expect(try Self.set("RetainEndedMax", "13") == settings)
    settings = Settings()
    settings.limits.retainEndedUSec = 90_000_000
    #expect(try Self.set("RetainEndedSec", "1min 30s") == settings)
    settings = Settings()
    settings.limits.connectionsPerUser = 15
    #expect(try Self.set("MaxConnectionsPerUser", "15") == settings)
    settings = Settings()
    settings.limits.connections = 16
    #expect(try Self.set("MaxConnections", "16") == settings)
    settings = Settings()
    settings.limits.streamsPerUser = 17
    #expect(try Self.set("MaxStreamsPerUser", "17") == settings)
    settings = Settings()
    settings.limits.streams = 18_000
    #expect(try Self.set("MaxStreams", "18K") == settings)
    settings = Settings()
    settings.limits.payloadBytes = 2_048
    #expect(try Self.set("MaxPayloadBytes", "2K") == settings)
    settings = Settings()
    settings.limits.payloadBytesPerUser = 20 << 20
    #expect(try Self.set("MaxPayloadBytesPerUser", "20M") == settings)
    settings = Settings()
    settings.limits.messageBytes = 21 << 10
    #expect(try Self.set("MaxMessageBytes", "21K") == settings)
    settings = Settings()
    settings.limits.queuedReplyBytes = 22 << 20
    #expect(try Self.set("MaxQueuedReplyBytes", "22M") == settings)
    settings = Settings()
    settings.limits.queuedReplyBytesPerUser = 25 << 20
    #expect(try Self.set("MaxQueuedReplyBytesPerUser", "25M") == settings)
    settings = Settings()
    settings.limits.queuedReplyBytesTotal = 26 << 20
    #expect(try Self.set("MaxQueuedReplyBytesTotal", "26M") == settings)
    settings = Settings()
    settings.limits.recentEventsBytesPerUser = 24 << 20
    #expect(try Self.set("RecentEventsBytesPerUser", "24M") == settings)
    settings = Settings()
    settings.limits.recentEventsBytes = 23 << 20
    #expect(try Self.set("RecentEventsBytes", "23M") == settings)
    settings = Settings()
    settings.socketMode = 0o606
    #expect(try Self.set("SocketMode", "606") == settings)
    settings = Settings()
    settings.adminGroup = "timers"
    #expect(try Self.set("AdminGroup", "timers") == settings)
    settings = Settings()
    settings.logLateUSec = 250_000
    #expect(try Self.set("LogLateSec", "250ms") == settings)
    settings = Settings()
    settings.logLevel = .debug
    #expect(try Self.set("LogLevel", "debug") == settings)
  }

  @Test(arguments: [
    ("MaxCountdownsPerUser", "1", "100M", "0", "100000001"),
    ("MaxCountdowns", "1", "100M", "0", "100000001"),
    ("RetainEndedMax", "1", "10M", "0", "10000001"),
    ("RetainEndedSec", "1s", "365d", "999999us", "365d 1us"),
    ("MaxConnectionsPerUser", "1", "1M", "0", "1000001"),
    ("MaxConnections", "1", "1M", "0", "1000001"),
    ("MaxStreamsPerUser", "1", "1M", "0", "1000001"), ("MaxStreams", "1", "1M", "0", "1000001"),
    ("MaxPayloadBytes", "0", "8K", "-1", "8193"), ("MaxPayloadBytesPerUser", "0", "1T", "-1", "2T"),
    ("MaxMessageBytes", "4K", "1M", "4095", "1048577"),
    ("MaxQueuedReplyBytes", "8K", "1G", "8191", "1073741825"),
    ("MaxQueuedReplyBytesPerUser", "0", "1T", "-1", "1099511627777"),
    ("MaxQueuedReplyBytesTotal", "0", "1T", "-1", "1099511627777"),
    ("RecentEventsBytesPerUser", "64K", "1T", "65535", "1099511627777"),
    ("RecentEventsBytes", "64K", "1T", "65535", "1099511627777"),
    ("SocketMode", "0200", "0777", "0177", "1000"), ("LogLateSec", "0", "365d", "-1", "366d"),
  ])
  func `a range is kept at both ends, and one past them is refused with it`(
    name: String, lowest: String, highest: String, below: String, above: String
  ) throws {
    #expect(try Self.refusal(name, lowest) == "")
    #expect(try Self.refusal(name, highest) == "")
    #expect(try Self.refusal(name, below) != "")
    let range = try #require(Key.named(name)).range
    #expect(try Self.refusal(name, above).contains(range.split(separator: " ").last!))
  }

  @Test(arguments: [
    ("MaxStreams", "many", "a whole number is needed"),
    ("MaxStreams", "1.5K", "a whole number is needed"), ("MaxStreams", "+5", "a whole number"),
    ("MaxStreams", "5B", "'B' is no suffix"), ("MaxMessageBytes", "64KiB", "'KiB' is no suffix"),
    ("MaxStreams", "99999999999999999999", "too large"), ("MaxStreams", "9E", "out of range"),
    ("MaxPayloadBytesPerUser", "15E", "out of range; it may be 0 to 1T"),
    ("RetainEndedSec", "5x", "'x' is no unit of time"),
    ("RetainEndedSec", "infinity", "a length must have an end"),
    ("RetainEndedSec", "-5s", "cannot have a sign"),
    ("SocketMode", "0o660", "permissions are octal"),
    ("SocketMode", "rw-rw----", "permissions are octal"), ("SocketMode", "0888", "octal"),
    ("SocketMode", "+660", "octal"), ("SocketMode", "7777777777777777777777", "octal"),
    ("SocketMode", "0440", "nobody could connect"), ("AdminGroup", "1000", "the name of one group"),
    ("AdminGroup", "a:b", "the name of one group"), ("AdminGroup", "a/b", "the name of one group"),
    ("AdminGroup", "..", "the name of one group"), ("AdminGroup", "a\u{7}b", "the name of one"),
    ("LogLevel", "loud", "must be one of error, warning, info, debug"),
    ("LogLevel", "INFO", "one of"),
  ])
  func `a wrong value is refused with what would be right`(
    name: String, value: String, problem: String
  ) throws {
    #expect(try Self.refusal(name, value).contains(problem))
  }

  @Test(arguments: ["wheel", "domain users@example.org", "LAB\\timers", "_x-1.y$", "grüppe"])
  func `a group has any name that systemd would take from a directory of users`(name: String) throws
  {
    #expect(try Self.set("AdminGroup", name).adminGroup == name)
  }

  @Test func `an empty value resets every key`() throws {
    var changed = Settings()
    let values = [
      "MaxCountdownsPerUser": "2", "MaxCountdowns": "2", "RetainEndedMax": "2",
      "RetainEndedSec": "2", "MaxConnectionsPerUser": "2", "MaxConnections": "2",
      "MaxStreamsPerUser": "2", "MaxStreams": "2", "MaxPayloadBytes": "2",
      "MaxPayloadBytesPerUser": "2", "MaxMessageBytes": "5K", "MaxQueuedReplyBytes": "10K",
      "MaxQueuedReplyBytesPerUser": "1M", "MaxQueuedReplyBytesTotal": "1M",
      "RecentEventsBytesPerUser": "1M", "RecentEventsBytes": "1M", "SocketMode": "0600",
      "AdminGroup": "g", "LogLateSec": "2",
      "LogLevel": "debug",
    ]
    for key in Key.all {
      let before = changed
      try key.set(try #require(values[key.name]), in: &changed)
      #expect(changed != before, "\(key.name)")
    }
    for key in Key.all { try key.set("", in: &changed) }
    #expect(changed == Settings())
  }

  @Test func `what a key's value is written as is read back as the same`() throws {
    var settings = Settings()
    settings.limits.countdowns = 1_234_567
    settings.limits.queuedReplyBytes = 3_000_000
    settings.limits.retainEndedUSec = 3_723_000_001
    settings.socketMode = 0o200
    settings.adminGroup = "g"
    settings.logLevel = .warning
    var read = Settings()
    for key in Key.all { try key.set(key.text(in: settings), in: &read) }
    #expect(read == settings)
  }

  @Test func `names are compared exactly`() {
    #expect(Key.named("maxstreams") == nil)
    #expect(Key.named("MaxStreams ") == nil)
    #expect(Key.named("") == nil)
  }
}
