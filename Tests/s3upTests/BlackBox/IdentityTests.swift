import Foundation
@testable import MultipartCore
import Support
import Testing

/// Credentials of identity pools and of GitHub, end to end with the program.
struct IdentityTests {
  private static let pool = "eu-west-1:11111111-2222-3333-4444-555555555555"
  private static let identity = "eu-west-1:aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
  private static let served = MetadataTests.served
  private let cognito: LocalService
  private let box: BlackBox

  init() throws {
    let end = Date(timeIntervalSinceNow: 3600).timeIntervalSince1970
    let credentials = """
      {"IdentityId":"\(Self.identity)","Credentials":{"AccessKeyId":"\(Self.served.keyID)",
      "SecretKey":"\(Self.served.secret)","SessionToken":"\(Self.served.sessionToken ?? "")","Expiration":\(end)}}
      """
    cognito = try LocalService { asked in
      asked.headers["X-Amz-Target"]?.hasSuffix(".GetId") == true
        ? .init(200, #"{"IdentityId":"\#(Self.identity)"}"#) : .init(200, credentials)
    }
    var box = try BlackBox { $0.credentials = [Self.served] }
    box.environment = [
      "AWS_ENDPOINT_URL_S3": box.fake.endpoint, "AWS_ENDPOINT_URL_COGNITO_IDENTITY": cognito.url,
      // These are not used: a named pool wins over them.
      "AWS_ACCESS_KEY_ID": "AKIAOTHEROTHEROTHER1", "AWS_SECRET_ACCESS_KEY": "other",
    ]
    try box.files.write("the content", to: "file")
    self.box = box
  }

  private func with(_ more: [String: String]) -> BlackBox {
    var changed = box
    changed.environment.merge(more) { $1 }
    return changed
  }

  @Test(arguments: [
    ("public", "public/a/key"), ("protected", "protected/\(identity)/a/key"), ("private", "private/\(identity)/a/key"),
  ])
  func accessPutsTheKeyInItsPlaceAndThePoolSigns(access: String, key: String) async throws {
    let result = try await box.run(
      "put", "--json", "-vv", "--cognito-identity-pool", Self.pool, "--access", access, "file", "s3://bucket/a/key")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.json["key"] as? String == key)
    #expect(box.fake.object(key)?.bytes == Array("the content".utf8))
    let header = box.fake.requests(.putObject).first?.headers["Authorization"]
    #expect(header?.contains("Credential=\(Self.served.keyID)/") == true)
    #expect(!result.errors.contains("hunter2") && !result.output.contains("hunter2"))
  }

  @Test func theIdentityIsReplacedInKeysAndNotInFileNames() async throws {
    let box = with(["S3UP_COGNITO_IDENTITY_POOL": Self.pool])
    try box.files.write("x", to: "{identity}.txt")
    try await box.run("put", "file", "s3://bucket/{identity}/x/{identity}").expectSuccess()
    try await box.run("put", "{identity}.txt", "s3://bucket/home/").expectSuccess()
    // A combining accent after the brace does not change the brace.
    try await box.run("put", "file", "s3://bucket/{identity}\u{301}").expectSuccess()
    #expect(box.fake.object("\(Self.identity)/x/\(Self.identity)") != nil)
    #expect(box.fake.object("home/{identity}.txt") != nil)
    #expect(box.fake.object("\(Self.identity)\u{301}") != nil)
    #expect(box.fake.objectCount == 3)
  }

  @Test func aPrefixKeepsTheFilesNameInThePlace() async throws {
    let box = with(["S3UP_COGNITO_IDENTITY_POOL": Self.pool, "S3UP_ACCESS": "private"])
    try await box.run("put", "file", "s3://bucket/").expectSuccess()
    #expect(box.fake.object("private/\(Self.identity)/file") != nil)
    let bare = try await box.run("put", "file", "s3://bucket")
    bare.expectFailure(64, "names no key")
    // The words after `--` are the command's own.
    let result = try await box.run("put", "--from-command", "s3://bucket/out", "--", "echo", "s3://bucket/{identity}")
    #expect(result.status == 0, "\(result.errors)")
    #expect(box.fake.object("private/\(Self.identity)/out")?.bytes == Array("s3://bucket/{identity}\n".utf8))
  }

