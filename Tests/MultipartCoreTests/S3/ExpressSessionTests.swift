import MultipartBasics
@testable import MultipartCore
import Support
import Testing

@Suite("Sessions of directory buckets", .timeLimit(.minutes(15)))
struct ExpressSessionTests {
  private let world = TestWorld()
  private let bucket = "base--usw2-az1--x-s3"

  private static func session(_ number: Int, lifetime: Int64 = 300) -> Response {
    let now = Timestamp(seconds: 1_600_000_000)
    let text = """
      <?xml version="1.0"?><CreateSessionResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Credentials>
      <SessionToken>token-\(number)</SessionToken><SecretAccessKey>secret-\(number)</SecretAccessKey>
      <AccessKeyId>ASIA\(number)</AccessKeyId>
      <Expiration>\(Timestamp(seconds: now.seconds + lifetime).iso8601)</Expiration></Credentials></CreateSessionResult>
      """
    // The date is years away from this machine's clock: only the difference counts.
    return Response(status: 200, headers: ["Date": "Sun, 13 Sep 2020 12:26:40 GMT"], body: Array(text.utf8))
  }

  private static let good = Response(status: 200, headers: ["ETag": "\"x\"", "Content-Length": "3"])

  private func client(_ store: ScriptedStore) throws -> S3Client {
    let endpoint = try EndpointResolver.resolve(bucket: bucket)
    let world = world.world
    let ordinary = CredentialKeeper(world: world) { () async throws(Failure) in
      Credentials(
        accessKeyID: "AKID", secretAccessKey: Secret("secret"), sessionToken: Secret("sts"), source: "test")
    }
    let opener = S3Client(
      signer: BucketSigner(bucket: endpoint, now: world.now, credentials: ordinary), transport: store, world: world)
    let begin = CreateSession(bucket: bucket)
    let session = ExpressSession(uptime: world.uptime) { () async throws(Failure) in try await opener.perform(begin) }
    let signer = BucketSigner(bucket: endpoint, now: world.now, session: session, credentials: ordinary)
    return S3Client(signer: signer, transport: store, world: world)
  }

  private func head(_ client: S3Client) async throws {
    _ = try await client.perform(HeadObject(ObjectAddress(bucket, "key")))
  }

  private func store(_ answer: @escaping @Sendable (Request, Int) -> Response? = { _, _ in nil }) -> ScriptedStore {
    let sessions = Locked(0)
    return ScriptedStore { request, number in
      if let answer = answer(request, number) { return answer }
      guard request.url.hasSuffix("?session") else { return Self.good }
      return Self.session(
        sessions.withLock {
          $0 += 1
          return $0
        })
    }
  }

  private func tokens(_ store: ScriptedStore) -> [String] {
    store.requests.map { $0.headers["x-amz-s3session-token"] ?? $0.headers["x-amz-security-token"] ?? "none" }
  }

  @Test("it begins with the ordinary credentials, and signs all later requests with its own")
  func signed() async throws {
    let store = store()
    let client = try client(store)
    try await head(client)
    try await head(client)
    #expect(tokens(store) == ["sts", "token-1", "token-1"])
    let begin = try #require(store.requests.first)
    #expect(begin.url == "https://base--usw2-az1--x-s3.s3express-usw2-az1.us-west-2.amazonaws.com/?session")
    #expect(begin.headers["Authorization"]?.contains("Credential=AKID/") == true)
    let next = try #require(store.requests.last)
    #expect(next.headers["Authorization"]?.contains("Credential=ASIA1/") == true)
    #expect(next.headers["Authorization"]?.contains("x-amz-s3session-token") == true)
    #expect(next.headers["x-amz-security-token"] == nil)
    #expect(store.requests.allSatisfy { $0.scope == "us-west-2/s3express" })
  }

