import Foundation
import MultipartBasics
@testable import MultipartCore
import Support
import Testing

@Suite("Instance metadata", .timeLimit(.minutes(15)))
struct InstanceMetadataTests {
  private static let endpoint = "AWS_EC2_METADATA_SERVICE_ENDPOINT"
  /// Settings with a long timeout, because on a busy machine a slow answer must not count as none.
  static func patient(_ url: String) -> [String: String] { [endpoint: url, "AWS_METADATA_SERVICE_TIMEOUT": "100"] }
  /// Keys that expire six hours after the world's now.
  static let keys = MetadataServer.Keys(
    id: "ASIAEC2", secret: "ec2/hunter2", token: "ec2-token-hunter2", expiration: "2025-06-15T21:06:40Z")

  private func provider(
    _ world: CredentialWorld, _ environment: [String: String], profile: Profile? = nil
  ) -> InstanceMetadataProvider {
    let metadata = InstanceMetadata(services: world.services, environment: environment) {
      () throws(Failure) in profile
    }
    return InstanceMetadataProvider(metadata: metadata, world: world.world)
  }

  private func find(_ server: MetadataServer) async throws(Failure) -> Credentials? {
    guard let world = try? CredentialWorld() else { throw Failure(.local, "no world") }
    return try await provider(world, Self.patient(server.url)).credentials()
  }

