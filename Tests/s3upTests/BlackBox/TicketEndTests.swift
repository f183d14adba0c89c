import Foundation
@testable import MultipartCore
import Support
import Testing

/// When a ticket's upload may become its object, and what is reported until then.
@Suite(.timeLimit(.minutes(15))) struct TicketEndTests {
  private func issue(_ box: BlackBox, _ words: String...) async throws {
    try await box.run(["ticket", "issue"] + words + ["s3://bucket/k", "-o", "t.json", "--part-size", "5M"])
      .expectSuccess()
  }

  /// As SeaweedFS answers a completion of an upload that another run has just completed with its own parts.
  @Test("Another file that was uploaded with the same ticket is not taken for this one", arguments: [3, 11 * mebi])
  func another(_ size: Int) async throws {
    let box = try BlackBox()
    try box.sample("f", size)
    let parts = (size + 5 * mebi - 1) / (5 * mebi)
    let others: [Fault] = [.completeMultipartUpload, .headObject].map {
      Fault(.init($0), .etag("\"d41d8cd98f00b204e9800998ecf8427e-\(parts)\""))
    }
    for options in [["--size", String(size)], ["--max-size", "20M"]] {
      try await issue(box, options[0], options[1])
      box.fake.setFaults(others)
      let result = try await box.stranger.run("put", "f", "--ticket", "t.json")
      #expect(result.status == 65, "\(result.errors)")
      #expect(result.errors.contains("another file was uploaded with this ticket"), "\(result.errors)")
      box.fake.setFaults([])
      FilePath(box.files.path("t.json")).remove()
    }
    // A ticket for a file allows no other bytes, so that only the store's way to make ETags can be another.
    try await issue(box, "f")
    box.fake.setFaults(others)
    #expect(try await box.stranger.run("put", "f", "--ticket", "t.json").status == 0)
  }

  private func produce(_ box: BlackBox, _ command: String) async throws -> ChildProcess.Result {
    try await box.run("put", "--ticket", "t.json", "--from-command", "--", "sh", "-c", command)
  }

  /// Runs a command whose stream continues after the parts have arrived only when the test allows it; then it fails, or
  /// s3up is killed before that.
  private func produce(_ box: BlackBox, _ bytes: Int, parts: Int, kills: Bool = false) async throws {
    #expect(mkfifo(box.files.path("go"), 0o600) == 0)
    let before = box.fake.requests(.uploadPart).count { $0.done }
    let child = try box.start(
      ["put", "--ticket", "t.json", "--hedge", "off", "--from-command", "--", "sh", "-c"]
        + ["head -c \(bytes) f; cat go; exit 3"])
    #expect(await box.fake.wait { $0.count { $0.operation == .uploadPart && $0.done } >= before + parts })
    if kills { child.signal(SIGKILL) }
    let go = open(box.files.path("go"), O_WRONLY)
    close(go)
    #expect(await child.wait().status == (kills ? nil : 65))
    #expect(unlink(box.files.path("go")) == 0)
  }

  /// Sends bytes to the presigned URL of a part, as any program could.
  private func send(_ box: BlackBox, _ file: String, part: Int) async throws {
    let ticket = try JSONSerialization.jsonObject(with: Data(try box.files.read("t.json"))) as? [String: Any]
    let parts = try #require(ticket?["parts"] as? [[String: Any]])
    let url = try #require(parts[part - 1]["url"] as? String)
    #expect(try await box.run("part", file, "--url", url).status == 0)
  }

  @Test(
    "another client's object at the key is not the ticket's, although its size fits",
    arguments: ["f", "--size", "--max-size"])
  func strangersObject(_ kind: String) async throws {
    let box = try BlackBox()
    let size = 12_000_000
    try box.sample("f", size)
    if kind == "f" {
      try await box.run("ticket", "issue", "f", "s3://bucket/k", "-o", "t.json").expectSuccess()
    } else {
      try await issue(box, kind, "\(size)")
    }
    try await box.run("ticket", "revoke", "t.json").expectSuccess()
    box.fake.putObject("k", bytes: randomBytes(kind == "--max-size" ? 3_000_000 : size, seed: 9))
    let finished = try await box.run("ticket", "finish", "t.json")
    finished.expectFailure(69, "no longer has the ticket's upload")
    let shown = try await box.run("ticket", "show", "t.json", "--json")
    #expect(shown.json["state"] as? String == "gone", "\(shown.output)")
  }

  @Test(
    "what a failed or killed run has left of a stream is not published, unless that is requested explicitly",
    arguments: [false, true])
  func halfAStream(_ kills: Bool) async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 16 * mebi)
    try await issue(box, "--max-size", "20M")
    // The last part is sent only after its producer has succeeded.
    try await produce(box, 9_000_000, parts: 1, kills: kills)
    let shown = try await box.run("ticket", "show", "t.json")
    #expect(shown.output.contains("its end has not been confirmed"), "\(shown.output)")
    let refused = try await box.run("ticket", "finish", "t.json")
    refused.expectFailure(65, "5242880 bytes in 1 part", "--as-it-is")
    #expect(box.fake.objectCount == 0)
    let accepted = try await box.run("ticket", "finish", "t.json", "--as-it-is")
    #expect(accepted.status == 0 && accepted.errors.contains("5242880 bytes in 1 part"), "\(accepted.errors)")
    #expect(box.fake.object("k")?.holds(bytes.prefix(5 * mebi)) == true)
    // For a known size all parts make the whole object, and the option changes nothing.
    try await box.run("ticket", "issue", "f", "s3://bucket/k2", "-o", "t2.json", "--part-size", "5M").expectSuccess()
    #expect(try await box.run("put", "f", "--ticket", "t2.json", "--parts", "1-3").status == 0)
    try await box.run("ticket", "finish", "t2.json", "--as-it-is").expectFailure(65, "part 4")
  }

  @Test(
    "if a completed upload is still listed, finish finds the object of its parts, and takes no other for it",
    arguments: [false, true])
  func stillListed(_ isReplaced: Bool) async throws {
    let box = try BlackBox { $0.listsCompleted = true }
    try box.sample("f", 7_000_000)
    try await issue(box, "--max-size", "20M")
    #expect(try await box.run("put", "f", "--ticket", "t.json").status == 0)
    let object = try #require(box.fake.object("k"))
    if isReplaced { box.fake.putObject("k", bytes: randomBytes(7_000_000, seed: 5)) }
    let finished = try await box.run("ticket", "finish", "t.json")
    if isReplaced {
      finished.expectFailure(65, "its end has not been confirmed")
    } else {
      #expect(
        finished.status == 0 && finished.output.hasPrefix("already completed"), "\(finished.output)\(finished.errors)")
      #expect(box.fake.object("k")?.etag == object.etag)
    }
    #expect(box.fake.requests(.completeMultipartUpload).count == 1)
  }

  @Test("more than the ticket allows is never published, and is shown", arguments: [false, true])
  func tooLong(_ completes: Bool) async throws {
    let box = try BlackBox()
    try box.sample("g", 20 * mebi)
    try await issue(box, "--max-size", "1M")
    try await send(box, "g", part: 1)
    let shown = try await box.run("ticket", "show", "t.json", "--json")
    #expect(shown.json["too_long"] as? Bool == true && shown.json["bytes"] as? Int == 20 * mebi, "\(shown.output)")
    #expect(shown.json["max_size"] as? Int == mebi)
    for words in [[], ["--as-it-is"]] {
      try await box.run(["ticket", "finish", "t.json"] + words).expectFailure(65, "20971520 bytes", "at most 1048576")
    }
    #expect(box.fake.objectCount == 0)
    // The holder can complete it without s3up.
    guard completes else { return }
    let ticket = try JSONSerialization.jsonObject(with: Data(try box.files.read("t.json"))) as? [String: Any]
    let id = try #require(ticket?["upload_id"] as? String)
    try await box.run("complete", "s3://bucket/k", "--upload-id", id).expectSuccess()
    let after = try await box.run("ticket", "show", "t.json")
    #expect(after.status == 0 && after.output.contains("completed, but 20971520 bytes"), "\(after.output)")
    try await box.run("ticket", "finish", "t.json").expectFailure(65, "the object has 20971520 bytes")
  }

  @Test(
    "a ticket of at most a size has no shares, because the last part is unknown", arguments: ["--parts", "--shard"])
  func noShares(_ option: String) async throws {
    let box = try BlackBox()
    try box.sample("f", 16 * mebi)
    try await issue(box, "--max-size", "20M")
    let result = try await box.run("put", "f", "--ticket", "t.json", option, option == "--parts" ? "1-1" : "1/4")
    #expect(result.status == 64 && result.errors.contains("has no shares"), "\(result.errors)")
    #expect(box.fake.requests(.uploadPart).isEmpty)
    // One run reads the whole file to its end.
    #expect(try await box.run("put", "f", "--ticket", "t.json").status == 0)
  }

  @Test("if parts cannot be left out, a shorter stream after a longer one is refused once, and needs a new ticket")
  func leftOver() async throws {
    let box = try BlackBox { $0.refusesLeftOutParts = true }
    let bytes = try box.sample("f", 19 * mebi)
    try await issue(box, "--max-size", "20M")
    try await produce(box, 16_000_000, parts: 3)
    let before = box.fake.requests(.completeMultipartUpload).count
    let shorter = try await produce(box, "head -c 7000000 f")
    #expect(shorter.status == 69, "\(shorter.errors)")
    #expect(shorter.errors.contains("part 3") && shorter.errors.contains("sk for a new ticket"), "\(shorter.errors)")
    #expect(!shorter.errors.contains("--resume"), "\(shorter.errors)")
    #expect(box.fake.requests(.completeMultipartUpload).count == before + 1)
    try box.files.write(Array(bytes.prefix(7_000_000)), to: "g")
    let file = try await box.run("put", "g", "--ticket", "t.json")
    #expect(file.status == 69 && file.errors.contains("sk for a new ticket"), "\(file.errors)")
    // A stream of the same length replaces all parts.
    #expect(try await produce(box, "cat f").status == 0)
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("a short stream causes no warning that its parts run out")
  func nears() async throws {
    let box = try BlackBox()
    try box.sample("f", 19 * mebi)
    try await issue(box, "--max-size", "20M")
    let result = try await produce(box, "cat f")
    #expect(result.status == 0 && !result.errors.contains("nears"), "\(result.errors)")
  }

  @Test("finish reports the parts of the object, not those of the ticket")
  func partsOfTheObject() async throws {
    let box = try BlackBox()
    try box.sample("f", 7 * mebi)
    try await issue(box, "--max-size", "50M")
    #expect(try await produce(box, "cat f").status == 0)
    let finished = try await box.run("ticket", "finish", "t.json", "--json")
    #expect(finished.json["parts"] as? Int == 2, "\(finished.output)")
    #expect(try await box.run("ticket", "show", "t.json", "--json").json["bytes"] as? Int == 7 * mebi)
  }

  @Test("renew writes to the target of a link, and keeps the link")
  func link() async throws {
    let box = try BlackBox()
    try box.sample("f", 9)
    try FileManager.default.createDirectory(atPath: box.files.path("d"), withIntermediateDirectories: true)
    try await issue(box, "f")
    try FileManager.default.moveItem(atPath: box.files.path("t.json"), toPath: box.files.path("d/real.json"))
    try FileManager.default.createSymbolicLink(atPath: box.files.path("t.json"), withDestinationPath: "d/real.json")
    let old = try box.files.read("d/real.json")
    try await box.run("ticket", "renew", "t.json", "--expires", "2d").expectSuccess()
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: box.files.path("t.json")) == "d/real.json")
    #expect(try box.files.read("d/real.json") != old)
    #expect(try FileManager.default.contentsOfDirectory(atPath: box.files.path("d")) == ["real.json"])
  }

  @Test("an object that existed before the ticket is not taken for its upload's")
  func older() async throws {
    let box = try BlackBox()
    try box.sample("f", 7 * mebi)
    box.fake.setClockOffset(-600)
    try await box.run("put", "f", "s3://bucket/k").expectSuccess()
    box.fake.setClockOffset(0)
    try await issue(box, "--size", "7M")
    try await box.run("ticket", "revoke", "t.json").expectSuccess()
    #expect(try await box.run("ticket", "show", "t.json", "--json").json["state"] as? String == "gone")
    try await box.run("ticket", "finish", "t.json").expectFailure(69, "completed or revoked")
  }

  @Test(
    "renew and finish report that the upload of a ticket is gone, however the store says so",
    arguments: ["NoSuchUpload", "NoSuchKey", "NotFound"])
  func gone(_ code: String) async throws {
    let box = try BlackBox()
    try box.sample("f", 9)
    try await issue(box, "f")
    try await box.run("ticket", "revoke", "t.json").expectSuccess()
    box.fake.setFaults([Fault(.init(.listParts), .error(status: 404, code: code))])
    for action in ["renew", "finish"] {
      try await box.run("ticket", action, "t.json").expectFailure(69, "completed or revoked", "new ticket")
    }
    // A missing bucket does not mean that the upload is gone.
    box.fake.setFaults([Fault(.init(.listParts), .error(status: 404, code: "NoSuchBucket"))])
    try await box.run("ticket", "show", "t.json").expectFailure(69, "NoSuchBucket")
  }
}
