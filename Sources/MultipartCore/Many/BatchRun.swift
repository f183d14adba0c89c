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
  /// Whether objects are read: then many refusals are about one object.
  private let isOfReading: Bool
  /// How many objects have failed, by reason.
  private var failures: [Failure.Code: Int] = [:]
  private var missing = 0

  init(ofReading isOfReading: Bool) { self.isOfReading = isOfReading }

  /// Whether nothing has succeeded, and so many objects have failed for the same reason that the others would too: a
  /// bucket that does not exist, a store that does not respond, credentials that are refused.
  mutating func isHopeless(_ failure: Failure, done: Int) -> Bool {
    switch failure.code {
    case .sourceMissing, .sourceChanged, .dataMismatch, .usage, .precondition: return false
    case .refused where isAboutObject(failure): return false
    case _ where failure.isConflict: return false
    default: break
    }
    failures[failure.code, default: 0] += 1
    return done == 0 && failures[failure.code, default: 0] >= Self.enough
  }

  /// True once, when nothing has succeeded and so many objects are missing that their bucket may be: HEAD does not say
  /// which of the two does not exist.
  mutating func doubtsBucket(_ failure: Failure, done: Int) -> Bool {
    guard isOfReading, done == 0, failure.code == .refused, failure.s3Code == nil else { return false }
    missing += 1
    return missing == Self.enough
  }

  /// Whether a refusal says nothing about the next object: this one is missing, archived, too large, or not proven.
  /// Answers to HEAD have no code. Of what is written, a setting that the store does not keep is about all objects.
  private func isAboutObject(_ failure: Failure) -> Bool {
    failure.s3Code.map(Self.aboutObjects.contains) ?? isOfReading
  }

  private static let aboutObjects: Set<String> = [
    "NoSuchKey", "NoSuchVersion", "InvalidObjectState", "MethodNotAllowed", "InvalidRange", "EntityTooLarge",
    "EntityTooSmall", "KeyTooLong", "KeyTooLongError", "InvalidURI", "InvalidObjectName", "XMinioInvalidObjectName",
    "ObjectLocked",
  ]
}

extension Store {
  /// Asks for the bucket of a run whose objects are all missing, and calls `isMissing` if it does not exist. A 404
  /// without a code says nothing: some gateways do not list, and a proxy may not find the store for a moment.
  func doubtBucket(_ isMissing: @escaping @Sendable (Failure) -> Void) {
    Task {
      do throws(Failure) {
        _ = try await client.perform(ListObjects(address, prefix: "", most: 1), retrying: retry.atMost(3))
      } catch {
        if error.s3Code == "NoSuchBucket" { isMissing(error) }
      }
    }
  }
}
