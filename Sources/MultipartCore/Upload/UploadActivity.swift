/// What an upload is currently doing.
public enum UploadActivity: Sendable, Equatable {
  case starting
  case waitingForRun
  case waitingForCredentials
  /// Looking for an unfinished upload.
  case looking
  /// Comparing parts that the store has with the local bytes.
  case comparing
  /// Waiting for bytes of a stream.
  case reading
  case sending
  /// Waiting until a retry, and why.
  case waitingToRetry(why: Wording, until: Duration)
  /// The store assembles the object.
  case assembling
  /// Checking the object or a condition.
  case checking
  /// Aborting an upload, whose parts would cost money.
  case cleaningUp
  /// Letting parts finish that are nearly done.
  case stopping
}

extension UploadMachine {
  /// `nextTry`: of what waits for one.
  func activity(nextTry: (until: Duration, why: Wording)?) -> UploadActivity {
    if parts.underWay.isEmpty, let nextTry { return .waitingToRetry(why: nextTry.why, until: nextTry.until) }
    switch state {
    case .idle, .creating, .ready: return .starting
    case .reading, .confirming: return .reading
    case .looking:
      if case .ending = lookup.state { return .cleaningUp }
      return parts.comparison.underWay.isEmpty ? .looking : .comparing
    case .sending where parts.underWay.isEmpty && !parts.comparison.underWay.isEmpty: return .comparing
    case .sending where parts.underWay.isEmpty && parts.stream.isReading: return .reading
    case .sending: return .sending
    case .publishing(let completion):
      guard case .requesting = completion.state else { return .checking }
      return completion.isPut ? .sending : .assembling
    case .cleaning: return .cleaningUp
    case .stopping: return .stopping
    case .checking, .gathering, .done: return .checking
    }
  }
}
