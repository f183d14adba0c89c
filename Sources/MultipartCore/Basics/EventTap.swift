/// Passes each event of a run to a closure, and to a sequence. A sequence that is not read, or read too slowly, keeps
/// only the newest events, so that memory stays bounded.
final class EventTap<Event: Sendable>: Sendable {
  private static var most: Int { 1024 }

  let events: AsyncStream<Event>
  private let inbox: AsyncStream<Event>.Continuation
  private let onEvent: @Sendable (Event) -> Void

  init(_ onEvent: @escaping @Sendable (Event) -> Void) {
    self.onEvent = onEvent
    (events, inbox) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.most))
  }

  deinit { finish() }

  @Sendable func tell(_ event: Event) {
    onEvent(event)
    inbox.yield(event)
  }

  /// Ends the sequence, after the events that are waiting in it.
  func finish() { inbox.finish() }
}
