import Foundation
import Support
import Testing

/// Lines of `--json` that other tests treat as text. `make test` validates all lines of all tests against the schema.
@Suite(.crowd) struct JSONTests {
  private func events(
    _ result: ChildProcess.Result, where location: SourceLocation = #_sourceLocation
  ) throws -> [String] {
    #expect(result.status == 0, "\(result.errors)", sourceLocation: location)
    return try result.lines.map { line in
      let value = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      return value["event"] as? String ?? value.keys.sorted().joined(separator: " ")
    }
  }

  @Test("With --json=all a slow upload reports its start, a retry, its progress, its parts and its end")
  func upload() async throws {
    let box = try BlackBox(faults: [Fault(.init(.uploadPart, nth: 1), .error(status: 503, code: "SlowDown"))])
    try box.sample("f", 6 * mebi)
    let result = try await box.run(
      "put", "f", "s3://bucket/k", "--json=all", "--part-size", "5M", "--limit-rate", "3M")
    let told = try events(result)
    #expect(told.first == "started" && told.last == "completed")
    #expect(Set(told) == ["started", "retry", "progress", "part", "completed"])
  }

  @Test("A run of many reports what it would upload, and what it leaves out")
  func planned() async throws {
    let box = try BlackBox()
    try FileManager.default.createDirectory(atPath: box.files.path("d"), withIntermediateDirectories: true)
    try box.sample("d/a", 3)
    #expect(mkfifo(box.files.path("d/pipe"), 0o600) == 0)
    let put = ["put", "-r", "d", "s3://bucket/p/", "--json=all"]
    #expect(try await events(box.run(put + ["--dry-run"])).sorted() == ["planned", "skipped", "summary"])
    #expect(try await Set(events(box.run(put))).isSuperset(of: ["completed", "skipped", "summary"]))
  }

  @Test("Each step of an upload reports one line")
  func steps() async throws {
    let box = try BlackBox()
    try box.sample("f", 3)
    let created = try await box.run("create", "s3://bucket/k", "--json")
    #expect(try events(created) == ["bucket key request_id upload_id"])
    let id = try #require(created.json["upload_id"] as? String)
    let of = ["s3://bucket/k", "--upload-id", id, "--json"]
    #expect(try await events(box.run(["part", "f"] + of + ["--part", "1"])) == ["checksums etag part size"])
    #expect(try await events(box.run(["parts"] + of)) == ["checksums etag part size"])
    #expect(try await events(box.run(["abort"] + of)) == ["aborted"])
  }

  @Test("Each action on tickets reports one line")
  func tickets() async throws {
    let box = try BlackBox()
    try box.sample("f", 6 * mebi)
    let issue = ["ticket", "issue", "--json", "--expires", "1h"]
    #expect(try await events(box.run(issue + ["f", "s3://bucket/k", "-o", "t"])) == ["issued"])
    #expect(try await events(box.run("ticket", "renew", "t", "--json")) == ["renewed"])
    #expect(try await events(box.run("ticket", "show", "t", "--json")).first?.contains("upload_id") == true)
    #expect(try await events(box.run("ticket", "revoke", "t", "--json")) == ["revoked"])
    try FileManager.default.createDirectory(atPath: box.files.path("d"), withIntermediateDirectories: true)
    for name in ["d/a", "d/b"] { try box.sample(name, 3) }
    #expect(try await events(box.run(issue + ["-r", "d", "s3://bucket/p/", "-o", "ts"])) == ["issued"])
    #expect(try await events(box.run("ticket", "renew", "ts", "--json")) == ["renewed"])
  }
}
