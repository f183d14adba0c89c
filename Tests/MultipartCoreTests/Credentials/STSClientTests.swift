import MultipartBasics
@testable import MultipartCore
import Support
import Testing

@Suite("STS", .timeLimit(.minutes(15)))
struct STSClientTests {
  private static let role = "arn:aws:iam::123456789012:role/up+loader"
  private static let keys = Credentials(
    accessKeyID: "AKIASOURCE", secretAccessKey: Secret("source-hunter2"), sessionToken: Secret("st-hunter2"),
    source: "environment")

  private func client(_ service: LocalService, _ world: CredentialWorld) throws -> STSClient {
    let places = ServiceAddresses(environment: ["AWS_ENDPOINT_URL_STS": service.url + "/base/"])
    return STSClient(services: world.services, address: try places.address(of: .sts, region: "eu-west-1"))
  }

  @Test("a role is assumed with a token in an unsigned form, and returns keys and expiry")
  func webIdentity() async throws {
    let service = try LocalService { _ in STSAnswer.credentials("AssumeRoleWithWebIdentity") }
    let world = try CredentialWorld()
    let found = try await client(service, world).assumeRoleWithWebIdentity(
      role: Self.role, sessionName: "build-7", token: Secret("jwt.hunter2+/="), duration: .seconds(900),
      source: "somewhere")
    #expect(
      found
        == Credentials(
          accessKeyID: "ASIAROLE", secretAccessKey: Secret("role/secret+hunter2"),
          sessionToken: Secret("token-hunter2"),
          expiration: Timestamp(seconds: CredentialWorld.now.seconds + 3600), source: "somewhere"))
    let asked = try #require(service.asked.first)
    #expect(asked.method == "POST")
    #expect(asked.target == "/base/")
    #expect(asked.headers["Authorization"] == nil)
    #expect(
      asked.form == [
        "Action": "AssumeRoleWithWebIdentity", "Version": "2011-06-15", "RoleArn": Self.role,
        "RoleSessionName": "build-7", "WebIdentityToken": "jwt.hunter2+/=", "DurationSeconds": "900",
      ])
  }

  @Test("an expiry may have any zone, and one that cannot be read is an error")
  func expiries() async throws {
    let service = try LocalService { asked in
      STSAnswer.credentials(expiration: asked.form["ExternalId"] == "zone" ? "2025-06-15T18:06:40+02:00" : "tomorrow")
    }
    let world = try CredentialWorld()
    var role = STSClient.Role(arn: Self.role, sessionName: "me")
    role.externalID = "zone"
    let found = try await client(service, world).assumeRole(role, signedBy: Self.keys)
    #expect(found.expiration == Timestamp(seconds: 1_750_003_600))
    role.externalID = "text"
    let failed = await failure { [role] () async throws(Failure) in
      do {
        _ = try await client(service, world).assumeRole(role, signedBy: Self.keys)
      } catch {
        throw error as? Failure ?? .interrupted
      }
    }
    #expect(failed?.message.contains("invalid expiration") == true)
  }

  @Test("a role is assumed with keys in a form that they sign for STS and its region")
  func assumeRole() async throws {
    let service = try LocalService { _ in STSAnswer.credentials() }
    let world = try CredentialWorld()
    var role = STSClient.Role(arn: Self.role, sessionName: "me")
    role.externalID = "x y"
    role.mfaSerial = "arn:aws:iam::1:mfa/me"
    role.mfaCode = Secret("123456")
    let found = try await client(service, world).assumeRole(role, signedBy: Self.keys)
    #expect(found.accessKeyID == "ASIAROLE")
    #expect(found.source == "role \(Self.role)")
    let asked = try #require(service.asked.first)
    let authorization = try #require(asked.headers["Authorization"])
    #expect(authorization.contains("Credential=AKIASOURCE/20250615/eu-west-1/sts/aws4_request"))
    #expect(asked.headers["x-amz-security-token"] == "st-hunter2")
    #expect(asked.form["ExternalId"] == "x y")
    #expect(asked.form["SerialNumber"] == "arn:aws:iam::1:mfa/me")
    #expect(asked.form["TokenCode"] == "123456")
    #expect(asked.form["DurationSeconds"] == nil)
  }

  @Test(
    "each refusal is a failure with STS's code, its request id and a remedy",
    arguments: [
      (
        403, "AccessDenied", Failure.Code.credentials, "trust policy name the caller (the credentials from environment)"
      ),
      (400, "ExpiredToken", .credentialsExpired, "the credentials from environment have expired"),
      (403, "InvalidClientTokenId", .credentials, "does not accept the credentials from environment"),
      (403, "RegionDisabledException", .credentials, "region"),
      (400, "ValidationError", .configuration, "the role's ARN"),
      (403, "SomethingNew", .credentials, nil),
    ] as [(Int, String, Failure.Code, String?)])
  func refusals(status: Int, code: String, meaning: Failure.Code, hint: String?) async throws {
    let service = try LocalService { _ in STSAnswer.refusal(status, code, "because\nof it") }
    let world = try CredentialWorld()
    let sts = try client(service, world)
    let found = await failure { () async throws(Failure) in
      try await sts.assumeRole(STSClient.Role(arn: Self.role, sessionName: "me"), signedBy: Self.keys)
    }
    #expect(found?.code == meaning)
    #expect(found?.message == "STS refused AssumeRole for \(Self.role): because of it")
    #expect(found?.s3Code == code)
    #expect(found?.requestID == "r-7")
    #expect(found?.status == status)
    if let hint { #expect(found?.remedy?.contains(hint) == true) } else { #expect(found?.remedy == nil) }
    #expect(service.asked.count == 1)
  }

  @Test(
    "temporary refusals of STS are retried, refusals of a token are not",
    arguments: [
      (400, "IDPCommunicationError", 4, Failure.Code.server), (400, "Throttling", 4, .throttled),
      (503, "ServiceUnavailable", 4, .throttled), (429, "SomethingNew", 4, .throttled),
      (408, "SomethingNew", 4, .network), (500, "SomethingNew", 4, .server),
      (400, "ExpiredTokenException", 1, .credentialsExpired),
      (400, "InvalidIdentityToken", 1, .credentials), (403, "AccessDenied", 1, .credentials),
    ])
  func again(status: Int, code: String, times: Int, meaning: Failure.Code) async throws {
    let service = try LocalService { _ in STSAnswer.refusal(status, code) }
    let world = try CredentialWorld()
    let sts = try client(service, world)
    let found = await failure { () async throws(Failure) in
      try await sts.assumeRoleWithWebIdentity(role: Self.role, sessionName: "me", token: Secret("jwt-hunter2"))
    }
    #expect(found?.code == meaning)
    #expect(service.asked.count == times)
  }

  @Test("a signature refused because of the clock is made again with STS's clock")
  func correctedClock() async throws {
    let service = try LocalService { asked in
      asked.headers["x-amz-date"] == "20250615T152640Z"
        ? STSAnswer.credentials()
        : STSAnswer.refusal(403, "SignatureDoesNotMatch", headers: ["Date": "Sun, 15 Jun 2025 15:26:40 GMT"])
    }
    let world = try CredentialWorld()
    let found = try await client(service, world).assumeRole(
      STSClient.Role(arn: Self.role, sessionName: "me"), signedBy: Self.keys)
    #expect(found.accessKeyID == "ASIAROLE")
    #expect(world.log.contains("this machine's clock is 1200 s behind that of STS"))
  }

  @Test("a clock that is far off is named if that does not help")
  func clock() async throws {
    // Twenty minutes after `now`.
    let service = try LocalService { _ in
      STSAnswer.refusal(403, "SignatureDoesNotMatch", headers: ["Date": "Sun, 15 Jun 2025 15:26:40 GMT"])
    }
    let world = try CredentialWorld()
    let sts = try client(service, world)
    let found = await failure { () async throws(Failure) in
      try await sts.assumeRole(STSClient.Role(arn: Self.role, sessionName: "me"), signedBy: Self.keys)
    }
    #expect(found?.code == .clockSkew)
    #expect(found?.remedy == "this machine's clock is 1200 s behind that of STS: set it")
  }

  @Test(
    "an invalid answer, or one that would add a header with a key, is refused",
    arguments: [
      "", "{}", "<a/>", "<a><Credentials><AccessKeyId>A</AccessKeyId></Credentials></a>",
      "<a><Credentials><AccessKeyId>A&#10;X: y</AccessKeyId><SecretAccessKey>s</SecretAccessKey></Credentials></a>",
      "<!DOCTYPE a><a><Credentials><AccessKeyId>A</AccessKeyId><SecretAccessKey>s</SecretAccessKey></Credentials></a>",
    ])
  func nonsense(body: String) async throws {
    let service = try LocalService { _ in .init(200, body) }
    let world = try CredentialWorld()
    let sts = try client(service, world)
    let found = await failure { () async throws(Failure) in
      try await sts.assumeRoleWithWebIdentity(role: Self.role, sessionName: "me", token: Secret("t"))
    }
    #expect(found?.code == .server)
  }

  @Test("keys, tokens and codes are neither in the output of -vv nor in a failure")
  func quiet() async throws {
    for reply in [
      STSAnswer.credentials(), STSAnswer.refusal(403, "InvalidClientTokenId", "bad"), .init(500, "jwt-hunter2"),
    ] {
      let service = try LocalService { _ in reply }
      let world = try CredentialWorld()
      let sts = try client(service, world)
      var role = STSClient.Role(arn: Self.role, sessionName: "me")
      role.mfaSerial = "mfa"
      role.mfaCode = Secret("hunter2")
      let asked = role
      let one = await failure { () async throws(Failure) in try await sts.assumeRole(asked, signedBy: Self.keys) }
      let other = await failure { () async throws(Failure) in
        try await sts.assumeRoleWithWebIdentity(role: Self.role, sessionName: "me", token: Secret("jwt-hunter2"))
      }
      #expect(world.log.contains("AssumeRole of STS"))
      for text in [world.log, "\(one as Any)", "\(other as Any)"] { #expect(!text.contains("hunter2")) }
    }
  }

  @Test(
    "a session name is one that AWS accepts",
    arguments: [
      ("me@host", "me@host"), ("a b/c\u{e9}", "a-b-c--"), ("", "s3up"), ("x", "s3up"),
      (String(repeating: "a", count: 70), String(repeating: "a", count: 64)),
    ])
  func sessionName(text: String, name: String) {
    #expect(STSClient.sessionName(from: text) == name)
  }

  @Test("an STS that cannot be reached is named with its address and the setting that changes it")
  func unreachable() async throws {
    let world = try CredentialWorld()
    let places = ServiceAddresses(environment: ["AWS_ENDPOINT_URL_STS": "http://127.0.0.1:9"])
    let sts = STSClient(services: world.services, address: try places.address(of: .sts, region: "garage"))
    let found = await failure { () async throws(Failure) in
      try await sts.assumeRoleWithWebIdentity(role: Self.role, sessionName: "me", token: Secret("t"))
    }
    #expect(found?.code == .network)
    #expect(
      found?.message.hasPrefix("no answer to AssumeRoleWithWebIdentity of STS from http://127.0.0.1:9: ") == true)
    #expect(found?.remedy == "check the network, and the address, which is set by AWS_ENDPOINT_URL_STS")
    // An address that nobody has set follows from the region.
    let ofRegion = try ServiceAddresses(environment: [:]).address(of: .sts, region: "garage")
    #expect(
      ofRegion.unanswered
        == "check the network; the address follows from the region: set AWS_ENDPOINT_URL_STS for a service elsewhere")
  }
}
