import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support

@Suite(.crowd) struct ExitCodeTests {
  private func box(secure: Bool = false, _ change: (inout FakeOptions) -> Void = { _ in }) throws -> BlackBox {
    let box = try BlackBox(secure: secure, change)
    try box.sample("f", 100)
    return box
  }

  @Test(
    "an ACL that no store knows is refused before anything is sent, because nothing could show whether it was applied")
  func unknownACL() async throws {
    let box = try BlackBox()
    try box.sample("f", 100)
    let result = try await box.run("put", "f", "s3://bucket/k", "--acl=public")
    result.expectFailure(64, "--acl: 'public' is not a valid value", "public-read")
    #expect(box.fake.requests.isEmpty)
  }

  @Test("a wrong secret is 77 with the store's code, and is not tried again")
  func wrongSecret() async throws {
    var box = try box()
    box.environment["AWS_SECRET_ACCESS_KEY"] = "wrong"
    let result = try await box.run("put", "f", "s3://bucket/k")
    result.expectFailure(77, "SignatureDoesNotMatch", "HTTP 403", "s3://bucket/k", "request id ")
    #expect(box.fake.requests.count == 1)
    #expect(!result.errors.contains("StringToSign"))
  }

  @Test("an unknown key id is 77")
  func unknownKey() async throws {
    var box = try box()
    box.environment["AWS_ACCESS_KEY_ID"] = "AKIAUNKNOWN"
    try await box.run("put", "f", "s3://bucket/k").expectFailure(77, "InvalidAccessKeyId")
  }

  @Test("a wrong or expired session token is 77")
  func tokens() async throws {
    var box = try box()
    let now = box.fake.now.seconds
    box.fake.setCredentials([
      FakeCredential(keyID: "A", secret: "s", sessionToken: "token"),
      FakeCredential(keyID: "B", secret: "s", sessionToken: "token", ends: now - 60),
    ])
    box.environment["AWS_SECRET_ACCESS_KEY"] = "s"
    box.environment["AWS_SESSION_TOKEN"] = "token"
    box.environment["AWS_ACCESS_KEY_ID"] = "B"
    try await box.run("put", "f", "s3://bucket/k").expectFailure(77, "ExpiredToken")
    box.environment["AWS_ACCESS_KEY_ID"] = "A"
    try await box.run("put", "f", "s3://bucket/k").expectSuccess()
    box.environment["AWS_SESSION_TOKEN"] = "another"
    try await box.run("put", "f", "s3://bucket/k2").expectFailure(77, "InvalidToken")
  }

  @Test("no credentials is 77, and names the sources tried", arguments: ["put", "uploads"])
  func noCredentials(_ command: String) async throws {
    var box = try box()
    box.environment["AWS_ACCESS_KEY_ID"] = nil
    box.environment["AWS_SECRET_ACCESS_KEY"] = nil
    let words = command == "put" ? ["put", "f", "s3://bucket/k"] : ["uploads", "s3://bucket"]
    try await box.run(words).expectFailure(77, "the environment", "~/.aws/credentials")
    #expect(box.fake.requests.isEmpty)
  }

  @Test(
    "a store that asks for fewer requests is 75, whichever request it is and however it says so",
    arguments: [(503, "SlowDown"), (429, "TooManyRequests"), (503, "RequestLimitExceeded"), (400, "Throttling")])
  func throttled(_ status: Int, _ code: String) async throws {
    for operation in [FakeOperation.putObject, .createMultipartUpload, .uploadPart] {
      let box = try box()
      try box.sample("g", 6 * mebi)
      box.fake.setFaults([Fault(.init(operation), .error(status: status, code: code))])
      let words = operation == .putObject ? ["f", "s3://bucket/k"] : ["g", "s3://bucket/k", "--part-size", "5M"]
      let result = try await box.run(["put"] + words + ["--retries", "1"])
      #expect(result.status == 75, "\(result.errors)")
      #expect(result.errors.contains(code) && result.errors.contains("HTTP \(status)"), "\(result.errors)")
      #expect(box.fake.objectCount == 0)
    }
  }

