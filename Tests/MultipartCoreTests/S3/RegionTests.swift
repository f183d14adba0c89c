@testable import MultipartCore
import Support
import Testing

@Suite("A bucket in another region", .timeLimit(.minutes(15)))
struct RegionTests {
  private let world = TestWorld()

  private func client(
    _ store: ScriptedStore, url: String? = nil, region: String = "us-east-1", signs: Bool = true,
    bucket: String = "bucket", _ change: (inout EndpointOptions) -> Void = { _ in }
  ) throws -> S3Client {
    var options = EndpointOptions()
    change(&options)
    let endpoint = try EndpointResolver.resolve(
      EndpointQuestion(bucket: bucket, region: region, endpointURL: url, options: options))
    let credentials = CredentialKeeper(world: world.world) { () async throws(Failure) in
      Credentials(accessKeyID: "AKID", secretAccessKey: Secret("secret"), source: "test")
    }
    let signer = BucketSigner(bucket: endpoint, now: world.world.now, credentials: signs ? credentials : nil)
    return S3Client(signer: signer, transport: store, world: world.world)
  }

  private func head(_ client: S3Client, bucket: String = "bucket") async throws {
    _ = try await client.perform(HeadObject(ObjectAddress(bucket, "key")))
  }

  private func list(_ client: S3Client) async throws {
    _ = try await client.perform(ListParts(ObjectAddress("bucket", "key"), uploadID: "id"))
  }

  private static let good = Response(status: 200, headers: ["ETag": "\"x\"", "Content-Length": "3"])

  private static func error(_ status: Int, _ code: String, _ more: String = "", _ headers: HeaderList = [:]) -> Response
  {
    Response(status: status, headers: headers, body: Array("<Error><Code>\(code)</Code>\(more)</Error>".utf8))
  }

  static let refusals: [(name: String, answer: Response)] = [
    ("301 with the header", Response(status: 301, headers: ["x-amz-bucket-region": "eu-west-1"])),
    (
      "301 with the endpoint", error(301, "PermanentRedirect", "<Endpoint>bucket.s3-eu-west-1.amazonaws.com</Endpoint>")
    ),
    ("307 with the header", Response(status: 307, headers: ["x-amz-bucket-region": "eu-west-1"])),
    ("a malformed header", error(400, "AuthorizationHeaderMalformed", "<Region>eu-west-1</Region>")),
    ("a HEAD's 400", Response(status: 400, headers: ["x-amz-bucket-region": "eu-west-1"])),
    (
      "an opt-in region",
      error(400, "IllegalLocationConstraintException", "", ["x-amz-bucket-region": "eu-west-1"])
    ),
  ]

  @Test("requests follow it once, it is remembered for the run, and reported in one line", arguments: refusals.indices)
  func followed(index: Int) async throws {
    let refusal = Self.refusals[index].answer
    let store = ScriptedStore { request, _ in request.url.contains("us-east-1") ? refusal : Self.good }
    let client = try client(store)
    try await head(client)
    try await head(client)
    #expect(store.requests.map(\.scope) == ["us-east-1/s3", "eu-west-1/s3", "eu-west-1/s3"])
    #expect(store.requests.dropFirst().allSatisfy { $0.url.contains("eu-west-1.amazonaws.com/key") })
    #expect(world.said.count == 1)
    #expect(world.said.first?.contains("is in eu-west-1, not in us-east-1") == true)
    // The store is remembered by the name with which the run began.
    #expect(client.signer.origin == "https://bucket.s3.us-east-1.amazonaws.com")
  }

  @Test("at a URL the signature changes and the host never")
  func customEndpoint() async throws {
    for refusal in Self.refusals where refusal.name != "301 with the endpoint" {
      let store = ScriptedStore { request, _ in request.scope == "eu-west-1/s3" ? Self.good : refusal.answer }
      try await head(client(store, url: "https://store.example"))
      #expect(store.requests.map(\.origin) == ["https://store.example", "https://store.example"], "\(refusal.name)")
    }
  }

