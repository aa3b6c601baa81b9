import Glibc

/// A thread of the kernel's, for work that may wait where the loop must not.
package enum Thread {
  /// Starts one that runs `body` and then ends by itself.
  ///
  /// It inherits the signals that the calling thread blocks, so that none is delivered to it.
  /// - Throws: EAGAIN where the system lets no more threads be.
  package static func start(_ body: @escaping @Sendable () -> Void) throws(SystemCallError) {
    let box = unsafe Unmanaged.passRetained(Body(run: body))
    var thread = pthread_t()
    // SAFETY: the box is retained once here and released once: by the thread, or below if there is
    // none. pthread_create keeps no pointer to `thread`.
    let code = unsafe pthread_create(
      &thread, nil,
      { box in
        guard let box = unsafe box else { return nil }
        let body = unsafe Unmanaged<Body>.fromOpaque(box).takeRetainedValue()
        body.run()
        return nil
      }, box.toOpaque())
    guard code == 0 else {
      unsafe box.release()
      throw SystemCallError(call: "pthread_create", code: code)
    }
    pthread_detach(thread)
  }

  private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(run: @escaping @Sendable () -> Void) { self.run = run }
  }
}
