import LinuxIO
import Testing

@Suite("EventDescriptor")
struct EventDescriptorTests {
  @Test func `signalled any number of times it is drained once`() throws {
    let event = try EventDescriptor()
    #expect(event.drain() == false)
    event.signal()
    event.signal()
    #expect(event.drain() == true)
    #expect(event.drain() == false)
  }

  @Test func `a wait ends with the signal of another thread, or with its time`() throws {
    let event = try EventDescriptor()
    #expect(event.wait(timeoutMSec: 1) == false)
    let shared = Shared(event)
    try Thread.start { shared.event.signal() }
    #expect(shared.event.wait(timeoutMSec: 10_000) == true)
  }

  private final class Shared: Sendable {
    let event: EventDescriptor
    init(_ event: consuming EventDescriptor) { self.event = event }
  }
}
