import MultipartBasics

/// Signs requests for one region and service, in their headers or in their URL.
///
/// ```swift
/// let signer = SigV4Signer(region: "eu-west-1")
/// let request = Request(method: .put, origin: origin, path: "/key", body: body)
/// let signed = try signer.sign(request, credentials: credentials, at: world.now())
/// ```
struct SigV4Signer: Sendable {
  var region: String
  /// The service in the scope: `s3`, `s3express`, `sts`.
  var service: String
  /// The header, and in URLs the query parameter, that carries the session token.
  var tokenName: String
  private let keys: SigningKeyCache

  /// Seconds for which a header signature is valid: S3 refuses a request whose time differs more from its own.
  static let headerLifetime: Int64 = 900

  init(
    region: String, service: String = "s3", tokenName: String = "X-Amz-Security-Token",
    keys: SigningKeyCache = SigningKeyCache()
  ) {
    self.region = region
    self.service = service
    self.tokenName = tokenName
    self.keys = keys
  }

  /// Signs in the headers: adds `Authorization`.
  func sign(
    _ request: Request, payloadHash: String? = nil, credentials: Credentials, at time: Timestamp
  ) throws(Failure) -> Request {
    try request.checkHeaders()
    let payload = try PayloadHash.of(request.body, known: payloadHash)
    var request = request
    request.headers = withoutOwn(request.headers)
    request.headers.add(HeaderName.payloadSHA256, payload)
    request.headers.add("x-amz-date", time.amzTime)
    request.headers.add(tokenName.lowercased(), credentials.sessionToken?.reveal())
    let scope = SigV4.Scope(at: time, region: region, service: service)
    let canonical = SigV4.canonicalRequest(
      request.method, request.url, headers: signable(request.headers), payloadHash: payload)
    let signature = try signature(canonical, credentials: credentials, scope: scope, at: time)
    var authorization = TextBuffer(reserving: 256 + canonical.signedHeaders.utf8.count)
    authorization.add(SigV4.algorithm, " Credential=", credentials.accessKeyID, "/", scope.text)
    authorization.add(", SignedHeaders=", canonical.signedHeaders, ", Signature=", signature)
    request.headers.add("Authorization", authorization.text)
    request.expires = end(time, after: Self.headerLifetime, credentials)
    return request
  }

  /// Signs in the query: a URL that works without credentials for `lifetime`, at most 7 days, and never longer than the
  /// credentials are valid. The body is not signed; the given headers are, and are returned as those to send.
  func presign(
    _ request: Request, credentials: Credentials, at time: Timestamp, expiresIn lifetime: Duration
  ) throws(Failure) -> Request {
    try request.checkHeaders()
    try PresignedURL.check(lifetime: lifetime, of: "a presigned URL")
    let seconds = lifetime.components.seconds
    var request = request
    request.headers = signable(withoutOwn(request.headers))
    let scope = SigV4.Scope(at: time, region: region, service: service)
    var url = CanonicalURL(request.url)
    var items = [
      QueryItem("X-Amz-Algorithm", SigV4.algorithm),
      QueryItem("X-Amz-Credential", "\(credentials.accessKeyID)/\(scope.text)"),
      QueryItem("X-Amz-Date", time.amzTime),
      QueryItem("X-Amz-Expires", String(seconds)),
      QueryItem("X-Amz-SignedHeaders", SigV4.canonicalHeaders(request.headers, host: url.host).signed),
    ]
    if let token = credentials.sessionToken { items.append(QueryItem(tokenName, token.reveal())) }
    url.put(items, inPlaceOf: isOwnParameter)
    request.url = url.text
    let canonical = SigV4.canonicalRequest(
      request.method, request.url, headers: request.headers, payloadHash: PayloadHash.unsigned)
    request.url += "&X-Amz-Signature=" + (try signature(canonical, credentials: credentials, scope: scope, at: time))
    request.expires = end(time, after: seconds, credentials)
    return request
  }

  private func signature(
    _ request: SigV4.CanonicalRequest, credentials: Credentials, scope: SigV4.Scope, at time: Timestamp
  ) throws(Failure) -> String {
    let key = try keys.key(secret: credentials.secretAccessKey, scope: scope)
    return try SigV4.signature(SigV4.stringToSign(request, at: time, scope: scope), key: key)
  }

  private func end(_ time: Timestamp, after seconds: Int64, _ credentials: Credentials) -> Timestamp {
    let own = Timestamp(seconds: time.seconds + seconds)
    return min(own, credentials.expiration ?? own)
  }

  private func isOwnParameter(_ name: String) -> Bool {
    let own = [
      "x-amz-algorithm", "x-amz-credential", "x-amz-date", "x-amz-expires", "x-amz-signedheaders", "x-amz-signature",
      tokenName.lowercased(),
    ]
    return own.contains(name.lowercased())
  }
}

// MARK: - Which headers are signed
extension SigV4Signer {
  /// Headers that a proxy may change or remove, which would break a signature over them: the hop-by-hop headers of RFC
  /// 9110, what AWS's own clients leave out, and `accept-encoding`, which Google's front end rewrites.
  private static let changedOnTheWay: Set<String> = [
    "accept-encoding", "connection", "expect", "keep-alive", "proxy-authenticate", "proxy-authorization",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "user-agent", "via", "x-amzn-trace-id",
    "x-forwarded-for",
  ]

  private static func mayBeChanged(_ name: String) -> Bool {
    // Most are S3's own and need no lookup.
    !name.begins(with: "x-amz-") && changedOnTheWay.contains(name.lowercased())
  }

  /// The headers without those that the signer adds itself; Host is taken from the URL.
  private func withoutOwn(_ headers: HeaderList) -> HeaderList {
    var headers = headers
    for name in ["host", "authorization", "x-amz-date", HeaderName.payloadSHA256, tokenName] { headers.remove(name) }
    return headers
  }

  private func signable(_ headers: HeaderList) -> HeaderList {
    HeaderList(fields: headers.fields.filter { !Self.mayBeChanged($0.name) })
  }
}

/// The value of `x-amz-content-sha256` for a body.
enum PayloadHash {
  /// The body is not part of the signature, because TLS protects it.
  static let unsigned = "UNSIGNED-PAYLOAD"
  static let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

  /// The hash of a small body, or the known hash of a large one.
  static func of(_ body: RequestBody, known: String?) throws(Failure) -> String {
    if let known { return known }
    return switch body {
    case .none: empty
    case .bytes(let bytes): Hex.encode(try Digest.sha256(bytes))
    case .source, .part: unsigned
    }
  }
}
