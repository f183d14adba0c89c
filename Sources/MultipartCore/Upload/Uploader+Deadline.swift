/// How an upload ends when its time is over.
extension Uploader {
  /// Ends the run so that everything is finished `limit` after `start`, by the uptime. Parts at the store are kept for
  /// the next run, which needs no request; the upload of a stream has to be aborted before.
  package func interrupt(after limit: Duration, since start: Duration) -> Task<Void, Never> {
    let (wait, grace) = Self.split(max(.zero, start + limit - world.uptime()), aborts: job.source.isStream)
    deadlineGrace.withLock { $0 = grace }
    return Task { [self] in
      guard (try? await world.sleep(wait)) != nil else { return }
      interrupt(Failure(.deadline, "the time given by \(.deadline) is over"))
    }
  }

  /// The remaining time: until the run is stopped, and from then on for aborting the upload at the store.
  static func split(_ left: Duration, aborts: Bool) -> (wait: Duration, grace: Duration) {
    // Time for the answers of cancelled transfers.
    guard aborts else { return (left, .milliseconds(250)) }
    let grace = min(.seconds(4), left / 4)
    return (left - grace, grace)
  }

  /// How long the work after an interruption may take: after a signal, 4 s to abort the upload at the store. Then the
  /// run ends, whatever is still pending.
  func grace(after failure: Failure) -> Duration {
    failure.code == .deadline ? deadlineGrace.withLock { $0 } : .seconds(4)
  }
}
