import Foundation
import MultipartCore
import Testing

@testable import Support

/// Uploads under the same key that this machine has no record of.
@Suite(.crowd) struct ResumeForeignTests {
  /// Begins an upload of `name` as another machine would, with its first parts.
  private func begin(_ box: BlackBox, _ name: String, parts: Int, size: Int = 5 * mebi) async throws -> String {
    let created = try await box.run("create", "s3://bucket/k")
    let id = try #require(created.lines.first)
    for number in 1...parts {
      try await box.run(
        "part", name, "s3://bucket/k", "--upload-id", id, "--part", String(number), "--offset",
        String((number - 1) * size), "--length", String(size)
      ).expectDone()
    }
    return id
  }

  @Test("one whose parts are the file's is adopted")
  func adopted() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", StoppedUpload.size)
    let id = try await begin(box, "f", parts: 3)
    let before = box.fake.requests.count
    let result = try await box.run(StoppedUpload.words + ["--json"])
    result.expectSuccess()
    #expect(box.fake.partsSent(since: before) == [4, 5])
    #expect(result.json["bytes_resumed"] as? Int == 15 * mebi)
    #expect(box.fake.object("k")?.sha256 == sha256(bytes))
    #expect(box.fake.object("k")?.uploadID == id)
    #expect(box.fake.unfinishedUploads.map(\.id) == [])
  }

  @Test(
    "where options say how the object shall be, one is left alone: nobody can see what it was created with",
    arguments: [
      ["--sse", "AES256"], ["--acl", "private"], ["--metadata", "a=b"], ["--tag", "a=b"],
      ["--content-type", "text/plain"],
      ["--cache-control", "no-cache"], ["--storage-class", "STANDARD_IA"], ["--legal-hold", "on"],
    ])
  func asksForMore(_ options: [String]) async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", StoppedUpload.size)
    let id = try await begin(box, "f", parts: 3)
    let result = try await box.run(StoppedUpload.words + ["--json"] + options)
    result.expectSuccess()
    #expect(result.json["bytes_resumed"] as? Int == 0)
    #expect(box.fake.object("k")?.sha256 == sha256(bytes))
    #expect(box.fake.object("k")?.uploadID != id)
    #expect(box.fake.unfinishedUploads.map(\.id) == [id])
    #expect(box.fake.unfinishedUploads.first?.parts.count == 3)
  }

  @Test("another file's is neither touched nor used", arguments: [5 * mebi, 6 * mebi])
  func another(_ size: Int) async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", StoppedUpload.size)
    try box.sample("g", StoppedUpload.size, seed: 7)
    let id = try await begin(box, "g", parts: 2, size: size)
    let before = box.fake.requests.count
    let result = try await box.run(StoppedUpload.words + ["--json"])
    result.expectSuccess()
    #expect(result.json["bytes_resumed"] as? Int == 0)
    #expect(box.fake.object("k")?.sha256 == sha256(bytes))
    #expect(box.fake.unfinishedUploads.map(\.id) == [id])
    #expect(box.fake.unfinishedUploads.first?.parts.count == 2)
    let writes = box.fake.requests.dropFirst(before).filter { $0.operation != .listParts && $0.uploadID == id }
    #expect(writes.isEmpty)
  }

  @Test("one of which a single part is another's is left alone, and the older one that fits is gone on with")
  func mixed() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", StoppedUpload.size)
    try box.sample("g", StoppedUpload.size, seed: 7)
    let older = try await begin(box, "f", parts: 2)
    box.fake.setClockOffset(60)
    let newer = try await begin(box, "f", parts: 2)
    try await box.run(
      "part", "g", "s3://bucket/k", "--upload-id", newer, "--part", "2", "--offset", String(5 * mebi), "--length",
      String(5 * mebi)
    ).expectDone()
    let before = box.fake.requests.count
    let result = try await box.run(StoppedUpload.words + ["--resume", "require"])
    result.expectSuccess()
    #expect(box.fake.partsSent(since: before) == [3, 4, 5])
    #expect(box.fake.object("k")?.sha256 == sha256(bytes))
    #expect(box.fake.object("k")?.uploadID == older)
    #expect(box.fake.unfinishedUploads.map(\.id) == [newer])
  }

  @Test("a longer key that begins alike is another object")
  func longerKey() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", StoppedUpload.size)
    let created = try await box.run("create", "s3://bucket/k2")
    let id = try #require(created.lines.first)
    try await box.run(
      "part", "f", "s3://bucket/k2", "--upload-id", id, "--part", "1", "--length", String(5 * mebi)
    ).expectDone()
    try await box.run(StoppedUpload.words).expectSuccess()
    #expect(box.fake.object("k")?.sha256 == sha256(bytes))
    #expect(box.fake.unfinishedUploads.map(\.id) == [id])
  }

  @Test("a store that forbids the list gets a new upload")
  func forbidden() async throws {
    let box = try BlackBox(faults: [
      Fault(.init(.listMultipartUploads), .error(status: 403, code: "AccessDenied"))
    ])
    let bytes = try box.sample("f", 11 * mebi)
    try await box.run(StoppedUpload.words).expectSuccess()
    #expect(box.fake.object("k")?.sha256 == sha256(bytes))
  }

  @Test("an upload that was killed goes on from another machine")
  func otherMachine() async throws {
    let stopped = try await StoppedUpload()
    let other = try S3upBinary()
    let result = try await other.run(
      StoppedUpload.words, environment: stopped.box.environment, directory: stopped.box.files.path)
    result.expectSuccess()
    #expect(stopped.box.fake.object("k")?.sha256 == sha256(stopped.bytes))
    #expect(stopped.box.fake.unfinishedUploads.map(\.id) == [])
    // The record of the first machine is of an upload that is no more.
    let again = try await stopped.again()
    #expect(again.result.status == 0 && again.result.errors.contains("a new one begins"), "\(again.result.errors)")
    #expect(try stopped.box.records() == [])
  }
}
