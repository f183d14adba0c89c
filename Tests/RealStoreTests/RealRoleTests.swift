import Foundation
import Support
import Testing

/// A server with AWS's accounts: its user may only assume a role, and only the role may use S3. An upload that arrives
/// was therefore signed with the role's keys.
struct Accounts: Sendable {
  let endpoint: String
  let secureEndpoint: String
  let certificates: String
  let bucket: String
  let keyID: String
  let secret: String
  let role: String

  static func found() throws -> Accounts {
    let root = ProcessInfo.processInfo.environment["S3UP_TEST_STORES"] ?? ""
    guard let text = try? String(contentsOfFile: "\(root)/moto/env", encoding: .utf8) else {
      throw Missing(description: "moto does not run: run `make test`, which starts all stores")
    }
    var values: [String: String] = [:]
    for line in text.split(separator: "\n") {
      let words = line.split(separator: "=", maxSplits: 1).map(String.init)
      if words.count == 2 { values[words[0]] = words[1] }
    }
    func value(_ name: String) throws -> String {
      guard let found = values[name] else { throw Missing(description: "\(root)/moto/env does not say \(name)") }
      return found
    }
    return Accounts(
      endpoint: try value("ENDPOINT"), secureEndpoint: try value("TLS_ENDPOINT"), certificates: try value("CA_FILE"),
      bucket: try value("BUCKET"), keyID: try value("ACCESS_KEY"), secret: try value("SECRET_KEY"),
      role: try value("ROLE"))
  }
}

extension RealStores {
  /// Serialised, because the number of unsigned requests that the server allows is global.
  @Suite(.serialized) struct Roles {
    private let accounts: Accounts
    private let s3up: S3upBinary
    private let files: TemporaryDirectory
    private let source: String

    init() throws {
      accounts = try Accounts.found()
      s3up = try S3upBinary()
      files = try TemporaryDirectory("s3up-roles")
      source = try files.write(randomBytes(6 << 20, seed: 3), to: "source")
    }

    private func put(
      config: String, credentials: String = "", secure: Bool = false, _ changes: [String: String] = [:]
    ) async throws -> ChildProcess.Result {
      try s3up.home.write(config, to: ".aws/config")
      try s3up.home.write(credentials, to: ".aws/credentials")
      let environment = [
        "AWS_ENDPOINT_URL": secure ? accounts.secureEndpoint : accounts.endpoint,
        "AWS_CA_BUNDLE": accounts.certificates, "AWS_REGION": "us-east-1",
      ]
      let key = "roles/\(UUID().uuidString)"
      // MD5 is used because the CRC64NVME that this server computes is wrong.
      return try await s3up.start(
        ["put", source, "s3://\(accounts.bucket)/\(key)", "--part-size", "5M", "-vv", "--checksum", "md5"],
        environment: environment.merging(changes) { $1 }
      ).wait(timeout: .seconds(120))
    }

    private func keys(_ secret: String) -> String {
      "[base]\naws_access_key_id = \(accounts.keyID)\naws_secret_access_key = \(secret)\n"
    }

    private var roleOfBase: String { "[default]\nrole_arn = \(accounts.role)\nsource_profile = base\n" }

    @Test("The keys of the role sign the upload", arguments: [false, true])
    func theKeysOfTheRoleSignTheUpload(_ secure: Bool) async throws {
      let result = try await put(config: roleOfBase, credentials: keys(accounts.secret), secure: secure)
      #expect(result.status == 0, "\(result.errors)")
      #expect(result.errors.contains("AssumeRole of STS"))
      #expect(!result.errors.contains(accounts.secret))
    }

    @Test func theUserAloneIsRefused() async throws {
      let result = try await put(config: "", credentials: keys(accounts.secret), ["AWS_PROFILE": "base"])
      #expect(result.status == 77, "\(result.errors)")
      #expect(result.errors.contains("AccessDenied"))
    }

    @Test func aWrongSecretIsRefusedBySTS() async throws {
      let result = try await put(config: roleOfBase, credentials: keys("wrong" + accounts.secret.dropFirst(5)))
      #expect(result.status == 77, "\(result.errors)")
      #expect(result.errors.contains("STS refused AssumeRole for \(accounts.role)"))
      #expect(result.errors.contains("SignatureDoesNotMatch"))
      #expect(result.errors.contains("STS does not accept the credentials from profile base in ~/.aws/credentials"))
    }

    @Test func anIdentityTokenTakesOnTheRole() async throws {
      // The server requires a signature on every request but the next one, which has none at AWS either.
      let allowed = try await curl([
        "-f", "-X", "POST", "-H", "Content-Type: text/plain", "-d", "1", accounts.endpoint + "/moto-api/reset-auth",
      ])
      #expect(allowed.status == 0, "\(allowed.errors)")
      let token = try files.write("eyJhbGciOiJSUzI1NiJ9.e30.c2ln", to: "token")
      let result = try await put(
        config: "", ["AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ROLE_ARN": accounts.role])
      #expect(result.status == 0, "\(result.errors)")
      #expect(result.errors.contains("AssumeRoleWithWebIdentity of STS"))
      #expect(!result.errors.contains("eyJhbGciOiJSUzI1NiJ9"))
    }

    @Test func aProcessThatTakesOnTheRoleGivesItsKeys() async throws {
      // The AWS SDK for Python, in the server's own environment, requests the role.
      let script = try files.write(
        """
        import json, os, sys
        from botocore.config import Config
        from botocore.session import Session
        session = Session()
        session.set_credentials(*sys.argv[2:4])
        sts = session.create_client("sts", "us-east-1", endpoint_url=sys.argv[1], config=Config(proxies={}))
        keys = sts.assume_role(RoleArn=sys.argv[4], RoleSessionName="process")["Credentials"]
        keys["Expiration"] = keys["Expiration"].isoformat()
        print(json.dumps({"Version": 1, **keys}))
        """, to: "give keys.py")
      let python = URL(fileURLWithPath: accounts.certificates).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("moto/bin/python").path
      let command = [python, script, accounts.endpoint, accounts.keyID, accounts.secret, accounts.role]
      let result = try await put(
        config: "[default]\ncredential_process = " + command.map { "\"\($0)\"" }.joined(separator: " ") + "\n")
      #expect(result.status == 0, "\(result.errors)")
      #expect(!result.errors.contains(accounts.secret))
    }
  }
}