  @Test("a PUT gets a token, role and credentials are requested with it, and the log has no secret")
  func steps() async throws {
    let server = try MetadataServer(.instance(keys: Self.keys), token: "session-hunter2")
    let world = try CredentialWorld()
    let found = try await provider(world, Self.patient(server.url + "/")).credentials()
    #expect(
      found
        == Credentials(
          accessKeyID: "ASIAEC2", secretAccessKey: Secret("ec2/hunter2"), sessionToken: Secret("ec2-token-hunter2"),
          expiration: Timestamp(seconds: CredentialWorld.now.seconds + 21_600),
          source: "role builder of this instance (IMDS at \(server.url))"))
    #expect(server.asked.map(\.method) == ["PUT", "GET", "GET"])
    #expect(
      server.paths == [MetadataServer.tokenPath, MetadataServer.rolePath, MetadataServer.rolePath + "builder"])
    #expect(server.asked[0].headers["x-aws-ec2-metadata-token-ttl-seconds"] == "21600")
    #expect(!world.log.contains("hunter2"))
    #expect(world.log.contains("> credentials of the instance: GET"))
  }

  @Test("the region is requested with the same token")
  func region() async throws {
    let server = try MetadataServer(.instance(keys: Self.keys), token: "s")
    let world = try CredentialWorld()
    let metadata = InstanceMetadata(services: world.services, environment: Self.patient(server.url))
    #expect(try await metadata.region() == "eu-central-1")
    let provider = InstanceMetadataProvider(metadata: metadata, world: world.world)
    #expect(try await provider.credentials()?.accessKeyID == "ASIAEC2")
    #expect(server.paths.filter { $0 == MetadataServer.tokenPath }.count == 1)
    for answer in ["<html>x</html>", "EU central", ""] {
      server.set("/latest/meta-data/placement/region", .init(200, answer))
      #expect(try await metadata.region() == nil)
    }
  }

  @Test("an expired token is renewed, once")
  func endedToken() async throws {
    let server = try MetadataServer(.instance(keys: Self.keys), token: "first")
    let world = try CredentialWorld()
    let metadata = InstanceMetadata(services: world.services, environment: Self.patient(server.url))
    _ = try await metadata.region()
    server.setToken("second")
    #expect(try await metadata.region() == "eu-central-1")
    #expect(server.asked.map(\.method) == ["PUT", "GET", "GET", "PUT", "GET"])
    server.set("/latest/meta-data/placement/region", .init(401))
    #expect(try await metadata.region() == nil)
    #expect(server.asked.map(\.method).suffix(3) == ["GET", "PUT", "GET"])
  }

  @Test("without the service, a token or a role there are no credentials, which is not a failure")
  func absent() async throws {
    let scripts: [MetadataServer.Script] = [
      [:],
      [MetadataServer.tokenPath: [.init(403)]],
      [MetadataServer.tokenPath: [.init(405, "<html>")]],
      [MetadataServer.tokenPath: [.init(200, "<html>sign in</html>")]],
      [MetadataServer.tokenPath: [.init(302, "", headers: ["Location": "http://127.0.0.1:1/"])]],
      [MetadataServer.tokenPath: [.init(200, "t")]],
      [MetadataServer.tokenPath: [.init(200, "t")], MetadataServer.rolePath: [.init(200, " \n")]],
    ]
    for script in scripts {
      let server = try MetadataServer(script)
      #expect(try await find(server) == nil, "\(script)")
    }
    let gone = try MetadataServer([:]).url
    let world = try CredentialWorld()
    #expect(try await provider(world, Self.patient(gone)).credentials() == nil)
    #expect(world.log.contains("no instance metadata at \(gone)"))
  }

  @Test(
    "without an answer the tries with their timeouts are made once, without a proxy, and not again for the next request"
  )
  func costs() async throws {
    let sent = Guarded<[Request]>([])
    let world = try CredentialWorld()
    let services = ServiceClient(transport: RecordingTransport(sent, answer: nil), world: world.world)
    let environment = ["AWS_METADATA_SERVICE_TIMEOUT": "0.1", "AWS_METADATA_SERVICE_NUM_ATTEMPTS": "3"]
    for (settings, tries, limit) in [(environment, 3, Duration.milliseconds(100)), ([:], 2, .seconds(1))] {
      sent.with { $0 = [] }
      let metadata = InstanceMetadata(services: services, environment: settings)
      #expect(try await metadata.region() == nil)
      let provider = InstanceMetadataProvider(metadata: metadata, world: world.world)
      #expect(try await provider.credentials() == nil)
      #expect(sent.with { $0.map(\.timeLimit) } == Array(repeating: limit, count: tries))
      #expect(sent.with { $0.allSatisfy { $0.bypassesProxy && $0.url == "http://169.254.169.254/latest/api/token" } })
    }
  }

  @Test("a service that stops answering has a fault, and is not taken as absent")
  func trouble() async throws {
    let server = try MetadataServer(.instance(keys: Self.keys), token: "s")
    let world = try CredentialWorld()
    let provider = provider(world, Self.patient(server.url))
    #expect(try await provider.credentials() != nil)
    server.set(MetadataServer.rolePath, .init(200, "", .close))
    let failure = await failure { () async throws(Failure) in try await provider.credentials() }
    #expect(failure?.code == .network)
  }

  @Test("after a bad answer the request is retried once")
  func again() async throws {
    let bad: [LocalService.Reply] = [
      .init(500), .init(200, "<html>"), .init(200, "{\"Code\":"), .init(200, Self.keys.json, .half),
      .init(200, "", .close),
    ]
    for reply in bad {
      let server = try MetadataServer(.instance(keys: Self.keys), token: "s")
      server.set(MetadataServer.rolePath + "builder", reply, .init(200, Self.keys.json))
      #expect(try await find(server)?.accessKeyID == "ASIAEC2", "\(reply)")
      server.set(MetadataServer.rolePath + "builder", reply)
      let failure = await failure { () async throws(Failure) in try await find(server) }
      #expect(failure?.code == .server || failure?.code == .network, "\(reply)")
    }
  }

  @Test("a role that cannot be assumed is a failure with the service's code")
  func unusableRole() async throws {
    let server = try MetadataServer(.instance(keys: Self.keys), token: "s")
    server.set(
      MetadataServer.rolePath + "builder",
      .init(200, #"{"Code":"AssumeRoleUnauthorizedAccess","Message":"EC2 cannot assume the role builder."}"#))
    let failure = await failure { () async throws(Failure) in try await find(server) }
    #expect(failure?.code == .credentials)
    #expect(failure?.s3Code == "AssumeRoleUnauthorizedAccess")
    #expect(failure?.message.contains("EC2 cannot assume the role builder.") == true)
    server.set(MetadataServer.rolePath + "builder", .init(404))
    #expect(await trouble(of: server)?.status == 404)
  }

  private func trouble(of server: MetadataServer) async -> Failure? {
    await failure { () async throws(Failure) in try await find(server) }
  }

  @Test("a redirect is not followed, because the request has a token")
  func redirect() async throws {
    let other = try MetadataServer(.instance(keys: Self.keys))
    let server = try MetadataServer(.instance(keys: Self.keys), token: "s")
    server.set(
      MetadataServer.rolePath + "builder",
      .init(302, "", headers: ["Location": other.url + MetadataServer.rolePath + "builder"]))
    #expect(await trouble(of: server)?.code == .credentials)
    #expect(other.asked.isEmpty)
  }

  @Test("expired credentials that are still served are used for a few more minutes, and the log says so")
  func stable() async throws {
    var ended = Self.keys
    ended.expiration = "2025-06-15T15:06:39Z"
    let server = try MetadataServer(.instance(keys: ended), token: "s")
    let world = try CredentialWorld()
    let found = try await provider(world, Self.patient(server.url)).credentials()
    #expect(found?.accessKeyID == "ASIAEC2")
    let more = (found?.expiration?.seconds ?? 0) - CredentialWorld.now.seconds
    #expect((300...1200).contains(more))
    #expect(world.log.contains("expired at 2025-06-15T15:06:39Z"))
  }

  @Test("each call returns what the service has now")
  func refused() async throws {
    let server = try MetadataServer(.instance(keys: Self.keys), token: "s")
    let world = try CredentialWorld()
    let machine = provider(world, Self.patient(server.url))
    #expect(try await machine.credentials()?.accessKeyID == "ASIAEC2")
    var keys = Self.keys
    keys.id = "ASIANEW"
    server.set(MetadataServer.rolePath + "builder", .init(200, keys.json))
    #expect(try await machine.credentials()?.accessKeyID == "ASIANEW")
  }

  @Test("if it is switched off, no request is sent and no profile is read", arguments: ["true", "TRUE", "True"])
  func disabled(word: String) async throws {
    let server = try MetadataServer(.instance(keys: Self.keys), token: "s")
    let world = try CredentialWorld()
    let metadata = InstanceMetadata(
      services: world.services, environment: [Self.endpoint: server.url, "AWS_EC2_METADATA_DISABLED": word]
    ) { () throws(Failure) in throw Failure(.local, "was read") }
    #expect(try await metadata.region() == nil)
    let provider = InstanceMetadataProvider(metadata: metadata, world: world.world)
    #expect(try await provider.credentials() == nil)
    #expect(server.asked.isEmpty)
  }

  @Test("the settings come from AWS's variables, then from the profile")
  func settings() throws {
    let profile = Profile(
      name: "p",
      config: try ConfigHome(
        config: """
          [profile p]
          ec2_metadata_service_endpoint_mode = IPv6
          metadata_service_timeout = 3
          metadata_service_num_attempts = 5
          """
      ).load().profile("p")?.config)
    let standard = try InstanceMetadataSettings(environment: [:], profile: nil)
    #expect(standard.origin.description == "http://169.254.169.254")
    #expect(standard.timeLimit == .seconds(1) && standard.tries == 2)
    let ofProfile = try InstanceMetadataSettings(environment: ["AWS_METADATA_SERVICE_TIMEOUT": "0.5"], profile: profile)
    #expect(ofProfile.origin.description == "http://[fd00:ec2::254]")
    #expect(ofProfile.timeLimit == .milliseconds(500) && ofProfile.tries == 5)
    let ofVariables = try InstanceMetadataSettings(
      environment: [
        Self.endpoint: "http://[::1]:8080/x/", "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE": "IPv6",
        "AWS_METADATA_SERVICE_NUM_ATTEMPTS": "1",
      ], profile: profile)
    #expect(ofVariables.origin.description == "http://[::1]:8080" && ofVariables.basePath == "/x")
    #expect(ofVariables.tries == 1)
  }

  @Test(
    "an unusable setting is a configuration failure that names it",
    arguments: [
      ("AWS_EC2_METADATA_SERVICE_ENDPOINT", "169.254.169.254"), ("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "v6"),
      ("AWS_METADATA_SERVICE_TIMEOUT", "0"), ("AWS_METADATA_SERVICE_TIMEOUT", "nan"),
      ("AWS_METADATA_SERVICE_TIMEOUT", "1e9"), ("AWS_METADATA_SERVICE_NUM_ATTEMPTS", "0"),
      ("AWS_METADATA_SERVICE_NUM_ATTEMPTS", "two"),
    ])
  func wrongSettings(variable: String, value: String) {
    let failure = #expect(throws: Failure.self) {
      try InstanceMetadataSettings(environment: [variable: value], profile: nil)
    }
    #expect(failure?.code == .configuration)
    #expect(failure?.message.hasPrefix(variable) == true)
  }
}
