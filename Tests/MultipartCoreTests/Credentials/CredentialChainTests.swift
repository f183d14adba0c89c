import Foundation
@testable import MultipartCore
import Support
import Testing

@Suite("Credentials", .timeLimit(.minutes(15)))
struct CredentialChainTests {
  static let keys = ["AWS_ACCESS_KEY_ID": "ENVID", "AWS_SECRET_ACCESS_KEY": "ENVSECRET"]

  private func find(
    _ home: ConfigHome, _ variables: [String: String] = [:], profile: String? = nil
  ) async throws -> Credentials {
    try await CredentialWorld(home, variables).chain(profile: profile).credentials()
  }

  @Test("keys and token are taken from the environment, which is named as their source")
  func environment() async throws {
    let found = try await find(ConfigHome(), Self.keys.merging(["AWS_SESSION_TOKEN": "T"]) { $1 })
    var wanted = Credentials(
      accessKeyID: "ENVID", secretAccessKey: Secret("ENVSECRET"), sessionToken: Secret("T"), source: "environment")
    wanted.isFixed = true
    #expect(found == wanted)
    let ending = try await find(
      ConfigHome(), Self.keys.merging(["AWS_CREDENTIAL_EXPIRATION": "2030-01-01T00:00:00Z"]) { $1 })
    #expect(ending.expiration == Timestamp(seconds: 1_893_456_000))
  }

  @Test("white space at the ends of a key is removed, and an empty token does not count")
  func trimmed() async throws {
    let found = try await find(
      ConfigHome(),
      ["AWS_ACCESS_KEY_ID": " ENVID\n", "AWS_SECRET_ACCESS_KEY": "\tENVSECRET\r\n", "AWS_SESSION_TOKEN": " "])
    #expect(found.accessKeyID == "ENVID")
    #expect(found.secretAccessKey == Secret("ENVSECRET"))
    #expect(found.sessionToken == nil)
  }

  @Test("keys of the profile: the credentials file first, then the config file, the source named")
  func files() async throws {
    let home = try ConfigHome(
      config: """
        [profile dev]
        aws_access_key_id = CONFIG
        aws_secret_access_key = c
        aws_session_token = stale
        [profile only]
        aws_access_key_id = ONLY
        aws_secret_access_key = o
        aws_session_token = t
        """,
      credentials: "[default]\naws_access_key_id=DEF\naws_secret_access_key=d\n"
        + "[dev]\naws_access_key_id=DEV\naws_secret_access_key=v\n")
    let standard = try await find(home)
    #expect(standard.accessKeyID == "DEF")
    #expect(standard.source == "profile default in ~/.aws/credentials")
    let dev = try await find(home, profile: "dev")
    #expect(dev.accessKeyID == "DEV")
    // The token in the other file belongs to other keys.
    #expect(dev.sessionToken == nil)
    let only = try await find(home, ["AWS_PROFILE": "only"])
    #expect(only.sessionToken == Secret("t"))
    #expect(only.source == "profile only in ~/.aws/config")
  }

  @Test("a profile on the command line wins over the environment's keys, one in a variable does not")
  func precedence() async throws {
    let home = try ConfigHome(credentials: "[dev]\naws_access_key_id=DEV\naws_secret_access_key=v\n")
    #expect(try await find(home, Self.keys, profile: "dev").accessKeyID == "DEV")
    #expect(try await find(home, Self.keys.merging(["AWS_PROFILE": "dev"]) { $1 }).accessKeyID == "ENVID")
  }

  @Test("keys that another process writes into the file are seen at the next call")
  func readAnew() async throws {
    let home = try ConfigHome(credentials: "[default]\naws_access_key_id=OLD\naws_secret_access_key=s\n")
    let chain = try CredentialWorld(home).chain()
    #expect(try await chain.credentials().accessKeyID == "OLD")
    try home.write(Array("[default]\naws_access_key_id=NEW\naws_secret_access_key=s\n".utf8), to: ".aws/credentials")
    #expect(try await chain.credentials().accessKeyID == "NEW")
  }

