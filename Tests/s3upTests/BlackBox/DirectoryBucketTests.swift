import Foundation
@testable import MultipartCore
import Testing

@testable import Support

@Suite(.crowd) struct DirectoryBucketTests {
  private let bucket = "base--usw2-az1--x-s3"

  private func box(faults: [Fault] = [], _ change: (inout FakeOptions) -> Void = { _ in }) throws -> BlackBox {
    try BlackBox(faults: faults) { options in
      options.buckets = ["base--usw2-az1--x-s3"]
      options.region = "us-west-2"
      // S3 Express gives ETags that look like an MD5 but are not.
      options.partETags = .opaque
      change(&options)
    }
  }

  @Test("one session signs all requests of an upload, and its ETags are not taken for MD5s")
  func session() async throws {
    let box = try box()
    let bytes = try box.sample("f", 20 * mebi)
    let result = try await box.run("put", "f", "s3://\(bucket)/k", "--region", "us-west-2", "--verify")
    result.expectSuccess()
    #expect(box.fake.object("k", bucket: bucket)?.holds(bytes) == true)
    let sessions = box.fake.requests(.createSession)
    #expect(sessions.count == 1)
    #expect(sessions.first?.query == ["session": ""])
    #expect(sessions.first?.headers["authorization"]?.contains(FakeCredential.standard.keyID) == true)
    let rest = box.fake.requests.filter { $0.operation != .createSession }
    #expect(rest.allSatisfy { $0.headers["x-amz-s3session-token"] != nil && $0.status.map { $0 < 300 } == true })
    #expect(rest.allSatisfy { $0.headers["authorization"]?.contains("/us-west-2/s3express/") == true })
    #expect(box.headers(.putObject)["content-md5"] == nil)
    #expect(box.fake.requests(.uploadPart).allSatisfy { $0.headers["x-amz-checksum-crc64nvme"] != nil })
  }

