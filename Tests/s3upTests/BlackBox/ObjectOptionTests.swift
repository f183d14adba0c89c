import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// Options as they are typed, and the headers that they must become.
struct ObjectOptionCase: Sendable, CustomTestStringConvertible {
  var name: String
  var options: [String]
  var headers: [String: String]
  var testDescription: String { name }

  static let all = [
    ObjectOptionCase(
      name: "content",
      options: [
        "--content-type", "text/x-test; charset=utf-8", "--cache-control", "max-age=60, public",
        "--content-disposition", "attachment; filename=\"a b.txt\"", "--content-encoding", "gzip",
        "--content-language", "de, en", "--expires-header", "2031-01-31T00:00:00Z",
        "--website-redirect", "/elsewhere.html", "--storage-class", "STANDARD_IA", "--acl", "bucket-owner-full-control",
      ],
      headers: [
        "content-type": "text/x-test; charset=utf-8", "cache-control": "max-age=60, public",
        "content-disposition": "attachment; filename=\"a b.txt\"", "content-encoding": "gzip",
        "content-language": "de, en", "expires": "Fri, 31 Jan 2031 00:00:00 GMT",
        "x-amz-website-redirect-location": "/elsewhere.html", "x-amz-storage-class": "STANDARD_IA",
        "x-amz-acl": "bucket-owner-full-control",
      ]),
    ObjectOptionCase(
      name: "metadata and tags",
      options: [
        "--metadata", "one=1", "--metadata", "Two=a=b, c", "--metadata", "empty=", "--tag", "team=blue & red",
        "--tag", "ä=ö/+%", "--tag", "none=", "--header", "x-amz-meta-by-hand: yes", "--header", "X-Test-Header:  v  ",
      ],
      headers: [
        "x-amz-meta-one": "1", "x-amz-meta-two": "a=b, c", "x-amz-meta-empty": "",
        "x-amz-tagging": "team=blue%20%26%20red&%C3%A4=%C3%B6%2F%2B%25&none=", "x-amz-meta-by-hand": "yes",
        "x-test-header": "v",
      ]),
    ObjectOptionCase(
      name: "KMS",
      options: [
        "--sse", "aws:kms", "--sse-kms-key-id", "arn:aws:kms:us-east-1:1:key/k", "--sse-kms-context", "a=b",
        "--bucket-key",
      ],
      headers: [
        "x-amz-server-side-encryption": "aws:kms",
        "x-amz-server-side-encryption-aws-kms-key-id": "arn:aws:kms:us-east-1:1:key/k",
        "x-amz-server-side-encryption-context": base64(Array("{\"a\":\"b\"}".utf8)),
        "x-amz-server-side-encryption-bucket-key-enabled": "true",
      ]),
    ObjectOptionCase(
      name: "DSSE", options: ["--sse", "aws:kms:dsse"], headers: ["x-amz-server-side-encryption": "aws:kms:dsse"]),
    ObjectOptionCase(
      name: "lock, SSE-S3 and grants",
      options: [
        "--sse", "AES256", "--object-lock-mode", "GOVERNANCE", "--retain-until", "2031-01-31T00:00:00Z",
        "--legal-hold", "on", "--grant", "read=uri=http://acs.amazonaws.com/groups/global/AllUsers", "--grant",
        "read=id=abc", "--grant", "full=email=a@example.com", "--grant", "read-acl=id=r", "--grant", "write-acl=id=w",
      ],
      headers: [
        "x-amz-server-side-encryption": "AES256", "x-amz-object-lock-mode": "GOVERNANCE",
        "x-amz-object-lock-retain-until-date": "2031-01-31T00:00:00Z", "x-amz-object-lock-legal-hold": "ON",
        "x-amz-grant-read": "uri=\"http://acs.amazonaws.com/groups/global/AllUsers\", id=\"abc\"",
        "x-amz-grant-full-control": "emailAddress=\"a@example.com\"", "x-amz-grant-read-acp": "id=\"r\"",
        "x-amz-grant-write-acp": "id=\"w\"",
      ]),
  ]
}

