/// How an upload ends when its time is over.
extension Uploader {
  /// Ends the run so that all is done `limit` after `start`, by the uptime. What is at the store is kept for the next run,
  /// which needs nothing to be sent; the upload of a stream has to be aborted before.
  package func interrupt(after limit: Duration, since start: Duration) -> Task<Void, Never> {
    let (wait, grace) = Self.split(max(.zero, start + limit - world.uptime()), aborts: job.source.isStream)
    deadlineGrace.withLock { $0 = grace }
    return Task.begin { [self] in
      guard (try? await world.sleep(wait)) != nil else { return }
      interrupt(Failure(.deadline, "the time that \(.deadline) gives is over"))
    }
  }

  /// What is left of the time: until the run is stopped, and from then on to end the upload at the store.
  static func split(_ left: Duration, aborts: Bool) -> (wait: Duration, grace: Duration) {
    // Time to hear of what was cancelled.
    guard aborts else { return (left, .milliseconds(250)) }
    let grace = min(.seconds(4), left / 4)
    return (left - grace, grace)
  }

  /// How long what an interruption leaves to do may take: a store has 4 s to end the upload after a signal. Then the run
  /// ends, whatever is still out.
  func grace(after failure: Failure) -> Duration {
    failure.code == .deadline ? deadlineGrace.withLock { $0 } : .seconds(4)
  }
}
