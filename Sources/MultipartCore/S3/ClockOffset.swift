/// How far this machine's clock is from the store's, learnt from the store's own `Date` when it refuses a signature for
/// its time.
final class ClockOffset: Sendable {
  private let seconds = Locked<Int64>(0)

  var offset: Int64 { seconds.withLock { $0 } }

  func corrected(_ now: Timestamp) -> Timestamp {
    Timestamp(seconds: now.seconds + offset)
  }

  /// True when the answer is a refusal for the time, and what it taught changes the next signature. A HEAD is refused
  /// without a code; there the `Date` alone has to show that the clocks are further apart than the 15 minutes S3 grants.
  func learn(from answer: Response, now: Timestamp) -> Bool {
    guard answer.status == 403 || answer.status == 400, let date = answer.headers["Date"].flatMap(S3Date.http) else {
      return false
    }
    let measured = date.seconds - now.seconds
    let named = S3ErrorBody(answer.body).code == "RequestTimeTooSkewed"
    return seconds.withLock { known in
      guard abs(measured - known) > (named ? 60 : 900) else { return false }
      known = measured
      return true
    }
  }
}
