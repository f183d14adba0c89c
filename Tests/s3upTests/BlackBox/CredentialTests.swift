import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support
@testable import s3up

/// From the user's configuration to the key id in the Authorization header of the upload.
@Suite(.crowd) struct CredentialTests {
  private static let role = FakeCredential(
    keyID: "ASIAROLEROLEROLE", secret: "RoleSecretRoleSecret/+0123456789abcdefAB",
    sessionToken: "RoleToken/+=0123456789" + String(repeating: "t0Ken", count: 20))
  private static let base = FakeCredential(
    keyID: "AKIABASEBASEBASE", secret: "BaseSecretBaseSecret/+0123456789abcdefAB")
  private static let jwt = "eyJhbGciOiJSUzI1NiJ9.JwtJwtJwtJwtJwtJwtJwt.SignatureOfTheJwt"

  private func box(_ config: String = "", credentials: String = "") throws -> BlackBox {
    var box = try BlackBox { $0.credentials = [Self.role, Self.base] }
    box.environment["AWS_ACCESS_KEY_ID"] = nil
    box.environment["AWS_SECRET_ACCESS_KEY"] = nil
    try box.binary.home.write(config, to: ".aws/config")
    try box.binary.home.write(credentials, to: ".aws/credentials")
    try box.sample("f", 6 * mebi)
    return box
  }

  /// STS and SSO in one: hands out the role's keys.
  private func service() throws -> LocalService {
    try LocalService { asked in
      let (id, secret, token) = (Self.role.keyID, Self.role.secret, Self.role.sessionToken ?? "")
      if asked.path == "/federation/credentials" {
        return .init(
          200,
          """
          {"roleCredentials": {"accessKeyId": "\(id)", "secretAccessKey": "\(secret)", "sessionToken": "\(token)",
          "expiration": 4102444800000}}
          """)
      }
      return .init(
        200,
        """
        <R><Credentials><AccessKeyId>\(id)</AccessKeyId><SecretAccessKey>\(secret)</SecretAccessKey>
        <SessionToken>\(token)</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration></Credentials></R>
        """)
    }
  }

