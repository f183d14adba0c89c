import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support

/// Issues credentials that the store accepts for some seconds.
private final class Issuer: Sendable {
  let fake: FakeS3
  let life: Int64
  let count = Guarded(0)
  /// The current keys of the credentials file, and its earlier ones.
  private let inFile = Guarded<[FakeCredential]>([])

  init(_ fake: FakeS3, life: Int64) {
    self.fake = fake
    self.life = life
  }

  func issue(life: Int64? = nil) -> FakeCredential {
    let number = count.with { count in
      count += 1
      return count
    }
    let text = String(number)
    let credential = FakeCredential(
      keyID: "ASIA" + String(repeating: "0", count: 12 - text.count) + text, secret: "Secret\(number)/+0123456789",
      sessionToken: "Token\(number)", ends: Int64(time(nil)) + (life ?? self.life))
    fake.addCredential(credential)
    return credential
  }

  /// The output of `credential_process`.
  func process(saysEnd: Bool) -> String {
    let one = issue()
    let end = saysEnd ? #", "Expiration": "\#(Timestamp(seconds: one.ends ?? 0).iso8601)""# : ""
    return """
      {"Version": 1, "AccessKeyId": "\(one.keyID)", "SecretAccessKey": "\(one.secret)",
      "SessionToken": "\(one.sessionToken ?? "")"\(end)}
      """
  }

  static func file(of one: FakeCredential) -> String {
    "[default]\naws_access_key_id = \(one.keyID)\naws_secret_access_key = \(one.secret)\n"
      + "aws_session_token = \(one.sessionToken ?? "")\n"
  }

  /// Replaces the credentials file. Keys expire after the file was written twice more, so that it never contains
  /// expired ones, however late this process is.
  func rewriteFile(in home: TemporaryDirectory) throws {
    let one = issue(life: 3600)
    try home.write(Self.file(of: one), to: ".aws/credentials.new")
    guard rename(home.path(".aws/credentials.new"), home.path(".aws/credentials")) == 0 else {
      throw SystemError("rename")
    }
    inFile.with { keys in
      keys.append(one)
      guard keys.count > 2 else { return }
      var ended = keys.removeFirst()
      ended.ends = 0
      fake.addCredential(ended)
    }
  }

  func sts() -> LocalService.Reply {
    let one = issue()
    return .init(
      200,
      """
      <R><Credentials><AccessKeyId>\(one.keyID)</AccessKeyId><SecretAccessKey>\(one.secret)</SecretAccessKey>
      <SessionToken>\(one.sessionToken ?? "")</SessionToken>
      <Expiration>\(Timestamp(seconds: one.ends ?? 0).iso8601)</Expiration></Credentials></R>
      """)
  }
}

/// Uploads that outlast their credentials many times. `S3UP_TOKEN_LIFE` and `S3UP_UPLOAD_SECONDS` make them longer.
@Suite(.crowd) struct RenewalTests {
  private static func setting(_ name: String, _ standard: Int64) -> Int64 {
    ProcessInfo.processInfo.environment[name].flatMap { Int64($0) } ?? standard
  }

  private static let life = setting("S3UP_TOKEN_LIFE", 3)
  private static let seconds = setting("S3UP_UPLOAD_SECONDS", 16)
  private static let size = 45 * mebi
  private static let put = ["put", "f", "s3://bucket/k", "--part-size", "5M", "--concurrency", "2", "--json"]

  private let issuer: Issuer
  private var box: BlackBox
  private let bytes: [UInt8]

  init() throws {
    box = try BlackBox { $0.credentials = [] }
    box.environment["AWS_ACCESS_KEY_ID"] = nil
    box.environment["AWS_SECRET_ACCESS_KEY"] = nil
    issuer = Issuer(box.fake, life: Self.life)
    bytes = try box.sample("f", Self.size)
  }

  private func config(_ text: String) throws { try box.binary.home.write(text, to: ".aws/config") }

  private var slowly: [String] { ["--limit-rate", String(Int64(Self.size) / Self.seconds)] }

  private func expectArrived(
    _ result: ChildProcess.Result, keys: Int64 = Self.seconds / Self.life / 2,
    where location: SourceLocation = #_sourceLocation
  ) {
    #expect(result.status == 0, "\(result.errors)", sourceLocation: location)
    #expect(box.fake.object("k")?.holds(bytes) == true, sourceLocation: location)
    let parts = box.fake.requests(.uploadPart)
    for (part, sends) in Dictionary(grouping: parts, by: \.partNumber) {
      #expect(sends.count <= 2, "part \(part ?? 0)", sourceLocation: location)
    }
    let used = Set(
      parts.compactMap { $0.headers["Authorization"]?.split(separator: "=").dropFirst().first?.prefix { $0 != "/" } })
    #expect(used.count >= keys, "\(used.count) key pairs", sourceLocation: location)
    #expect(box.fake.unfinishedUploads.map(\.id) == [], sourceLocation: location)
  }

