import Foundation
import MultipartBasics
@testable import MultipartCore
import Support
import Testing

@Suite("SSO", .timeLimit(.minutes(15)))
struct SSOTests {
  private static let now = CredentialWorld.now.seconds
  private static let startURL = "https://corp.awsapps.com/start"
  private static let config = """
    [profile dev]
    sso_session = corp
    sso_account_id = 123456789012
    sso_role_name = Up loader
    [profile old]
    sso_start_url = \(startURL)
    sso_region = eu-west-1
    sso_account_id = 123456789012
    sso_role_name = Up loader
    [sso-session corp]
    sso_start_url = \(startURL)
    sso_region = eu-west-1
    sso_registration_scopes = sso:account:access
    """
  /// Computed with `sha1sum`.
  private static let sha1 = [
    "corp": "ee0bfd2552fbd840c02cc48b6e823320543c450f", startURL: "a51746d4aa793ae07b25e90c3a5db96fc7832bd7",
  ]

  private static func file(_ key: String) -> String { ".aws/sso/cache/" + (sha1[key] ?? "") + ".json" }

  private static func moment(_ seconds: Int64) -> String { Timestamp(seconds: now + seconds).iso8601 }

  private static func token(
    _ token: String = "at-hunter2", ends: Int64, refresh: String? = "rt-hunter2", registration: Int64 = 86_400
  ) -> String {
    let more =
      refresh.map {
        """
        , "clientId": "client", "clientSecret": "cs-hunter2", "refreshToken": "\($0)",
        "registrationExpiresAt": "\(moment(registration))"
        """
      } ?? ""
    return """
      {"startUrl": "\(startURL)", "region": "eu-west-1", "accessToken": "\(token)", "expiresAt": "\(moment(ends))",
       "something": {"else": [1, true]}\(more)}
      """
  }

  private static func roleKeys(_ id: String = "ASIASSO") -> LocalService.Reply {
    .init(
      200,
      """
      {"roleCredentials": {"accessKeyId": "\(id)", "secretAccessKey": "s-hunter2", "sessionToken": "st-hunter2",
       "expiration": \((now + 3600) * 1000)}}
      """)
  }

  private func home(_ name: String, _ token: String?) throws -> ConfigHome {
    let home = try ConfigHome(config: Self.config)
    try FileManager.default.createDirectory(atPath: home.path + "/.aws/sso/cache", withIntermediateDirectories: true)
    if let token { try home.write(Array(token.utf8), to: Self.file(name)) }
    return home
  }

  private func home(_ token: String?) throws -> ConfigHome { try home("corp", token) }

  private func world(_ home: ConfigHome, _ service: LocalService?) throws -> CredentialWorld {
    let url = service?.url ?? "http://127.0.0.1:9"
    return try CredentialWorld(
      home, ["AWS_ENDPOINT_URL_SSO": url, "AWS_ENDPOINT_URL_SSO_OIDC": url])
  }

