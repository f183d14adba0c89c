import Foundation
import MultipartBasics
@testable import MultipartCore
import Support
import Testing

/// Tickets: issued with credentials, used without any.
@Suite(.timeLimit(.minutes(15))) struct TicketTests {
  private func issue(_ box: BlackBox, _ words: String...) async throws {
    let issued = try await box.run(["ticket", "issue"] + words + ["-o", "t.json"])
    issued.expectSuccess()
    #expect(issued.output.hasPrefix("issued t.json for s3://bucket/k "), "\(issued.output)")
    let attributes = try FileManager.default.attributesOfItem(atPath: box.files.path("t.json"))
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test(
    "a ticket and the file are enough to upload it, with the object's options, and no credentials are needed",
    arguments: [0, 1, 5 * mebi, 21 * mebi], [false, true])
  func uploads(_ size: Int, _ secure: Bool) async throws {
    let box = try BlackBox(secure: secure)
    let bytes = try box.sample("f", size)
    try await issue(
      box, "f", "s3://bucket/k", "--metadata", "a=b", "--content-type", "x/y", "--part-size", "5M", "--expires", "36h")
    let other = box.stranger
    let result = try await other.run("put", "f", "--ticket", "t.json", "--json")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors.contains(secure ? box.fake.tlsEndpoint : box.fake.endpoint), "\(result.errors)")
    #expect(result.json["event"] as? String == "completed")
    #expect(result.json["parts"] as? Int == max(1, (size + 5 * mebi - 1) / (5 * mebi)))
    let object = try #require(box.fake.object("k"))
    #expect(object.holds(bytes))
    #expect(object.metadata == ["a": "b"] && object.headers["content-type"] == "x/y")
    #expect(box.fake.unfinishedUploads.isEmpty)
    // The same command again finds it complete, and sends nothing.
    let before = box.fake.requests(.uploadPart).count
    let again = try await other.run("put", "f", "--ticket", "t.json")
    #expect(again.status == 0, "\(again.errors)")
    #expect(box.fake.requests(.uploadPart).count == before)
  }

  @Test("a run that is killed is resumed by the same command, and a part is not sent twice")
  func resumes() async throws {
    let box = try BlackBox(faults: [Fault(.init(.uploadPart, partNumber: 4), .stall(stage: .beforeBody))])
    let bytes = try box.sample("f", 30 * mebi)
    try await issue(box, "f", "s3://bucket/k", "--part-size", "5M")
    let other = box.stranger
    let child = try other.start(
      ["put", "f", "--ticket", "t.json", "--concurrency", "1", "--hedge", "off"])
    // The fourth part begins only after the third was answered.
    #expect(await box.fake.wait { $0.contains { $0.partNumber == 4 } })
    child.signal(SIGKILL)
    _ = await child.wait()
    box.fake.setFaults([])
    let there = try #require(box.fake.unfinishedUploads.first).parts.count
    #expect(there == 3)
    let before = box.fake.requests(.uploadPart).count
    let result = try await other.run("put", "f", "--ticket", "t.json", "--json", "--hedge", "off")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.json["bytes_resumed"] as? Int == there * 5 * mebi)
    #expect(box.fake.requests(.uploadPart).count - before == 6 - there)
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("interrupted, it reports that the same command resumes, and aborts nothing")
  func interrupted() async throws {
    let box = try BlackBox(faults: [Fault(.init(.uploadPart, partNumber: 4), .stall(stage: .beforeBody))])
    try box.sample("f", 30 * mebi)
    try await issue(box, "f", "s3://bucket/k", "--part-size", "5M")
    let child = try box.stranger.start(
      ["put", "f", "--ticket", "t.json", "--concurrency", "1"])
    #expect(await box.fake.wait { $0.count { $0.operation == .uploadPart && $0.done } > 0 })
    child.signal(SIGTERM)
    let result = await child.wait(timeout: .seconds(30))
    #expect(result.status == 143)
    #expect(result.errors.contains("of 6 parts are at the store"), "\(result.errors)")
    #expect(box.fake.unfinishedUploads.count == 1)
    #expect(box.fake.requests(.abortMultipartUpload).isEmpty)
  }

  @Test("another file is refused before a byte of it is sent", arguments: ["shorter", "other bytes"])
  func otherFile(_ which: String) async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    try await issue(box, "f", "s3://bucket/k", "--part-size", "5M")
    try box.sample("g", which == "shorter" ? 10 * mebi : 11 * mebi, seed: 2)
    let result = try await box.stranger.run("put", "g", "--ticket", "t.json")
    #expect(result.status == 65, "\(result.errors)")
    #expect(result.errors.contains("the ticket"), "\(result.errors)")
    #expect(box.fake.requests(.uploadPart).isEmpty)
    #expect(box.fake.unfinishedUploads.count == 1)
  }

  @Test("an upload that is complete is a failure for another file")
  func completedForAnother() async throws {
    let box = try BlackBox()
    try box.sample("f", 6 * mebi)
    try await issue(box, "--size", "6M", "s3://bucket/k")
    let other = box.stranger
    #expect(try await other.run("put", "f", "--ticket", "t.json").status == 0)
    try box.sample("g", 6 * mebi, seed: 9)
    let result = try await other.run("put", "g", "--ticket", "t.json")
    #expect(result.status == 69, "\(result.errors)")
  }

  @Test(
    "a ticket that cannot be used is refused before anything is sent",
    arguments: [
      ("\"s3up_ticket\":1", "\"s3up_ticket\":2", "version 2"), ("\"parts\":[", "\"parts\":[{},", "numbered"),
      ("{\"s3up", "[{\"s3up", "not JSON"), ("\"part_size\":5242880", "\"part_size\":6000000", "do not make"),
      ("\"Content-MD5\"", "\"Host\"", "header"), ("?X-Amz", "@evil.example/?X-Amz", "another address"),
      ("\"url\":\"http", "\"url\":\"file", "address"), ("\"list\":[", "\"lost\":[", "list of parts"),
    ])
  func damaged(_ old: String, _ new: String, _ word: String) async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    try await issue(box, "f", "s3://bucket/k", "--part-size", "5M")
    let before = box.fake.requests.count
    try box.edit("t.json") { text in
      if let range = text.range(of: old) { text.replaceSubrange(range, with: new) }
    }
    let result = try await box.stranger.run("put", "f", "--ticket", "t.json")
    result.expectFailure(78, word)
    #expect(box.fake.requests.count == before)
  }

  @Test("a changed URL is refused by the store")
  func tampered() async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    try await issue(box, "f", "s3://bucket/k", "--part-size", "5M")
    try box.edit("t.json") { text in
      text = text.replacingOccurrences(of: "X-Amz-Signature=", with: "X-Amz-Signature=0")
    }
    let result = try await box.stranger.run("put", "f", "--ticket", "t.json")
    result.expectTicketFailure(77, "ask for a new one")
    #expect(box.fake.objectCount == 0)
  }

  @Test("an expired ticket is 77 before a byte is sent; renewed, it sends only what is missing")
  func expires() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 16 * mebi)
    try await issue(box, "f", "s3://bucket/k", "--part-size", "5M")
    let other = box.stranger
    #expect(
      try await other.run("put", "f", "--ticket", "t.json", "--parts", "2-3", "--json").json["parts_missing"] as? Int
        == 2)
    try box.edit("t.json") { text in
      text.replace(#/"expires":"[^"]*"/#, with: "\"expires\":\"2026-01-02T03:04:05Z\"")
    }
    let sent = box.fake.requests.count
    let late = try await other.run("put", "f", "--ticket", "t.json")
    #expect(late.status == 77 && late.errors.contains("s3up ticket renew"), "\(late.errors)")
    #expect(box.fake.requests.count == sent)
    let shown = try await box.run("ticket", "show", "t.json", "--json")
    #expect(shown.json["expired"] as? Bool == true && shown.json["parts_there"] as? Int == 2, "\(shown.output)")
    let renewed = try await box.run("ticket", "renew", "t.json")
    renewed.expectSuccess()
    #expect(renewed.output.hasPrefix("renewed t.json"), "\(renewed.output)")
    let before = box.fake.requests(.uploadPart).count
    #expect(try await other.run("put", "f", "--ticket", "t.json").status == 0)
    #expect(box.fake.requests(.uploadPart).count - before == 2)
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("a ticket that expires in the middle is 77, and the upload stays")
  func expiresInTheMiddle() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 30 * mebi)
    try await issue(box, "f", "s3://bucket/k", "--part-size", "5M", "--expires", "25s")
    let other = box.stranger
    let result = try await other.run(
      "put", "f", "--ticket", "t.json", "--limit-rate", "1M", "--concurrency", "1", "--json")
    #expect(result.status == 77, "\(result.errors)")
    #expect(result.json["resumable"] as? Bool == true, "\(result.output)")
    #expect(box.fake.unfinishedUploads.count == 1)
    try await box.run("ticket", "renew", "t.json").expectSuccess()
    #expect(try await other.run("put", "f", "--ticket", "t.json").status == 0)
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("shares in any order, one of them twice at once and one again, make one object")
  func shares() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 52 * mebi)
    try await issue(box, "f", "s3://bucket/k", "--part-size", "5M")
    let other = box.stranger
    let first = try await other.run("put", "f", "--ticket", "t.json", "--shard", "3/4", "--json")
    #expect(first.json["event"] as? String == "shared", "\(first.output) \(first.errors)")
    #expect(first.json["parts_missing"] as? Int == 8)
    let again = try await other.run("put", "f", "--ticket", "t.json", "--shard", "3/4")
    #expect(again.status == 0 && again.output.hasPrefix("sent 3 parts of f to s3://bucket/k"), "\(again.output)")
    let others = try ["1/4", "2/4", "4/4", "2/4"].map {
      try other.start(["put", "f", "--ticket", "t.json", "--shard", $0])
    }
    for child in others {
      let result = await child.wait(timeout: .seconds(100))
      #expect(result.status == 0, "\(result.errors)")
    }
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.unfinishedUploads.isEmpty)
    // The number of shares exceeds the number of parts.
    #expect(try await other.run("put", "f", "--ticket", "t.json", "--shard", "20/20").status == 0)
  }

  @Test("a stream of at most the ticket's size", arguments: [0, 3, 5 * mebi, 12 * mebi])
  func stream(_ size: Int) async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", size)
    try await issue(box, "--max-size", "20M", "s3://bucket/k", "--part-size", "5M")
    let other = box.stranger
    let result = try await other.shell(#"cat f | "$S3UP" put - --ticket t.json"#)
    #expect(result.status == 0, "\(result.errors)")
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("a file may be as long as the ticket of a stream says, and not one byte longer")
  func most() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 6 * mebi)
    try box.sample("longer", 6 * mebi + 1)
    try await issue(box, "--max-size", "6M", "s3://bucket/k", "--part-size", "5M")
    let longer = try await box.stranger.run("put", "longer", "--ticket", "t.json")
    #expect(longer.status == 65 && longer.errors.contains("at most \(6 * mebi)"), "\(longer.errors)")
    #expect(box.fake.requests(.uploadPart).isEmpty)
    let result = try await box.stranger.run("put", "f", "--ticket", "t.json")
    #expect(result.status == 0, "\(result.errors)")
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("a stream that is longer, or whose command fails, publishes nothing, and the ticket can be used again")
  func streamFails() async throws {
    let box = try BlackBox()
    try box.sample("f", 21 * mebi)
    try await issue(box, "--max-size", "20M", "s3://bucket/k", "--part-size", "5M")
    let other = box.stranger
    let long = try await other.run("put", "--ticket", "t.json", "--from-command", "--", "cat", "f")
    #expect(long.status == 65, "\(long.status ?? -1) \(long.errors)")
    let failed = try await other.run(
      "put", "--ticket", "t.json", "--from-command", "--", "sh", "-c", "head -c 9000000 f; exit 3")
    #expect(failed.status == 65, "\(failed.errors)")
    #expect(box.fake.objectCount == 0 && box.fake.unfinishedUploads.count == 1)
    let good = try await other.run("put", "--ticket", "t.json", "--from-command", "--", "head", "-c", "7000000", "f")
    #expect(good.status == 0, "\(good.errors)")
    #expect(box.fake.object("k")?.size == 7_000_000)
  }

  @Test("finish completes what others have sent; revoke aborts it, and the ticket is worthless")
  func finishAndRevoke() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 11 * mebi)
    try await issue(box, "f", "s3://bucket/k", "--part-size", "5M")
    try await box.run("ticket", "finish", "t.json").expectFailure(65, "no part")
    let other = box.stranger
    _ = try await other.run("put", "f", "--ticket", "t.json", "--parts", "1")
    try await box.run("ticket", "finish", "t.json").expectFailure(65, "parts 2-3")
    _ = try await other.run("put", "f", "--ticket", "t.json", "--parts", "2-3")
    #expect(box.fake.object("k")?.holds(bytes) == true)
    let finished = try await other.run("ticket", "finish", "t.json")
    finished.expectSuccess()
    #expect(finished.output.hasPrefix("already completed: s3://bucket/k"), "\(finished.output)")
    let shown = try await other.run("ticket", "show", "t.json", "--json")
    #expect(shown.json["state"] as? String == "completed", "\(shown.output) \(shown.errors)")

    try await box.run("ticket", "issue", "f", "s3://bucket/k2", "-o", "t2.json").expectSuccess()
    try await other.run("ticket", "revoke", "t2.json").expectSuccess()
    #expect(box.fake.unfinishedUploads.isEmpty)
    let gone = try await other.run("put", "f", "--ticket", "t2.json")
    #expect(gone.status == 69 && gone.errors.contains("aborted or revoked"), "\(gone.errors)")
    let state = try await other.run("ticket", "show", "t2.json", "--json")
    #expect(state.json["state"] as? String == "gone")
  }

  @Test("a ticket renewed as a page looks at the bucket's CORS rules, too")
  func renewedPage() async throws {
    let box = try BlackBox()
    try box.sample("f", 100)
    try await issue(box, "f", "s3://bucket/k")
    let renewed = try await box.run("ticket", "renew", "t.json", "--format", "html", "-o", "page.html")
    #expect(renewed.status == 0 && renewed.errors.contains("CORS"), "\(renewed.errors)")
    #expect(String(decoding: try box.files.read("page.html"), as: UTF8.self).contains("X-Amz-Signature"))
  }

  @Test("if a CORS rule is asked for and the bucket's rules cannot be read, no ticket is issued")
  func unreadableRules() async throws {
    let box = try BlackBox()
    try box.sample("f", 100)
    let words = ["ticket", "issue", "f", "s3://bucket/k", "--format", "html", "-o", "page.html"]
    let result = try await box.run(words + ["--set-cors"])
    #expect(result.status == 69 && result.output.isEmpty, "\(result.errors)")
    #expect(box.fake.requests(.createMultipartUpload).isEmpty)
    #expect(!FileManager.default.fileExists(atPath: box.files.path("page.html")))
    #expect(try await box.run(words).status == 0)
  }

  @Test("a ticket that a tool has reformatted on many lines can be used all the same")
  func laidOut() async throws {
    let box = try BlackBox()
    try box.sample("f", 100)
    try await issue(box, "f", "s3://bucket/k")
    try box.edit("t.json") { $0 = $0.replacingOccurrences(of: ",\"", with: ",\n  \"") }
    let other = box.stranger
    #expect(try await other.run("ticket", "show", "t.json").status == 0)
    #expect(try await other.run("put", "f", "--ticket", "t.json").status == 0)
    #expect(box.fake.object("k")?.size == 100)
  }

  @Test("a ticket may come from standard input, or from an https URL that is itself presigned")
  func elsewhere() async throws {
    let box = try BlackBox(secure: true)
    let bytes = try box.sample("f", 6 * mebi)
    try await issue(box, "f", "s3://bucket/k")
    let other = box.stranger
    let piped = try await other.run(["put", "f", "--ticket", "-"], input: .file(box.files.path("t.json")))
    #expect(piped.status == 0, "\(piped.errors)")
    #expect(box.fake.object("k")?.holds(bytes) == true)

    try await box.run("ticket", "issue", "f", "s3://bucket/k2", "-o", "t2.json").expectSuccess()
    try await box.run("put", "t2.json", "s3://bucket/tickets/t2.json").expectSuccess()
    let url = try await box.run("presign", "s3://bucket/tickets/t2.json").lines.first ?? ""
    let fetched = try await other.run("put", "f", "--ticket", url, "-v")
    #expect(fetched.status == 0, "\(fetched.errors)")
    #expect(box.fake.object("k2")?.holds(bytes) == true)
    let gone = try await other.run("put", "f", "--ticket", url.replacingOccurrences(of: "t2.json?", with: "t3.json?"))
    #expect(gone.status == 69 || gone.status == 77, "\(gone.errors)")
    let signature = url.components(separatedBy: "X-Amz-Signature=").last ?? "?"
    #expect(!gone.errors.contains(signature) && !fetched.errors.contains(signature), "\(gone.errors)")
  }

  @Test("neither the process list nor a log shows a signature of the ticket")
  func secrets() async throws {
    let box = try BlackBox()
    try box.sample("f", 6 * mebi)
    try await issue(box, "f", "s3://bucket/k")
    let text = String(decoding: try box.files.read("t.json"), as: UTF8.self)
    let signatures = text.components(separatedBy: "X-Amz-Signature=").dropFirst().map { $0.prefix(64) }
    #expect(signatures.count == 5)
    let result = try await box.stranger.run("put", "f", "--ticket", "t.json", "-vv", "--json=all")
    #expect(result.status == 0, "\(result.errors)")
    for signature in signatures {
      #expect(!result.errors.contains(signature) && !result.output.contains(signature))
    }
    let shown = try await box.run("ticket", "show", "t.json", "-vv")
    for signature in signatures {
      #expect(!shown.errors.contains(signature) && !shown.output.contains(signature))
    }
  }

  @Test("a page or a script can be written too, and a page names the server that it needs")
  func formats() async throws {
    let box = try BlackBox()
    try box.sample("f", 6 * mebi)
    let page = try await box.run("ticket", "issue", "f", "s3://bucket/k</script>", "--format", "html", "-o", "p.html")
    #expect(page.status == 0, "\(page.errors)")
    let html = String(decoding: try box.files.read("p.html"), as: UTF8.self)
    // Text injected into the page has no nonce, and no connection to the outside.
    let nonce = try #require(html.components(separatedBy: "'nonce-").dropFirst().first).prefix { $0 != "'" }
    #expect(
      html.contains(
        "content=\"default-src 'none'; script-src 'nonce-\(nonce)'; worker-src blob:; style-src 'nonce-\(nonce)'; "
          + "connect-src \(box.fake.endpoint); base-uri 'none'; form-action 'none'\">"))
    #expect(html.components(separatedBy: "</script>").count == 3 && !html.contains("__TICKET__"))
    try await box.run("ticket", "issue", "f", "s3://bucket/k", "--format", "sh", "-o", "u.sh").expectSuccess()
    let attributes = try FileManager.default.attributesOfItem(atPath: box.files.path("u.sh"))
    #expect(attributes[.posixPermissions] as? Int == 0o700)
    #expect(!String(decoding: try box.files.read("u.sh"), as: UTF8.self).contains("__"))
    try await box.run("ticket", "issue", "f", "s3://bucket/k", "--format", "sh", "-o", "v.sh", "--part-size", "6000001")
      .expectFailure(64, "a script cannot")
  }

  @Test("what cannot be a ticket is refused, and no upload is begun")
  func refused() async throws {
    let box = try BlackBox()
    try box.sample("f", 10)
    try box.files.write([], to: "old.json")
    let cases: [([String], String)] = [
      (["ticket"], "the action is missing"), (["ticket", "isue", "f"], "did you mean issue"),
      (["ticket", "issue", "f", "s3://bucket/k"], "-o is missing"),
      (["ticket", "issue", "f", "s3://bucket/k", "-o", "old.json"], "still in use"),
      (["ticket", "issue", "f", "s3://bucket/k", "-o", "t", "--expires", "8d"], "7d"),
      (["ticket", "issue", "s3://bucket/k", "-o", "t", "--size", "5", "--max-size", "6"], "exclude"),
      (["ticket", "issue", "s3://bucket/k", "-o", "t", "--size", "5", "--checksum", "sha256"], "without the file"),
      (["ticket", "show", "t", "--all"], "--all is not for ticket show"),
      (["put", "f", "s3://bucket/k", "--ticket", "t"], "has its own destination"),
    ]
    for (words, says) in cases { try await box.run(words).expectFailure(64, says) }
    try await box.run("ticket", "show", "nothere").expectFailure(66, "No such file")
    #expect(box.fake.requests.isEmpty)
  }
}

extension ChildProcess.Result {
  /// Expects a failure after the line that says where the bytes go.
  fileprivate func expectTicketFailure(_ exit: Int32, _ word: String, _ at: SourceLocation = #_sourceLocation) {
    #expect(status == exit && errors.contains(word), "\(errors)", sourceLocation: at)
  }
}
