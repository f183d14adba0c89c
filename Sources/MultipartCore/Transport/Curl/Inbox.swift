internal import CCurl
import MultipartBasics

/// Owns a multi handle (`curl_multi_init`, `curl_multi_cleanup`).
///
/// `@unchecked Sendable` holds because the pointer never changes, and `curl_multi_wakeup` is the only call on it from
/// threads other than the loop's; it is cleaned up when the last reference is released, when no other thread can call
/// it.
final class MultiHandle: @unchecked Sendable {
  let pointer: UnsafeMutableRawPointer

  init() throws(Failure) {
    if let problem = CurlGlobal.problem { throw problem }
    guard let pointer = curl_multi_init() else { throw Failure(.local, "libcurl could not be set up") }
    self.pointer = pointer
    // Without a descriptor for its wake-up libcurl still creates a handle, whose loop would notice a request only when
    // its poll times out.
    guard curl_multi_wakeup(pointer) == CURLM_OK else {
      throw Failure(.local, "no file descriptor is left for libcurl", remedy: "raise the limit: ulimit -n 1024")
    }
  }

  deinit { curl_multi_cleanup(pointer) }

  func wake() { curl_multi_wakeup(pointer) }
}

/// What other threads pass to a loop (requests, cancellations, the order to stop), and the continuations that wait for
/// results.
final class Inbox: Sendable {
  typealias Waiter = CheckedContinuation<Result<Response, Failure>, Never>

  struct Mail: Sendable {
    var requests: [(identifier: UInt64, request: Request)] = []
    var cancelled: [UInt64] = []
    var stops = false
    var isEmpty: Bool { requests.isEmpty && cancelled.isEmpty && !stops }
  }

  private enum Call: Sendable {
    /// The number was assigned, but the request has not arrived yet.
    case announced
    case cancelled
    case waits(Waiter)
  }

  private struct State: Sendable {
    var mail = Mail()
    var closed: Failure?
    var identifiers: UInt64 = 0
    var calls: [UInt64: Call] = [:]
    /// The multi handle; nil before the loop has started.
    var multi: MultiHandle?
  }

  private let state = Locked(State())

  /// Creates the multi handle, at the latest on the loop's own thread: until libcurl is ready, mail is only stored.
  func open() throws(Failure) -> MultiHandle {
    if let multi = state.withLock({ $0.multi }) { return multi }
    let multi = try MultiHandle()
    state.withLock { $0.multi = multi }
    return multi
  }

  func nextIdentifier() -> UInt64 {
    state.withLock { state in
      state.identifiers += 1
      state.calls[state.identifiers] = .announced
      return state.identifiers
    }
  }

  func submit(_ identifier: UInt64, _ request: Request, _ waiter: Waiter) {
    let refusal = change { (state) -> Failure? in
      if case .cancelled? = state.calls.removeValue(forKey: identifier) {
        return .interrupted
      }
      if let closed = state.closed { return closed }
      state.calls[identifier] = .waits(waiter)
      state.mail.requests.append((identifier, request))
      return nil
    }
    if let refusal { waiter.resume(returning: .failure(refusal)) }
  }

  func cancel(_ identifier: UInt64) {
    change { state in
      switch state.calls[identifier] {
      case .announced: state.calls[identifier] = .cancelled
      case .waits: state.mail.cancelled.append(identifier)
      case .cancelled, nil: break
      }
    }
  }

  func stop() {
    change { $0.mail.stops = true }
  }

  func take() -> Mail {
    state.withLock { state in
      defer { state.mail = Mail() }
      return state.mail
    }
  }

  /// Delivers the result of a request, once.
  func finish(_ identifier: UInt64, _ result: Result<Response, Failure>) {
    if case .waits(let waiter)? = state.withLock({ $0.calls.removeValue(forKey: identifier) }) {
      waiter.resume(returning: result)
    }
  }

  /// Fails all waiting requests with `failure`, and every request that is submitted from now on.
  func close(_ failure: Failure) {
    let (calls, _) = state.withLock { state in
      defer {
        // The others get the failure when they submit.
        state.calls = state.calls.filter { if case .waits = $0.value { false } else { true } }
        (state.closed, state.mail) = (failure, Mail())
      }
      return (state.calls, state.mail)
    }
    for case .waits(let waiter) in calls.values { waiter.resume(returning: .failure(failure)) }
  }

  /// Changes the state. The loop is woken only if the box was empty: with mail in it, it is awake or was already woken.
  @discardableResult
  private func change<Result>(_ body: (inout State) -> Result) -> Result {
    let (result, sleeper) = state.withLock { state in
      let wasEmpty = state.mail.isEmpty
      let result = body(&state)
      return (result, wasEmpty && !state.mail.isEmpty ? state.multi : nil)
    }
    sleeper?.wake()
    return result
  }
}
