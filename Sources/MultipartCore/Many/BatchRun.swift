/// A run of many that can be watched and stopped.
package protocol BatchRun: Sendable {
  /// Can be read at any time.
  var progress: BatchState { get }
  /// Can be called from anywhere.
  func cancel()
  /// To be called once. What becomes of each object is reported as an event.
  func run() async throws(Failure) -> BatchSummary
}

/// Whether the rest of a run would fail too.
struct Despair: Sendable {
  private static let enough = 16
  /// How many objects have failed, by the reason.
  private var failures: [Failure.Code: Int] = [:]

  /// Nothing has succeeded, and so many have failed for one reason that the others would too: a bucket that is not there, a
  /// store that does not answer, credentials that are refused.
  mutating func isHopeless(_ failure: Failure, done: Int) -> Bool {
    switch failure.code {
    case .sourceMissing, .sourceChanged, .dataMismatch, .usage, .precondition: return false
    default: break
    }
    failures[failure.code, default: 0] += 1
    return done == 0 && failures[failure.code, default: 0] >= Self.enough
  }
}
