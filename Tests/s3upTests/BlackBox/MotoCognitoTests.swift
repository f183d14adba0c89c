import Foundation
import MultipartBasics
@testable import MultipartCore
import Support
import Testing

private let program = try? Programs.find("moto_server")

/// An identity pool and a store of an independent implementation: moto, if it is installed.
@Suite(.timeLimit(.minutes(15))) struct MotoCognitoTests {
  /// The address that moto prints when it is ready.
  private static func address(of moto: ChildProcess) async throws -> String {
    let end = ContinuousClock.now + .seconds(600)
    var text = ""
    while ContinuousClock.now < end, !moto.ended {
      text = String(decoding: moto.stdout + moto.stderr, as: UTF8.self)
      if let match = text.firstMatch(of: #/Running on (http://127\.0\.0\.1:\d+)/#) { return String(match.1) }
      try await Task.sleep(for: .milliseconds(20))
    }
    throw SystemError("moto_server does not listen, and said: \(text)", ETIMEDOUT)
  }

  /// Sends a request of the AWS protocol; moto reads the service from the scope of a signature that it does not check.
  private static func ask(
    _ address: String, _ service: String, _ arguments: [String]
  ) async throws -> ChildProcess.Result {
    let scope = "AWS4-HMAC-SHA256 Credential=AKIATEST/20260101/us-east-1/\(service)/aws4_request, SignedHeaders=host"
    return try await curl(["-H", "Authorization: \(scope), Signature=0", "--retry", "5"] + arguments + [address])
  }

  @Test(.enabled(if: program != nil, "there is no moto_server in PATH"))
  func aGuestOfAPoolUploadsIntoItsPlaceInMoto() async throws {
    let home = try TemporaryDirectory()
    let moto = try ChildProcess(
      try #require(program), ["-H", "127.0.0.1", "-p", "0"],
      environment: Programs.environment(home: ProcessInfo.processInfo.environment["HOME"] ?? home.path))
    defer { moto.signal(SIGKILL, group: true) }
    let address = try await Self.address(of: moto)
    let made = try await Self.ask(
      address + "/", "cognito-identity",
      [
        "-H", "X-Amz-Target: AWSCognitoIdentityService.CreateIdentityPool", "-H",
        "Content-Type: application/x-amz-json-1.1", "-d",
        #"{"IdentityPoolName":"p","AllowUnauthenticatedIdentities":true}"#,
      ])
    let pool = try #require(made.json["IdentityPoolId"] as? String, "\(made.output) \(made.errors)")
    _ = try await Self.ask(address + "/bucket", "s3", ["-X", "PUT"])
    var box = try BlackBox()
    box.environment = ["AWS_ENDPOINT_URL": address, "S3UP_COGNITO_IDENTITY_POOL": pool, "AWS_REGION": "us-east-1"]
    try box.files.write("the content", to: "file")
    let first = try await box.run("put", "--json", "--access", "private", "file", "s3://bucket/a/key")
    #expect(first.status == 0, "\(first.errors)")
    let key = try #require(first.json["key"] as? String)
    #expect(key.wholeMatch(of: #/private/[a-z0-9-]+:[0-9a-f-]+/a/key/#) != nil, "\(key)")
    let second = try await box.run("put", "--json", "file", "s3://bucket/private/{identity}/a/key")
    #expect(second.json["key"] as? String == key)
    let read = try await Self.ask("\(address)/bucket/\(key)", "s3", [])
    #expect(read.output == "the content")
  }
}
