import Foundation
@testable import MultipartCore
import Support
import Testing

@Suite("Container credentials", .timeLimit(.minutes(15)))
struct ContainerProviderTests {
  private static let full = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
  private static let keys = MetadataServer.Keys(
    id: "ASIAPOD", secret: "pod/hunter2", token: "pod-token-hunter2", expiration: "2025-06-15T16:06:40Z")

  private func find(
    _ environment: [String: String], _ world: CredentialWorld? = nil
  ) async -> Result<Credentials?, Failure> {
    do {
      let world = try world ?? CredentialWorld()
      return .success(
        try await ContainerProvider(environment: environment, services: world.services).credentials())
    } catch {
      return .failure(error as? Failure ?? Failure(.local, "\(error)"))
    }
  }

  @Test("without a variable there are no credentials, and no request is sent")
  func none() async throws {
    #expect(try await find([:]).get() == nil)
    #expect(try await find([Self.full: "", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": ""]).get() == nil)
  }

  @Test("the full URI is requested with its query, and returns key, secret, token and expiry")
  func fullURI() async throws {
    let server = try MetadataServer(["/v1/credentials/": [.init(200, Self.keys.json)]])
    let found = try await find([Self.full: server.url + "/v1/credentials/?id=a%2Fb&x"]).get()
    #expect(
      found
        == Credentials(
          accessKeyID: "ASIAPOD", secretAccessKey: Secret("pod/hunter2"), sessionToken: Secret("pod-token-hunter2"),
          expiration: Timestamp(seconds: 1_750_003_600), source: "container credentials at \(server.url)"))
    #expect(server.asked.map(\.target) == ["/v1/credentials/?id=a%2Fb&x"])
    #expect(server.asked.first?.headers["Authorization"] == nil)
  }

  @Test(
    "an expiry may have any zone, and one that cannot be read is an error", arguments: ["+02:00", "+0200", "", "?"])
  func expiries(_ zone: String) async throws {
    let keys = MetadataServer.Keys(
      id: "ASIAPOD", secret: "s", token: "t",
      expiration: zone.isEmpty ? "tomorrow" : "2025-06-15T18:06:40" + zone)
    let json =
      zone == "?" ? #"{"AccessKeyId":"A","SecretAccessKey":"s","Token":"t","Expiration":1750003600}"# : keys.json
    let server = try MetadataServer(["/c": [.init(200, json)]])
    let result = await find([Self.full: server.url + "/c"])
    if zone.count > 1 {
      #expect(try result.get()?.expiration == Timestamp(seconds: 1_750_003_600))
    } else {
      let failure = #expect(throws: Failure.self) { try result.get() }
      #expect(failure?.message.contains("invalid expiration") == true)
    }
  }

  @Test("the token file wins over the token and is read for each request")
  func tokenFile() async throws {
    let server = try MetadataServer(["/c": [.init(200, Self.keys.json)]])
    let folder = try TemporaryDirectory()
    let path = try folder.write("first-token", to: "token")
    let environment = [
      Self.full: server.url + "/c", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "Bearer text",
      "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": path,
    ]
    let world = try CredentialWorld()
    let provider = ContainerProvider(environment: environment, services: world.services)
    _ = try await provider.credentials()
    try folder.write("second-token", to: "token")
    _ = try await provider.credentials()
    _ = try await find(environment.filter { !$0.key.hasSuffix("_FILE") }).get()
    #expect(server.asked.map { $0.headers["Authorization"] } == ["first-token", "second-token", "Bearer text"])
  }

  @Test(
    "a token that could add a header is refused and never shown",
    arguments: ["hunter2\n", "hunter2\r\nX-Evil: 1", "hun\u{0}ter2", "hunter2 \u{e9}"])
  func tokenWithLineBreak(token: String) async throws {
    let server = try MetadataServer(["/c": [.init(200, Self.keys.json)]])
    let folder = try TemporaryDirectory()
    let ofFile = [
      Self.full: server.url + "/c", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": try folder.write(token, to: "token"),
    ]
    let ofText = [Self.full: server.url + "/c", "AWS_CONTAINER_AUTHORIZATION_TOKEN": token]
    for environment in [ofFile, ofText] {
      let failure = await find(environment).failure
      #expect(failure?.code == .credentials)
      #expect(failure?.message.contains("hun") == false)
    }
    #expect(server.asked.isEmpty)
  }

  @Test("a missing or empty token file is a failure, and no request is sent without a token")
  func noTokenFile() async throws {
    let server = try MetadataServer(["/c": [.init(200, Self.keys.json)]])
    let folder = try TemporaryDirectory()
    for path in [folder.path("missing"), try folder.write("", to: "empty")] {
      let failure = await find([Self.full: server.url + "/c", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": path]).failure
      #expect(failure?.code == .credentials)
      #expect(failure?.message.hasPrefix("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: ") == true)
    }
    #expect(server.asked.isEmpty)
  }

  @Test(
    "over http requests go only to this machine and the agents of ECS and EKS",
    arguments: [
      "http://example.com/c", "http://169.254.169.254/c", "http://169.254.170.3/c", "http://128.0.0.1/c",
      "http://127.1/c", "http://2130706433/c", "http://0x7f000001/c", "http://localhost.example.com/c",
      "http://[::2]/c", "http://[fd00:ec2::24]/c", "http://[::ffff:127.0.0.1]/c", "http://192.168.0.1/c",
      "http://127.0.0.1@example.com/c", "ftp://127.0.0.1/c", "/c", "http://",
    ])
  func refusedHosts(url: String) async throws {
    let failure = await find([Self.full: url]).failure
    #expect(failure?.code == .credentials)
    #expect(failure?.message.hasPrefix(Self.full) == true)
  }

  /// The request fails because there is no service, but it was not refused beforehand.
  @Test(
    "https, loopback and the two agents are allowed",
    arguments: [
      "https://example.com/c", "http://127.0.0.1/c", "http://127.255.3.4:81/c", "http://[::1]/c",
      "http://[0:0:0:0:0:0:0:1]:81/c", "http://localhost/c", "http://LOCALHOST:8/c", "http://169.254.170.2/c",
      "http://169.254.170.23/c", "http://[fd00:ec2::23]/c",
    ])
  func allowedHosts(url: String) async throws {
    let sent = Guarded<[Request]>([])
    let transport = RecordingTransport(sent, answer: Response(status: 200, body: Array(Self.keys.json.utf8)))
    let services = ServiceClient(transport: transport, world: try CredentialWorld().world)
    let found = try await ContainerProvider(environment: [Self.full: url], services: services).credentials()
    #expect(found?.accessKeyID == "ASIAPOD")
    #expect(sent.with { $0.map(\.bypassesProxy) } == [url.hasPrefix("http:")])
  }

  @Test("the relative URI is for the ECS agent, wins over the full one and begins with a slash")
  func relative() async throws {
    let sent = Guarded<[Request]>([])
    let transport = RecordingTransport(sent, answer: Response(status: 200, body: Array(Self.keys.json.utf8)))
    let services = ServiceClient(transport: transport, world: try CredentialWorld().world)
    let environment = ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/c?id=7", Self.full: "http://127.0.0.1/other"]
    _ = try await ContainerProvider(environment: environment, services: services).credentials()
    #expect(sent.with { $0.map(\.url) } == ["http://169.254.170.2/v2/c?id=7"])
    for path in ["v2/c", "@example.com/c", "http://example.com/c", ".example.com/"] {
      let failure = await find(["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": path]).failure
      #expect(failure?.code == .credentials, "\(path)")
    }
  }

  @Test("a refusal has the service's code and message, and none of the secrets that were sent")
  func refusal() async throws {
    let server = try MetadataServer([
      "/secret-path": [
        .init(
          403,
          #"{"code":"AccessDeniedException","message":"token hunter2-is-the-token is\u0007 bad for /secret-path?id=secret-id"}"#
        )
      ]
    ])
    let world = try CredentialWorld()
    let failure = await find(
      [
        Self.full: server.url + "/secret-path?id=secret-id",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN": "hunter2-is-the-token",
      ], world
    ).failure
    #expect(failure?.code == .credentials)
    #expect(failure?.s3Code == "AccessDeniedException")
    #expect(failure?.status == 403)
    #expect(
      failure?.message
        == "the container's credential service answered 403: token REDACTED is\u{fffd} bad for REDACTED?id=REDACTED")
    #expect(server.asked.count == 1)
    #expect(!world.log.contains("hunter2"))
    // On ECS, anyone who knows the path gets the keys.
    #expect(!world.log.contains("secret-path"))
  }

  @Test("after a bad answer the request is retried, and the next good one counts")
  func again() async throws {
    let bad: [LocalService.Reply] = [
      .init(500, "oops"), .init(429), .init(200, "<html>sign in</html>"), .init(200, #"{"AccessKeyId":"x"}"#),
      .init(200, Self.keys.json, .half), .init(200, "", .close),
    ]
    for reply in bad {
      let server = try MetadataServer(["/c": [reply, .init(200, Self.keys.json)]])
      let found = try await find([Self.full: server.url + "/c"]).get()
      #expect(found?.accessKeyID == "ASIAPOD", "\(reply)")
      #expect(server.asked.count >= 2, "\(reply)")
    }
  }

  @Test("an answer that stays bad is a failure after three tries")
  func stays() async throws {
    for (reply, code) in [
      (LocalService.Reply(500, #"{"code":"Busy"}"#), Failure.Code.server), (.init(200, "<html>"), .server),
      (.init(503), .throttled), (.init(200, Self.keys.json.replacing("2025-06", with: "soon")), .server),
    ] {
      let server = try MetadataServer(["/c": [reply]])
      let failure = await find([Self.full: server.url + "/c"]).failure
      #expect(failure?.code == code, "\(reply)")
      #expect(server.asked.count == 3, "\(reply)")
    }
  }

  @Test("a redirect is not followed")
  func redirect() async throws {
    let other = try MetadataServer(["/c": [.init(200, Self.keys.json)]])
    let server = try MetadataServer(["/c": [.init(302, "", headers: ["Location": other.url + "/c"])]])
    let failure = await find([Self.full: server.url + "/c"]).failure
    #expect(failure?.code == .credentials)
    #expect(other.asked.isEmpty)
  }

  @Test("if there is no answer, the network failure names the variable")
  func nobody() async throws {
    let sent = Guarded<[Request]>([])
    let services = ServiceClient(
      transport: RecordingTransport(sent, answer: nil), world: try CredentialWorld().world)
    let provider = ContainerProvider(environment: [Self.full: "http://127.0.0.1:9/c"], services: services)
    let failure = await failure { () async throws(Failure) in try await provider.credentials() }
    #expect(sent.with { $0.count } == 3)
    #expect(failure?.code == .network)
    #expect(failure?.remedy?.contains(Self.full) == true)
  }
}

extension Result where Failure == MultipartCore.Failure {
  var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}

/// Gives every request the same answer, or no answer, and records the requests.
struct RecordingTransport: Transport {
  private let sent: Guarded<[Request]>
  private let answer: Response?

  init(_ sent: Guarded<[Request]>, answer: Response?) {
    self.sent = sent
    self.answer = answer
  }

  func send(_ request: Request) async throws(Failure) -> Response {
    sent.with { $0.append(request) }
    guard let answer else { throw Failure(.network, "nobody answers") }
    return answer
  }
}