  @Test("at a URL a redirect that names no region is a failure, wherever it points", arguments: [301, 307])
  func customRedirect(status: Int) async throws {
    let store = ScriptedStore { _, _ in
      Response(status: status, headers: ["Location": "https://bucket.s3.eu-west-1.amazonaws.com/key"])
    }
    let client = try client(store, url: "https://store.example")
    await #expect(throws: Failure.self) { try await head(client) }
    #expect(store.requests.count == 1)
  }

  @Test("without a signature a store at a URL does not get the same request again")
  func unsigned() async throws {
    let store = ScriptedStore { _, _ in Self.refusals[0].answer }
    let client = try client(store, url: "https://store.example", signs: false)
    await #expect(throws: Failure.self) { try await head(client) }
    #expect(store.requests.count == 1)
  }

  @Test("there is no second move, because the store would redirect in circles")
  func once() async throws {
    let store = ScriptedStore { request, _ in
      let next = request.url.contains("us-east-1") ? "eu-west-1" : "us-east-1"
      return Response(status: 301, headers: ["x-amz-bucket-region": next])
    }
    let client = try client(store)
    await #expect(throws: Failure.self) { try await head(client) }
    #expect(store.requests.count == 2)
    await #expect(throws: Failure.self) { try await head(client) }
    #expect(store.requests.count == 3)
  }

