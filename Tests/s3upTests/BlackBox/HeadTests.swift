import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support

@Suite("What is known of an object is shown", .crowd) struct HeadTests {
  /// The values of a fact.
  private func facts(_ result: ChildProcess.Result, _ name: String) -> [String] {
    result.lines.filter { $0.hasPrefix(name + " ") }.map {
      $0.dropFirst(name.count).trimmingCharacters(in: .whitespaces)
    }
  }

  @Test("size, time, ETag, checksum, parts, encryption, metadata, tags, lock, and what else the store reports")
  func all() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("source", 12 * mebi)
    try await box.run(
      "put", "source", "s3://bucket/dir/key", "--part-size", "5M", "--content-type", "image/png", "--metadata",
      "title=é", "--tag", "a=1", "--tag", "b=x y", "--storage-class", "GLACIER_IR", "--sse", "aws:kms",
      "--sse-kms-key-id", "the-key", "--cache-control", "max-age=60", "--object-lock-mode", "GOVERNANCE",
      "--retain-until", "2031-01-31T00:00:00Z", "--legal-hold", "on"
    ).expectSuccess()
    let object = try #require(box.fake.object("dir/key"))
    let sum = base64(FakeChecksum.crc64nvme.of(bytes))
    let text = try await box.run("head", "s3://bucket/dir/key")
    text.expectSuccess()
    for (name, value) in [
      ("object", "s3://bucket/dir/key"), ("size", "12582912 (12 MiB)"), ("etag", "\"\(object.etag)\""),
      ("modified", object.modified.iso8601), ("type", "image/png"), ("checksum", "CRC64NVME \(sum) (FULL_OBJECT)"),
      ("parts", "3, the first of 5242880 bytes"), ("storage-class", "GLACIER_IR"),
      ("encryption", "aws:kms, key the-key"), ("metadata", "title: é"), ("cache-control", "max-age=60"),
      ("retention", "GOVERNANCE until 2031-01-31T00:00:00Z"), ("legal-hold", "ON"),
    ] { #expect(facts(text, name).contains(value), "\(name): \(text.output)") }
    #expect(facts(text, "tag") == ["a=1", "b=x y"])
    #expect(facts(text, "unknown") == [] && !text.output.lowercased().contains("request-id"))
    let json = try await box.run("head", "--json", "s3://bucket/dir/key").json
    #expect(json["event"] as? String == "object" && json["size"] as? Int == bytes.count)
    #expect(json["parts"] as? Int == 3 && json["part_size"] as? Int == 5 * mebi)
    #expect(json["tags"] as? [String: String] == ["a": "1", "b": "x y"])
    #expect((json["metadata"] as? [String: String])?["title"] == "é")
    #expect(
      json["checksums"] as? [[String: String]] == [["algorithm": "CRC64NVME", "type": "FULL_OBJECT", "value": sum]])
    #expect((json["encryption"] as? [String: Any])?["kms_key_id"] as? String == "the-key")
    #expect(json["retention"] as? [String: String] == ["mode": "GOVERNANCE", "until": "2031-01-31T00:00:00Z"])
    #expect(json["legal_hold"] as? String == "ON" && json["unknown"] as? [String: String] == [:])
    #expect((json["headers"] as? [String: String])?["cache-control"] == "max-age=60")
    #expect(box.fake.requests(.getObjectRetention).isEmpty && box.fake.requests(.getObject).isEmpty)
  }

  @Test(
    "retention and legal hold that HEAD does not show are requested separately, and an object without them has none")
  func lock() async throws {
    let box = try BlackBox { $0.headHides = ["x-amz-object-lock-mode", "x-amz-object-lock-legal-hold"] }
    box.fake.putObject(
      "locked", bytes: [1],
      headers: [
        "x-amz-object-lock-mode": "COMPLIANCE", "x-amz-object-lock-retain-until-date": "2031-01-31T00:00:00Z",
        "x-amz-object-lock-legal-hold": "OFF",
      ])
    let locked = try await box.run("head", "s3://bucket/locked")
    #expect(
      facts(locked, "retention") == ["COMPLIANCE until 2031-01-31T00:00:00Z"] && facts(locked, "legal-hold") == ["OFF"])
    box.fake.putObject("plain", bytes: [1])
    let plain = try await box.run("head", "s3://bucket/plain", "--json").json
    #expect(
      plain["retention"] is NSNull && plain["legal_hold"] is NSNull && plain["unknown"] as? [String: String] == [:])
    #expect(plain["tags"] as? [String: String] == [:] && plain["parts"] is NSNull)
  }

  @Test("what the store does not report is named with the reason, and the rest is shown")
  func unknown() async throws {
    let box = try BlackBox(faults: [
      Fault(Fault.Match(.getObjectTagging), .error(status: 403, code: "AccessDenied")),
      Fault(Fault.Match(.getObjectRetention), .error(status: 501, code: "NotImplemented")),
    ])
    box.fake.putObject("key", bytes: [1, 2, 3])
    let text = try await box.run("head", "s3://bucket/key")
    text.expectSuccess()
    #expect(
      facts(text, "unknown") == [
        "tags: GetObjectTagging is not allowed", "retention: GetObjectRetention: NotImplemented",
      ], "\(text.output)")
    #expect(facts(text, "size") == ["3"])
    let json = try await box.run("head", "s3://bucket/key", "--json").json
    #expect((json["unknown"] as? [String: String])?["tags"] == "GetObjectTagging is not allowed")
    #expect(json["tags"] is NSNull)
    let simple = try BlackBox { $0.ignoresSettingsQueries = true }
    simple.fake.putObject("key", bytes: [1, 2, 3])
    let answer = try await simple.run("head", "s3://bucket/key")
    #expect(facts(answer, "unknown").count == 3 && answer.output.contains("does not know GetObjectTagging"))
  }

  @Test("a store without part numbers is asked once, and that is not a failure")
  func noPartNumbers() async throws {
    let box = try BlackBox()
    try box.sample("source", 12 * mebi)
    try await box.run("put", "source", "s3://bucket/key", "--part-size", "5M").expectSuccess()
    box.fake.setFaults([
      Fault(Fault.Match(.headObject, partNumber: 1), .error(status: 400, code: "", headers: ["x-amz-request-id": "r"]))
    ])
    let text = try await box.run("head", "s3://bucket/key")
    text.expectSuccess()
    #expect(facts(text, "parts") == ["3"] && facts(text, "unknown") == ["parts: HeadObject: 400"], "\(text.output)")
    #expect(box.fake.requests(.headObject).count(where: { $0.partNumber != nil }) == 1)
  }

  @Test("no object, no such version, and a delete marker are 69; without permission it is 77")
  func missing() async throws {
    let box = try BlackBox { $0.versioning = true }
    try await box.run("head", "s3://bucket/nothing").expectFailure(69, "no object at the key")
    box.fake.putObject("key", bytes: [1, 2])
    let first = try #require(box.fake.object("key")?.versionID)
    box.fake.putObject("key", bytes: [1, 2, 3])
    let old = try await box.run("head", "s3://bucket/key", "--version-id", first, "--json").json
    #expect(old["size"] as? Int == 2 && old["version_id"] as? String == first)
    #expect(box.fake.requests(.getObjectTagging).allSatisfy { $0.query["versionId"] == first })
    try await box.run("head", "s3://bucket/key", "--version-id", "nonsense").expectFailure(69, "a different version")
    box.fake.removeObject("key")
    let mark = try await box.run("ls", "--versions", "s3://bucket/key").lines.first?.split(separator: " ").first
    try await box.run("head", "s3://bucket/key", "--version-id", String(try #require(mark)))
      .expectFailure(69, "no object at the key")
    box.fake.setFaults([Fault(Fault.Match(.headObject), .error(status: 403, code: "AccessDenied"))])
    try await box.run("head", "s3://bucket/key").expectFailure(77)
    try await box.run("head", "s3://bucket").expectUsage("s3://bucket/KEY")
  }

  @Test("the store's text cannot write to the terminal: each fact is one line, and JSON is valid")
  func hostile() async throws {
    let box = try BlackBox()
    let evil = "a\u{1b}[31m\u{202e}"
    box.fake.putObject(
      evil, bytes: [],
      headers: [
        "x-amz-meta-note": "=?UTF-8?B?\(Data("x\ny\u{1b}".utf8).base64EncodedString())?=", "x-amz-tagging": "k=a%0Ab",
      ])
    let text = try await box.run("head", "s3://bucket/\(evil)")
    text.expectSuccess()
    #expect(!text.output.contains("\u{1b}") && !text.output.contains("\u{202e}"))
    #expect(facts(text, "metadata") == ["note: x y\u{fffd}"] && facts(text, "tag") == ["k=a b"], "\(text.output)")
    let json = try await box.run("head", "s3://bucket/\(evil)", "--json").json
    #expect(json["key"] as? String == evil && json["tags"] as? [String: String] == ["k": "a\nb"])
  }

  @Test("the key of SSE-C, the payer and the bucket's owner are sent, and the key is not shown")
  func settings() async throws {
    let box = try BlackBox(secure: true) { $0.requesterPays = true }
    try box.files.write([UInt8](repeating: 7, count: 32), to: "ssec")
    try box.sample("source", 100)
    try await box.run("put", "source", "s3://bucket/key", "--sse-c-key-file", "ssec", "--request-payer").expectSuccess()
    // The refusal of a HEAD has no body: the reason comes from a GET.
    try await box.run("head", "s3://bucket/key", "--request-payer").expectFailure(69, "--sse-c-key-file")
    let text = try await box.run("head", "s3://bucket/key", "--sse-c-key-file", "ssec", "--request-payer")
    text.expectSuccess()
    #expect(facts(text, "encryption") == ["SSE-C AES256"], "\(text.output)")
    #expect(!text.output.contains(Data(repeating: 7, count: 32).base64EncodedString()))
  }
}