  @Test("credential_process gives the next credentials, with and without an expiry", arguments: [true, false])
  func process(_ saysEnd: Bool) async throws {
    let issuer = issuer
    let service = try LocalService { _ in .init(200, issuer.process(saysEnd: saysEnd)) }
    try config("[default]\ncredential_process = \(Programs.find("curl")) -sS \(service.url)/\n")
    expectArrived(try await box.run(Self.put + slowly, timeout: .seconds(600)))
    // One request for each lifetime, and not for each part that was refused at its end.
    #expect(Int64(service.asked.count) <= 2 + 2 * Self.seconds / Self.life)
  }

  @Test("a credentials file that another process rewrites")
  func file() async throws {
    let (issuer, home) = (issuer, box.binary.home)
    try issuer.rewriteFile(in: home)
    let writer = try Repeater(every: .milliseconds(Self.life * 500)) { try? issuer.rewriteFile(in: home) }
    expectArrived(try await box.run(Self.put + slowly, timeout: .seconds(600)))
    withExtendedLifetime(writer) {}
  }

  @Test("a web identity token file that is replaced")
  func webIdentity() async throws {
    let (issuer, files) = (issuer, box.files)
    let current = Guarded(0)
    let path = try files.write("jwt-0", to: "token")
    let sts = try LocalService { asked in
      // The cluster replaces the token; the previous one stays valid a little longer.
      let valid = current.with { ["jwt-\($0)", "jwt-\($0 - 1)"] }
      guard valid.contains(asked.form["WebIdentityToken"] ?? "") else {
        return .init(400, "<E><Error><Code>ExpiredTokenException</Code><Message>old</Message></Error></E>")
      }
      return issuer.sts()
    }
    let writer = try Repeater(every: .milliseconds(Self.life * 1000)) {
      let number = current.with { number in
        number += 1
        return number
      }
      guard (try? files.write("jwt-\(number)", to: "token.new")) != nil else { return }
      rename(files.path("token.new"), path)
    }
    var box = box
    box.environment["AWS_WEB_IDENTITY_TOKEN_FILE"] = path
    box.environment["AWS_ROLE_ARN"] = "arn:aws:iam::1:role/pod"
    box.environment["AWS_ENDPOINT_URL_STS"] = sts.url
    expectArrived(try await box.run(Self.put + slowly, timeout: .seconds(600)))
    withExtendedLifetime(writer) {}
  }

  @Test("A renewal that is refused in the middle says what to do about the source that refused it")
  func refused() async throws {
    let issuer = issuer
    let isFirst = Guarded(true)
    let sts = try LocalService { _ in
      let isFirst = isFirst.with { first in
        defer { first = false }
        return first
      }
      return isFirst
        ? issuer.sts() : .init(400, "<E><Error><Code>ExpiredTokenException</Code><Message>old</Message></Error></E>")
    }
    var box = box
    box.environment["AWS_WEB_IDENTITY_TOKEN_FILE"] = try box.files.write("jwt", to: "token")
    box.environment["AWS_ROLE_ARN"] = "arn:aws:iam::1:role/pod"
    box.environment["AWS_ENDPOINT_URL_STS"] = sts.url
    let result = try await box.run(Self.put + slowly, timeout: .seconds(600))
    #expect(result.status == 77 && result.errors.contains("rite a new one into its file"), "\(result.errors)")
    #expect(!result.errors.contains("the expired ones came from"), "\(result.errors)")
  }