  @Test("no bucket is 69 with the store's code")
  func noBucket() async throws {
    let box = try box()
    try await box.run("put", "f", "s3://nobucket/k").expectFailure(69, "NoSuchBucket", "s3://nobucket/k")
    try await box.run("uploads", "s3://nobucket").expectFailure(69, "NoSuchBucket")
    try await box.run("create", "s3://nobucket/k").expectFailure(69, "NoSuchBucket")
  }

  @Test("no file is 66, a directory is 64, and the store is not asked")
  func noFile() async throws {
    let box = try box()
    try await box.run("put", "missing", "s3://bucket/k").expectFailure(66, "missing", "No such file")
    try await box.run("put", "", "s3://bucket/k").expectFailure(66)
    try await box.run("put", ".", "s3://bucket/k").expectFailure(64, "directory")
    try await box.run("put", "f/x", "s3://bucket/k").expectFailure(66, "f/x")
    #expect(box.fake.requests.isEmpty)
  }

  static let nonsense: [([String], [String])] = [
    (["putt", "f", "s3://bucket/k"], ["putt", "put"]),
    (["put", "f", "s3://bucket/k", "--part-sise", "5M"], ["--part-sise", "--part-size"]),
    (["put", "f", "s3://bucket/k", "--qqqqqqqqqqqq"], ["--qqqqqqqqqqqq"]),
    (["put", "f"], ["s3://BUCKET/KEY"]),
    (["put"], ["FILE"]),
    (["put", "f", "g", "s3://bucket/k"], []),
    (["put", "s3://bucket/k", "f"], ["not a file"]),
    (["put", "f", "bucket/k"], ["s3://"]),
    (["put", "f", "s3:///k"], []),
    (["put", "f", "s3://"], []),
    (["put", "-", "s3://bucket/"], []),
    (["put", "f", "s3://bucket/k", "--resume", "maybe"], ["maybe", "require"]),
    (["put", "f", "s3://bucket/k", "--on-interrupt", "wait"], ["wait", "keep"]),
    (["put", "f", "s3://bucket/k", "--deadline", "soon"], ["--deadline", "soon"]),
    (["put", "f", "s3://bucket/k", "--wait-lock=soon"], ["--wait-lock", "soon"]),
    (["put", "f", "s3://bucket/k", "--min-size", "much"], ["--min-size", "much"]),
    (["put", "f", "s3://bucket/k", "--concurrency", "0"], ["--concurrency"]),
    (["put", "f", "s3://bucket/k", "--concurrency"], ["--concurrency"]),
    (["put", "f", "s3://bucket/k", "--retries", "many"], ["--retries", "many"]),
    (["put", "f", "s3://bucket/k", "--checksum", "crc64"], ["crc64", "crc64nvme"]),
    (["put", "f", "s3://bucket/k", "--if-none-match", "--if-match", "x"], ["--if-none-match", "--if-match"]),
    (["put", "f", "s3://bucket/k", "--header", "Host: x"], ["Host"]),
    (["put", "f", "s3://bucket/k", "--metadata", "novalue"], ["--metadata"]),
    (["put", "f", "s3://bucket/k", "--sse-kms-key-id", "x", "--sse", "AES256"], []),
    (["put", "f", "s3://bucket/k", "--object-lock-mode", "GOVERNANCE"], []),
    (["put", "f", "s3://bucket/k", "--endpoint-url", "ftp://x"], ["ftp"]),
    (["put", "f", "s3://bucket/k", "--url", "http://x"], ["--url"]),
    (["part", "f", "s3://bucket/k", "--upload-id", "u", "--part", "0"], ["--part", "0"]),
    (["part", "f", "s3://bucket/k", "--upload-id", "u", "--part", "10001"], ["--part", "10001"]),
    (["part", "f", "s3://bucket/k", "--upload-id", "u"], ["--part"]),
    (["part", "f", "s3://bucket/k", "--part", "1"], ["--upload-id"]),
    (["part", "f", "s3://bucket/k", "--upload-id", "u", "--part", "1", "--offset", "101"], ["slice", "100"]),
    (["part", "f", "s3://bucket/k", "--upload-id", "u", "--part", "1", "--length", "101"], ["slice", "100"]),
    (["complete", "s3://bucket/k"], ["--upload-id"]),
    (["presign", "s3://bucket/k", "--expires", "8d"], ["8d", "7d"]),
    (["presign", "s3://bucket/k", "--part", "1"], ["--upload-id"]),
    (["presign", "s3://bucket/"], []),
  ]

