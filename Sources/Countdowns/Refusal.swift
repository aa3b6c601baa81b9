/// Why a call was not carried out. Nothing has changed when one is thrown.
package enum Refusal: Error, Equatable, Sendable {
  case noSuchCountdown
  case countdownExists(remainingUSec: Int64, revision: Int64, state: CountdownState)
  case alreadyExpired(state: CountdownState, revision: Int64)
  case wrongState(state: CountdownState, revision: Int64)
  case wrongClock(CountdownClock)
  case revisionMismatch(revision: Int64)
  case outOfRange(parameter: String, bounds: ClosedRange<Int64>)
  case quotaExceeded(resource: Resource, limit: Int, used: Int)
  case storageFailed(errno: Int32, outcomeUnknown: Bool)

  /// What is limited; spelled as the key that sets the limit, where one does.
  package enum Resource: String, Sendable {
    case countdownsPerUser = "MaxCountdownsPerUser"
    case countdowns = "MaxCountdowns"
    case connectionsPerUser = "MaxConnectionsPerUser"
    case connections = "MaxConnections"
    case streamsPerUser = "MaxStreamsPerUser"
    case streams = "MaxStreams"
    case payloadBytes = "MaxPayloadBytes"
    case payloadBytesPerUser = "MaxPayloadBytesPerUser"
    case messageBytes = "MaxMessageBytes"
    case queuedReplyBytesPerUser = "MaxQueuedReplyBytesPerUser"
    case queuedReplyBytesTotal = "MaxQueuedReplyBytesTotal"
    case nameBytes = "NameBytes"
    case users = "Users"
    case namesPerCall = "NamesPerCall"
    case countdownsPerCall = "CountdownsPerCall"
  }
}
