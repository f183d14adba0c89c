import MultipartBasics
import MultipartCore

/// Warns, as soon as it can be predicted, that credentials which nothing in this run can renew will expire before the
/// upload ends.
struct CredentialWatch {
  private let session: Session
  private let store: Store
  private let look: Look

  /// How many bytes are done with, whether sent or not, and how many are left at least; nil: not known yet.
  typealias Look = @Sendable () -> (done: Int64, left: Int64?)

  /// Seconds before the rate is reliable.
  private static let settling = 5

  init(_ session: Session, _ store: Store, look: @escaping Look) {
    self.session = session
    self.store = store
    self.look = look
  }

  /// Watches only credentials that come from the environment and expire; otherwise nil.
  func start() -> Task<Void, Never>? {
    guard session.environment["AWS_CREDENTIAL_EXPIRATION"] != nil else { return nil }
    let (session, store, look) = (session, store, look)
    return Task {
      guard let end = try? await store.lastExpiration() else { return }
      var meter = RateMeter()
      var seconds = 0
      while (try? await session.world.sleep(.seconds(1))) != nil {
        seconds += 1
        let (done, left) = look()
        meter.add(done, at: session.world.uptime())
        guard seconds >= Self.settling, let left, let eta = meter.eta(remaining: left) else { continue }
        guard let text = Self.warning(now: session.world.now(), eta: eta, end: end) else { continue }
        session.world.log(0, "\(text)")
        return
      }
    }
  }

  /// The warning; nil if the credentials last long enough.
  static func warning(now: Timestamp, eta: Duration, end: Timestamp) -> String? {
    let done = Timestamp(seconds: now.seconds + eta.components.seconds)
    guard done > end else { return nil }
    let ending = end > now ? "expire at \(end.iso8601)" : "expired at \(end.iso8601)"
    return "the credentials of the environment \(ending), but at this rate the upload ends at \(done.iso8601): "
      + "this run cannot renew them; the same command resumes it with new ones"
  }
}
