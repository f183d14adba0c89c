import Foundation
import MultipartBasics
@testable import MultipartCore
import Support
import Testing

/// The program on its own machine: a network namespace in which AWS's fixed addresses belong to the test.
@Suite(.timeLimit(.minutes(15)), .enabled(if: NetworkNamespace.obstacle == nil, "\(NetworkNamespace.obstacle ?? "")"))
struct MetadataTests {
  static let imds = "169.254.169.254"
  private let network: NetworkNamespace
  private var box: BlackBox

  init() throws {
    let network = try NetworkNamespace(
      addresses: [
        "169.254.169.254/32", "169.254.170.2/32", "169.254.170.23/32", "fd00:ec2::254/128", "fd00:ec2::23/128",
      ])
    self.network = network
    box = try network.run { try BlackBox { $0.credentials = [Self.served] } }
    box.environment = [
      "AWS_ENDPOINT_URL_S3": box.fake.endpoint, "AWS_EC2_METADATA_DISABLED": "false",
      // On a busy machine a slow answer must not count as none.
      "AWS_METADATA_SERVICE_TIMEOUT": "60",
    ]
    try box.files.write("the content", to: "file")
  }

  static let served = FakeCredential(
    keyID: "ASIASERVEDSERVED", secret: "served/secret-hunter2", sessionToken: "served-token-hunter2")

  static func keys(_ credential: FakeCredential = served, seconds: Double = 21_600) -> MetadataServer.Keys {
    let end = Date(timeIntervalSinceNow: seconds)
    return MetadataServer.Keys(
      id: credential.keyID, secret: credential.secret, token: credential.sessionToken,
      expiration: ISO8601DateFormatter().string(from: end))
  }

  private func server(
    _ script: MetadataServer.Script, token: String? = nil, at address: String
  ) throws -> MetadataServer {
    try network.run { try MetadataServer(script, token: token, address: address, port: 80) }
  }

  /// Uploads the file, with `-vv`, inside the namespace.
  private func put(_ more: [String: String] = [:], key: String = "key") async throws -> ChildProcess.Result {
    var inside = box
    inside.environment.merge(more) { $1 }
    let ready = inside
    return try await network.run { try ready.start(["put", "-vv", "file", "s3://bucket/\(key)"]) }
      .wait(timeout: .seconds(60))
  }

  private func expectServed(_ result: ChildProcess.Result, where location: SourceLocation = #_sourceLocation) {
    #expect(result.status == 0, "\(result.errors)", sourceLocation: location)
    let header = box.fake.requests(.putObject).last?.headers["Authorization"]
    #expect(header?.contains("Credential=\(Self.served.keyID)/") == true, sourceLocation: location)
    #expect(!result.errors.contains("hunter2") && !result.output.contains("hunter2"), sourceLocation: location)
  }

  @Test func aMachineSignsWithItsRoleAndEachRunAsksForItOnce() async throws {
    let imds = try server(.instance(keys: Self.keys()), token: "session-hunter2", at: Self.imds)
    expectServed(try await put())
    #expect(imds.paths.count == 3)
    expectServed(try await put())
    #expect(imds.paths.count == 6)
  }

  @Test func theMachinesServiceIsFoundByIPv6Too() async throws {
    let imds = try server(.instance(keys: Self.keys()), token: "session-hunter2", at: "fd00:ec2::254")
    expectServed(try await put(["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE": "IPv6"]))
    #expect(imds.paths.count == 3)
  }

  @Test("A service that refuses, and a machine without a role, are named", arguments: [403, 404, 200])
  func refused(_ status: Int) async throws {
    let script: MetadataServer.Script =
      status == 200
      ? [MetadataServer.rolePath: [.init(404)]] : [MetadataServer.tokenPath: [.init(status)]]
    let imds = try server(script, token: "session-hunter2", at: Self.imds)
    let result = try await put()
    let why =
      status == 200 ? "it says that this instance has no role" : "it answered \(status) to the request for a token"
    #expect(result.status == 77 && result.errors.contains("the instance metadata service (\(why))"), "\(result.errors)")
    withExtendedLifetime(imds) {}
  }