  @Test("without credentials the failure names the sources and a remedy")
  func nothing() async throws {
    let home = try ConfigHome(config: "[default]\nregion = eu-west-1\n")
    let failure = await #expect(throws: Failure.self) { try await find(home) }
    #expect(failure?.code == .credentials)
    #expect(
      failure?.message
        == "no credentials found; looked in: the environment, then profile default in ~/.aws/credentials and ~/.aws/config, "
        + "AWS_WEB_IDENTITY_TOKEN_FILE")
    #expect(failure?.remedy?.contains("AWS_ACCESS_KEY_ID") == true)
    let named = await #expect(throws: Failure.self) { try await find(home, Self.keys, profile: "default") }
    #expect(
      named?.message == "no credentials found; looked in: profile default in ~/.aws/credentials and ~/.aws/config")
  }

  @Test(
    "unusable keys end the search, the wrong one is named, and none is shown",
    arguments: [
      (["AWS_ACCESS_KEY_ID": "hunter2"], "", "the environment: AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY"),
      (
        ["AWS_SECRET_ACCESS_KEY": "hunter2"], "", "the environment: AWS_SECRET_ACCESS_KEY is set, but AWS_ACCESS_KEY_ID"
      ),
      (
        ["AWS_ACCESS_KEY_ID": "hunter2", "AWS_SECRET_ACCESS_KEY": " "], "",
        "the environment: AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY"
      ),
      (["AWS_ACCESS_KEY_ID": "a hunter2"], "", "the environment: AWS_ACCESS_KEY_ID contains a space"),
      (
        ["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "hunter2\r\nX: y"], "",
        "the environment: AWS_SECRET_ACCESS_KEY contains a space"
      ),
      (
        ["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_SESSION_TOKEN": "hunter2\nx"], "",
        "the environment: AWS_SESSION_TOKEN contains a space"
      ),
      (
        [:], "aws_access_key_id = hunter2",
        "profile default in ~/.aws/credentials: aws_access_key_id is set, but aws_secret_access_key"
      ),
      (
        [:], "aws_access_key_id = a\n  aws_secret_access_key = hunter2",
        "profile default in ~/.aws/credentials: aws_access_key_id contains a space"
      ),
      (
        [:], "role_arn = r\naws_access_key_id = hunter2\naws_secret_access_key = hunter2",
        "profile default has a role_arn that is not an ARN"
      ),
      ([:], "login_session = hunter2", "profile default gets its credentials by login_session"),
      ([:], "sso_role_name = hunter2", "profile default uses SSO, but has no sso_account_id"),
      ([:], "hunter2", "~/.aws/credentials:2:"),
    ] as [([String: String], String, String)])
  func unusable(variables: [String: String], file: String, message: String) async throws {
    let home = try ConfigHome(
      config: "[default]\naws_access_key_id = other\naws_secret_access_key = other\n",
      credentials: "[default]\n" + file + "\n")
    let failure = await #expect(throws: Failure.self) { try await find(home, variables) }
    #expect(failure?.message.hasPrefix(message) == true)
    #expect(failure?.message.contains("hunter2") == false)
    #expect(failure?.remedy?.contains("hunter2") == false)
  }

  @Test("the chain asks in order and stops at the first source that has credentials")
  func order() async throws {
    struct Fixed: CredentialProvider {
      var place: String
      var answer: Result<Credentials?, Failure>
      func credentials() async throws(Failure) -> Credentials? { try answer.get() }
    }
    let some = Credentials(accessKeyID: "A", secretAccessKey: Secret("s"), source: "second")
    let failing = Fixed(place: "third", answer: .failure(Failure(.credentials, "third")))
    let chain = CredentialChain([
      Fixed(place: "first", answer: .success(nil)), Fixed(place: "2", answer: .success(some)), failing,
    ])
    #expect(try await chain.credentials() == some)
    let stopped = CredentialChain([failing, Fixed(place: "2", answer: .success(some))])
    let failure = await #expect(throws: Failure.self) { try await stopped.credentials() }
    #expect(failure?.message == "third")
  }

  @Test("a profile's kinds of credentials are tried in AWS's order")
  func orderOfWays() async throws {
    let service = try LocalService { asked in
      asked.path == "/federation/credentials"
        ? .init(200, #"{"roleCredentials": {"accessKeyId": "SSO", "secretAccessKey": "s", "sessionToken": "t"}}"#)
        : STSAnswer.credentials(id: asked.form["Action"] ?? "")
    }
    // Each kind of credentials as config lines; the last is in the credentials file too.
    let process = #"credential_process = /bin/echo '{"Version":1,"AccessKeyId":"PROCESS","SecretAccessKey":"s"}'"#
    let keys = "aws_access_key_id = CONFIG\naws_secret_access_key = s"
    let written = "[default]\naws_access_key_id = CREDENTIALS\naws_secret_access_key = s\n"
    let sso = "sso_account_id = 1\nsso_role_name = r\nsso_start_url = x\nsso_region = eu-west-1"
    let role = "role_arn = arn:aws:iam::1:role/r\ncredential_source = Environment"
    let token = ["AWS_WEB_IDENTITY_TOKEN_FILE": "~/token", "AWS_ROLE_ARN": "arn:aws:iam::1:role/pod"]
    let cases: [(expected: String, lines: [String], credentials: String?, variables: [String: String], isNamed: Bool)] =
      [
        ("CONFIG", [keys], nil, [:], false),
        ("PROCESS", [process, keys], nil, [:], false),
        ("CREDENTIALS", [process, keys], written, [:], false),
        ("SSO", [sso, process, keys], written, [:], false),
        ("AssumeRoleWithWebIdentity", [sso, process, keys], written, token, false),
        ("SSO", [sso, process, keys], written, token, true),
        ("ENVID", [role, sso, process, keys], written, token.merging(Self.keys) { $1 }, false),
        ("AssumeRole", [role, sso, process, keys], written, token.merging(Self.keys) { $1 }, true),
      ]
    for (expected, lines, credentials, variables, isNamed) in cases {
      let home = try ConfigHome(
        config: "[default]\n" + lines.joined(separator: "\n") + "\n", credentials: credentials)
      try home.write(Array("jwt".utf8), to: "token")
      try FileManager.default.createDirectory(atPath: home.path + "/.aws/sso/cache", withIntermediateDirectories: true)
      // SHA-1 of `x`.
      try home.write(
        Array(#"{"accessToken": "at", "expiresAt": "2030-01-01T00:00:00Z"}"#.utf8),
        to: ".aws/sso/cache/11f6ad8ec52a2984abaafd7c3b516503785c2072.json")
      let found = try await find(
        home, variables.merging(["AWS_ENDPOINT_URL": service.url]) { $1 }, profile: isNamed ? "default" : nil)
      #expect(found.accessKeyID == expected)
    }
  }

  @Test("the container and then the EC2 machine come last, and are in the list of sources")
  func hosts() async throws {
    struct Host: CredentialProvider {
      var place: String
      var id: String?
      func credentials() async throws(Failure) -> Credentials? {
        id.map { Credentials(accessKeyID: $0, secretAccessKey: Secret("s"), source: place) }
      }
    }
    let world = try CredentialWorld(ConfigHome())
    func chain(_ container: String?, _ machine: String?) -> CredentialChain {
      world.chain {
        $0.container = Host(place: "the container", id: container)
        $0.instance = Host(place: "the machine", id: machine)
      }
    }
    #expect(try await chain("C", "M").credentials().accessKeyID == "C")
    #expect(try await chain(nil, "M").credentials().accessKeyID == "M")
    let found = await failure { () async throws(Failure) in try await chain(nil, nil).credentials() }
    #expect(found?.message.hasSuffix("AWS_WEB_IDENTITY_TOKEN_FILE, then the container, then the machine") == true)
  }
}