  @Test func everyStepOfAnUploadMeansTheSamePlace() async throws {
    let box = with(["S3UP_COGNITO_IDENTITY_POOL": Self.pool, "S3UP_ACCESS": "private"])
    let key = "private/\(Self.identity)/k"
    let made = try await box.run("create", "s3://bucket/k")
    let id = try #require(made.lines.first)
    #expect(box.fake.unfinishedUploads.map(\.key) == [key])
    try await box.run("part", "file", "s3://bucket/k", "--upload-id", id, "--part", "1").expectSuccess()
    let parts = try await box.run("parts", "s3://bucket/k", "--upload-id", id)
    #expect(parts.lines.count == 1)
    let listed = try await box.run("uploads", "s3://bucket")
    #expect(listed.output.contains("s3://bucket/\(key)"))
    try await box.run("complete", "s3://bucket/k", "--upload-id", id).expectSuccess()
    #expect(box.fake.object(key) != nil)
    let url = try await box.run("presign", "s3://bucket/k")
    #expect(url.output.contains("/bucket/private/eu-west-1%3Aaaaaaaaa"))
    let second = try await box.run("create", "s3://bucket/k")
    let other = try #require(second.lines.first)
    try await box.run("abort", "s3://bucket/k", "--upload-id", other).expectSuccess()
    #expect(box.fake.unfinishedUploads.isEmpty)
    // All these runs share one guest.
    #expect(cognito.asked.filter { $0.headers["X-Amz-Target"]?.hasSuffix(".GetId") == true }.count == 1)
  }

  @Test func filesAndFoldersAreSentAndComparedInThePlace() async throws {
    let box = with(["S3UP_COGNITO_IDENTITY_POOL": Self.pool, "S3UP_ACCESS": "private"])
    let place = "private/\(Self.identity)/"
    try box.files.write("inside", to: "d/f")
    // What lies outside of the place says nothing about it.
    box.fake.putObject("file", bytes: Array("the content".utf8))
    box.fake.putObject("f", bytes: Array("inside".utf8))
    try await box.run("verify", "file", "s3://bucket/file").expectFailure(69, "no object at the key", place)
    #expect(try await box.run("verify", "-r", "d", "s3://bucket").status == 69)
    for bucket in ["s3://bucket", "s3://bucket/"] {
      box.fake.removeObject(place + "f")
      try await box.run("put", "-r", "d", bucket).expectSuccess()
      #expect(box.fake.object(place + "f")?.bytes == Array("inside".utf8))
      try await box.run("verify", "-r", "d", bucket).expectSuccess()
      try await box.run("verify", "d/f", bucket + (bucket.hasSuffix("/") ? "" : "/")).expectSuccess()
    }
    let result = try await box.run(
      "get", "s3://bucket/f", "--to-command", "--", "sh", "-c", "echo $0; cat >/dev/null", "s3://b/{identity}")
    #expect(result.status == 0 && result.output.hasPrefix("s3://b/{identity}\n"), "\(result.output) \(result.errors)")
    #expect(box.fake.objectCount == 3)
  }

  @Test func anInterruptedUploadIsResumedAtTheSameKey() async throws {
    let box = with(["S3UP_COGNITO_IDENTITY_POOL": Self.pool, "S3UP_ACCESS": "private"])
    let bytes = try box.sample("big", 11 * mebi)
    box.fake.setFaults([Fault(.init(.uploadPart, partNumber: 2), .resetBeforeReading)])
    let cut = try await box.run(
      "put", "--part-size", "5M", "--retries", "1", "--concurrency", "1", "big", "s3://bucket/big")
    #expect(cut.status == 75)
    box.fake.setFaults([])
    let result = try await box.run("put", "--json", "--part-size", "5M", "big", "s3://bucket/big")
    #expect(result.status == 0, "\(result.errors)")
    #expect(box.fake.object("private/\(Self.identity)/big")?.bytes == bytes)
    #expect(result.json["bytes_resumed"] as? Int == 5 * mebi)
  }

  @Test(arguments: [
    (["--access", "private"], "s3://bucket/key", "--access"), ([], "s3://bucket/{identity}/key", "{identity}"),
    (["--cognito-login", "accounts.google.com=token"], "s3://bucket/key", "--cognito-login"),
  ])
  func withoutAPoolAnIdentitysPlaceIsAUsageError(options: [String], url: String, word: String) async throws {
    let result = try await box.run(["put"] + options + ["file", url])
    result.expectFailure(64, word, "--cognito-identity-pool")
    #expect(box.fake.requests.isEmpty && cognito.asked.isEmpty)
  }

