import Foundation
@testable import MultipartCore
import Support
import Testing

@Suite("GitHub's OIDC", .timeLimit(.minutes(15)))
struct GitHubOIDCTests {
  private static let role = "arn:aws:iam::123456789012:role/deploy"
  private static let jwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJyZXBvIn0.hunter2"

  private func environment(_ url: String, _ more: [String: String] = [:]) -> [String: String] {
    [
      "AWS_ROLE_ARN": Self.role, "ACTIONS_ID_TOKEN_REQUEST_URL": url,
      "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "request-token-hunter2", "GITHUB_RUN_ID": "4711",
    ].merging(more) { $1 }
  }

  private func provider(
    _ world: CredentialWorld, _ environment: [String: String], sts: LocalService,
    settings: GitHubOIDCProvider.Settings = .init()
  ) -> GitHubOIDCProvider {
    let services = world.services
    return GitHubOIDCProvider(settings: settings, environment: environment, services: services) {
      () async throws(Failure) in
      let places = ServiceAddresses(environment: ["AWS_ENDPOINT_URL_STS": sts.url])
      return STSClient(services: services, address: try places.address(of: .sts, region: "eu-west-1"))
    }
  }

  private static func sts() throws -> LocalService {
    try LocalService { _ in STSAnswer.credentials("AssumeRoleWithWebIdentity", id: "ASIAJOB") }
  }

