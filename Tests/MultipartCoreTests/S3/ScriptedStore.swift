import MultipartBasics
@testable import MultipartCore

/// Answers each request with the test's function, and records the requests.
final class ScriptedStore: Transport {
  private let asked = Locked<[Request]>([])
  private let answer: @Sendable (Request, _ number: Int) async throws(Failure) -> Response

  /// Answers with the function, whose `number` counts requests from 1.
  init(_ answer: @escaping @Sendable (Request, _ number: Int) async throws(Failure) -> Response) {
    self.answer = answer
  }

  var requests: [Request] { asked.withLock { $0 } }

  func send(_ request: Request) async throws(Failure) -> Response {
    let number = asked.withLock { asked in
      asked.append(request)
      return asked.count
    }
    return try await answer(request, number)
  }

  /// A client of a store at a URL; the payload is signed only if requested.
  func client(_ world: World, signsPayload: Bool = false) throws -> S3Client {
    let credentials = CredentialKeeper(world: world) { () async throws(Failure) in
      Credentials(accessKeyID: "AKID", secretAccessKey: Secret("secret"), source: "test")
    }
    let signer = BucketSigner(
      bucket: try EndpointResolver.resolve(bucket: "bucket", endpointURL: "https://store.example"),
      payloadSigning: signsPayload ? .always : .auto, now: world.now, credentials: credentials)
    return S3Client(signer: signer, transport: self, world: world)
  }
}

extension Response {
  static func error(_ status: Int, _ code: String) -> Response {
    Response(status: status, body: Array("<Error><Code>\(code)</Code></Error>".utf8))
  }

  /// A list of the parts of `id`, each of three bytes.
  static func parts(_ numbers: [Int]) -> Response {
    let parts = numbers.map { "<Part><PartNumber>\($0)</PartNumber><Size>3</Size><ETag>e</ETag></Part>" }.joined()
    return Response(
      status: 200, body: Array("<ListPartsResult><UploadId>id</UploadId>\(parts)</ListPartsResult>".utf8))
  }
}

extension Request {
  /// The step: `create`, `part 1`, `put`, `list`, `complete`, `abort`, `head` or `uploads`.
  var step: String {
    let query = url.split(separator: "?").dropFirst().first.map(String.init) ?? ""
    switch method {
    case .put:
      let number = query.split(separator: "&").first { $0.hasPrefix("partNumber=") }
      return number.map { "part \($0.dropFirst("partNumber=".count))" } ?? "put"
    case .post: return query.contains("uploadId=") ? "complete" : "create"
    case .get: return query.contains("uploadId=") ? "list" : "uploads"
    case .delete: return "abort"
    case .head: return "head"
    }
  }

  /// The origin, such as `https://bucket.s3.eu-west-1.amazonaws.com`.
  var origin: String { String(url.split(separator: "/", maxSplits: 3).prefix(2).joined(separator: "//")) }

  /// The scope of the signature, such as `eu-west-1/s3`; nil without a signature.
  var scope: String? {
    guard let words = headers["Authorization"]?.split(separator: "/"), words.count > 4 else { return nil }
    return "\(words[2])/\(words[3])"
  }
}

/// A clock, and the messages that are shown at the default level.
final class TestWorld: Sendable {
  private let time = Locked(Duration.seconds(1000))
  private let heard = Locked<[String]>([])

  func advance(_ duration: Duration) { time.withLock { $0 += duration } }

  var said: [String] { heard.withLock { $0 } }
  var uptime: Duration { time.withLock { $0 } }

  /// A world in which sleeping advances this clock.
  var passing: World {
    var world = world
    world.sleep = { wait in
      try Task.checkCancellation()
      self.advance(wait)
      await Task.yield()
    }
    return world
  }

  var world: World {
    World(
      now: { Timestamp(seconds: 1_700_000_000) }, uptime: { self.time.withLock { $0 } }, sleep: { _ in },
      random: { 0.5 }, environment: [:],
      log: { level, text in if level == 0 { self.heard.withLock { $0.append(text().description) } } })
  }
}
