import MultipartBasics
import Support
import Testing

@testable import MultipartCore

/// The place in a run where secrets are removed from answers and failures.
@Suite(.timeLimit(.minutes(5))) struct SecretsInUseTests {
  private static let token = "TokenTokenToken/+=0123456789t0Kent0Ken"
  private static let signature = "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"

  private static func request(_ headers: HeaderList = [:], url: String = "http://127.0.0.1/b/k") -> Request {
    Request(method: .put, url: url, headers: headers)
  }

  private static func answer(_ text: String, status: Int = 400) -> Response {
    Response(status: status, headers: ["x-echo": text, "x-\(text)": "1"], body: Array("<R>\(text)</R>".utf8))
  }

  private static func shown(_ answer: Response) -> String {
    answer.headers.fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
      + String(decoding: answer.body, as: UTF8.self)
  }

  @Test(
    "a request's secrets are known from its headers and its URL",
    arguments: [
      (
        [
          "Authorization":
            "AWS4-HMAC-SHA256 Credential=AK/d/r/s3/aws4_request, SignedHeaders=host, Signature=\(signature)"
        ],
        "", signature
      ),
      (["Authorization": "Bearer \(token)"], "", token), (["Authorization": token], "", token),
      (["X-Amz-Security-Token": token], "", token), (["x-amz-s3session-token": token], "", token),
      (["x-amz-sso_bearer_token": token], "", token), (["x-aws-ec2-metadata-token": token], "", token),
      (["Cookie": token], "", token), (["Proxy-Authorization": "Basic \(token)"], "", token),
      ([:], "?X-Amz-Signature=\(signature)&partNumber=1", signature),
      ([:], "?a=b&X-Amz-Security-Token=TokenTokenToken%2F%2B%3D0123456789t0Kent0Ken", token),
      ([:], "?AWSAccessKeyId=a&Signature=SecretSecret%2FSecret", "SecretSecret/Secret"),
      ([:], "?sig=SecretSecret%2FSecret", "SecretSecret/Secret"),
    ] as [(HeaderList, String, String)])
  func sent(_ headers: HeaderList, _ query: String, _ secret: String) {
    let request = Self.request(headers, url: "http://127.0.0.1/b/k" + query)
    let text = Self.shown(SecretsInUse().masked(Self.answer(secret), of: request))
    #expect(!text.contains(secret.prefix(14)), "\(text)")
    #expect(text.contains("x-echo: REDACTED") && text.contains("<R>REDACTED</R>"), "\(text)")
    let failure = SecretsInUse().masked(
      Failure(.network, "odd: \(secret)", s3Code: secret, requestID: secret, region: secret, remedy: Wording(secret)),
      of: request)
    #expect(!"\(failure)".contains(secret.prefix(14)))
  }

  @Test("an SSE-C key and its MD5 are found as sent and as raw bytes")
  func customerKey() throws {
    let key = randomBytes(32, seed: 4)
    let headers = try HeadObject(ObjectAddress("b", "k", customerKey: try CustomerKey(key))).request().headers
    for secret in [
      Base64.encode(key), Hex.encode(key), Hex.encode(try Digest.md5(key)), Base64.encode(try Digest.md5(key)),
    ] {
      let text = Self.shown(SecretsInUse().masked(Self.answer(secret), of: Self.request(headers)))
      #expect(!text.contains(secret.prefix(14)), "\(text)")
    }
  }

  @Test("names, regions, key ids and hosts are not secrets")
  func open() {
    let headers: HeaderList = [
      "Authorization":
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20260101/us-east-1/s3/aws4_request, "
        + "SignedHeaders=host;x-amz-date, Signature=\(Self.signature)"
    ]
    let text = "AKIAIOSFODNN7EXAMPLE/20260101/us-east-1/s3/aws4_request host;x-amz-date 127.0.0.1/b/k"
    let answer = SecretsInUse().masked(
      Response(status: 200, headers: ["ETag": text]),
      of: Self.request(headers, url: "http://127.0.0.1/b/k?uploadId=IdIdIdIdId"))
    #expect(answer.headers["ETag"] == text)
  }

  @Test("keys that were asked for are shown, but no other secret is")
  func keys() {
    let secrets = SecretsInUse()
    secrets.add(Secret(Self.token))
    var request = Self.request()
    request.answerHoldsSecrets = true
    let given = secrets.masked(Self.answer(Self.token, status: 200), of: request)
    #expect(String(decoding: given.body, as: UTF8.self) == "<R>\(Self.token)</R>")
    #expect(given.headers["x-echo"] == Redaction.mask)
    #expect(!Self.shown(secrets.masked(Self.answer(Self.token, status: 403), of: request)).contains(Self.token))
  }

  @Test("a key or an ETag that shares some letters with a secret is not changed, but a refusal shows none of them")
  func chance() {
    let secrets = SecretsInUse()
    for secret in ["minioadmin", "fake/secret+key/0123456789abcdefghijklmn"] { secrets.add(Secret(secret)) }
    for text in ["minioadmin", "minioadmin.tar", "secret key/0123.bin", "0123456789abcdef0123456789abcdef"] {
      #expect(
        Self.shown(secrets.masked(Self.answer(text, status: 200), of: Self.request())).contains("x-echo: \(text)"))
      #expect(!Self.shown(secrets.masked(Self.answer(text), of: Self.request())).contains(text))
    }
    let whole = Self.shown(
      secrets.masked(Self.answer("fake/secret%2Bkey/0123456789abcdefghij", status: 200), of: Self.request()))
    #expect(whole.contains("x-echo: REDACTED\n"), "\(whole)")
  }

  @Test("an error in a successful answer is shown without any piece of a secret")
  func errorInSuccess() async throws {
    let world = TestWorld().world
    world.secrets.add(Secret("fake/secret+key/0123456789abcdefghijklmn"))
    let body = "<Error><Code>InternalError</Code><Message>it got secret+key/0123</Message></Error>"
    let signer = BucketSigner(
      bucket: try EndpointResolver.resolve(bucket: "bucket", endpointURL: "https://store.example"), now: world.now,
      credentials: nil)
    let client = S3Client(
      signer: signer, transport: ScriptedStore { (_, _) in Response(status: 200, body: Array(body.utf8)) }, world: world
    )
    let complete = CompleteMultipartUpload(
      ObjectAddress("bucket", "k"), uploadID: "id", parts: [.init(number: 1, etag: "e", checksum: nil)])
    let failure = await #expect(throws: Failure.self) { _ = try await client.perform(complete) }
    #expect(failure?.s3Code == "InternalError")
    #expect(failure?.message.hasSuffix("it got REDACTED") == true, "\(String(describing: failure))")
  }

  @Test("a password in a proxy's address is known, encoded or not")
  func proxy() throws {
    var options = TransportOptions()
    options.proxy = ProxySettings(option: "http://user:Pass%2FWord%2BWord@127.0.0.1:1", environment: [:])
    _ = try CurlTransport(options: options)
    #expect(options.secrets.masked("it said Pass/Word+Word") == "it said REDACTED")
    #expect(options.secrets.masked("it said Pass%2fWord%2bWord") == "it said REDACTED")
  }

  @Test("a log never shows a secret of the run")
  func log() {
    let lines = Locked<[String]>([])
    let world = World(
      now: { Timestamp(seconds: 0) }, uptime: { .zero }, sleep: { _ in }, random: { 0 }, environment: [:],
      log: { level, message in if level < 2 { lines.withLock { $0.append(message().description) } } })
    world.secrets.add(Secret(Self.token))
    world.log(1, "got \(Self.token)!")
    world.log(2, "not asked for: \(Issue.record("a message that nobody sees was made"))")
    #expect(lines.withLock { $0 } == ["got REDACTED!"])
  }

  @Test("a run of several days keeps the latest secrets, and a dump shows none")
  func bounded() {
    let secrets = SecretsInUse()
    let tokens = (0..<200).map { Base64.encode(randomBytes(60, seed: $0)).filter(\.isLetter) }
    for token in tokens { secrets.add(Secret(token)) }
    for token in tokens.suffix(8) { #expect(secrets.masked(token) == Redaction.mask) }
    #expect(secrets.masked(tokens[0]) == tokens[0])
    var dumped = ""
    dump(secrets, to: &dumped)
    #expect(!dumped.contains(tokens[199].prefix(8)) && dumped.count < 200)
  }
}