  @Test("GitHub gives a token for the audience, STS the role for that token, and no log has a token")
  func takesRole() async throws {
    let github = try MetadataServer(["/token/1": [.init(200, #"{"count":1,"value":"\#(Self.jwt)"}"#)]])
    let (sts, world) = (try Self.sts(), try CredentialWorld())
    let found = try await provider(
      world, environment(github.url + "/token/1?api-version=2.0&audience=other"), sts: sts
    ).credentials()
    #expect(found?.accessKeyID == "ASIAJOB")
    #expect(found?.source == "role \(Self.role) by GitHub's OIDC")
    let asked = try #require(github.asked.first)
    #expect(asked.method == "GET")
    #expect(asked.query == ["api-version": "2.0", "audience": "sts.amazonaws.com"])
    #expect(asked.target == "/token/1?api-version=2.0&audience=sts.amazonaws.com")
    #expect(asked.headers["Authorization"] == "Bearer request-token-hunter2")
    let form = try #require(sts.asked.first).form
    #expect(form["RoleArn"] == Self.role && form["WebIdentityToken"] == Self.jwt)
    #expect(form["RoleSessionName"] == "s3up-4711")
    #expect(!world.log.contains("hunter2"))
  }

  @Test("each call requests a new token")
  func anew() async throws {
    let github = try MetadataServer(["/t": [.init(200, #"{"value":"one"}"#), .init(200, #"{"value":"two"}"#)]])
    let (sts, world) = (try Self.sts(), try CredentialWorld())
    let provider = provider(world, environment(github.url + "/t"), sts: sts)
    _ = try await provider.credentials()
    _ = try await provider.credentials()
    #expect(sts.asked.map { $0.form["WebIdentityToken"] } == ["one", "two"])
  }

  @Test("role, audience and session name can be set")
  func settings() async throws {
    let github = try MetadataServer(["/t": [.init(200, #"{"value":"one"}"#)]])
    let (sts, world) = (try Self.sts(), try CredentialWorld())
    let environment = environment(github.url + "/t", ["AWS_ROLE_SESSION_NAME": "night build"])
    let settings = GitHubOIDCProvider.Settings(role: "arn:aws-cn:iam::1:role/x", audience: "sts.amazonaws.com.cn")
    _ = try await provider(world, environment, sts: sts, settings: settings).credentials()
    #expect(github.asked.first?.query == ["audience": "sts.amazonaws.com.cn"])
    #expect(sts.asked.first?.form["RoleArn"] == "arn:aws-cn:iam::1:role/x")
    #expect(sts.asked.first?.form["RoleSessionName"] == "night-build")
  }

  @Test(
    "without role, URL or token there are no credentials; if the role was named, that is a failure",
    arguments: ["AWS_ROLE_ARN", "ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"])
  func missing(variable: String) async throws {
    let (sts, world) = (try Self.sts(), try CredentialWorld())
    let environment = environment("http://127.0.0.1:1/t", [variable: ""])
    #expect(try await provider(world, environment, sts: sts).credentials() == nil)
    #expect(!GitHubOIDCProvider.isMeant(by: environment))
    guard variable != "AWS_ROLE_ARN" else { return }
    let settings = GitHubOIDCProvider.Settings(role: Self.role)
    let named = await failure { () async throws(Failure) in
      try await provider(world, environment, sts: sts, settings: settings).credentials()
    }
    #expect(named?.code == .credentials)
    #expect(named?.message.contains(variable) == true)
    #expect(named?.remedy?.contains("id-token: write") == true)
    // In a job the variable of the role is enough: without the permission it must not become another identity.
    let job = environment.merging(["GITHUB_ACTIONS": "true"]) { $1 }
    #expect(!GitHubOIDCProvider.isMeant(by: job) && GitHubOIDCProvider.isJobWithRole(in: job))
    let refused = await failure { () async throws(Failure) in
      try await provider(world, job, sts: sts).credentials()
    }
    #expect(refused?.message.contains(variable) == true && refused?.remedy?.contains("unset AWS_ROLE_ARN") == true)
    #expect(!GitHubOIDCProvider.isJobWithRole(in: job.merging(["AWS_ROLE_ARN": ""]) { $1 }))
  }

  @Test("A job whose role cannot be assumed does not become its container; a profile's keys come before the role")
  func machine() async throws {
    let (fake, folder) = (try FakeS3(), try TemporaryDirectory())
    fake.putObject("k", bytes: [1])
    let container = try MetadataServer(["/": [.init(200, #"{"AccessKeyId":"A","SecretAccessKey":"B"}"#)]])
    var environment = fake.environment()
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"] { environment[name] = nil }
    environment["HOME"] = folder.path
    environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = container.url + "/"
    (environment["AWS_ROLE_ARN"], environment["GITHUB_ACTIONS"]) = (Self.role, "true")
    var options = StoreOptions()
    options.environment = environment
    let missed = await failure { () async throws(Failure) in try await Store(bucket: "bucket", options).head("k") }
    #expect(missed?.code == .credentials && missed?.remedy?.contains("id-token: write") == true, "\(missed as Any)")
    #expect(container.asked.isEmpty)
    let keys = "aws_access_key_id = \(fake.credential.keyID)\naws_secret_access_key = \(fake.credential.secret)\n"
    try folder.write(Array("[default]\n\(keys)".utf8), to: ".aws/credentials")
    #expect(try await Store(bucket: "bucket", options).head("k") != nil)
  }

  @Test("keys and a token file of the environment come before it")
  func order() {
    let environment = environment("http://127.0.0.1:1/t")
    #expect(GitHubOIDCProvider.isMeant(by: environment))
    for name in ["AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE"] {
      #expect(!GitHubOIDCProvider.isMeant(by: environment.merging([name: "x"]) { $1 }))
      #expect(GitHubOIDCProvider.isMeant(by: environment.merging([name: ""]) { $1 }))
    }
  }

  @Test("the token is not sent to another machine over http, nor with a line break")
  func unsafe() async throws {
    let (sts, world) = (try Self.sts(), try CredentialWorld())
    for more in [
      ["ACTIONS_ID_TOKEN_REQUEST_URL": "http://github.example.com/t"],
      ["ACTIONS_ID_TOKEN_REQUEST_TOKEN": "hunter2\r\nX: y"],
    ] {
      let failure = await failure { () async throws(Failure) in
        try await provider(world, environment("http://127.0.0.1:1/t", more), sts: sts).credentials()
      }
      #expect(failure?.code == .configuration || failure?.code == .credentials)
      #expect(failure?.message.contains("hunter2") == false)
    }
    #expect(sts.asked.isEmpty)
  }

  @Test("a refusal by GitHub is a failure with a remedy; after a garbled answer the request is retried")
  func answers() async throws {
    let bad: [(LocalService.Reply, Failure.Code, Int)] = [
      (.init(401, #"{"message":"bad request-token-hunter2"}"#), .credentials, 1),
      (.init(403, "<html>"), .credentials, 1), (.init(302, "", headers: ["Location": "/other"]), .credentials, 1),
      (.init(200, "<html>"), .server, 4), (.init(200, #"{"value":""}"#), .server, 4),
      (.init(200, #"{"value":"a\nb"}"#), .server, 4), (.init(200, "[]"), .server, 4), (.init(500), .server, 4),
      (.init(429), .throttled, 4), (.init(200, #"{"value":"x"}"#, .half), .network, 4),
    ]
    for (reply, code, tries) in bad {
      let github = try MetadataServer(["/t": [reply]])
      let (sts, world) = (try Self.sts(), try CredentialWorld())
      let failure = await failure { () async throws(Failure) in
        try await provider(world, environment(github.url + "/t"), sts: sts).credentials()
      }
      #expect(failure?.code == code, "\(reply)")
      #expect(github.asked.count == tries, "\(reply)")
      #expect(failure?.message.contains("hunter2") == false && !world.log.contains("hunter2"))
      #expect(sts.asked.isEmpty)
    }
  }
}
