import MultipartBasics

/// Decides when a failed request is retried, and after how long.
///
/// Waits before try 2, 3, …: 0.25 s, 0.5 s, 1 s, 2 s, 4 s, 8 s, 16 s, then 20 s each. Half of a wait is fixed, half is
/// random, so that many clients that were refused together do not return together. `Retry-After` is the minimum, up to
/// five minutes. If no server has answered in this run yet, a request is given up about ten seconds after its first
/// try, but not before its second one, because a lost packet can make a first connection time out.
struct RetryPolicy: Sendable, Equatable {
  /// The total number of tries, including the first one.
  var tries: Int
  var base: Duration = .milliseconds(250)
  var cap: Duration = .seconds(20)
  var longestRetryAfter: Duration = .seconds(300)
  var longestInVain: Duration = .seconds(10)

  init(tries: Int = 10) {
    self.tries = max(1, tries)
  }

  /// The wait before the next try, after `attempt` tries have failed; nil if there is none. `dice` is in 0..<1.
  func wait(after failure: Failure, attempt: Int, dice: Double) -> Duration? {
    guard attempt < tries, !failure.isSettled, Self.isWorthRetrying(failure.code) else { return nil }
    let doublings = min(attempt - 1, 20)
    let full = min(cap, base * (1 << doublings))
    var wait = full * (0.5 + 0.5 * dice)
    if let tried = failure.triedInVain, attempt > 1 || tried < longestInVain {
      guard tried < longestInVain else { return nil }
      wait = min(wait, longestInVain - tried)
    }
    guard let asked = failure.retryAfter else { return wait }
    return max(wait, min(asked, longestRetryAfter))
  }

  /// A policy with at most this many tries, for a request that has an alternative.
  func atMost(_ tries: Int) -> RetryPolicy {
    var policy = self
    policy.tries = min(self.tries, tries)
    return policy
  }

  /// Whether a retry may help. The code decides, not the status: a RequestTimeout is a 400, and a 200 can contain an
  /// InternalError. Data that arrived damaged is sent again; whether the source has changed is checked elsewhere.
  static func isWorthRetrying(_ code: Failure.Code) -> Bool {
    switch code {
    case .network, .stalled, .throttled, .server, .dataMismatch: true
    default: false
    }
  }
}

extension RetryPolicy {
  /// Runs `work` until it succeeds, fails permanently, or has no try left.
  func run<Result: Sendable>(
    _ name: String, in world: World, _ work: (_ attempt: Int) async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    var attempt = 1
    while true {
      do throws(Failure) {
        return try await work(attempt)
      } catch {
        guard let wait = wait(after: error, attempt: attempt, dice: world.random()) else { throw error }
        attempt += 1
        world.log(1, "\(name): \(error.message); try \(attempt) of \(tries) in \(wait.milliseconds) ms")
        guard (try? await world.sleep(wait)) != nil else { throw .interrupted.endedWaiting(after: error.message) }
      }
    }
  }
}
