import MultipartBasics

/// Turns an operation's request into the one that is sent. The sender does not depend on whether a request is signed
/// just now, in its headers, or was signed earlier and elsewhere, in its URL.
protocol RequestSigner: Sendable {
  /// Where the requests go, as it is recorded and shown: `https://host`.
  var origin: String { get }
  /// Whether large bodies need their SHA-256 computed before they are sent.
  var signsPayload: Bool { get }
  func signed(_ request: S3Request) async throws(Failure) -> Request
  /// Learns from a refusal; not nil if the same request, signed again, may now be accepted.
  func learn(from answer: Response, to request: Request, now: Timestamp) -> Lesson?
  /// Called when credentials were refused; returns whether there are others now.
  func renew(after generation: Int, cause: Failure) async throws(Failure) -> Bool
  /// How far this machine's clock is off, in words, if that may be why a signature is refused.
  var clockNote: String? { get }
  /// The clock note, returned once after the clock was corrected.
  func takeClockNote() -> String?
  /// Whether requests are waiting for new credentials.
  var waitsForCredentials: Bool { get }
  /// Whether it can sign any request, instead of having some that are already signed.
  var signsEverything: Bool { get }
  /// Whether it has only a single request, which is already signed.
  var knowsOneRequest: Bool { get }
  /// Whether requests go out as anybody could send them.
  var isAnonymous: Bool { get }
  /// Where the credentials in use came from, in words.
  var credentialSource: String? { get }
}

extension RequestSigner {
  var signsEverything: Bool { true }
  var knowsOneRequest: Bool { false }
  var isAnonymous: Bool { false }
  var credentialSource: String? { nil }
}

/// What an answer taught, so that the request is worth sending again.
enum Lesson: Sendable {
  /// This machine's clock is off.
  case clock
  /// The bucket is in another region; the sentence is for the log, and nil if it was already logged.
  case region(Wording?)
  /// A session expired.
  case session
  /// The credentials have expired or were replaced, and new ones may be available.
  case credentials(generation: Int)
  /// Nothing that would help, only the reason.
  case refusal(Failure)

  /// How many more tries of a request each kind is worth: one, and two for new credentials, because a store may learn
  /// about them late.
  var tries: Int {
    if case .credentials = self { 2 } else { 1 }
  }

  var kind: Int {
    switch self {
    case .clock: 0
    case .region: 1
    case .session: 2
    case .refusal: 3
    case .credentials: 4
    }
  }
}

/// Whether the body's SHA-256 is part of a request's signature.
public enum PayloadSigning: String, Sendable, CaseIterable {
  /// `auto` signs it if nothing else protects the body: over plain HTTP, and over TLS to an unverified server.
  case auto, always, never
}

/// Signs for one bucket, each request when it is sent. Copies share what they learn from answers.
struct BucketSigner: RequestSigner {
  /// The endpoint at the start of the run: the store is remembered by its origin, wherever a redirect led.
  private let start: BucketEndpoint
  private let route: BucketRoute
  private let payloadSigning: PayloadSigning
  private let verifiesTLS: Bool
  private let keys = SigningKeyCache()
  private let session: ExpressSession?
  /// The credentials; nil: nothing is signed.
  private let credentials: CredentialKeeper?
  private let now: @Sendable () -> Timestamp
  private let clock = ClockOffset()
  /// The newest credentials that the store has accepted; a refused signature of a run's first ones is final.
  private let accepted = Locked(1)

  init(
    bucket: BucketEndpoint, payloadSigning: PayloadSigning = .auto, verifiesTLS: Bool = true,
    now: @escaping @Sendable () -> Timestamp, session: ExpressSession? = nil, credentials: CredentialKeeper?
  ) {
    start = bucket
    route = BucketRoute(bucket)
    self.payloadSigning = payloadSigning
    self.verifiesTLS = verifiesTLS
    self.now = now
    self.session = session
    self.credentials = credentials
  }

  var waitsForCredentials: Bool { credentials?.isWaiting == true }
  var isAnonymous: Bool { credentials == nil }
  var credentialSource: String? { credentials?.sourceInUse }

  var origin: String { start.origin.description }

  /// Where requests go now.
  var bucket: BucketEndpoint { route.bucket }

