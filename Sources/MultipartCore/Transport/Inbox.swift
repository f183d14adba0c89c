internal import CCurl

/// Owns a multi handle (`curl_multi_init`, `curl_multi_cleanup`).
///
/// `@unchecked Sendable` holds because the pointer never changes, and `curl_multi_wakeup` is the one call on it that any
/// thread but the loop's makes; it is cleaned up by whoever lets go of it last, when nobody else can call.
final class MultiHandle: @unchecked Sendable {
  let pointer: UnsafeMutableRawPointer

  init() throws(Failure) {
    if let problem = CurlGlobal.problem { throw problem }
    guard let pointer = curl_multi_init() else { throw Failure(.local, "libcurl could not be set up") }
    self.pointer = pointer
    // Without a descriptor left for its wake-up libcurl makes a handle all the same, whose loop would hear of a request
    // only when its poll ends by itself.
    guard curl_multi_wakeup(pointer) == CURLM_OK else {
      throw Failure(.local, "no file descriptor is left for libcurl", remedy: "raise the limit: ulimit -n 1024")
    }
  }

  deinit { curl_multi_cleanup(pointer) }

  func wake() { curl_multi_wakeup(pointer) }
}

/// What other threads hand to a loop: requests, cancellations, the word to stop.
final class Inbox: Sendable {
  struct Mail: Sendable {
    var submissions: [Submission] = []
    var cancelled: [UInt64] = []
    var stops = false
    var isEmpty: Bool { submissions.isEmpty && cancelled.isEmpty && !stops }
  }

  private struct State: Sendable {
    var mail = Mail()
    var closed: Failure?
    var identifiers: UInt64 = 0
    /// Given out but not submitted yet, and whether a cancellation has already come for it.
    var announced: [UInt64: Bool] = [:]
    /// Nil before the loop has begun.
    var multi: MultiHandle?
  }

  private let state = Locked(State())

  /// What the loop begins with, at the latest on its own thread: until libcurl is there, mail is only kept.
  func open() throws(Failure) -> MultiHandle {
    if let multi = state.withLock({ $0.multi }) { return multi }
    let multi = try MultiHandle()
    state.withLock { $0.multi = multi }
    return multi
  }

  func nextIdentifier() -> UInt64 {
    state.withLock { state in
      state.identifiers += 1
      state.announced[state.identifiers] = false
      return state.identifiers
    }
  }

  func submit(_ submission: Submission) {
    let refusal = change { (state) -> Failure? in
      if state.announced.removeValue(forKey: submission.identifier) == true {
        return Failure(.interrupted, "the transfer was cancelled")
      }
      if state.closed == nil { state.mail.submissions.append(submission) }
      return state.closed
    }
    if let refusal { submission.finish(.failure(refusal)) }
  }

  func cancel(_ identifier: UInt64) {
    change { state in
      if state.announced[identifier] != nil {
        state.announced[identifier] = true
      } else if state.closed == nil {
        state.mail.cancelled.append(identifier)
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

  /// From here on whoever submits gets `failure`; gives back what was still waiting.
  func close(_ failure: Failure) -> [Submission] {
    state.withLock { state in
      state.closed = failure
      defer { state.mail = Mail() }
      return state.mail.submissions
    }
  }

  /// The loop is woken only when the box was empty: with mail in it, it is awake or has been called already.
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
