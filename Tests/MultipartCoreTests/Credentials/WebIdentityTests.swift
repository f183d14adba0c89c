@testable import MultipartCore
import Support
import Testing

@Suite("Web identity", .timeLimit(.minutes(15)))
struct WebIdentityTests {
  private static let role = "arn:aws:iam::1:role/pod"

  private func home(_ config: String = "") throws -> ConfigHome {
    let home = try ConfigHome(config: config)
    try home.write(Array("jwt-one-hunter2\n".utf8), to: "token")
    return home
  }

  @Test("the variables name token, role and session, and the keys of the answer are used")
  func variables() async throws {
    let service = try LocalService { _ in STSAnswer.credentials("AssumeRoleWithWebIdentity") }
    let home = try home()
    let world = try CredentialWorld(
      home,
      [
        "AWS_WEB_IDENTITY_TOKEN_FILE": home.path + "/token", "AWS_ROLE_ARN": Self.role,
        "AWS_ROLE_SESSION_NAME": "pod 7", "AWS_ENDPOINT_URL_STS": service.url,
      ])
    let found = try await world.chain().credentials()
    #expect(found.accessKeyID == "ASIAROLE")
    #expect(found.source == "role \(Self.role) by the token in \(home.path)/token")
    let form = try #require(service.asked.first).form
    #expect(form["WebIdentityToken"] == "jwt-one-hunter2")
    #expect(form["RoleArn"] == Self.role)
    #expect(form["RoleSessionName"] == "pod-7")
    #expect(!world.log.contains("hunter2"))
  }

  @Test("the token file is read again each time")
  func readAnew() async throws {
    let service = try LocalService { _ in STSAnswer.credentials() }
    let home = try home()
    let chain = try CredentialWorld(
      home,
      [
        "AWS_WEB_IDENTITY_TOKEN_FILE": "~/token", "AWS_ROLE_ARN": Self.role, "AWS_ENDPOINT_URL": service.url,
      ]
    ).chain()
    _ = try await chain.credentials()
    try home.write(Array("jwt-two".utf8), to: "token")
    _ = try await chain.credentials()
    #expect(service.asked.map { $0.form["WebIdentityToken"] } == ["jwt-one-hunter2", "jwt-two"])
    #expect(service.asked.first?.form["RoleSessionName"] == "s3up-1750000000")
  }

  @Test("a profile's own token file and role are used, even if variables are set, if the profile was named")
  func profile() async throws {
    let service = try LocalService { _ in STSAnswer.credentials() }
    let home = try home(
      """
      [profile pod]
      web_identity_token_file = ~/token
      role_arn = arn:aws:iam::1:role/profile
      role_session_name = mine
      duration_seconds = 900
      """)
    let world = try CredentialWorld(
      home,
      [
        "AWS_WEB_IDENTITY_TOKEN_FILE": "/nowhere", "AWS_ROLE_ARN": Self.role, "AWS_ENDPOINT_URL": service.url,
      ])
    _ = try await world.chain(profile: "pod").credentials()
    let form = try #require(service.asked.first).form
    #expect(form["RoleArn"] == "arn:aws:iam::1:role/profile")
    #expect(form["RoleSessionName"] == "mine")
    #expect(form["DurationSeconds"] == "900")
  }

  @Test(
    "a missing or invalid token ends the search, and the failure names its file",
    arguments: [
      (nil, "there is no web identity token at ~/other"), ("", "the contents of ~/other are not a web identity token"),
      ("two words", "the contents of ~/other are not a web identity token"),
    ] as [(String?, String)])
  func noToken(content: String?, message: String) async throws {
    let home = try home("[default]\naws_access_key_id = A\naws_secret_access_key = s\n")
    if let content { try home.write(Array(content.utf8), to: "other") }
    let chain = try CredentialWorld(
      home, ["AWS_WEB_IDENTITY_TOKEN_FILE": "~/other", "AWS_ROLE_ARN": Self.role]
    ).chain()
    let found = await failure { () async throws(Failure) in try await chain.credentials() }
    #expect(found?.code == .credentials)
    #expect(found?.message.description == message)
  }

  @Test("a token without a role is a configuration failure")
  func noRole() async throws {
    let chain = try CredentialWorld(home(), ["AWS_WEB_IDENTITY_TOKEN_FILE": "~/token"]).chain()
    let found = await failure { () async throws(Failure) in try await chain.credentials() }
    #expect(found?.code == .configuration)
    #expect(found?.message.hasPrefix("AWS_WEB_IDENTITY_TOKEN_FILE names") == true)
  }

  @Test("a token that STS calls expired is a failure that says so")
  func ended() async throws {
    let service = try LocalService { _ in STSAnswer.refusal(400, "ExpiredTokenException", "Token expired") }
    let home = try home()
    let chain = try CredentialWorld(
      home,
      [
        "AWS_WEB_IDENTITY_TOKEN_FILE": "~/token", "AWS_ROLE_ARN": Self.role, "AWS_ENDPOINT_URL": service.url,
      ]
    ).chain()
    let found = await failure { () async throws(Failure) in try await chain.credentials() }
    #expect(found?.code == .credentialsExpired)
    #expect(found?.remedy == "the identity token has expired: write a new one into its file")
    #expect(found?.place.file == "~/token")
  }
}