  /// Expects that the upload arrived, that every request was signed with this key, and that no output contains a
  /// secret.
  private func expectUpload(
    _ box: BlackBox, _ result: ChildProcess.Result, by credential: FakeCredential,
    where location: SourceLocation = #_sourceLocation
  ) {
    #expect(result.status == 0, "\(result.errors)", sourceLocation: location)
    #expect(box.fake.object("k") != nil, sourceLocation: location)
    #expect(box.fake.requests.count >= 3, sourceLocation: location)
    for request in box.fake.requests {
      #expect(
        request.headers["Authorization"]?.contains("Credential=\(credential.keyID)/") == true, sourceLocation: location)
    }
    expectNoSecret(result, where: location)
  }

  private func expectNoSecret(_ result: ChildProcess.Result, where location: SourceLocation = #_sourceLocation) {
    let text = result.output + result.errors
    for secret in [Self.role.secret, Self.role.sessionToken ?? "", Self.base.secret, Self.jwt, "LoginToken0123456789"] {
      #expect(!text.contains(secret.prefix(16)), sourceLocation: location)
      #expect(!text.contains(FakeURL.encode(secret.utf8).prefix(16)), sourceLocation: location)
    }
  }

  private static let put = ["put", "f", "s3://bucket/k", "--part-size", "5M", "-vv"]

  @Test("a token file and a role in the environment, as Kubernetes sets them")
  func webIdentity() async throws {
    let sts = try service()
    var box = try box()
    box.environment["AWS_WEB_IDENTITY_TOKEN_FILE"] = try box.files.write(Self.jwt + "\n", to: "token")
    box.environment["AWS_ROLE_ARN"] = "arn:aws:iam::1:role/pod"
    box.environment["AWS_ENDPOINT_URL_STS"] = sts.url
    expectUpload(box, try await box.run(Self.put), by: Self.role)
    #expect(sts.asked.map { $0.form["Action"] } == ["AssumeRoleWithWebIdentity"])
    #expect(sts.asked.first?.form["WebIdentityToken"] == Self.jwt)
  }

  @Test("a role of a profile, with the keys of another")
  func role() async throws {
    let sts = try service()
    var box = try box(
      "[profile dev]\nrole_arn = arn:aws:iam::1:role/dev\nsource_profile = base\nregion = us-east-1\n",
      credentials: "[base]\naws_access_key_id = \(Self.base.keyID)\naws_secret_access_key = \(Self.base.secret)\n")
    box.environment["AWS_ENDPOINT_URL_STS"] = sts.url
    // Keys of the environment do not count if a profile is named.
    box.environment["AWS_ACCESS_KEY_ID"] = "AKIAOTHER"
    box.environment["AWS_SECRET_ACCESS_KEY"] = "other"
    expectUpload(box, try await box.run(Self.put + ["--profile", "dev"]), by: Self.role)
    #expect(sts.asked.first?.headers["Authorization"]?.contains("Credential=\(Self.base.keyID)/") == true)
  }

  @Test("a login through SSO")
  func sso() async throws {
    let sso = try service()
    var box = try box(
      """
      [profile dev]
      sso_session = corp
      sso_account_id = 1
      sso_role_name = up
      region = us-east-1
      [sso-session corp]
      sso_region = us-east-1
      sso_start_url = https://corp.awsapps.com/start
      """)
    // SHA-1 of `corp`.
    try box.binary.home.write(
      #"{"accessToken": "LoginToken0123456789", "expiresAt": "2099-01-01T00:00:00Z"}"#,
      to: ".aws/sso/cache/ee0bfd2552fbd840c02cc48b6e823320543c450f.json")
    box.environment["AWS_PROFILE"] = "dev"
    box.environment["AWS_ENDPOINT_URL_SSO"] = sso.url
    expectUpload(box, try await box.run(Self.put), by: Self.role)
    try box.binary.home.write(
      #"{"accessToken": "LoginToken0123456789", "expiresAt": "2020-01-01T00:00:00Z"}"#,
      to: ".aws/sso/cache/ee0bfd2552fbd840c02cc48b6e823320543c450f.json")
    let ended = try await box.run("put", "f", "s3://bucket/k")
    ended.expectFailure(
      77, "the login of profile dev expired at 2020-01-01T00:00:00Z", "aws sso login --sso-session corp")
  }

  private static let process = """
    echo "a word to the person" >&2
    cat >/dev/null
    echo '{"Version": 1, "AccessKeyId": "\(base.keyID)", "SecretAccessKey": "\(base.secret)"}'
    """

  @Test("a credential_process can print to the terminal, and leaves standard input to the upload")
  func process() async throws {
    let box = try box()
    let script = try box.files.write(Self.process, to: "give me keys")
    try box.binary.home.write(
      "[default]\ncredential_process = /bin/sh \"\(script)\"\nregion = us-east-1\n", to: ".aws/config")
    let bytes = randomBytes(6 * mebi, seed: 5)
    let result = try await box.run(
      ["put", "-", "s3://bucket/k", "--part-size", "5M", "-vv"], input: .bytes(bytes))
    expectUpload(box, result, by: Self.base)
    #expect(result.errors.contains("a word to the person\n"))
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("a credential_process that fails ends in 77, and its output is not shown")
  func failingProcess() async throws {
    let box = try box("[default]\ncredential_process = sh -c 'echo \(Self.base.secret) ; exit 7'\n")
    let result = try await box.run("put", "f", "s3://bucket/k")
    result.expectFailure(77, "the credential_process of profile default: it ended with exit code 7")
    expectNoSecret(result)
    #expect(box.fake.requests.isEmpty)
  }

  @Test("a credential_process started during an upload keeps none of its connections open")
  func processBeside() async throws {
    let box = try box()
    let open = box.binary.home.path("open")
    // The keys of the second call are different.
    let script = """
      [ -e '\(open)' ] || other=no
      ls -l /proc/self/fd >>'\(open)'
      cat /proc/net/tcp >>'\(open)'
      [ "$other" ] || {
        echo '{"Version": 1, "AccessKeyId": "\(Self.role.keyID)", "SecretAccessKey": "\(Self.role.secret)",'
        echo '"SessionToken": "\(Self.role.sessionToken ?? "")"}'
        exit
      }
      echo '{"Version": 1, "AccessKeyId": "\(Self.base.keyID)", "SecretAccessKey": "\(Self.base.secret)"}'
      """
    try box.binary.home.write(
      "[default]\ncredential_process = /bin/sh \"\(try box.files.write(script, to: "keys"))\"\nregion = us-east-1\n",
      to: ".aws/config")
    box.fake.setFaults([Fault(.init(.uploadPart, partNumber: 2, nth: 1), .error(status: 400, code: "ExpiredToken"))])
    let result = try await box.run("put", "f", "s3://bucket/k", "--part-size", "5M")
    #expect(result.status == 0, "\(result.errors)")
    let seen = try String(contentsOfFile: open, encoding: .utf8)
    #expect(seen.components(separatedBy: "total ").count == 3, "it ran twice: \(seen)")
    // libcurl also has a socket pair to wake its loop; the inodes of connections are in the TCP table.
    let sockets = seen.components(separatedBy: "socket:[").dropFirst().compactMap { $0.split(separator: "]").first }
    let connections = seen.split(separator: "\n").compactMap { line -> Substring? in
      let words = line.split(separator: " ")
      return words.count > 9 && words[0].hasSuffix(":") ? words[9] : nil
    }
    #expect(connections.count > 1)
    #expect(Set(sockets).isDisjoint(with: connections), "\(seen)")
  }

  /// `script` gives the program a terminal.
  @Test("the code of an MFA device is asked for on the terminal, without an echo")
  func code() async throws {
    let sts = try service()
    var box = try box(
      """
      [default]
      role_arn = arn:aws:iam::1:role/dev
      credential_source = Environment
      mfa_serial = arn:aws:iam::1:mfa/me
      """)
    box.environment["AWS_PROFILE"] = "default"
    box.environment["AWS_ENDPOINT_URL_STS"] = sts.url
    box.environment["AWS_ACCESS_KEY_ID"] = Self.base.keyID
    box.environment["AWS_SECRET_ACCESS_KEY"] = Self.base.secret
    box.environment["SHELL"] = "/bin/sh"
    let words = "put f s3://bucket/k --profile default"
    let terminal = try ChildProcess(
      Programs.find("script"), ["-qec", "\(box.binary.path) \(words)", "/dev/null"],
      environment: Programs.environment(home: box.binary.home.path).merging(box.environment) { $1 },
      directory: box.files.path, input: .open)
    try await until("the code is asked for") {
      terminal.ended || String(decoding: terminal.stdout, as: UTF8.self).contains("mfa/me for profile default: ")
    }
    _ = await terminal.write(Array("246813\n".utf8))
    let result = await terminal.wait(timeout: .seconds(60))
    #expect(result.status == 0, "\(result.output) \(result.errors)")
    #expect(!result.output.contains("246813"))
    #expect(sts.asked.first?.form["TokenCode"] == "246813")
    #expect(sts.asked.first?.form["SerialNumber"] == "arn:aws:iam::1:mfa/me")
    #expect(box.fake.object("k") != nil)
  }

  @Test("Ctrl-C at the prompt ends the run, and the terminal echoes again")
  func interruptedQuestion() async throws {
    var box = try box(
      "[default]\nrole_arn = arn:aws:iam::1:role/dev\ncredential_source = Environment\nmfa_serial = arn:aws:iam::1:mfa/me\n"
    )
    box.environment["AWS_ACCESS_KEY_ID"] = Self.base.keyID
    box.environment["AWS_SECRET_ACCESS_KEY"] = Self.base.secret
    box.environment["SHELL"] = "/bin/sh"
    let line = "trap : INT; \(box.binary.path) put f s3://bucket/k --profile default; echo status $?; stty -a"
    let terminal = try ChildProcess(
      Programs.find("script"), ["-qec", line, "/dev/null"],
      environment: Programs.environment(home: box.binary.home.path).merging(box.environment) { $1 },
      directory: box.files.path, input: .open)
    try await until("the code is asked for") {
      terminal.ended || String(decoding: terminal.stdout, as: UTF8.self).contains("mfa/me for profile default: ")
    }
    _ = await terminal.write([3])
    let result = await terminal.wait(timeout: .seconds(60))
    #expect(result.output.contains("status 130"), "\(result.output)")
    #expect(result.output.contains(" echo "))
    #expect(!result.output.contains("-echo "))
    #expect(box.fake.requests.isEmpty)
  }

  @Test("without a terminal a role that needs a code is a clear failure")
  func noTerminal() async throws {
    var box = try box(
      "[default]\nrole_arn = arn:aws:iam::1:role/dev\ncredential_source = Environment\nmfa_serial = arn:aws:iam::1:mfa/me\n"
    )
    box.environment["AWS_ACCESS_KEY_ID"] = Self.base.keyID
    box.environment["AWS_SECRET_ACCESS_KEY"] = Self.base.secret
    // A new session has no terminal.
    let result = try await box.shell("exec setsid -w \"$S3UP\" put f s3://bucket/k --profile default")
    result.expectFailure(77, "needs a code, and there is no terminal to ask on")
  }

  @Test("an invalid file ends in 78 with the line number, and without its contents")
  func broken() async throws {
    let box = try box("[default]\nregion = us-east-1\n\(Self.base.secret)\n")
    let result = try await box.run("put", "f", "s3://bucket/k")
    result.expectFailure(78, "~/.aws/config:3:", "line 3")
    expectNoSecret(result)
    #expect(box.fake.requests.isEmpty)
  }

  @Test("a machine without credentials reports that within 3 s, with the sources that were tried")
  func none() async throws {
    let box = try box()
    let lag = Lag()
    let result = try await box.run("put", "f", "s3://bucket/k")
    result.expectFailure(
      77,
      "no credentials found; looked in: the environment, then profile default in ~/.aws/credentials and ~/.aws/config")
    #expect(.seconds(result.seconds) - lag.sofar < .seconds(3))
    #expect(box.fake.requests.isEmpty)
  }

  @Test("a service that does not answer is retried by itself, not again for each try of the upload")
  func serviceDown() async throws {
    let sts = try LocalService { _ in .init(500) }
    var box = try box()
    box.environment["AWS_WEB_IDENTITY_TOKEN_FILE"] = try box.files.write(Self.jwt + "\n", to: "token")
    box.environment["AWS_ROLE_ARN"] = "arn:aws:iam::1:role/pod"
    box.environment["AWS_ENDPOINT_URL_STS"] = sts.url
    let result = try await box.run("put", "f", "s3://bucket/k")
    result.expectFailure(75, "AssumeRoleWithWebIdentity of STS was answered 500")
    #expect(sts.asked.count == 4)
    #expect(box.fake.requests.isEmpty)
  }

  @Test("without HOME the user's home directory is the system's")
  func home() async throws {
    let known = try await ChildProcess(
      Programs.find("getent"), ["passwd", "\(geteuid())"], environment: Programs.environment(home: "/")
    ).wait()
    let fields = known.output.split(separator: ":", omittingEmptySubsequences: false)
    #expect(ProcessEnvironment.home(of: geteuid()) == fields.dropFirst(5).first.map(String.init))
    #expect(ProcessEnvironment.home(of: 3_999_999_999) == nil)
  }
}
