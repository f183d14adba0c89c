/// What an upload is doing at a moment.
public enum UploadActivity: Sendable, Equatable {
  case starting
  case waitingForRun
  case waitingForCredentials
  /// For an unfinished upload.
  case looking
  /// Parts that the store has with the bytes that are here.
  case comparing
  /// A stream gives nothing yet.
  case reading
  case sending
  /// Nothing is under way before then, and why.
  case waitingToRetry(why: Wording, until: Duration)
  /// The store puts the object together.
  case assembling
  /// The object, or a condition.
  case checking
  /// What would cost money is being ended.
  case cleaningUp
  /// Parts that nearly have are left to end.
  case stopping
}

extension UploadMachine {
  package func activity(_ scheduler: Scheduler) -> UploadActivity {
    if parts.underWay.isEmpty, let next = scheduler.nextTry(of: object) {
      return .waitingToRetry(why: next.why, until: next.until)
    }
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
    case .checking, .done: return .checking
    }
  }
}