  @Test("a GitHub job, whose token is valid once")
  func github() async throws {
    let issuer = issuer
    let tokens = Guarded<(next: Int, open: Set<String>)>((0, []))
    let github = try LocalService { _ in
      let token = tokens.with { tokens in
        tokens.next += 1
        tokens.open.insert("jwt-\(tokens.next)")
        return "jwt-\(tokens.next)"
      }
      return .init(200, #"{"value": "\#(token)"}"#)
    }
    let sts = try LocalService { asked in
      let token = asked.form["WebIdentityToken"] ?? ""
      guard tokens.with({ $0.open.remove(token) }) != nil else {
        return .init(400, "<E><Error><Code>ExpiredTokenException</Code><Message>old</Message></Error></E>")
      }
      return issuer.sts()
    }
    var box = box
    box.environment["ACTIONS_ID_TOKEN_REQUEST_URL"] = github.url + "/token?api=1"
    box.environment["ACTIONS_ID_TOKEN_REQUEST_TOKEN"] = "request"
    box.environment["AWS_ENDPOINT_URL_STS"] = sts.url
    let role = ["--github-role", "arn:aws:iam::1:role/ci"]
    expectArrived(try await box.run(Self.put + slowly + role, timeout: .seconds(600)))
  }

  @Test("with --wait-for-credentials an upload with expired keys waits for new ones, and continues where it was")
  func waits() async throws {
    try box.binary.home.write(Issuer.file(of: issuer.issue()), to: ".aws/credentials")
    let child = try box.start(Self.put + slowly + ["--wait-for-credentials", "5m"])
    try await until("new credentials are waited for", within: .seconds(300)) {
      child.ended || String(decoding: child.stderr, as: UTF8.self).contains("waiting for new credentials")
    }
    #expect(box.fake.objectCount == 0)
    #expect(box.fake.requests.contains { $0.errorCode == "ExpiredToken" })
    let long = issuer.issue(life: 3600)
    try box.binary.home.write(Issuer.file(of: long), to: ".aws/credentials")
    expectArrived(await child.wait(timeout: .seconds(600)), keys: 2)
    #expect(box.fake.requests(.createMultipartUpload).count == 1)
  }

  @Test("without it the run ends in 77, the upload is kept, and the same command resumes it with new keys")
  func ends() async throws {
    try box.binary.home.write(Issuer.file(of: issuer.issue()), to: ".aws/credentials")
    let result = try await box.run(Self.put + slowly, timeout: .seconds(600))
    #expect(result.status == 77, "\(result.errors)")
    #expect(result.errors.contains("to resume: "), "\(result.errors)")
    #expect(try box.records().count == 1)
    let long = issuer.issue(life: 3600)
    var box = box
    box.environment["AWS_ACCESS_KEY_ID"] = long.keyID
    box.environment["AWS_SECRET_ACCESS_KEY"] = long.secret
    box.environment["AWS_SESSION_TOKEN"] = long.sessionToken
    try await box.expectResumes(Self.put, to: bytes)
  }

  @Test(
    "a warning names keys of the environment that expire before the upload ends, with both times",
    arguments: [put, ["put", "f", "small", "s3://bucket/"]])
  func warns(_ command: [String]) async throws {
    let short = issuer.issue(life: 300)
    var box = box
    box.environment["AWS_ACCESS_KEY_ID"] = short.keyID
    box.environment["AWS_SECRET_ACCESS_KEY"] = short.secret
    box.environment["AWS_SESSION_TOKEN"] = short.sessionToken
    box.environment["AWS_CREDENTIAL_EXPIRATION"] = Timestamp(seconds: short.ends ?? 0).iso8601
    try box.sample("small", 1000)
    let child = try box.start(command + ["--limit-rate", "50K"])
    try await until("the end of the keys is told", within: .seconds(300)) {
      child.ended || String(decoding: child.stderr, as: UTF8.self).contains("cannot renew them")
    }
    child.signal(SIGTERM)
    let result = await child.wait(timeout: .seconds(30))
    #expect(result.status == 143)
    #expect(result.errors.contains(Timestamp(seconds: short.ends ?? 0).iso8601), "\(result.errors)")
    #expect(result.errors.split(separator: "\n").count { $0.contains("cannot renew them") } == 1)
  }

  @Test("Files whose objects are unchanged are not counted as waiting for credentials")
  func warnsOnlyOfWhatIsSent() async throws {
    var box = box
    let short = issuer.issue(life: 300)
    box.environment["AWS_ACCESS_KEY_ID"] = short.keyID
    box.environment["AWS_SECRET_ACCESS_KEY"] = short.secret
    box.environment["AWS_SESSION_TOKEN"] = short.sessionToken
    box.environment["AWS_CREDENTIAL_EXPIRATION"] = Timestamp(seconds: short.ends ?? 0).iso8601
    try box.sample("t/large", 20 * mebi)
    let put = ["put", "-r", "t", "s3://bucket/p", "--skip-same"]
    try await box.run(put).expectSuccess()
    try box.sample("t/new", 500_000)
    let result = try await box.run(put + ["--limit-rate", "50K"])
    result.expectSuccess()
    #expect(result.seconds > 8 && !result.errors.contains("cannot renew them"), "\(result.errors)")
  }

  @Test(
    "Eight parts that are refused together ask the source once",
    arguments: ["ExpiredToken", "InvalidAccessKeyId", "TokenRefreshRequired", "SecurityTokenExpired"])
  func together(_ code: String) async throws {
    let issuer = Issuer(box.fake, life: 3600)
    let service = try LocalService { _ in .init(200, issuer.process(saysEnd: false)) }
    try config("[default]\ncredential_process = \(Programs.find("curl")) -sS \(service.url)/\n")
    // The first keys are refused until they are replaced.
    let status = code == "InvalidAccessKeyId" ? 403 : 400
    box.fake.setFaults([Fault(.init(.uploadPart, keyID: "ASIA000000000001"), .error(status: status, code: code))])
    let result = try await box.run(["put", "f", "s3://bucket/k", "--part-size", "5M", "--concurrency", "8", "--json"])
    expectArrived(result, keys: 2)
    #expect(box.fake.requests(.uploadPart).count { $0.errorCode == code } > 1)
    #expect(service.asked.count == 2)
  }
}
