/// Turns an operation's request into what goes on the wire. Whoever sends does not know whether a request was signed
/// just now, in its headers, or long ago and elsewhere, in its URL.
package protocol RequestSigner: Sendable {
  /// Where the requests go, as it is remembered and shown: `https://host`.
  var origin: String { get }
  /// Whether large bodies need their SHA-256 computed before they are sent.
  var signsPayload: Bool { get }
  func signed(_ request: S3Request) async throws(Failure) -> SignedRequest
  /// Takes what a refusal teaches; true when the same request, signed anew, may now be accepted.
  func learn(from answer: Response, now: Timestamp) -> Bool
}

/// Whether the body's SHA-256 is part of a request's signature.
package enum PayloadSigning: String, Sendable, CaseIterable {
  /// Over plain HTTP, where nothing else guards the body.
  case auto, always, never
}

/// Signs for one bucket, each request at the moment it is sent.
package struct BucketSigner: RequestSigner {
  package let bucket: BucketEndpoint
  private let payloadSigning: PayloadSigning
  private let signer: SigV4Signer
  /// Nil: nothing is signed.
  private let credentials: (@Sendable () async throws(Failure) -> Credentials)?
  private let now: @Sendable () -> Timestamp
  private let clock = ClockOffset()

  package init(
    bucket: BucketEndpoint, payloadSigning: PayloadSigning = .auto, now: @escaping @Sendable () -> Timestamp,
    credentials: (@Sendable () async throws(Failure) -> Credentials)?
  ) {
    self.bucket = bucket
    self.payloadSigning = payloadSigning
    self.now = now
    self.credentials = credentials
    signer = SigV4Signer(region: bucket.region, service: bucket.signingName)
  }

  package var origin: String { bucket.origin.description }

  package var signsPayload: Bool {
    guard credentials != nil else { return false }
    return switch payloadSigning {
    case .always: true
    case .never: false
    case .auto: bucket.origin.scheme == .http
    }
  }

  package func signed(_ request: S3Request) async throws(Failure) -> SignedRequest {
    let unsigned = try unsigned(request)
    guard let credentials else { return try .unsigned(unsigned) }
    return try signer.sign(unsigned, credentials: try await credentials(), at: clock.corrected(now()))
  }

  /// The query form: a URL that anybody can use until it ends.
  package func presigned(_ request: S3Request, expiresIn lifetime: Duration) async throws(Failure) -> SignedRequest {
    guard let credentials else {
      throw Failure(.usage, "a URL cannot be presigned without credentials", hint: "leave --no-sign-request out")
    }
    var unsigned = try unsigned(request)
    unsigned.payload = .unsigned
    return try signer.presign(
      unsigned, credentials: try await credentials(), at: clock.corrected(now()), expiresIn: lifetime)
  }

  /// Where the credentials were found; nil when nothing is signed.
  package func credentialsSource() async throws(Failure) -> String? {
    guard let credentials else { return nil }
    return try await credentials().source
  }

  package func learn(from answer: Response, now: Timestamp) -> Bool {
    clock.learn(from: answer, now: now)
  }

  private func unsigned(_ request: S3Request) throws(Failure) -> UnsignedRequest {
    UnsignedRequest(
      method: request.method, origin: bucket.origin,
      path: request.key.map { bucket.path(forKey: $0) } ?? bucket.pathForBucket,
      query: request.query.map { QueryItem($0.name, $0.value) }, headers: request.headers,
      payload: try payload(request))
  }

  /// Small bodies are always hashed; of a large one the caller knows the hash, or it is left to TLS.
  private func payload(_ request: S3Request) throws(Failure) -> PayloadHash {
    switch request.body {
    case .none: .empty
    case .bytes(let bytes): .sha256(try sha256(bytes, known: request.payloadSHA256))
    case .source: request.payloadSHA256.map { .sha256($0) } ?? .unsigned
    }
  }

  private func sha256(_ bytes: [UInt8], known: String?) throws(Failure) -> String {
    if let known { return known }
    return Hex.encode(try Digest.sha256(bytes))
  }
}

/// A request that was signed before, in its URL. The headers of the operation go along; what the signature covers is the
/// signer's affair.
package struct PresignedSigner: RequestSigner {
  private let request: SignedRequest

  package init(_ request: SignedRequest) {
    self.request = request
  }

  package var origin: String {
    request.url.utf8.firstIndex(of: UInt8(ascii: "?")).map { String(request.url[..<$0]) } ?? request.url
  }

  package var signsPayload: Bool { false }

  package func signed(_ wanted: S3Request) async throws(Failure) -> SignedRequest {
    guard wanted.method == request.method else {
      throw Failure(.usage, "the URL is signed for \(request.method.rawValue), not for \(wanted.method.rawValue)")
    }
    var signed = request
    for field in wanted.headers.fields where signed.headers[field.name] == nil {
      signed.headers.add(field.name, field.value)
    }
    return signed
  }

  package func learn(from answer: Response, now: Timestamp) -> Bool { false }
}