  @Test("many requests at once begin one session")
  func one() async throws {
    let store = store()
    let client = try client(store)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 { group.addTask { try await self.head(client) } }
      try await group.waitForAll()
    }
    #expect(store.requests.filter { $0.url.hasSuffix("?session") }.count == 1)
  }

  @Test("it is renewed before it expires, and no request waits for that")
  func renewed() async throws {
    let gate = AsyncStream<Void>.makeStream()
    let begun = Locked(0)
    let store = ScriptedStore { request, _ in
      guard request.url.hasSuffix("?session") else { return Self.good }
      let number = begun.withLock {
        $0 += 1
        return $0
      }
      if number == 2 { for await _ in gate.stream {} }
      return Self.session(number)
    }
    let client = try client(store)
    try await head(client)
    world.advance(.seconds(239))
    try await head(client)
    #expect(begun.withLock { $0 } == 1)
    world.advance(.seconds(2))
    // The renewal stalls, and these requests are sent anyway.
    defer { gate.continuation.finish() }
    try await finishes("requests beside a renewal") { for _ in 0..<5 { try await head(client) } }
    try await until("a renewal has begun") { begun.withLock { $0 } == 2 }
    gate.continuation.finish()
    for _ in 0..<10_000 where tokens(store).last != "token-2" {
      try await head(client)
      await Task.yield()
    }
    #expect(tokens(store).last == "token-2")
    #expect(begun.withLock { $0 } == 2)
  }

  @Test("a request after its expiry waits for the next session")
  func ended() async throws {
    let store = store()
    let client = try client(store)
    try await head(client)
    world.advance(.seconds(301))
    try await head(client)
    #expect(tokens(store) == ["sts", "token-1", "sts", "token-2"])
  }

  @Test("a failed renewal has no effect while the old session is valid; after it expires the reason is reported")
  func failedRenewal() async throws {
    let store = store { request, number in
      number > 1 && request.url.hasSuffix("?session") ? Response(status: 403) : nil
    }
    let client = try client(store)
    try await head(client)
    world.advance(.seconds(250))
    try await head(client)
    // The renewal is refused during these requests; after that none begins for five seconds.
    for _ in 0..<50 { try await head(client) }
    #expect(store.requests.filter { $0.url.hasSuffix("?session") }.count <= 2)
    world.advance(.seconds(100))
    do {
      try await head(client)
      Issue.record("it was signed by nobody")
    } catch let failure as Failure {
      #expect(failure.code == .credentials)
      #expect(failure.remedy?.contains("s3express:CreateSession") == true)
    }
  }

  @Test("if the store says that the session has expired, one new session is begun and the request is sent again")
  func endedByTheStore() async throws {
    let expired = Response(status: 400, body: Array("<Error><Code>ExpiredToken</Code></Error>".utf8))
    let store = store { request, _ in request.headers["x-amz-s3session-token"] == "token-1" ? expired : nil }
    let client = try client(store)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { try await self.head(client) } }
      try await group.waitForAll()
    }
    #expect(store.requests.filter { $0.url.hasSuffix("?session") }.count == 2)
    #expect(store.requests.filter { $0.headers["x-amz-s3session-token"] == "token-1" }.count <= 8)
  }

  @Test("a store that accepts no session is asked for two, not endlessly")
  func neverTaken() async throws {
    let store = store { request, _ in
      request.url.hasSuffix("?session")
        ? nil : Response(status: 400, body: Array("<Error><Code>ExpiredToken</Code></Error>".utf8))
    }
    let client = try client(store)
    await #expect(throws: Failure.self) { try await head(client) }
    #expect(store.requests.count == 4)
  }

  @Test(
    "an answer without a session is a failure",
    arguments: [
      "", "<CreateSessionResult/>", "<html>", "<Error><Code>AccessDenied</Code></Error>",
      """
      <CreateSessionResult><Credentials><AccessKeyId>A B</AccessKeyId><SecretAccessKey>s</SecretAccessKey>\
      <SessionToken>t</SessionToken></Credentials></CreateSessionResult>
      """,
    ])
  func nonsense(body: String) {
    #expect(throws: Failure.self) {
      try CreateSession(bucket: bucket).output(from: Response(status: 200, body: Array(body.utf8)))
    }
  }

  @Test("its lifetime is measured by the store's clock, at most an hour, and five minutes if the store does not say")
  func lifetime() throws {
    let begin = CreateSession(bucket: bucket)
    #expect(try begin.output(from: Self.session(1, lifetime: 90)).lifetime == .seconds(90))
    #expect(try begin.output(from: Self.session(1, lifetime: 86_400)).lifetime == .seconds(3600))
    #expect(try begin.output(from: Self.session(1, lifetime: -5)).lifetime == .seconds(300))
    var silent = Self.session(1)
    silent.headers = [:]
    #expect(try begin.output(from: silent).lifetime == .seconds(300))
  }
}
