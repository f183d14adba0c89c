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
  package var activity: UploadActivity {
    if inFlight.isEmpty, let next = waiting.map(\.until).min() { return .waitingToRetry(why: lastTrouble, until: next) }
    switch phase {
    case .idle, .creating: return .starting
    case .finding, .listingParts: return .looking
    case .reading, .confirming: return .reading
    case .sending where inFlight.isEmpty && !resume.verifying.isEmpty: return .comparing
    case .sending where inFlight.isEmpty && stream.isReading: return .reading
    case .sending, .putting: return .sending
    case .completing: return .assembling
    case .abortingOld, .aborting, .listing: return .cleaningUp
    case .stopping: return .stopping
    default: return .checking
    }
  }
}