  @Test(
    "the token of a session, and of an older start URL, is exchanged for the keys of the role",
    arguments: [("dev", "corp"), ("old", startURL)])
  func keys(profile: String, key: String) async throws {
    let service = try LocalService { _ in Self.roleKeys() }
    let world = try world(home(key, Self.token(ends: 7200)), service)
    let found = try await world.chain(profile: profile).credentials()
    #expect(
      found
        == Credentials(
          accessKeyID: "ASIASSO", secretAccessKey: Secret("s-hunter2"), sessionToken: Secret("st-hunter2"),
          expiration: Timestamp(seconds: Self.now + 3600),
          source: "SSO role Up loader of 123456789012 from profile \(profile)"))
    let asked = try #require(service.asked.first)
    #expect(service.asked.count == 1)
    #expect(asked.method == "GET")
    #expect(asked.path == "/federation/credentials")
    #expect(asked.query == ["role_name": "Up loader", "account_id": "123456789012"])
    #expect(asked.headers["x-amz-sso_bearer_token"] == "at-hunter2")
    #expect(asked.headers["Authorization"] == nil)
    #expect(!world.log.contains("hunter2"))
  }

  private static func renewing(_ refresh: String? = "rt-two") -> @Sendable (LocalService.Asked) -> LocalService.Reply {
    { asked in
      guard asked.path == "/token" else { return roleKeys() }
      let more = refresh.map { #", "refreshToken": "\#($0)""# } ?? ""
      return .init(200, #"{"accessToken": "at-two", "tokenType": "Bearer", "expiresIn": 3600\#(more)}"#)
    }
  }

  @Test(
    "a token that expires soon, or has expired, is renewed, used, and kept privately",
    arguments: [600, -600] as [Int64])
  func renewed(ends: Int64) async throws {
    let service = try LocalService(Self.renewing())
    let home = try home(Self.token(ends: ends))
    let world = try world(home, service)
    #expect(try await world.chain(profile: "dev").credentials().accessKeyID == "ASIASSO")
    let asked = service.asked
    #expect(asked.map(\.path) == ["/token", "/federation/credentials"])
    #expect(asked[0].method == "POST")
    let body = try #require(JSON.parse(asked[0].body))
    #expect(
      body
        == .sorted([
          "clientId": .string("client"), "clientSecret": .string("cs-hunter2"), "grantType": .string("refresh_token"),
          "refreshToken": .string("rt-hunter2"),
        ]))
    #expect(asked[1].headers["x-amz-sso_bearer_token"] == "at-two")
    let path = home.path + "/" + Self.file("corp")
    let kept = try #require(JSON.parse([UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))))
    #expect(kept["accessToken"] == .string("at-two"))
    #expect(kept["refreshToken"] == .string("rt-two"))
    #expect(kept["expiresAt"] == .string(Self.moment(3600)))
    #expect(kept["clientSecret"] == .string("cs-hunter2"))
    #expect(kept["something"]?["else"]?.elements?.count == 2)
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: home.path + "/.aws/sso/cache").count == 1)
    #expect(!world.log.contains("hunter2"))
  }

  @Test("after a refused renewal a token that is still valid is used")
  func stillHolds() async throws {
    let service = try LocalService { asked in
      asked.path == "/token" ? .init(400, #"{"error": "invalid_grant"}"#) : Self.roleKeys()
    }
    let world = try world(home(Self.token(ends: 600)), service)
    #expect(try await world.chain(profile: "dev").credentials().accessKeyID == "ASIASSO")
    #expect(service.asked.last?.headers["x-amz-sso_bearer_token"] == "at-hunter2")
  }

  @Test("a refresh token that another process has used does no harm if that process stored the new token")
  func another() async throws {
    let home = try home(Self.token(ends: -5))
    let path = home.path + "/" + Self.file("corp")
    let service = try LocalService { asked in
      guard asked.path == "/token" else { return Self.roleKeys() }
      try? Data(Self.token("at-other", ends: 3600).utf8).write(to: URL(fileURLWithPath: path))
      return .init(400, #"{"error": "invalid_grant"}"#)
    }
    _ = try await world(home, service).chain(profile: "dev").credentials()
    #expect(service.asked.last?.headers["x-amz-sso_bearer_token"] == "at-other")
  }

  @Test(
    "an expired login that cannot be renewed says which login command to run",
    arguments: [
      ("dev", "corp", token(ends: -5, refresh: nil), "log in: aws sso login --sso-session corp"),
      ("dev", "corp", token(ends: -5, registration: -1), "log in: aws sso login --sso-session corp"),
      ("dev", "corp", token(ends: -5), "log in: aws sso login --sso-session corp"),
      ("old", startURL, token(ends: -5), "log in: aws sso login --profile old"),
    ])
  func ended(profile: String, key: String, token: String, hint: String) async throws {
    let service = try LocalService { _ in .init(400, #"{"error": "invalid_grant", "error_description": "over"}"#) }
    let world = try world(home(key, token), service)
    let found = await failure { () async throws(Failure) in try await world.chain(profile: profile).credentials() }
    #expect(found?.code == .credentialsExpired)
    #expect(found?.message.hasPrefix("the login of profile \(profile) expired at \(Self.moment(-5))") == true)
    #expect(found?.remedy?.description == hint)
    #expect(service.asked.allSatisfy { $0.path == "/token" })
    #expect(!"\(found as Any)".contains("hunter2") && !world.log.contains("hunter2"))
  }

  @Test("without a login the failure has the same command", arguments: [nil, "{}", "hunter2"] as [String?])
  func none(content: String?) async throws {
    let world = try world(home(content), nil)
    let found = await failure { () async throws(Failure) in try await world.chain(profile: "dev").credentials() }
    #expect(found?.code == .credentials)
    #expect(found?.message == "profile dev needs a login, and there is none in ~/\(Self.file("corp"))")
    #expect(found?.remedy == "log in: aws sso login --sso-session corp")
  }

  @Test("a token that SSO refuses asks for a login, a forbidden role does not")
  func refused() async throws {
    let kinds: [(Int, Failure.Code, String)] = [
      (401, .credentialsExpired, "log in: aws sso login --sso-session corp"),
      (403, .credentials, "request the role in this account, or fix sso_account_id and sso_role_name"),
    ]
    for (status, code, hint) in kinds {
      let service = try LocalService { _ in
        .init(
          status, #"{"message": "Session token not found or invalid"}"#,
          headers: ["x-amzn-ErrorType": "UnauthorizedException:http://x/", "x-amzn-RequestId": "r-9"])
      }
      let world = try world(home(Self.token(ends: 7200)), service)
      let found = await failure { () async throws(Failure) in try await world.chain(profile: "dev").credentials() }
      #expect(found?.code == code)
      #expect(found?.remedy?.description == hint)
      #expect(found?.s3Code == "UnauthorizedException")
      #expect(found?.requestID == "r-9")
      #expect(found?.message.hasSuffix(": Session token not found or invalid") == true)
    }
  }

  @Test(
    "missing or contradictory settings are configuration failures",
    arguments: [
      ("sso_role_name = r\nsso_session = gone", "uses the sso-session \"gone\", which does not exist"),
      ("sso_role_name = r\nsso_account_id = 1", "uses SSO, but has no sso_start_url"),
      ("sso_role_name = r\nsso_session = corp", "uses SSO, but has no sso_account_id"),
      (
        "sso_role_name = r\nsso_session = corp\nsso_region = us-east-1",
        "has a different sso_region than its sso-session"
      ),
    ])
  func wrong(lines: String, message: String) async throws {
    let chain = try world(ConfigHome(config: Self.config + "\n[default]\n" + lines + "\n"), nil).chain()
    let found = await failure { () async throws(Failure) in try await chain.credentials() }
    #expect(found?.code == .configuration)
    #expect(found?.message == "profile default \(message)")
  }
}