  @Test func anInvalidPoolAccessOrFileIsAUsageErrorWithoutTheToken() async throws {
    try await box.run("put", "--cognito-identity-pool", "eu-west-1", "file", "s3://bucket/k")
      .expectFailure(64, "eu-west-1", "REGION:NUMBER")
    try await box.run("put", "--cognito-identity-pool", Self.pool, "--access", "mine", "file", "s3://bucket/k")
      .expectFailure(64, "public, protected, private")
    let token = try await box.run(
      "put", "--cognito-identity-pool", Self.pool, "--cognito-login", "x=eyJhbGciOi.hunter2.z", "file",
      "s3://bucket/k")
    token.expectFailure(64, "file")
    #expect(!token.errors.contains("hunter2"))
    try await box.run(
      "put", "--cognito-identity-pool", Self.pool, "--github-role", "arn:aws:iam::1:role/r", "file", "s3://bucket/k"
    ).expectFailure(64, "--github-role")
  }

  @Test func aLoggedInUserSignsWithTheTokenInTheFile() async throws {
    try box.files.write("jwt-hunter2\n", to: "token")
    let result = try await box.run(
      "put", "-vv", "--cognito-identity-pool", Self.pool, "--cognito-login", "accounts.google.com=token",
      "--access", "protected", "file", "s3://bucket/k")
    #expect(result.status == 0, "\(result.errors)")
    #expect(cognito.asked.count == 2 && cognito.asked.allSatisfy { $0.text.contains("jwt-hunter2") })
    #expect(!result.errors.contains("hunter2"))
    #expect(box.fake.object("protected/\(Self.identity)/k") != nil)
  }

  // MARK: - GitHub

  private func github(_ more: [String: String]) throws -> (box: BlackBox, sts: LocalService, github: LocalService) {
    let end = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: 3600))
    let sts = try LocalService { _ in
      .init(
        200,
        """
        <AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>
        <AccessKeyId>\(Self.served.keyID)</AccessKeyId><SecretAccessKey>\(Self.served.secret)</SecretAccessKey>
        <SessionToken>\(Self.served.sessionToken ?? "")</SessionToken><Expiration>\(end)</Expiration>
        </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>
        """)
    }
    let github = try LocalService { _ in .init(200, #"{"value":"eyJ.jwt.hunter2"}"#) }
    var box = box
    box.environment = [
      "AWS_ENDPOINT_URL_S3": box.fake.endpoint, "AWS_ENDPOINT_URL_STS": sts.url,
      "ACTIONS_ID_TOKEN_REQUEST_URL": github.url + "/t?api-version=2.0",
      "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "request-hunter2",
    ].merging(more) { $1 }
    return (box, sts, github)
  }

  @Test(arguments: [[], ["--github-role", "arn:aws:iam::1:role/typed"]])
  func aJobOfGitHubSignsWithItsRole(options: [String]) async throws {
    var more = ["AWS_ROLE_ARN": "arn:aws:iam::1:role/job"]
    // A role given by options wins over keys too.
    if !options.isEmpty { more.merge(["AWS_ACCESS_KEY_ID": "AKIAOTHER", "AWS_SECRET_ACCESS_KEY": "other"]) { $1 } }
    let (box, sts, github) = try github(more)
    let result = try await box.run(["put", "-vv"] + options + ["file", "s3://bucket/k"])
    #expect(result.status == 0, "\(result.errors)")
    #expect(sts.asked.map { $0.form["RoleArn"] } == [options.last ?? "arn:aws:iam::1:role/job"])
    #expect(sts.asked.first?.form["WebIdentityToken"] == "eyJ.jwt.hunter2")
    #expect(github.asked.map { $0.headers["Authorization"] } == ["Bearer request-hunter2"])
    let header = box.fake.requests(.putObject).first?.headers["Authorization"]
    #expect(header?.contains("Credential=\(Self.served.keyID)/") == true)
    #expect(!result.errors.contains("hunter2"))
  }

  @Test func keysOfTheEnvironmentComeBeforeGitHub() async throws {
    let (box, sts, github) = try github([
      "AWS_ROLE_ARN": "arn:aws:iam::1:role/job", "AWS_ACCESS_KEY_ID": Self.served.keyID,
      "AWS_SECRET_ACCESS_KEY": Self.served.secret, "AWS_SESSION_TOKEN": Self.served.sessionToken ?? "",
    ])
    try await box.run("put", "file", "s3://bucket/k").expectSuccess()
    #expect(sts.asked.isEmpty && github.asked.isEmpty)
  }

  @Test func aTypedRoleOutsideOfAJobIsAFailureWithARemedy() async throws {
    let (box, _, _) = try github(["ACTIONS_ID_TOKEN_REQUEST_URL": ""])
    let result = try await box.run("put", "--github-role", "arn:aws:iam::1:role/r", "file", "s3://bucket/k")
    result.expectFailure(77, "ACTIONS_ID_TOKEN_REQUEST_URL", "id-token: write")
  }
}
