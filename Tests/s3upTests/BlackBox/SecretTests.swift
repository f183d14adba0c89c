import Foundation
import MultipartCore
import Testing

@testable import Support

@Suite(.crowd) struct SecretTests {
  private static let credential = FakeCredential(
    keyID: "AKIASECRETTESTS", secret: "SecretSecretSecret/+0123456789abcdefABCD",
    sessionToken: "TokenTokenToken/+=0123456789" + String(repeating: "t0Ken", count: 40))
  private static let key = randomBytes(32, seed: 9)

  private func box(faults: [Fault] = []) throws -> BlackBox {
    var box = try BlackBox(secure: true, faults: faults) { $0.credentials = [Self.credential] }
    box.environment["AWS_ACCESS_KEY_ID"] = Self.credential.keyID
    box.environment["AWS_SECRET_ACCESS_KEY"] = Self.credential.secret
    box.environment["AWS_SESSION_TOKEN"] = Self.credential.sessionToken
    try box.sample("f", 6 * mebi)
    try box.files.write(Self.key, to: "key")
    return box
  }

  /// No secret in any form that could have slipped out, and none of the signatures that the store was sent.
  private func expectNoSecret(
    _ box: BlackBox, _ result: ChildProcess.Result, where location: SourceLocation = #_sourceLocation
  ) {
    let text = result.output + result.errors
    var secrets = [
      Self.credential.secret, Self.credential.sessionToken ?? "", base64(Self.key), hex(Self.key),
      FakeURL.encode((Self.credential.sessionToken ?? "").utf8), FakeURL.encode(Self.credential.secret.utf8),
      FakeURL.encode(base64(Self.key).utf8),
    ]
    for request in box.fake.requests {
      if let header = request.headers["authorization"], let mark = header.range(of: "Signature=") {
        secrets.append(String(header[mark.upperBound...]))
      }
      if let signature = request.query["X-Amz-Signature"] { secrets.append(signature) }
    }
    for secret in secrets {
      #expect(secret.utf8.count >= 32)
      #expect(!text.contains(secret), "\(secret.prefix(8))…", sourceLocation: location)
      // Not cut in two, either.
      #expect(!text.contains(secret.prefix(20)), "\(secret.prefix(8))…", sourceLocation: location)
    }
  }

  @Test("-vv shows the requests and no secret", arguments: ["--json=all", "-q", "--explain"])
  func verbose(_ how: String) async throws {
    let box = try box(faults: [Fault(.init(.uploadPart, partNumber: 2, nth: 1), .loseAnswer)])
    let result = try await box.run(
      "put", "f", "s3://bucket/k", "--part-size", "5M", "--sse-c-key-file", "key", "-vv", how)
    #expect(result.status == 0, "\(result.errors)")
    if how != "-q" { #expect(result.errors.contains("UploadPart")) }
    #expect(box.fake.requests.count >= 5)
    expectNoSecret(box, result)
  }

  @Test(
    "no error shows a secret",
    arguments: [
      Fault.Action.error(status: 403, code: "SignatureDoesNotMatch", message: "it was"),
      .error(status: 400, code: "InvalidArgument", message: "odd"), .garbage(), .etag(),
    ])
  func errors(_ action: Fault.Action) async throws {
    let box = try box(faults: [Fault(.init(.uploadPart), action)])
    let result = try await box.run(
      "put", "f", "s3://bucket/k", "--part-size", "5M", "--sse-c-key-file", "key", "-vv", "--retries", "1", "--json")
    #expect(result.status != 0)
    expectNoSecret(box, result)
  }

  @Test("a store that sends the secrets back cannot make them be shown")
  func echoed() async throws {
    let message = "you sent \(base64(Self.key)) and \(Self.credential.sessionToken ?? "")"
    let box = try box(faults: [
      Fault(
        .init(.createMultipartUpload),
        .error(
          status: 403, code: "AccessDenied", message: message,
          headers: ["x-amz-security-token": Self.credential.sessionToken ?? ""]))
    ])
    let result = try await box.run(
      "put", "f", "s3://bucket/k", "--part-size", "5M", "--sse-c-key-file", "key", "-vv", "--json")
    #expect(result.status == 77)
    expectNoSecret(box, result)
  }

  @Test("the command line of a running upload holds no secret, and a presigned URL given by the environment neither")
  func processList() async throws {
    var box = try box(faults: [Fault(.init(.uploadPart, partNumber: 1), .stall(stage: .withinBody))])
    let child = try box.start(["put", "f", "s3://bucket/k", "--part-size", "5M", "--sse-c-key-file", "key"])
    #expect(await box.fake.wait { $0.contains { $0.operation == .uploadPart } })
    let words = try String(contentsOfFile: "/proc/\(child.pid)/cmdline", encoding: .utf8)
    #expect(words.contains("s3://bucket/k"))
    for secret in [Self.credential.secret, base64(Self.key), Self.credential.sessionToken ?? ""] {
      #expect(!words.contains(secret))
    }
    child.signal(SIGTERM)
    _ = await child.wait()

    box.fake.setFaults([])
    let id = try #require(try await box.run("create", "s3://bucket/k").lines.first)
    let url = try #require(
      try await box.run("presign", "s3://bucket/k", "--upload-id", id, "--part", "1").lines.first)
    box.environment["S3UP_URL"] = url
    let result = try await box.run("part", "f", "-vv")
    #expect(result.status == 0, "\(result.errors)")
    #expect(box.fake.requests.last?.presigned == true)
    expectNoSecret(box, result)
  }

  @Test("a presigned URL that fails is told without its signature")
  func presignedFailure() async throws {
    var box = try box()
    let id = try #require(try await box.run("create", "s3://bucket/k").lines.first)
    let url = try #require(
      try await box.run("presign", "s3://bucket/k", "--upload-id", id, "--part", "1").lines.first)
    box.environment["S3UP_URL"] = url
    box.fake.setClockOffset(86_400)
    let result = try await box.run("part", "f", "-vv", "--json")
    #expect(result.status == 77, "\(result.errors)")
    #expect(result.errors.contains("presigned URL"))
    expectNoSecret(box, result)
    // And one that cannot be connected to.
    box.fake.stop()
    let unreachable = try await box.run("part", "f", "-vv", "--retries", "1")
    #expect(unreachable.status == 75)
    expectNoSecret(box, unreachable)
  }

  @Test("help and usage errors show nothing of the environment")
  func help() async throws {
    let box = try box()
    for words in [
      ["help", "put"], ["put", "--nonsense"], ["put", "f", "s3://bucket/k", "--explain", "--retries", "0"],
    ] {
      expectNoSecret(box, try await box.run(words))
    }
  }

  @Test("a secret with a line break is refused without being shown")
  func brokenSecret() async throws {
    var box = try box()
    box.environment["AWS_SECRET_ACCESS_KEY"] = "Secret0Secret0Secret0Secret0Secret0\nX-Evil: 1"
    let result = try await box.run("put", "f", "s3://bucket/k", "-vv")
    #expect(result.status == 77)
    #expect(!result.errors.contains("Secret0Secret0"))
    #expect(box.fake.requests.isEmpty)
  }
}
