import MultipartBasics

/// A URL that receives one notification as JSON: that of a chat, or of a monitoring service.
///
/// Anyone who knows it can post there, so its path and query appear in no message and no log.
public struct WebHook: Sendable {
  /// The header for the body's HMAC-SHA-256, as `sha256=HEX`.
  static let signatureHeader = "X-S3up-Signature-256"

  private let url: String
  private let origin: Origin
  private let secret: Secret?

  /// A URL of one of these forms: `https://host/path` or `http://host/path`. With a secret, a header has the HMAC-SHA-256 of
  /// each notification.
  public init(_ url: String, secret: Secret?) throws(Failure) {
    let place = url.upTo("?")
    guard let parsed = try? EndpointURL.parse(String(place), blame: .usage), url.utf8.allSatisfy(ASCII.isVisible),
      !url.holds("#")
    else {
      throw Failure(
        .usage, "the URL to notify cannot be used",
        remedy: "write it like https://host/path, percent-encoded, without user and password")
    }
    (self.url, self.secret) = (url, secret)
    origin = Origin(scheme: parsed.scheme, host: parsed.authority)
  }

  /// The path and query.
  private var secretPart: [UInt8] {
    Array(url.utf8.dropFirst(AddressBook.origin(of: url).utf8.count))
  }

  /// Posts the notification, again after a transient failure, and gives up after this time.
  public func post(
    _ json: String, _ options: StoreOptions, within limit: Duration, _ world: World
  ) async throws(Failure) {
    // The path is a secret for this request only: it may be the name of an object too.
    let own = World(
      now: world.now, uptime: world.uptime, sleep: world.sleep, random: world.random, environment: world.environment,
      log: world.log)
    own.secrets.add(bytes: secretPart)
    own.secrets.add(secret)
    let transport = try options.transport(TransferSettings(try options.filled(from: world.environment)), own)
    var policy = RetryPolicy(tries: 5)
    policy.longestRetryAfter = .seconds(4)
    let end = world.uptime() + limit
    let last = Locked<Failure?>(nil)
    let request = try request(json)
    try await policy.run("\(origin)", in: own) { [origin] (_) async throws(Failure) in
      let left = end - world.uptime()
      guard left > .zero else { throw last.withLock { $0 } ?? Failure(.deadline, "\(origin) does not answer") }
      var request = request
      request.timeLimit = min(left, Self.longestTry)
      do throws(Failure) {
        try Self.judge(try await transport.send(request), origin)
      } catch {
        last.withLock { $0 = error }
        throw error
      }
    }
  }

  private static let longestTry = Duration.seconds(8)

  private func request(_ json: String) throws(Failure) -> Request {
    let body = Array(json.utf8)
    var headers: HeaderList = ["Content-Type": "application/json"]
    if let secret {
      let sum = try SigningDigest.hmac(key: Array(secret.reveal().utf8), body)
      headers.add(Self.signatureHeader, "sha256=" + Hex.encode(sum))
    }
    var request = Request(method: .post, url: url, headers: headers, body: .bytes(body), maximumAnswer: 1 << 20)
    request.stallTimeout = Self.longestTry
    return request
  }

  private static func judge(_ answer: Response, _ origin: Origin) throws(Failure) {
    let answer = try ServiceClient.settled(answer, to: "a notification of \(origin)")
    guard !answer.isSuccess else { return }
    // A redirect is not followed: a body signed for one place must not go to another.
    throw Failure(.refused, "\(origin) answered \(answer.status)", status: answer.status)
  }
}