  @Test("requests that were sent before the region was learned are sent again, and nothing is reported twice")
  func together() async throws {
    let gate = AsyncStream<Void>.makeStream()
    let store = ScriptedStore { request, number in
      guard request.url.contains("us-east-1") else { return Self.good }
      // None of the four is answered before all have been sent.
      if number == 4 { gate.continuation.finish() } else { for await _ in gate.stream {} }
      return Self.refusals[0].answer
    }
    let client = try client(store)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 { group.addTask { try await self.head(client) } }
      try await group.waitForAll()
    }
    #expect(store.requests.count == 8)
    #expect(world.said.count == 1)
  }

  static let elsewhere = [
    "https://bucket.s3.us-west-2.amazonaws.com.evil.example/key", "https://evil.example/bucket/key",
    "https://bucket.s3.us-west-2.evil.amazonaws.com/key", "http://bucket.s3.us-west-2.amazonaws.com/key",
    "https://bucket.s3.us-west-2.amazonaws.com:8443/key", "https://u:p@bucket.s3.us-west-2.amazonaws.com/key",
    "https://bucket.s3.cn-north-1.amazonaws.com.cn/key", "https://bucket.s3.us-gov-west-1.amazonaws.com/key",
    "https://other.s3.us-west-2.amazonaws.com/key", "https://bucket.ec2.us-west-2.amazonaws.com/key",
    "https://s3-website-us-west-2.amazonaws.com/key", "//evil.example/key", "https://", "ftp://x",
  ]

  @Test("a redirect to a host that is not S3's own in the partition is refused", arguments: elsewhere)
  func refused(location: String) async throws {
    let store = ScriptedStore { _, _ in
      Self.error(307, "TemporaryRedirect", "", ["Location": location])
    }
    let client = try client(store)
    do {
      try await list(client)
      Issue.record("it was followed")
    } catch let failure as Failure {
      #expect(failure.code == .refused && failure.message.contains("another host"), "\(failure)")
    }
    #expect(store.requests.count == 1)
  }

  @Test(
    "a redirect to an S3 host in the partition is followed",
    arguments: [
      ("https://bucket.s3-us-west-2.amazonaws.com/key?uploads", "us-west-2"),
      ("https://bucket.s3.us-west-2.amazonaws.com/key", "us-west-2"),
      ("https://s3.dualstack.us-west-2.amazonaws.com/bucket/key", "us-west-2"),
      ("https://BUCKET.s3.amazonaws.com/key", "us-east-1"),
    ])
  func namedHost(location: String, region: String) async throws {
    let store = ScriptedStore { _, number in
      number == 1 ? Self.error(307, "TemporaryRedirect", "", ["Location": location]) : Self.good
    }
    try await head(client(store))
    let host = location.lowercased().split(separator: "/")[1]
    #expect(store.requests.last?.origin == "https://\(host)")
    #expect(store.requests.last?.scope == "\(region)/s3")
    #expect(store.requests.last?.url.hasSuffix(host.hasPrefix("s3") ? "/bucket/key" : "com/key") == true)
  }

  @Test("with --fips no redirect leads away from FIPS")
  func fips() async throws {
    let store = ScriptedStore { _, number in
      number == 1
        ? Self.error(307, "TemporaryRedirect", "", ["Location": "https://bucket.s3.us-west-2.amazonaws.com/key"])
        : Self.good
    }
    let client = try client(store) { $0.fips = true }
    await #expect(throws: Failure.self) { try await head(client) }
    #expect(store.requests.count == 1)
  }

  @Test(
    "a region of another partition, or an invalid one, is not followed",
    arguments: ["cn-north-1", "us-gov-west-1", "evil.example", "evil", "EU", "eu-west-1/x", "", "s3-website-eu-west-1"])
  func foreignRegion(region: String) async throws {
    let store = ScriptedStore { _, _ in Response(status: 301, headers: ["x-amz-bucket-region": region]) }
    let client = try client(store)
    await #expect(throws: Failure.self) { try await head(client) }
    #expect(store.requests.count == 1)
  }

  @Test("an ARN and a directory bucket name their region, and are not followed elsewhere")
  func fixed() async throws {
    for bucket in ["arn:aws:s3:us-east-1:123456789012:accesspoint/ap", "b--use1-az4--x-s3"] {
      let store = ScriptedStore { _, _ in Self.refusals[0].answer }
      let client = try client(store, bucket: bucket)
      await #expect(throws: Failure.self) { try await head(client, bucket: bucket) }
      #expect(store.requests.count == 1, "\(bucket)")
    }
  }

  @Test("an answer that is not a redirect changes nothing, whatever region it names", arguments: [200, 403, 404, 500])
  func noRedirect(status: Int) async throws {
    let store = ScriptedStore { _, _ in
      var answer = Self.good
      answer.status = status
      answer.headers.add("x-amz-bucket-region", "eu-west-1")
      return answer
    }
    let client = try client(store)
    try? await head(client)
    #expect(store.requests.count == 1)
    #expect(world.said.isEmpty)
  }

  // MARK: - Asking

  private func ask(_ answer: Response, _ question: EndpointQuestion) async -> (String?, [Request]) {
    let store = ScriptedStore { _, _ in answer }
    return (await BucketLocator.region(of: question, transport: store, world: world.world), store.requests)
  }

  @Test("AWS is asked by one unsigned HEAD, whose status does not matter", arguments: [200, 301, 400, 403])
  func asked(status: Int) async {
    let (region, requests) = await ask(
      Response(status: status, headers: ["x-amz-bucket-region": "ap-south-1"]), EndpointQuestion(bucket: "bucket"))
    #expect(region == "ap-south-1")
    #expect(requests.map(\.url) == ["https://bucket.s3.us-east-1.amazonaws.com/"])
    #expect(requests.first?.method == .head && requests.first?.headers["Authorization"] == nil)
  }

  @Test("an impossible answer is ignored", arguments: ["cn-north-1", "evil.example", ""])
  func notBelieved(region: String) async {
    let (found, _) = await ask(
      Response(status: 301, headers: ["x-amz-bucket-region": region]), EndpointQuestion(bucket: "bucket"))
    #expect(found == nil)
  }

  @Test("no request is sent for a store at a URL, an ARN or a zone")
  func notAsked() async {
    for question in [
      EndpointQuestion(bucket: "bucket", endpointURL: "http://h"), EndpointQuestion(bucket: "b--use1-az4--x-s3"),
      EndpointQuestion(bucket: "arn:aws:s3:us-east-1:123456789012:accesspoint/ap"), EndpointQuestion(bucket: "a/b"),
    ] {
      #expect(await ask(Self.good, question).1.isEmpty, "\(question.bucket)")
    }
  }
}
