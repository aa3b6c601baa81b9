internal import ControlInterface
internal import Countdowns
internal import JSON
internal import Varlink

/// What a caller asks of the daemon itself: its host carries it out and says what came of it, by
/// ``Service/conclude(_:refused:)``.
package struct ControlRequest: Equatable, Sendable {
  package enum Action: Equatable, Sendable {
    /// Read the configuration again.
    case reload
    /// Log nothing that is less urgent: 0 … 7, as in syslog(3).
    case setLogLevel(Int)
  }

  package let action: Action
  let connection: ConnectionID
  let isOneway: Bool
}

/// Why a configuration is not followed.
package struct ConfigurationRefusal: Equatable, Sendable {
  let message: String
  let file: String?
  let line: Int?

  /// - Parameters:
  ///   - message: For people, a line.
  ///   - file: Where it is wrong; `nil` if that is in no one file.
  ///   - line: From 1; `nil` if it is about the file as a whole.
  package init(message: String, file: String?, line: Int?) {
    self.message = message
    self.file = file
    self.line = line
  }
}

/// `io.systemd.service`: the daemon is controlled, by those who may.
extension Service {
  /// What is to be carried out, in the order it was asked for. Each is then to be concluded.
  package mutating func takeRequests() -> [ControlRequest] {
    guard !requests.isEmpty else { return [] }
    defer { requests.removeAll() }
    return requests
  }

  /// The host has carried a request out, or could not: its caller is answered, and goes on.
  ///
  /// - Parameter refusal: Why the configuration is not followed; `nil` if all is done.
  package mutating func conclude(
    _ request: ControlRequest, refused refusal: ConfigurationRefusal? = nil
  ) {
    guard let index = place(of: request.connection) else { return }
    connections[index].activity = .calling
    enqueue(index)
    guard !request.isOneway else { return }
    if let refusal {
      write(to: index) {
        $0.configurationRefused(message: refusal.message, file: refusal.file, line: refusal.line)
      }
    } else {
      writeDone(to: index)
    }
  }

  /// Leaves a request to the host, if its caller may make it.
  mutating func ask(
    _ action: ControlRequest.Action, from index: Int, isOneway: Bool
  ) throws(ServiceError) {
    let uid = scheduler.users[connections[index].user].uid
    guard uid == 0 || uid == identity.uid else { throw .permissionDenied }
    requests.append(
      ControlRequest(action: action, connection: connections[index].id, isOneway: isOneway))
    connections[index].activity = .awaitingHost
  }

  /// The reply that says nothing but that it is done.
  mutating func writeDone(to index: Int) {
    write(to: index) {
      $0.beginReply()
      $0.endReply()
    }
  }
}
