import MultipartBasics

/// How far this machine's clock is from the store's, learned from the store's `Date` when it refuses a signature
/// because of its time.
final class ClockOffset: Sendable {
  private let seconds = Locked<Int64>(0)
  private let measured = Locked<Int64>(0)
  private let isUnsaid = Locked(false)

  var offset: Int64 { seconds.withLock { $0 } }

  func corrected(_ now: Timestamp) -> Timestamp {
    Timestamp(seconds: now.seconds + offset)
  }

  /// Measures the difference from the `Date` of any answer.
  func measure(_ answer: Response, now: Timestamp) {
    guard let date = answer.headers["Date"].flatMap(DateText.http) else { return }
    measured.withLock { $0 = date.seconds - now.seconds }
  }

  /// The note; nil for less than a minute, which causes no refusal.
  var note: String? {
    let ahead = measured.withLock { $0 }
    guard abs(ahead) > 60 else { return nil }
    let minutes = (abs(ahead) + 30) / 60
    return "the clock of this machine is \(minutes) min \(ahead > 0 ? "behind" : "ahead of") the store's"
  }

  /// The note, once, after the correction has helped.
  func takeNote() -> String? {
    let isDue = isUnsaid.withLock { isUnsaid in
      defer { isUnsaid = false }
      return isUnsaid
    }
    return isDue ? note ?? "the clock of this machine is off" : nil
  }

  /// Whether the answer refuses the time and the next signature may be accepted: its `Date` changes the time; or the
  /// `Date` agrees, and the request arrived late (this machine was suspended), or one of the store's servers has a
  /// wrong clock. A refused HEAD has no code; there the `Date` must show a difference of more than the 15 minutes that
  /// S3 allows.
  func learn(from answer: Response, now: Timestamp) -> Bool {
    guard answer.status == 403 || answer.status == 400, let date = answer.headers["Date"].flatMap(DateText.http) else {
      return false
    }
    let measured = date.seconds - now.seconds
    let named = S3ErrorBody(answer.body).code.map { S3ErrorTable.codes[$0] == .clockSkew } ?? false
    let isOff = seconds.withLock { known in
      guard abs(measured - known) > (named ? 60 : 900) else { return false }
      known = measured
      return true
    }
    if isOff { isUnsaid.withLock { $0 = true } }
    return isOff || named
  }
}