  @Test("an invalid command line is 64 with a remedy, and sends nothing", arguments: nonsense)
  func usage(_ words: [String], _ says: [String]) async throws {
    let box = try box()
    let result = try await box.run(words)
    result.expectFailure(64)
    for word in says { #expect(result.errors.contains(word), "\(result.errors)") }
    #expect(box.fake.requests.isEmpty)
  }

  @Test("help is 0, and so is the program without arguments, which points to it")
  func noCommand() async throws {
    let box = try box()
    let nothing = try await box.run([])
    #expect(nothing.status == 0 && nothing.output.contains("s3up help"))
    for words in [["help"], ["--help"], ["help", "put"], ["put", "--help"], ["--version"]] {
      let result = try await box.run(words)
      result.expectSuccess()
      #expect(!result.output.isEmpty)
    }
  }

  @Test("an existing object is 73 with --if-none-match before a byte of the body is sent", arguments: [100, 9 << 20])
  func exists(_ size: Int) async throws {
    let box = try BlackBox()
    try box.sample("f", size)
    box.fake.putObject("k", bytes: [1])
    try await box.run("put", "f", "s3://bucket/k", "--if-none-match").expectFailure(73, "exists", "s3://bucket/k")
    #expect(box.fake.requests.map(\.operation) == [.headObject])
    #expect(box.fake.counters.bodyBytes == 0)
    #expect(box.fake.object("k")?.bytes == [1])
    try await box.run("put", "f", "s3://bucket/other", "--if-none-match").expectSuccess()
    let writes = box.fake.requests.filter { [.putObject, .completeMultipartUpload].contains($0.operation) }
    #expect(writes.map { $0.headers["if-none-match"] } == ["*"])
  }

  @Test("another object than --if-match names, or none, is 73; the right one is replaced")
  func ifMatch() async throws {
    let box = try box()
    box.fake.putObject("k", bytes: [1])
    let etag = try #require(box.fake.object("k")?.etag)
    try await box.run("put", "f", "s3://bucket/k", "--if-match", sha256([2])).expectFailure(73, "ETag")
    try await box.run("put", "f", "s3://bucket/none", "--if-match", etag).expectFailure(73)
    #expect(box.fake.requests.map(\.operation) == [.headObject, .headObject])
    try await box.run("put", "f", "s3://bucket/k", "--if-match", etag).expectSuccess()
    #expect(box.headers(.putObject)["if-match"] == "\"\(etag)\"")
    #expect(box.fake.object("k")?.size == 100)
  }

  @Test(
    "a store that wants the ETag of If-Match without quotes gets it that way, and only for the object that it names",
    arguments: [100, 9 << 20])
  func bareIfMatch(_ size: Int) async throws {
    let box = try BlackBox { $0.wantsBareETag = true }
    try box.sample("f", size)
    box.fake.putObject("k", bytes: [1])
    let etag = try #require(box.fake.object("k")?.etag)
    try await box.run("put", "f", "s3://bucket/k", "--if-match", etag).expectSuccess()
    #expect(box.fake.object("k")?.size == size)
    let writes = box.fake.requests.filter { [.putObject, .completeMultipartUpload].contains($0.operation) }
    #expect(writes.map { $0.headers["if-match"] } == ["\"\(etag)\"", etag])
    // Another writer is faster than the request, and its object stays.
    let other = try BlackBox()
    try other.sample("f", size)
    other.fake.putObject("k", bytes: [1])
    other.fake.setFaults([Fault(.init(.headObject, nth: 1), .headers(["ETag": "\"\(sha256([9]))\""]))])
    try await other.run("put", "f", "s3://bucket/k", "--if-match", sha256([9])).expectFailure(73, "PreconditionFailed")
    #expect(other.fake.object("k")?.bytes == [1])
    #expect(other.fake.requests.count { $0.headers["if-match"] != nil } == 1)
  }

  @Test("if HEAD is not allowed, the store's own check of the condition gives 73", arguments: [100, 9 << 20])
  func conditionAtTheEnd(_ size: Int) async throws {
    let box = try BlackBox(faults: [Fault(.init(.headObject), .error(status: 403, code: "AccessDenied"))])
    try box.sample("f", size)
    box.fake.putObject("k", bytes: [1])
    try await box.run("put", "f", "s3://bucket/k", "--if-none-match").expectFailure(73, "PreconditionFailed")
    #expect(box.fake.object("k")?.bytes == [1])
    #expect(box.fake.unfinishedUploads.isEmpty)
  }

  @Test("a refused connection, or a host without an address, is 75")
  func noConnection() async throws {
    var box = try box()
    box.fake.stop()
    let retries = ["--retries", "2", "--connect-timeout", "2s"]
    try await box.run(["put", "f", "s3://bucket/k"] + retries).expectFailure(75, "127.0.0.1 port \(box.fake.port)")
    box.environment["AWS_ENDPOINT_URL_S3"] = "http://no-such-host.invalid:1"
    try await box.run(["put", "f", "s3://bucket/k"] + retries).expectFailure(75, "no-such-host.invalid")
  }

  @Test("an unknown authority is 69 and sends nothing; with --insecure the upload continues")
  func unknownAuthority() async throws {
    var box = try box(secure: true)
    box.environment["AWS_CA_BUNDLE"] = nil
    try await box.run("put", "f", "s3://bucket/k").expectFailure(69, "certificate", "--ca-bundle")
    #expect(box.fake.requests.isEmpty)
    try await box.run("put", "f", "s3://bucket/k", "--insecure").expectSuccess()
    box.environment["AWS_CA_BUNDLE"] = box.fake.caFile
    box.environment["AWS_ENDPOINT_URL_S3"] = "https://127.0.0.1:\(box.fake.tlsPort)"
    try await box.run("put", "f", "s3://bucket/k").expectSuccess()
    // A name that the certificate does not have.
    box.environment["AWS_ENDPOINT_URL_S3"] = "https://other.localhost:\(box.fake.tlsPort)"
    try await box.run("put", "f", "s3://bucket/k").expectFailure(69)
  }

  @Test(
    "a list of uploads that does not end is 75, after what could be read",
    arguments: [[], ["--clean", "--all", "--older-than", "7d"]])
  func endlessUploads(_ options: [String]) async throws {
    let page =
      "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>a</NextKeyMarker>"
      + "<Upload><Key>a</Key><UploadId>u1</UploadId></Upload></ListMultipartUploadsResult>"
    let box = try BlackBox(
      faults: [Fault(.init(.listMultipartUploads), .document(status: 200, text: page, type: "application/xml"))])
    let result = try await box.run(["uploads", "s3://bucket"] + options)
    #expect(result.status == 75 && result.errors.contains("more uploads than are read here"), "\(result.errors)")
  }

  @Test("uploads that cannot be aborted are each told, and 1 says that they failed for different reasons")
  func severalUploads() async throws {
    let box = try box()
    for key in ["a", "b", "c"] { try await box.run("create", "s3://bucket/\(key)").expectSuccess() }
    let denied = { (key: String) in
      Fault(.init(.abortMultipartUpload, key: key), .error(status: 403, code: "AccessDenied"))
    }
    let clean = ["uploads", "s3://bucket", "--clean", "--all", "--older-than", "1ms", "--json"]
    box.fake.setFaults([denied("a"), denied("b")])
    let denials = try await box.run(clean)
    #expect(denials.status == 77, "\(denials.errors)")
    #expect(denials.lines.count { $0.contains(#""event":"failed""#) } == 2 && box.fake.unfinishedUploads.count == 2)
    box.fake.setFaults([
      denied("a"), Fault(.init(.abortMultipartUpload, key: "b"), .error(status: 405, code: "MethodNotAllowed")),
    ])
    let several = try await box.run(clean)
    #expect(several.status == 1, "\(several.errors)")
    #expect(several.lines.count { $0.contains(#""event":"failed""#) } == 2, "\(several.output)")
  }

  @Test("an unknown profile is 78, from the option or the variable")
  func unknownProfile() async throws {
    var box = try box()
    try box.binary.home.write("[here]\naws_access_key_id = A\naws_secret_access_key = b\n", to: ".aws/credentials")
    try await box.run("put", "f", "s3://bucket/k", "--profile", "gone").expectFailure(78, "gone", "here")
    box.environment["AWS_PROFILE"] = "gone"
    try await box.run("put", "f", "s3://bucket/k").expectFailure(78, "gone", "AWS_PROFILE")
  }

  @Test("a profile's keys, region and endpoint are used")
  func profile() async throws {
    var box = try box { $0.region = "eu-test-1" }
    try box.binary.home.write(
      """
      [lab]
      aws_access_key_id = \(FakeCredential.standard.keyID)
      aws_secret_access_key = \(FakeCredential.standard.secret)
      """, to: ".aws/credentials")
    try box.binary.home.write(
      "[profile lab]\nregion = eu-test-1\ns3 =\n  endpoint_url = \(box.fake.endpoint)\n", to: ".aws/config")
    box.environment = [:]
    try await box.run("put", "f", "s3://bucket/k", "--profile", "lab").expectSuccess()
    box.environment = ["AWS_ACCESS_KEY_ID": "wrong", "AWS_SECRET_ACCESS_KEY": "wrong"]
    try await box.run("put", "f", "s3://bucket/k", "--profile", "lab").expectSuccess()
  }

  @Test("a wrong region that is answered with another wrong one is reported")
  func region() async throws {
    let box = try box { $0.region = "eu-test-1" }
    box.fake.setFaults([
      Fault(.all, .error(status: 301, code: "PermanentRedirect", headers: ["x-amz-bucket-region": "eu-test-2"]))
    ])
    let result = try await box.run("put", "f", "s3://bucket/k", "--region", "us-east-1")
    #expect(result.status == 69)
    #expect(result.errors.contains("--region eu-test-2"), "\(result.errors)")
    #expect(box.fake.requests.count == 2)
  }

  @Test("a failure with --json is one object on standard output beside the two lines")
  func json() async throws {
    var box = try box()
    box.environment["AWS_SECRET_ACCESS_KEY"] = "wrong"
    let result = try await box.run("put", "f", "s3://bucket/k", "--json")
    #expect(result.status == 77)
    let said = result.json
    #expect(said["event"] as? String == "failed")
    #expect(said["source"] as? String == "f")
    #expect(said["bucket"] as? String == "bucket")
    #expect(said["key"] as? String == "k")
    #expect(said["code"] as? String == "credentials")
    #expect((said["message"] as? String)?.isEmpty == false)
    #expect(said["s3_code"] as? String == "SignatureDoesNotMatch")
    #expect(said["exit"] as? Int == 77)
    #expect(said["resumable"] as? Bool == false)
    #expect(result.errors.split(separator: "\n").count == 2)
  }
}
