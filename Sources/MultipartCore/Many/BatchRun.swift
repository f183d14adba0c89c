/// A batch that can be watched and stopped.
public protocol BatchRun: Sendable {
  /// The progress; can be read at any time.
  var progress: BatchState { get }
  /// Stops the run; can be called from anywhere.
  func cancel()
  /// Runs the batch; call it once. The outcome of each object is reported as an event.
  func run() async throws(Failure) -> BatchSummary
}

/// Decides whether the rest of a run would fail too.
struct Despair: Sendable {
  private static let enough = 16
  /// How many objects have failed, by reason.
  private var failures: [Failure.Code: Int] = [:]

  /// Whether nothing has succeeded, and so many objects have failed for the same reason that the others would too: a
  /// bucket that does not exist, a store that does not respond, credentials that are refused.
  mutating func isHopeless(_ failure: Failure, done: Int) -> Bool {
    switch failure.code {
    case .sourceMissing, .sourceChanged, .dataMismatch, .usage, .precondition: return false
    case .refused where Self.isAboutObject(failure): return false
    default: break
    }
    failures[failure.code, default: 0] += 1
    return done == 0 && failures[failure.code, default: 0] >= Self.enough
  }

  /// Whether a refusal says nothing about the next object: this one is missing, archived, too large, or not proven.
  private static func isAboutObject(_ failure: Failure) -> Bool {
    guard let code = failure.s3Code else { return failure.status == nil }
    return aboutObjects.contains(code)
  }

  private static let aboutObjects: Set<String> = [
    "NoSuchKey", "NoSuchVersion", "InvalidObjectState", "MethodNotAllowed", "InvalidRange", "EntityTooLarge",
    "EntityTooSmall", "KeyTooLong", "KeyTooLongError",
  ]
}