  var signsPayload: Bool {
    guard credentials != nil else { return false }
    return switch payloadSigning {
    case .always: true
    case .never: false
    case .auto: start.origin.scheme == .http || !verifiesTLS
    }
  }

  func signed(_ request: S3Request) async throws(Failure) -> Request {
    let held = try await signingCredentials()
    // Read after the wait for credentials: the bucket may have been found elsewhere in the meantime.
    let bucket = bucket
    guard let held else { return try request.wire(to: bucket).unsigned() }
    var signed = try signer(for: bucket).sign(
      request.wire(to: bucket), payloadHash: request.payloadSHA256, credentials: held.credentials,
      at: clock.corrected(now()))
    signed.credentialGeneration = session == nil ? held.generation : nil
    return signed
  }

  /// A presigned request: a URL that anyone can use until it expires.
  func presigned(_ request: S3Request, expiresIn lifetime: Duration) async throws(Failure) -> Request {
    guard let credentials = try await signingCredentials()?.credentials else {
      throw Failure(.usage, "a URL cannot be presigned without credentials", remedy: "leave \(off: .signsRequests) out")
    }
    let bucket = bucket
    let time = clock.corrected(now())
    if let end = credentials.expiration, end <= time {
      throw Failure(
        .credentialsExpired, "the credentials that sign the URL expired at \(end.iso8601)",
        remedy: "get new credentials, and run the same command again")
    }
    return try signer(for: bucket).presign(
      request.wire(to: bucket), credentials: credentials, at: time, expiresIn: lifetime)
  }

  /// The current credentials; nil if nothing is signed.
  func currentCredentials() async throws(Failure) -> Credentials? {
    try await credentials?.current().credentials
  }

  func learn(from answer: Response, to request: Request, now: Timestamp) -> Lesson? {
    guard answer.status >= 300 else {
      if let generation = request.credentialGeneration { accepted.withLock { $0 = max($0, generation) } }
      return nil
    }
    clock.measure(answer, now: now)
    if clock.learn(from: answer, now: now) { return .clock }
    if session?.learn(from: answer, to: request) == true { return .session }
    if let lesson = route.learn(from: answer, to: request) { return lesson }
    if let generation = request.credentialGeneration,
      CredentialRefusal.mayPass(answer, to: request.method) || isTorn(answer, generation)
    {
      return .credentials(generation: generation)
    }
    return nil
  }

  /// Whether the signature is refused of renewed credentials that have not signed anything yet: a file that was being
  /// rewritten may have given the new id with the old secret.
  private func isTorn(_ answer: Response, _ generation: Int) -> Bool {
    generation > accepted.withLock({ $0 }) && S3ErrorBody(answer.body).code == "SignatureDoesNotMatch"
  }

  func renew(after generation: Int, cause: Failure) async throws(Failure) -> Bool {
    try await credentials?.renew(after: generation, cause: cause) ?? false
  }

  var clockNote: String? { clock.note }
  func takeClockNote() -> String? { clock.takeNote() }
  func corrected(_ now: Timestamp) -> Timestamp { clock.corrected(now) }

  private func signingCredentials() async throws(Failure) -> CredentialKeeper.Held? {
    guard let credentials else { return nil }
    if let session { return CredentialKeeper.Held(credentials: try await session.credentials(), generation: 0) }
    return try await credentials.current()
  }

  private func signer(for bucket: BucketEndpoint) -> SigV4Signer {
    SigV4Signer(
      region: bucket.region, service: bucket.signingName,
      tokenName: session == nil ? "X-Amz-Security-Token" : "X-Amz-S3session-Token", keys: keys)
  }
}

/// Refusals that other credentials may resolve.
enum CredentialRefusal {
  /// Whether other credentials may help: after an expired token, keys that were rotated, and any refused HEAD, whose
  /// answer has no body to say why.
  static func mayPass(_ answer: Response, to method: HTTPMethod) -> Bool {
    guard answer.status == 400 || answer.status == 401 || answer.status == 403 else { return false }
    guard let code = S3ErrorBody(answer.body).code ?? S3ErrorBody.code(answer.headers) else {
      return method == .head && answer.headers[HeaderName.bucketRegion] == nil
    }
    return S3ErrorTable.rejectedKeys.contains(code)
  }
}
