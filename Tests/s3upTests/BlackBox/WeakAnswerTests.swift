import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// The store reports success without proof.
@Suite(.crowd) struct WeakAnswerTests {
  private static let words = ["put", "f", "s3://bucket/k", "--part-size", "5M"]

  /// A store whose answers to complete have neither ETag nor checksum, and those to HEAD no checksum and a meaningless
  /// ETag.
  private func store(_ faults: Fault...) throws -> BlackBox {
    try BlackBox(faults: faults) {
      $0.completeETag = .missing
      $0.checksums = .ignored
      $0.partETags = .odd
    }
  }

  @Test("a HEAD that does not show the object at once is repeated, even with one try for every request")
  func shownLater() async throws {
    let box = try store(Fault(.init(.headObject, to: 2), .error(status: 404, code: "")))
    let bytes = try box.sample("f", 11 * mebi)
    try await box.run(Self.words + ["--retries", "1"]).expectSuccess()
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.requests(.headObject).count == 3)
  }

  @Test("an object that never appears is 75, with its record kept and its upload named; the next run finds it")
  func staysAway() async throws {
    let box = try store(Fault(.init(.headObject), .error(status: 404, code: "")))
    try box.sample("f", 11 * mebi)
    let result = try await box.run(Self.words)
    result.expectFailure(75)
    result.expectResumable(75)
    #expect(try box.records().count == 1)
    box.fake.setFaults([])
    let again = try await box.run(Self.words)
    #expect(again.status == 0, "\(again.errors)")
    #expect(try box.records() == [])
    #expect(box.fake.unfinishedUploads.map(\.id) == [])
  }

  @Test("a stream's upload that the store calls complete but does not show is named, and not aborted")
  func streamStaysAway() async throws {
    let box = try store(Fault(.init(.headObject), .error(status: 404, code: "")))
    let bytes = try box.sample("f", 11 * mebi)
    let words = ["put", "-", "s3://bucket/k", "--part-size", "5M"]
    let result = try await box.run(words, input: .bytes(bytes))
    #expect(result.status == 75)
    #expect(result.errors.contains("s3up abort s3://bucket/k --upload-id="), "\(result.errors)")
    #expect(box.fake.requests(.abortMultipartUpload).isEmpty)
  }

  @Test(
    "an object that is older than the upload, or another version, is not the one that was completed",
    arguments: [
      (["Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT"], "older than this upload"),
      (["x-amz-version-id": "another"], "another version"),
    ])
  func another(_ headers: [String: String], _ words: String) async throws {
    let box = try BlackBox(faults: [Fault(.init(.headObject), .headers(headers))]) {
      $0.completeETag = .missing
      $0.checksums = .ignored
      $0.partETags = .odd
      $0.versioning = true
    }
    try box.sample("f", 11 * mebi)
    let result = try await box.run(Self.words)
    result.expectFailure(75, words)
    result.expectResumable(75)
    box.fake.setFaults([])
    #expect(try await box.run(Self.words).status == 0)
  }

  @Test("the settings of the version that was written count, whatever another client has written since")
  func settingsOfOwnVersion() async throws {
    let box = try BlackBox { $0.versioning = true }
    try box.sample("f", 100)
    try box.files.write("", to: "hold")
    box.fake.setFaults([Fault(.init(.headObject, nth: 1), .hold(file: box.files.path("hold"), stage: .beforeBody))])
    let put = try box.start([
      "put", "f", "s3://bucket/k", "--acl", "public-read", "--tag", "a=b", "--storage-class", "STANDARD_IA",
    ])
    #expect(await box.fake.wait { $0.contains { $0.operation == .headObject } })
    let own = try #require(box.fake.object("k")?.versionID)
    box.fake.putObject("k", bytes: randomBytes(100, seed: 4))
    try FileManager.default.removeItem(atPath: box.files.path("hold"))
    let result = await put.wait(timeout: .seconds(60))
    result.expectSuccess()
    #expect(!result.output.contains("not confirmed"), "\(result.output)")
    #expect(box.fake.requests(.getObjectACL).map { $0.query["versionId"] } == [own])
  }

  @Test("if another client has written the key since, the version that the store has named is looked at")
  func writtenSince() async throws {
    let later = Fault.Action.headers(["x-amz-version-id": "another", "Content-Length": "5"])
    let box = try BlackBox(faults: [Fault(.init(.headObject, namesVersion: false), later)]) {
      $0.completeETag = .missing
      $0.checksums = .ignored
      $0.partETags = .odd
      $0.versioning = true
    }
    try box.sample("f", 11 * mebi)
    let result = try await box.run(Self.words + ["--json"])
    result.expectSuccess()
    #expect(result.json["version_id"] as? String == box.fake.object("k")?.versionID, "\(result.output)")
  }

  @Test("the HEAD of --verify must show the ETag that the store has just reported, if that is an MD5")
  func otherETag() async throws {
    let box = try BlackBox(faults: []) { $0.checksums = .ignored }
    try box.sample("f", 1000)
    try await box.run("put", "f", "s3://bucket/k", "--verify").expectSuccess()
    box.fake.setFaults([Fault(.init(.headObject), .etag("\"0123456789abcdef0123456789abcdef\""))])
    try await box.run("put", "f", "s3://bucket/k", "--verify").expectFailure(75, "another ETag")
  }

  @Test("an object of another number of parts is not the one that was completed")
  func otherParts() async throws {
    let box = try store(Fault(.init(.headObject), .etag("\"0123456789abcdef0123456789abcdef-7\"")))
    try box.sample("f", 11 * mebi)
    let result = try await box.run(Self.words)
    result.expectFailure(75, "7 parts")
    result.expectResumable(75)
  }
}
