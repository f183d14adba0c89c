import Foundation
@testable import MultipartCore
import Support
import Testing

@Suite("Cognito identity pools", .timeLimit(.minutes(15)))
struct CognitoTests {
  static let pool = "eu-west-1:11111111-2222-3333-4444-555555555555"
  static let identity = "eu-west-1:aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
  private let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory() }

  private static let keys = """
    {"IdentityId":"\(identity)","Credentials":{"AccessKeyId":"ASIAGUEST","SecretKey":"guest/hunter2",
    "SessionToken":"guest-token-hunter2","Expiration":1.750003600123E9}}
    """

  /// Plays both operations, each with its own answers.
  private static func peer(
    id: [LocalService.Reply] = [.init(200, #"{"IdentityId":"\#(identity)"}"#)],
    credentials: [LocalService.Reply] = [.init(200, keys)]
  ) throws -> LocalService {
    let left = Guarded(["GetId": id, "GetCredentialsForIdentity": credentials])
    return try LocalService { asked in
      let target = asked.headers["X-Amz-Target"] ?? ""
      let name = String(target.split(separator: ".").last ?? "")
      return left.with { left in
        guard var replies = left[name], let next = replies.first else { return .init(404) }
        if replies.count > 1 { replies.removeFirst() }
        left[name] = replies
        return next
      }
    }
  }

  private func provider(
    _ peer: LocalService, _ world: CredentialWorld? = nil, logins: [String: String] = [:],
    pool: String = Self.pool
  ) throws -> CognitoIdentity {
    let places = ServiceAddresses(environment: ["AWS_ENDPOINT_URL_COGNITO_IDENTITY": peer.url])
    let pool = try #require(CognitoPool(pool))
    return CognitoIdentity(
      pool: pool, logins: logins, services: try (world ?? CredentialWorld()).services,
      address: try places.address(of: .cognitoIdentity, region: pool.region), stateFolder: folder.path("state"))
  }

  private static func body(_ asked: LocalService.Asked) -> NSDictionary? {
    try? JSONSerialization.jsonObject(with: Data(asked.body)) as? NSDictionary
  }

  @Test("a guest gets an identity and its keys, unsigned, and no log has a secret")
  func guest() async throws {
    let (peer, world) = (try Self.peer(), try CredentialWorld())
    let found = try await provider(peer, world).credentials()
    #expect(
      found
        == Credentials(
          accessKeyID: "ASIAGUEST", secretAccessKey: Secret("guest/hunter2"),
          sessionToken: Secret("guest-token-hunter2"), expiration: Timestamp(seconds: 1_750_003_600),
          source: "identity \(Self.identity) of the Cognito pool \(Self.pool), as guest"))
    #expect(peer.asked.map { Self.body($0) } == [["IdentityPoolId": Self.pool], ["IdentityId": Self.identity]])
    for asked in peer.asked {
      #expect(asked.method == "POST" && asked.path == "/" && asked.headers["Authorization"] == nil)
      #expect(asked.headers["Content-Type"] == "application/x-amz-json-1.1")
    }
    #expect(peer.asked.first?.headers["X-Amz-Target"] == "AWSCognitoIdentityService.GetId")
    #expect(!world.log.contains("hunter2"))
  }

  @Test("a guest keeps its identity in the next run, per pool, and the file is private")
  func sameGuest() async throws {
    let peer = try Self.peer()
    #expect(try await provider(peer).id() == Self.identity)
    #expect(try await provider(peer).id() == Self.identity)
    #expect(peer.asked.count == 1)
    _ = try await provider(peer, pool: "eu-west-1:99999999-2222-3333-4444-555555555555").id()
    #expect(peer.asked.count == 2)
    #expect(try await provider(peer).id() == Self.identity)
    #expect(peer.asked.count == 2)
    let file = try FileManager.default.attributesOfItem(atPath: folder.path("state/guests"))
    #expect(file[.posixPermissions] as? Int == 0o600)
    try folder.write("s3up guests 1\nbroken\n", to: "state/guests")
    _ = try await provider(peer).id()
    #expect(peer.asked.count == 3)
  }

  @Test("A guest's identity that another user could have written is not used")
  func plantedGuest() async throws {
    let (peer, world) = (try Self.peer(), try CredentialWorld())
    _ = try await provider(peer).id()
    #expect(chmod(folder.path("state/guests"), 0o666) == 0)
    #expect(try await provider(peer, world).id() == Self.identity)
    #expect(peer.asked.count == 2)
    #expect(world.log.contains("not used: \(folder.path("state/guests")): ") && world.log.contains("stateFolder"))
    // The newly requested identity is stored again.
    #expect(try await provider(peer).id() == Self.identity)
    #expect(peer.asked.count == 2)
  }

  @Test("a program gives a pool's identity to a store, which signs as the guest whose id is in the key")
  func door() async throws {
    let peer = try Self.peer()
    var served = FakeOptions()
    served.credentials = [
      FakeCredential(keyID: "ASIAGUEST", secret: "guest/hunter2", sessionToken: "guest-token-hunter2")
    ]
    served.buckets = ["bucket", "other"]
    let fake = try FakeS3(served)
    var options = StoreOptions(endpoint: fake.endpoint, region: fake.options.region)
    // A pool is selected, so keys of the environment do not count.
    options.environment = [
      "HOME": folder.path, "AWS_ENDPOINT_URL_COGNITO_IDENTITY": peer.url, "AWS_ACCESS_KEY_ID": "NOBODY",
      "AWS_SECRET_ACCESS_KEY": "nothing",
    ]
    let guest = try CognitoIdentity(pool: Self.pool, options)
    options.credentials = .cognito(guest)
    for name in served.buckets {
      let store = try await Store(bucket: name, options)
      try await store.upload(.file(try folder.write("cat", to: "f")), to: "private/\(guest.id())/cat.jpg")
    }
    #expect(fake.object("private/\(Self.identity)/cat.jpg")?.bytes == Array("cat".utf8))
    #expect(peer.asked.filter { $0.headers["X-Amz-Target"]?.hasSuffix(".GetId") == true }.count == 1)
    let failure = await failure { () async throws(Failure) in try CognitoIdentity(pool: "eu-west-1", options) }
    #expect(failure?.code == .usage && failure?.message.contains("eu-west-1") == true)
  }

  @Test("concurrent callers get the same guest")
  func once() async throws {
    let peer = try Self.peer()
    let provider = try provider(peer)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<20 { group.addTask { _ = try? await provider.id() } }
    }
    #expect(peer.asked.count == 1)
  }

  @Test("logins are sent with both calls, their tokens are read each time, and nothing is kept between runs")
  func logins() async throws {
    let (peer, world) = (try Self.peer(), try CredentialWorld())
    let path = try folder.write("jwt-1-hunter2\n", to: "token")
    let provider = try provider(peer, world, logins: ["accounts.google.com": path])
    _ = try await provider.credentials()
    try folder.write("jwt-2-hunter2", to: "token")
    let found = try await provider.credentials()
    #expect(found?.source == "identity \(Self.identity) of the Cognito pool \(Self.pool)")
    let sent = peer.asked.map { Self.body($0)?["Logins"] as? NSDictionary }
    #expect(
      sent == [
        ["accounts.google.com": "jwt-1-hunter2"], ["accounts.google.com": "jwt-1-hunter2"],
        ["accounts.google.com": "jwt-2-hunter2"],
      ])
    #expect(!world.log.contains("hunter2"))
    #expect(!FileManager.default.fileExists(atPath: folder.path("state/guests")))
  }

  @Test("a token file that is missing, empty or holds more than a token is refused before any request")
  func badTokenFile() async throws {
    let peer = try Self.peer()
    let paths = [folder.path("none"), try folder.write(" \n", to: "a"), try folder.write("hunter2 x", to: "b")]
    for path in paths {
      let provider = try provider(peer, logins: ["x": path])
      let failure = await failure { () async throws(Failure) in try await provider.credentials() }
      #expect(failure?.code == .credentials)
      #expect(failure?.message.contains("hunter2") == false)
    }
    #expect(peer.asked.isEmpty)
  }

  @Test("a refusal has Cognito's code and a remedy, and is not retried")
  func refusals() async throws {
    let refused: [(String, String)] = [
      ("NotAuthorizedException", "cognitoLogin"), ("ResourceNotFoundException", "id of the pool"),
      ("com.amazonaws.cognito.identity#InvalidIdentityPoolConfigurationException", "role"),
    ]
    for (code, hint) in refused {
      let peer = try Self.peer(
        id: [.init(400, #"{"__type":"\#(code)","message":"not\u0007 allowed"}"#, headers: ["x-amzn-RequestId": "r-9"])])
      let provider = try provider(peer)
      let failure = await failure { () async throws(Failure) in
        try await provider.credentials()
      }
      #expect(failure?.code == .credentials && failure?.status == 400 && failure?.requestID == "r-9")
      #expect(failure?.message == "Cognito refused GetId: not\u{fffd} allowed")
      #expect(failure?.s3Code.map { code.hasSuffix($0) } == true)
      #expect(failure?.remedy?.contains(hint) == true, "\(String(describing: failure))")
      #expect(peer.asked.count == 1)
    }
  }

  @Test("failures that may pass are retried: too many requests, garbage, half an answer, an invalid identity")
  func again() async throws {
    let bad: [LocalService.Reply] = [
      .init(400, #"{"__type":"TooManyRequestsException"}"#), .init(500, "<html>"), .init(200, "<html>"),
      .init(200, #"{"IdentityId":"../../other"}"#), .init(200, #"{"IdentityId":"#), .init(200, Self.keys, .half),
      .init(200, "", .close),
    ]
    for reply in bad {
      let peer = try Self.peer(id: [reply, .init(200, #"{"IdentityId":"\#(Self.identity)"}"#)])
      try? FileManager.default.removeItem(atPath: folder.path("state"))
      #expect(try await provider(peer).id() == Self.identity, "\(reply)")
    }
  }

  @Test("after a failed lookup the next caller tries again")
  func failedSearch() async throws {
    let peer = try Self.peer(
      id: [.init(400, #"{"__type":"NotAuthorizedException"}"#), .init(200, #"{"IdentityId":"\#(Self.identity)"}"#)])
    let provider = try provider(peer)
    let failure = await failure { () async throws(Failure) in try await provider.id() }
    #expect(failure?.code == .credentials)
    #expect(try await provider.id() == Self.identity)
  }

  @Test("a guest that the pool has deleted ends this run, and the next run is a new guest")
  func deletedGuest() async throws {
    let gone = try Self.peer(credentials: [
      .init(400, #"{"__type":"ResourceNotFoundException"}"#), .init(200, Self.keys),
    ])
    let refused = try provider(gone)
    let failure = await failure { () async throws(Failure) in
      try await refused.credentials()
    }
    #expect(failure?.s3Code == "ResourceNotFoundException")
    #expect(try await provider(gone).credentials() != nil)
    #expect(gone.asked.count == 4)
  }

  @Test(
    "a pool's id is a region, a colon and a UUID",
    arguments: ["eu-west-1", "eu-west-1:", ":1", "eu west:1", "eu-west-1:a/b", "EU-WEST-1:1", "a:b:c", "x:\u{e9}"])
  func poolIDs(text: String) {
    #expect(CognitoPool(text) == nil)
    #expect(CognitoPool(Self.pool)?.region == "eu-west-1")
  }
}