  @Test func aProxyIsNotAskedForTheMachinesService() async throws {
    let imds = try server(.instance(keys: Self.keys()), token: "session-hunter2", at: Self.imds)
    let result = try await put([
      "HTTP_PROXY": "http://127.0.0.1:1", "http_proxy": "http://127.0.0.1:1", "NO_PROXY": "127.0.0.1",
    ])
    expectServed(result)
    #expect(imds.paths.count == 3)
  }

  @Test func aTaskOfECSSignsWithItsRole() async throws {
    let agent = try server(["/v2/credentials/hunter2-id": [.init(200, Self.keys().json)]], at: "169.254.170.2")
    expectServed(try await put(["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/credentials/hunter2-id"]))
    #expect(agent.paths == ["/v2/credentials/hunter2-id"])
  }

  @Test(arguments: ["169.254.170.23", "fd00:ec2::23"])
  func aPodOfEKSSignsWithItsIdentity(address: String) async throws {
    let agent = try server(["/v1/credentials": [.init(200, Self.keys().json)]], at: address)
    let token = try box.files.write("pod-identity-hunter2", to: "token")
    let host = address.contains(":") ? "[\(address)]" : address
    expectServed(
      try await put([
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://\(host)/v1/credentials",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": token,
      ]))
    #expect(agent.asked.map { $0.headers["Authorization"] } == ["pod-identity-hunter2"])
  }

  @Test func aProfileTakesTheMachinesRoleAsItsSource() async throws {
    let imds = try server(.instance(keys: Self.keys()), token: "s", at: Self.imds)
    let sts = try network.run {
      try LocalService { _ in .init(403, "<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>") }
    }
    try box.binary.home.write(
      "[profile p]\nrole_arn = arn:aws:iam::1:role/r\ncredential_source = Ec2InstanceMetadata\n", to: ".aws/config")
    let result = try await put(["AWS_PROFILE": "p", "AWS_ENDPOINT_URL_STS": sts.url])
    #expect(result.status == 77, "\(result.errors)")
    #expect(sts.asked.first?.headers["Authorization"]?.contains("Credential=\(Self.served.keyID)/") == true)
    #expect(imds.paths.count == 3)
  }
}

/// A machine that has neither credentials nor a service that provides any.
@Suite(.timeLimit(.minutes(15)), .enabled(if: NetworkNamespace.obstacle == nil, "\(NetworkNamespace.obstacle ?? "")"))
struct NoCredentialsTests {
  /// Runs the program, again if the machine was so busy that it took too long.
  private func expectNone(
    in network: NetworkNamespace, within most: Double, where location: SourceLocation = #_sourceLocation
  ) async throws -> Double {
    // A program with a sanitizer takes a second to start.
    let seconds = BlackBox.measures ? most : most + 2
    var box = try BlackBox()
    try box.files.write("the content", to: "file")
    box.environment = ["AWS_EC2_METADATA_DISABLED": "false"]
    let ready = box
    var took = Double.infinity
    for _ in 0..<10 where took >= seconds {
      let result = try await network.run { try ready.start(["put", "file", "s3://bucket/key"]) }
        .wait(timeout: .seconds(60))
      result.expectFailure(77, "no credentials", "the instance metadata service", where: location)
      took = result.seconds
    }
    #expect(took < seconds, sourceLocation: location)
    return took
  }

  @Test func withoutARouteItSaysSoAtOnce() async throws {
    _ = try await expectNone(in: NetworkNamespace(), within: 1)
  }

  @Test func whereNobodyListensItSaysSoAtOnce() async throws {
    _ = try await expectNone(in: NetworkNamespace(addresses: ["169.254.169.254/32"]), within: 1)
  }

  @Test func wherePacketsVanishItSaysSoWithinThreeSeconds() async throws {
    let network = try NetworkNamespace(addresses: ["169.254.169.254/32"])
    let hole = try network.hole("169.254.169.254", port: 80)
    // The run did wait for its two tries.
    #expect(try await expectNone(in: network, within: 3) > 1.9)
    _ = hole
  }

  @Test func whereTheServiceHangsItSaysSoWithinThreeSeconds() async throws {
    let network = try NetworkNamespace(addresses: ["169.254.169.254/32"])
    let imds = try network.run {
      try MetadataServer(
        [MetadataServer.tokenPath: [.init(200, "", .hang)]], address: "169.254.169.254", port: 80)
    }
    #expect(try await expectNone(in: network, within: 3) > 1.9)
    #expect(Set(imds.paths) == [MetadataServer.tokenPath])
  }
}