  @Test("on AWS requests go to the zone's host, and its name gives the region")
  func zonalHost() async throws {
    var box = try box()
    box.environment["AWS_ENDPOINT_URL_S3"] = nil
    box.environment["S3UP_PROXY"] = box.fake.endpoint
    box.environment["S3UP_INSECURE"] = "1"
    try box.sample("f", 1000)
    let result = try await box.run("put", "f", "s3://\(bucket)/k", "--explain")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors.contains("us-west-2 (the bucket's name)"), "\(result.errors)")
    #expect(
      Set(box.fake.requests.map { $0.headers["host"] ?? "" })
        == ["\(bucket).s3express-usw2-az1.us-west-2.amazonaws.com"])
    #expect(box.fake.requests.map(\.operation) == [.createSession, .putObject])
  }

  @Test("a session that expires during the upload is replaced by another, and each part arrives once")
  func ended() async throws {
    let box = try box(faults: [
      Fault(.init(.uploadPart, nth: 2), .error(status: 400, code: "ExpiredToken"))
    ])
    let bytes = try box.sample("f", 20 * mebi)
    let result = try await box.run(
      "put", "f", "s3://\(bucket)/k", "--region", "us-west-2", "--concurrency", "1")
    result.expectSuccess()
    #expect(box.fake.requests(.createSession).count == 2)
    #expect(box.fake.requests(.uploadPart).count == 4)
    #expect(box.fake.object("k", bucket: bucket)?.holds(bytes) == true)
    let tokens = Set(box.fake.requests(.uploadPart).compactMap { $0.headers["x-amz-s3session-token"] })
    #expect(tokens.count == 2)
  }

  @Test("an upload works with sessions that last two seconds, shorter than the upload")
  func short() async throws {
    let box = try box { $0.sessionLifetime = 2 }
    let bytes = try box.sample("f", 18 * mebi)
    let result = try await box.run(
      ["put", "f", "s3://\(bucket)/k", "--region", "us-west-2", "--limit-rate", "6M", "--part-size", "5M"])
    result.expectSuccess()
    #expect(box.fake.requests(.createSession).count >= 2)
    #expect(box.fake.object("k", bucket: bucket)?.holds(bytes) == true)
  }

  @Test("a refused session is 77 and says what is missing; the secrets of sessions are not shown")
  func refused() async throws {
    let box = try box(faults: [Fault(.init(.createSession, nth: 2), .error(status: 403, code: "AccessDenied"))])
    try box.sample("f", 1000)
    let shown = try await box.run("put", "f", "s3://\(bucket)/k", "--region", "us-west-2", "-vv")
    #expect(shown.status == 0)
    #expect(!shown.errors.contains("secret-of-session") && !shown.errors.contains("token-of-session"))
    try await box.run("put", "f", "s3://\(bucket)/k", "--region", "us-west-2")
      .expectFailure(77, "s3express:CreateSession")
  }

  @Test("an interrupted upload is found again, by listing only its folder")
  func resumed() async throws {
    let box = try box(faults: [Fault(.init(.uploadPart, nth: 2), .error(status: 403, code: "AccessDenied"))])
    let bytes = try box.sample("f", 20 * mebi)
    let put = ["put", "f", "s3://\(bucket)/a/b/k", "--region", "us-west-2", "--concurrency", "1"]
    #expect(try await box.run(put).status == 77)
    // Without its record, as on another machine.
    try FileManager.default.removeItem(atPath: box.binary.home.path(".local/state/s3up"))
    box.fake.setClockOffset(90)
    try await box.run(put + ["--resume", "adopt"]).expectSuccess()
    #expect(box.fake.object("a/b/k", bucket: bucket)?.holds(bytes) == true)
    #expect(box.fake.requests(.createMultipartUpload).count == 1)
    #expect(box.fake.requests(.listMultipartUploads).allSatisfy { $0.query["prefix"] == "a/b/" })
    #expect(!box.fake.requests(.listMultipartUploads).isEmpty)
  }

  @Test("a presigned URL has the session's token under its own name, and works")
  func presigned() async throws {
    let box = try box()
    try box.sample("f", 1000)
    try await box.run("put", "f", "s3://\(bucket)/k", "--region", "us-west-2").expectSuccess()
    let result = try await box.run("presign", "s3://\(bucket)/k", "--region", "us-west-2")
    // A session lasts five minutes, and a URL a quarter of an hour.
    #expect(result.status == 0 && result.errors.contains("expires with the credentials that sign it"))
    #expect(result.output.contains("X-Amz-S3session-Token=") && !result.output.contains("X-Amz-Security-Token"))
    let answer = try await curl(["-o", "/dev/null", "-w", "%{http_code}", result.lines.first ?? ""])
    #expect(answer.output == "200")
  }

  @Test(
    "options that directory buckets do not support are refused before a byte is sent",
    arguments: [
      ["--tag", "a=b"], ["--acl", "private"], ["--legal-hold", "on"], ["--checksum", "md5"],
      ["--storage-class", "STANDARD"], ["--website-redirect", "/x"], ["--request-payer"],
    ])
  func missing(words: [String]) async throws {
    let box = try box()
    try box.sample("f", 1000)
    try await box.run(["put", "f", "s3://\(bucket)/k", "--region", "us-west-2"] + words)
      .expectFailure(64, "directory buckets have", words[0])
    #expect(box.fake.requests.isEmpty)
  }

  @Test("a single part has no Content-MD5, which these buckets do not take")
  func part() async throws {
    let box = try box()
    try box.sample("f", 1000)
    let place = ["s3://\(bucket)/k", "--region", "us-west-2"]
    let id = try #require(try await box.run(["create"] + place).lines.first)
    let part = ["part", "f"] + place + ["--upload-id", id, "--part", "1", "--payload-signing", "never"]
    #expect(try await box.run(part).status == 0)
    #expect(box.headers(.uploadPart)["content-md5"] == nil)
  }

  @Test("what these buckets lack is also refused if an attributes file sets it, for the objects that have it")
  func missingForSome() async throws {
    let box = try box()
    try box.sample("d/a.txt", 1000)
    try box.sample("d/b.bin", 1000)
    try box.files.write("*.txt website-redirect=/x\n", to: "rules")
    let tree = ["put", "-r", "d", "s3://\(bucket)/d/", "--region", "us-west-2", "--attributes", "rules"]
    let result = try await box.run(tree)
    #expect(result.status == 64 && result.errors.contains("directory buckets have no websites"), "\(result.errors)")
    try await box.run("put", "d/a.txt", "s3://\(bucket)/a.txt", "--region", "us-west-2", "--attributes", "rules")
      .expectFailure(64, "directory buckets have no websites", "Leave --website-redirect out wherever it is set")
    #expect(box.fake.object("d/b.bin", bucket: bucket) != nil && box.fake.object("d/a.txt", bucket: bucket) == nil)
    #expect(box.fake.object("a.txt", bucket: bucket) == nil)
  }
}
