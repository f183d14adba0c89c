@testable import MultipartCore
import Support
import Testing

@Suite("Roles of profiles", .timeLimit(.minutes(15)))
struct RoleChainTests {
  private struct Fixed: CredentialProvider {
    var place = "the container"
    var id: String?
    func credentials() async throws(Failure) -> Credentials? {
      id.map { Credentials(accessKeyID: $0, secretAccessKey: Secret("s-hunter2"), source: place) }
    }
  }

  /// Answers with the role's name as the key, so that a test can see which role was requested with which key.
  private func sts() throws -> LocalService {
    try LocalService { asked in
      let name = asked.form["RoleArn"]?.split(separator: "/").last.map(String.init) ?? ""
      return STSAnswer.credentials(id: "KEY-\(name)")
    }
  }

  private static func signer(_ asked: LocalService.Asked) -> String? {
    asked.headers["Authorization"]?.split(separator: "=").dropFirst().first.map { String($0.prefix { $0 != "," }) }
  }

  @Test("a role is requested with all settings of the profile, signed by the source profile's keys")
  func one() async throws {
    let service = try sts()
    let home = try ConfigHome(
      config: """
        [profile dev]
        role_arn = arn:aws:iam::1:role/dev
        source_profile = base
        external_id = e 1
        role_session_name = me
        duration_seconds = 3600
        region = eu-central-1
        [profile base]
        region = us-west-2
        """, credentials: "[base]\naws_access_key_id = BASE\naws_secret_access_key = b-hunter2\n")
    let world = try CredentialWorld(home, ["AWS_ENDPOINT_URL_STS": service.url])
    let found = try await world.chain(profile: "dev").credentials()
    #expect(found.accessKeyID == "KEY-dev")
    #expect(found.source == "role arn:aws:iam::1:role/dev from profile dev")
    #expect(found.expiration != nil)
    let asked = try #require(service.asked.first)
    #expect(Self.signer(asked) == "BASE/20250615/eu-central-1/sts/aws4_request")
    #expect(asked.form["ExternalId"] == "e 1")
    #expect(asked.form["RoleSessionName"] == "me")
    #expect(asked.form["DurationSeconds"] == "3600")
    #expect(!world.log.contains("hunter2"))
  }

