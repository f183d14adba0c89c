import MultipartBasics

/// How the reading thread and its callers communicate: an order to fill a buffer, the result, and the request to stop.
final class StreamDesk: Sendable {
  struct Order: Sendable {
    var number: Int
    /// The buffer to fill; nil if the plan allows no more parts: then the stream must be at its end.
    var buffer: StreamBuffer?
    var answer: CheckedContinuation<Result<Fill, Failure>, Never>
  }

  struct Fill: Sendable {
    var count: Int
    var ended: Bool
  }

  private struct State: Sendable {
    var order: Order?
    /// Set from the arrival of an order until it is answered.
    var isBusy = false
    /// Why reading must end at once.
    var stop: Failure?
    /// Why nothing more will come; nil while more may come.
    var over: Result<Checksum?, Failure>?
    var bytesRead: Int64 = 0
  }

  let bell: StreamBell
  private let state = Locked(State())

  init() throws(Failure) { bell = try StreamBell() }

  var bytesRead: Int64 { state.withLock { $0.bytesRead } }
  /// Why reading must end at once; nil if it need not.
  var stop: Failure? { state.withLock { $0.stop } }
  /// At the end, the checksum of the whole stream, or the failure; nil before.
  var over: Result<Checksum?, Failure>? { state.withLock { $0.over } }

  func post(_ order: Order) {
    let refusal = state.withLock { state -> Failure? in
      switch state.over {
      case .failure(let failure): return failure
      case .success: return Self.stopped
      case nil: break
      }
      guard !state.isBusy else { return Failure(.local, "two callers ask for the next part at once") }
      state.order = order
      state.isBusy = true
      return nil
    }
    if let refusal { order.answer.resume(returning: .failure(refusal)) } else { bell.ring() }
  }

  /// The first reason is kept.
  func stop(_ failure: Failure = StreamDesk.stopped) {
    state.withLock { $0.stop = $0.stop ?? failure }
    bell.ring()
  }

  func add(_ count: Int) {
    state.withLock { $0.bytesRead += Int64(count) }
  }

  func answer(_ order: Order, _ result: Result<Fill, Failure>) {
    state.withLock { $0.isBusy = false }
    order.answer.resume(returning: result)
  }

  func takeOrder() -> Order? {
    state.withLock { $0.order.take() }
  }

  /// Ends reading for good; returns an order that has arrived since.
  func close(_ over: Result<Checksum?, Failure>) -> Order? {
    state.withLock { state in
      state.over = state.over ?? over
      return state.order.take()
    }
  }

  static var stopped: Failure { Failure(.interrupted, "reading the source was stopped") }
}