@Suite(.crowd) struct ObjectOptionTests {
  @Test(
    "object options arrive as headers of Create and of PutObject, and of no part", arguments: ObjectOptionCase.all,
    [100, 6 * mebi])
  func headers(_ options: ObjectOptionCase, _ size: Int) async throws {
    let box = try BlackBox()
    try box.sample("f.txt", size)
    try await box.run(["put", "f.txt", "s3://bucket/k", "--part-size", "5M"] + options.options).expectSuccess()
    let sent = box.headers(size < mebi ? .putObject : .createMultipartUpload)
    for (name, value) in options.headers { #expect(sent[name] == value, "\(name)") }
    if options.headers["content-type"] == nil { #expect(sent["content-type"]?.hasPrefix("text/plain") == true) }
    for part in box.fake.requests(.uploadPart) {
      for name in options.headers.keys { #expect(part.headers[name] == nil, "\(name)") }
    }
    #expect(box.fake.object("k")?.size == size)
  }

  @Test("create takes the same options as put", arguments: ObjectOptionCase.all)
  func create(_ options: ObjectOptionCase) async throws {
    let box = try BlackBox()
    let result = try await box.run(["create", "s3://bucket/k.txt"] + options.options)
    // Create's own answer confirms the encryption, and nothing else.
    let left = options.headers.keys.contains { !$0.hasPrefix("x-amz-server-side-encryption") }
    if left { result.expectWarned("only complete can check ") } else { result.expectSuccess() }
    for (name, value) in options.headers { #expect(box.headers(.createMultipartUpload)[name] == value, "\(name)") }
  }

  @Test("metadata outside of ASCII is sent as the encoded word that S3 returns")
  func metadataText() async throws {
    let box = try BlackBox()
    try box.sample("f", 1)
    try await box.run("put", "f", "s3://bucket/k", "--metadata", "who=Jürgen").expectSuccess()
    let value = box.headers(.putObject)["x-amz-meta-who"] ?? ""
    #expect(value.hasPrefix("=?UTF-8?") && value.hasSuffix("?="), "\(value)")
  }

  @Test(
    "an SSE-C key is sent with every request that needs it, from a raw or base64 file",
    arguments: [true, false], [100, 6 * mebi])
  func customerKey(_ raw: Bool, _ size: Int) async throws {
    let box = try BlackBox(secure: true) { $0.customerKeysNeedTLS = true }
    try box.sample("f", size)
    let key = randomBytes(32, seed: 5)
    try box.files.write(raw ? key : Array((base64(key) + "\n").utf8), to: "key")
    let options = ["--sse-c-key-file", "key", "--part-size", "5M"]
    try await box.run(["put", "f", "s3://bucket/k", "--verify"] + options).expectSuccess()
    let prefix = "x-amz-server-side-encryption-customer-"
    let seen = Set(box.fake.requests.map(\.operation))
    #expect(
      seen.isSuperset(
        of: size < mebi ? [.putObject, .headObject] : [.createMultipartUpload, .uploadPart, .headObject]))
    // Uploads are listed for the bucket, not for an object with a key.
    for request in box.fake.requests where request.operation != .listMultipartUploads {
      #expect(request.headers[prefix + "algorithm"] == "AES256", "\(request.operation)")
      #expect(request.headers[prefix + "key"] == base64(key), "\(request.operation)")
      #expect(request.headers[prefix + "key-md5"] == base64(FakeHash.md5.of(key)), "\(request.operation)")
    }
  }

  @Test("the single steps send the SSE-C key too")
  func customerKeySteps() async throws {
    let box = try BlackBox(secure: true) { $0.customerKeysNeedTLS = true }
    let bytes = try box.sample("f", 1000)
    try box.files.write(randomBytes(32, seed: 5), to: "key")
    let key = ["--sse-c-key-file", "key"]
    let id = try #require(try await box.run(["create", "s3://bucket/k"] + key).lines.first)
    let step = ["s3://bucket/k", "--upload-id", id] + key
    try await box.run(["part", "f"] + step + ["--part", "1"]).expectSuccess()
    try await box.run(["parts"] + step).expectSuccess()
    try await box.run(["complete"] + step).expectSuccess()
    #expect(box.fake.object("k")?.holds(bytes) == true)
    try await box.run("put", "f", "s3://bucket/x", "--sse-c-key-file", "f").expectFailure(64, "32 bytes")
    try await box.run("put", "f", "s3://bucket/x", "--sse-c-key-file", "none").expectFailure(66, "none")
    #expect(box.fake.object("x") == nil)
  }

  @Test("an SSE-C key is not sent over plain HTTP to another machine")
  func customerKeyOverHTTP() async throws {
    var box = try BlackBox()
    try box.sample("f", 10)
    try box.files.write(randomBytes(32, seed: 5), to: "key")
    box.environment["AWS_ENDPOINT_URL_S3"] = "http://s3.example.invalid"
    try await box.run("put", "f", "s3://bucket/k", "--sse-c-key-file", "key").expectFailure(64, "SSE-C", "https")
  }

  @Test("requester pays and the expected owner are sent with every request", arguments: [100, 6 * mebi])
  func common(_ size: Int) async throws {
    let box = try BlackBox { $0.requesterPays = true }
    try box.sample("f", size)
    let options = ["--request-payer", "--expected-bucket-owner", "123456789012", "--part-size", "5M"]
    try await box.run(["put", "f", "s3://bucket/k", "--verify", "--if-none-match"] + options).expectSuccess()
    #expect(box.fake.requests.count >= 3)
    for request in box.fake.requests {
      #expect(request.headers["x-amz-request-payer"] == "requester")
      #expect(request.headers["x-amz-expected-bucket-owner"] == "123456789012")
    }
    try await box.run("put", "f", "s3://bucket/k", "--request-payer", "--expected-bucket-owner", "9").expectFailure(
      77, "AccessDenied")
  }

  @Test("conditions are sent with complete, not with create or a part")
  func conditionsAtComplete() async throws {
    let box = try BlackBox()
    try box.sample("f", 6 * mebi)
    let put = ["put", "f", "s3://bucket/k", "--part-size", "5M"]
    try await box.run(put + ["--if-none-match"]).expectSuccess()
    let etag = try #require(box.fake.object("k")?.etag)
    try await box.run(put + ["--if-match", etag]).expectSuccess()
    let completes = box.fake.requests(.completeMultipartUpload).map(\.headers)
    #expect(completes.map { $0["if-none-match"] } == ["*", nil])
    #expect(completes.map { $0["if-match"] } == [nil, "\"\(etag)\""])
    for request in box.fake.requests where request.operation != .completeMultipartUpload {
      #expect(request.headers["if-none-match"] == nil && request.headers["if-match"] == nil)
    }
  }

  @Test("the content type is guessed by the name, then by the leading bytes")
  func guessed() async throws {
    let box = try BlackBox()
    try box.files.write("{}", to: "a.json")
    try box.files.write([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], to: "picture")
    try await box.run("put", "a.json", "s3://bucket/j").expectSuccess()
    try await box.run("put", "picture", "s3://bucket/p").expectSuccess()
    #expect(box.fake.object("j")?.headers["content-type"] == "application/json")
    #expect(box.fake.object("p")?.headers["content-type"] == "image/png")
  }
}
