import ControlClient
import Foundation
import JSON
import LinuxIO
import Testing

/// Where the daemon is that these tests start: it was built with them, unless $COUNTDOWND_TEST_FOLDER has
/// another, as one that runs under a filter of system calls (Tests/Sandbox).
let daemonFolder =
  CurrentProcess.environmentVariable("COUNTDOWND_TEST_FOLDER") ?? CurrentProcess.folder

/// The daemon of these tests, with a socket of its own.
struct Daemon: ~Copyable {
  private var daemon: PrivateDaemon

  /// - Parameter log: Where its messages go.
  init(log: ChildProcess.Stream = .null) throws {
    daemon = try PrivateDaemon.start(in: daemonFolder, log: log)
  }

  var socketPath: String { daemon.socketPath }
  var pid: Int32 { daemon.pid }

  func connect() throws -> Connection { try Connection(to: socketPath) }

  /// A connection for bytes that are no calls.
  func connectRaw() throws -> StreamSocket { try StreamSocket(connectingTo: socketPath) }

  func send(_ signal: Signal) throws { try daemon.send(signal) }

  /// Ends it, and expects that it was well until then.
  mutating func stop() throws {
    #expect(try daemon.stop() == .exited(status: 0))
  }

  /// Whether it still answers.
  func expectAlive(_ comment: Comment? = nil) throws {
    var connection = try connect()
    _ = try connection.call("Count")
  }

  /// A number from its `/proc/PID/status`; memory is in KiB.
  func status(_ key: String) throws -> Int { try EndToEndTests.status(key, of: pid) }

  /// How often it has waited so far, once it has done what it was asked for: a busy machine may let it
  /// get to that late.
  func wakesOnceQuiet() throws -> Int { try EndToEndTests.wakesOnceQuiet(of: pid) }
}

/// A number from a process's `/proc/PID/status`; memory is in KiB.
func status(_ key: String, of pid: Int32) throws -> Int {
  let text = try readFile("/proc/\(pid)/status")
  let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("\(key):") })
  let number = line.drop { !$0.isNumber }.prefix { $0.isNumber }
  return try #require(Int(number))
}

/// How long a process has run on a processor so far, in ticks of 10 ms.
func processorTicks(of pid: Int32) throws -> Int {
  let text = try readFile("/proc/\(pid)/stat")
  let end = try #require(text.lastIndex(of: ")"))  // Its name may contain anything.
  let fields = text[end...].split(separator: " ")
  return try #require(Int(fields[12])) + #require(Int(fields[13]))
}

/// Waits until a process that was sent a stop has stopped: a busy machine may let it run on a little.
func awaitStop(of pid: Int32) throws {
  for _ in 0..<10_000 {
    let text = try readFile("/proc/\(pid)/stat")
    let end = try #require(text.lastIndex(of: ")"))  // Its name may contain anything.
    if text[end...].dropFirst(2).first == "T" { return }
    pass(milliseconds: 1)
  }
  Issue.record("\(pid) goes on")
}

/// How often a process has waited so far, once it has done what it was asked for.
func wakesOnceQuiet(of pid: Int32) throws -> Int {
  var wakes = try status("voluntary_ctxt_switches", of: pid)
  for _ in 0..<50 {
    pass(milliseconds: 300)
    let now = try status("voluntary_ctxt_switches", of: pid)
    if now == wakes { return now }
    wakes = now
  }
  Issue.record("it is never quiet")
  return wakes
}

func readFile(_ path: String) throws -> String {
  // Of no size to ask for beforehand, as files under /proc are.
  let file = try #require(FileHandle(forReadingAtPath: path))
  return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
}

/// Runs `body` with a daemon, and ends that whatever happens.
func withDaemon(
  log: ChildProcess.Stream = .null, _ body: (borrowing Daemon) throws -> Void
) throws {
  var daemon = try Daemon(log: log)
  do {
    try body(daemon)
  } catch {
    try? daemon.stop()
    throw error
  }
  try daemon.stop()
}