  @Test("chained roles are each signed by the previous one, in the requested region")
  func chain() async throws {
    let service = try sts()
    let home = try ConfigHome(
      config: """
        [profile a]
        role_arn = arn:aws:iam::1:role/a
        source_profile = b
        services = local
        [profile b]
        role_arn = arn:aws:iam::1:role/b
        source_profile = c
        [profile c]
        role_arn = arn:aws:iam::1:role/c
        source_profile = c
        aws_access_key_id = C
        aws_secret_access_key = s
        [services local]
        sts =
          endpoint_url = \(service.url)
        """)
    let world = try CredentialWorld(home, ["AWS_PROFILE": "a"])
    let found = try await world.chain { $0.region = "eu-north-1" }.credentials()
    #expect(found.accessKeyID == "KEY-a")
    // The keys of c win over its role, since it is a source here.
    #expect(service.asked.compactMap { $0.form["RoleArn"] } == ["arn:aws:iam::1:role/b", "arn:aws:iam::1:role/a"])
    #expect(
      service.asked.compactMap(Self.signer) == [
        "C/20250615/eu-north-1/sts/aws4_request", "KEY-b/20250615/eu-north-1/sts/aws4_request",
      ])
  }

  @Test("a profile may name itself as the source of its role if it has keys")
  func itself() async throws {
    let service = try sts()
    let home = try ConfigHome(
      credentials: "[default]\nrole_arn = arn:aws:iam::1:role/d\nsource_profile = default\n"
        + "aws_access_key_id = D\naws_secret_access_key = s\n")
    let world = try CredentialWorld(home, ["AWS_ENDPOINT_URL": service.url])
    #expect(try await world.chain().credentials().accessKeyID == "KEY-d")
    #expect(service.asked.compactMap(Self.signer).first?.hasPrefix("D/") == true)
  }

  @Test("a source profile may have any kind of credentials", arguments: ["process", "token"])
  func anySource(kind: String) async throws {
    let service = try sts()
    let home = try ConfigHome(
      config: """
        [profile dev]
        role_arn = arn:aws:iam::1:role/dev
        source_profile = \(kind)
        [profile process]
        credential_process = /bin/echo '{"Version": 1, "AccessKeyId": "PROC", "SecretAccessKey": "s"}'
        [profile token]
        web_identity_token_file = ~/token
        role_arn = arn:aws:iam::1:role/pod
        """)
    try home.write(Array("jwt".utf8), to: "token")
    let world = try CredentialWorld(home, ["AWS_ENDPOINT_URL": service.url])
    _ = try await world.chain(profile: "dev").credentials()
    let signer = try #require(service.asked.last.flatMap(Self.signer))
    #expect(signer.hasPrefix(kind == "process" ? "PROC/" : "KEY-pod/"))
  }

  @Test(
    "a credential_source is the source of a role",
    arguments: [("Environment", "ENV"), ("EcsContainer", "ECS"), ("Ec2InstanceMetadata", "EC2")])
  func named(place: String, id: String) async throws {
    let service = try sts()
    let home = try ConfigHome(
      config: "[profile dev]\nrole_arn = arn:aws:iam::1:role/dev\ncredential_source = \(place)\n")
    let world = try CredentialWorld(
      home,
      [
        "AWS_ENDPOINT_URL": service.url, "AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s",
      ])
    let chain = world.chain(profile: "dev") {
      $0.container = Fixed(id: "ECS")
      $0.instance = Fixed(id: "EC2")
    }
    #expect(try await chain.credentials().accessKeyID == "KEY-dev")
    #expect(service.asked.compactMap(Self.signer).first?.hasPrefix(id + "/") == true)
  }

  @Test("an MFA code is asked for, and sent to STS with the device's number")
  func code() async throws {
    let service = try sts()
    let home = try ConfigHome(
      config: """
        [default]
        role_arn = arn:aws:iam::1:role/d
        source_profile = keys
        mfa_serial = arn:aws:iam::1:mfa/me
        """, credentials: "[keys]\naws_access_key_id = K\naws_secret_access_key = s\n")
    let world = try CredentialWorld(home, ["AWS_ENDPOINT_URL": service.url])
    let prompts = Guarded<[String]>([])
    let asking = world.chain {
      $0.askCode = { prompt in
        prompts.with { $0.append(prompt) }
        return Secret(" 123456 ")
      }
    }
    _ = try await asking.credentials()
    #expect(prompts.with { $0 } == ["Code of arn:aws:iam::1:mfa/me for profile default: "])
    #expect(service.asked.first?.form["TokenCode"] == "123456")
    #expect(service.asked.first?.form["SerialNumber"] == "arn:aws:iam::1:mfa/me")

    let wrong = await failure { () async throws(Failure) in
      try await world.chain { $0.askCode = { _ in Secret("hunter2") } }.credentials()
    }
    #expect(wrong?.message == "a code of arn:aws:iam::1:mfa/me has six digits")
    let alone = await failure { () async throws(Failure) in try await world.chain().credentials() }
    #expect(alone?.code == .credentials)
    #expect(
      alone?.message == "profile default needs the code of arn:aws:iam::1:mfa/me, and there is no way to ask for it")
    #expect(service.asked.count == 1)
  }

  @Test(
    "invalid settings are a configuration failure that names the profile",
    arguments: [
      ("source_profile = default", "profile default is part of a circle of source profiles: default, default"),
      ("source_profile = b", "profile b is part of a circle of source profiles: default, b, default"),
      ("source_profile = gone", "profile default names the source_profile \"gone\", which does not exist"),
      ("source_profile = empty", "profile default names the source_profile \"empty\", which has no credentials"),
      (
        "source_profile = b\ncredential_source = Environment",
        "profile default has both source_profile and credential_source"
      ),
      ("", "profile default has a role_arn, but neither source_profile nor credential_source"),
      (
        "credential_source = Elsewhere",
        "profile default has the credential_source \"Elsewhere\", which does not exist"
      ),
      (
        "source_profile = b\nduration_seconds = 5",
        "profile default has a duration_seconds that is not a number from 900 to 43200"
      ),
    ])
  func wrong(lines: String, message: String) async throws {
    let home = try ConfigHome(
      config: """
        [profile b]
        role_arn = arn:aws:iam::1:role/b
        source_profile = default
        [profile empty]
        region = x
        [default]
        role_arn = arn:aws:iam::1:role/d
        \(lines)
        """)
    let world = try CredentialWorld(home)
    let found = await failure { () async throws(Failure) in try await world.chain().credentials() }
    #expect(found?.code == .configuration)
    #expect(found?.message.description == message)
  }

  @Test("a source without credentials, or that cannot be asked, is a credentials failure")
  func empty() async throws {
    let home = try ConfigHome(
      config: "[default]\nrole_arn = arn:aws:iam::1:role/d\ncredential_source = EcsContainer\n")
    let world = try CredentialWorld(home)
    for container in [Fixed(), nil] {
      let found = await failure { () async throws(Failure) in
        try await world.chain { $0.container = container }.credentials()
      }
      #expect(found?.code == .credentials)
      #expect(
        found?.message == "profile default takes its credentials from EcsContainer, which has none")
    }
  }

  @Test("an endless chain of roles is refused")
  func tooLong() async throws {
    let profiles = (0..<20).map {
      "[profile p\($0)]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = p\($0 + 1)\n"
    }
    let world = try CredentialWorld(ConfigHome(config: profiles.joined()))
    let found = await failure { () async throws(Failure) in try await world.chain(profile: "p0").credentials() }
    #expect(found?.message == "profile p9 is behind more than 10 roles")
  }
}
