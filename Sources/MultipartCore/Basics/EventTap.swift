import MultipartBasics

/// Passes each event of one run to a closure, and to a sequence. A sequence that is not read, or read too slowly, keeps
/// only the newest events, so that memory stays bounded.
final class EventTap<Event: Sendable>: Sendable {
  private static var most: Int { 1024 }

  let events: AsyncStream<Event>
  private let inbox: AsyncStream<Event>.Continuation
  private let onEvent: @Sendable (Event) -> Void
  private let hasBegun = Locked(false)

  init(_ onEvent: @escaping @Sendable (Event) -> Void) {
    self.onEvent = onEvent
    (events, inbox) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.most))
  }

  deinit { finish() }

  /// Allows one run: a second would share the object, its record and these events with the first.
  func begin() throws(Failure) {
    let isSecond = hasBegun.withLock { hasBegun in
      defer { hasBegun = true }
      return hasBegun
    }
    guard isSecond else { return }
    throw Failure(.usage, "a task can only be run once", remedy: "make another task for each run")
  }

  @Sendable func tell(_ event: Event) {
    onEvent(event)
    inbox.yield(event)
  }

  /// Ends the sequence, after the events that are waiting in it.
  func finish() { inbox.finish() }
}