extension Connection {
  mutating func start(
    _ name: String, _ durationUSec: Int64, onConflict: String? = nil, payload: String? = nil
  ) throws -> StartReply {
    try StartReply(
      call(
        "Start",
        parameters: encodeParameters {
          $0.member("name", name)
          $0.member("durationUSec", durationUSec)
          $0.member("onConflict", onConflict)
          $0.member("payload", json: payload.map { Array($0.utf8) })
        }))
  }

  mutating func start(_ name: String, until realtimeUSec: Int64) throws -> StartReply {
    try StartReply(
      call(
        "Start",
        parameters: encodeParameters {
          $0.member("name", name)
          $0.member("deadlineUSec", realtimeUSec)
        }))
  }

  /// A call of a method that takes only a name.
  mutating func call(_ method: String, _ name: String) throws -> Members {
    try call(method, parameters: encodeParameters { $0.member("name", name) })
  }

  mutating func get(_ name: String) throws -> GetReply { try GetReply(call("Get", name)) }

  /// Begins to listen, and waits until it does.
  mutating func subscribe(prefix: String? = nil, kinds: [String]? = nil) throws {
    try begin(
      "Subscribe",
      parameters: encodeParameters {
        $0.member("prefix", prefix)
        $0.member("kinds", kinds)
      })
    let reply = try #require(try nextReply(timeoutMSec: 5_000))
    #expect(try SubscriptionReply(Members(parsing: reply.parameters)).isReady)
  }

  /// The events of the next reply that has some, heartbeats apart; `nil` if none comes in time.
  mutating func nextEvents(timeoutMSec: Int32 = 10_000) throws -> [Event]? {
    while let reply = try nextReply(timeoutMSec: timeoutMSec) {
      let events = try SubscriptionReply(Members(parsing: reply.parameters)).events
        .filter { $0.kind != "heartbeat" }
      if !events.isEmpty { return events }
    }
    return nil
  }
}

/// The error that a call is refused with; `nil` if it is not.
func refusal(_ call: () throws -> Void) throws -> CallRefusal? {
  do {
    try call()
    return nil
  } catch ClientError.refused(let refusal) {
    return refusal
  }
}

func boottimeUSec() -> Int64 { Clocks.boottimeNSec() / 1_000 }

/// Lets the world go on for so long; what is waited for is never assumed to have happened by then.
func pass(milliseconds: Int64) {
  Clocks.sleep(untilBoottimeNSec: Clocks.boottimeNSec() + milliseconds * 1_000_000)
}

/// Waits until a daemon answers there.
func awaitService(at path: String) throws {
  let end = Clocks.boottimeNSec() + 10_000_000_000
  while Clocks.boottimeNSec() < end {
    // Where a socket is that nobody serves, a reply would be waited for in vain.
    if var connection = try? Connection(to: path),
      (try? connection.begin("Count", parameters: Array("{}".utf8))) != nil,
      (try? connection.nextReply(timeoutMSec: 5_000)) != nil
    {
      return
    }
    pass(milliseconds: 10)
  }
  Issue.record("no daemon answers at \(path)")
}

/// Starts so many countdowns `many/0`… of one length in µs, and waits until all are started.
func startMany(_ count: Int, durationUSec: Int64, at path: String) throws {
  let socket = try StreamSocket(connectingTo: path)
  for start in stride(from: 0, to: count, by: 200) {
    var bytes: [UInt8] = []
    for index in start..<min(start + 200, count) {
      bytes += encodeCall(
        "io.countdownd.Countdown.Start",
        parameters: encodeParameters {
          $0.member("name", "many/\(index)")
          $0.member("durationUSec", durationUSec)
        }, wantsMore: false)
    }
    #expect(try socket.sendAll(bytes.span))
    try awaitReplies(min(200, count - start), from: socket)
  }
}
