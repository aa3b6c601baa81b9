internal import LinuxIO

/// A connected client's descriptor, and what epoll was last asked about it.
///
/// A class, because an array holds it and a descriptor has one owner.
final class ClientSocket {
  let socket: StreamSocket
  var interest: Epoll.Interest
  /// Whether epoll still tells of it.
  var isWatched = true

  init(_ socket: consuming StreamSocket, interest: Epoll.Interest) {
    self.socket = socket
    self.interest = interest
  }
}
