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
