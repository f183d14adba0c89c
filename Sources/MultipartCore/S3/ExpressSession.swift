import MultipartBasics

/// The session of a directory bucket, shared by all requests of a run: its keys and token sign them.
///
/// It is renewed a minute before it expires, or after half of a lifetime shorter than two minutes, while the old
/// session is still used; only requests after the expiry wait. One renewal runs at a time, and after a failed one the
/// next starts at least five seconds later as long as the old session is valid.
final class ExpressSession: Sendable {
  typealias Renewal = @Sendable () async throws(Failure) -> CreateSession.Output

  private struct Held {
    var credentials: Credentials
    var renewAt: Duration
    var end: Duration
  }

  private struct State {
    var held: Held?
    var renewal: Task<Result<Credentials, Failure>, Never>?
  }

  private let state = Locked(State())
  private let uptime: @Sendable () -> Duration
  private let renew: Renewal

  init(uptime: @escaping @Sendable () -> Duration, renew: @escaping Renewal) {
    self.uptime = uptime
    self.renew = renew
  }

  func credentials() async throws(Failure) -> Credentials {
    let now = uptime()
    let (usable, renewal) = state.withLock { state -> (Credentials?, Task<Result<Credentials, Failure>, Never>?) in
      if let held = state.held, now < min(held.renewAt, held.end) { return (held.credentials, nil) }
      let renewal = state.renewal ?? Task { await self.renewed() }
      state.renewal = renewal
      return (state.held.flatMap { now < $0.end ? $0.credentials : nil }, renewal)
    }
    if let usable { return usable }
    guard let renewal else { throw Failure(.local, "a session ended while it was renewed") }
    return try await renewal.value.get()
  }

  /// Whether the store no longer accepts the session that signed the request, so that the next request uses a new one.
  func learn(from answer: Response, to request: Request) -> Bool {
    guard let token = request.headers[Self.tokenName], [400, 401, 403].contains(answer.status) else { return false }
    let code = S3ErrorBody(answer.body).code ?? S3ErrorBody.code(answer.headers)
    // A refused HEAD has no code; if the session was refused for another reason, this costs one more request.
    guard code.map(S3ErrorTable.rejectedKeys.contains) ?? (request.method == .head && answer.status != 403) else {
      return false
    }
    state.withLock { state in
      // Another request may already have renewed it.
      if let held = state.held, held.credentials.sessionToken?.reveal().utf8.elementsEqual(token.utf8) == true {
        state.held = nil
      }
    }
    return true
  }

  static let tokenName = "x-amz-s3session-token"

  private func renewed() async -> Result<Credentials, Failure> {
    let asked = uptime()
    do throws(Failure) {
      let session = try await renew()
      let ahead = min(.seconds(60), session.lifetime / 2)
      state.withLock {
        $0.held = Held(
          credentials: session.credentials, renewAt: asked + session.lifetime - ahead, end: asked + session.lifetime)
        $0.renewal = nil
      }
      return .success(session.credentials)
    } catch {
      let pause = uptime() + .seconds(5)
      state.withLock {
        $0.renewal = nil
        $0.held?.renewAt = pause
      }
      return .failure(error)
    }
  }
}
