import Foundation
@testable import MultipartCore
import Support
import Testing

@testable import s3up

/// Tickets as scripts; `Tests/Acceptance/Tickets` runs them in several shells against a real store.
@Suite(.timeLimit(.minutes(15))) struct TicketFormatTests {
  private func script(_ box: BlackBox, _ words: String...) async throws {
    try await box.run(["ticket", "issue"] + words + ["--part-size", "5M", "--format", "sh", "-o", "up.sh"])
      .expectSuccess()
    let attributes = try FileManager.default.attributesOfItem(atPath: box.files.path("up.sh"))
    #expect(attributes[.posixPermissions] as? Int == 0o700)
  }

  @Test("a script survives faults that pass, once in each phase")
  func survives() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 16 * mebi)
    try await script(box, "f", "s3://bucket/k")
    box.fake.setFaults([
      Fault(.init(.listParts, nth: 1), .error(status: 500, code: "InternalError")),
      Fault(.init(.uploadPart, partNumber: 1, nth: 1), .error(status: 503, code: "SlowDown")),
      Fault(.init(.uploadPart, partNumber: 2, nth: 1), .resetAfterBody(bytes: 1000)),
      Fault(.init(.uploadPart, partNumber: 3, nth: 1), .loseAnswer),
      Fault(.init(.completeMultipartUpload, nth: 1), .loseAnswer),
    ])
    let result = try await box.shell("sh up.sh f")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.contains("proven by its ETag"), "\(result.output)")
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.requests(.uploadPart).count == 7)
  }

  @Test("what a killed script has begun is not sent again")
  func killed() async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    try await script(box, "f", "s3://bucket/k")
    try box.files.write("", to: "hold")
    box.fake.setFaults([
      Fault(.init(.uploadPart, partNumber: 1), .hold(file: box.files.path("hold"), stage: .beforeAnswer))
    ])
    let process = try box.beginShell("exec sh up.sh f", [])
    try await until("the part has arrived") { box.fake.requests(.uploadPart).count == 1 }
    process.signal(SIGKILL)
    try FileManager.default.removeItem(atPath: box.files.path("hold"))
    // It returns when curl has closed its standard error too.
    _ = await process.wait(timeout: .seconds(60))
    #expect(box.fake.requests(.uploadPart).count == 1)
  }

  @Test("the ending of the name decides about the form of a ticket, unless a form is given")
  func formByName() async throws {
    let box = try BlackBox()
    try box.sample("f", 1)
    for (name, words, form) in [
      ("a.sh", [], .sh), ("a.html", [], .html), ("sh", [], .json), ("b.sh", ["--format", "json"], .json),
    ] as [(String, [String], TicketForm)] {
      #expect(try await box.run(["ticket", "issue", "f", "s3://bucket/k", "-o", name] + words).status == 0)
      #expect(TicketForm(of: try box.files.read(name)) == form, "\(name)")
    }
    try await box.run("ticket", "renew", "sh", "-o", "again.sh").expectSuccess()
    #expect(TicketForm(of: try box.files.read("again.sh")) == .sh)
  }

  @Test(
    "a script ends with s3up's exit code when a part is refused, and does not retry",
    arguments: [
      (403, "AccessDenied", 77), (400, "ExpiredToken", 77), (400, "BadDigest", 65), (400, "InvalidRequest", 69),
    ] as [(Int, String, Int32)])
  func refused(_ status: Int, _ code: String, _ exit: Int32) async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    try await script(box, "f", "s3://bucket/k")
    box.fake.setFaults([Fault(.init(.uploadPart, partNumber: 2), .error(status: status, code: code))])
    let result = try await box.shell("sh up.sh f")
    #expect(result.status == exit, "\(result.errors)")
    #expect(result.errors.contains(code), "\(result.errors)")
    #expect(box.fake.requests(.uploadPart).count == 2)
    #expect(box.fake.objectCount == 0)
    // The next run continues after the existing part.
    box.fake.setFaults([])
    #expect(try await box.shell("sh up.sh f").status == 0)
    #expect(box.fake.requests(.uploadPart).count == 4)
  }

  @Test("a script retries what passes by itself, whatever status its code comes with")
  func passing() async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    try await script(box, "f", "s3://bucket/k")
    box.fake.setFaults([
      Fault(.init(.uploadPart, partNumber: 2, nth: 1), .error(status: 400, code: "RequestTimeout")),
      Fault(.init(.completeMultipartUpload, nth: 1), .error(status: 409, code: "ConditionalRequestConflict")),
    ])
    let result = try await box.shell("sh up.sh f")
    #expect(result.status == 0, "\(result.errors)")
    #expect(box.fake.requests(.uploadPart).count == 4)
    #expect(box.fake.requests(.completeMultipartUpload).count == 2)
  }

  @Test("the signed SHA-256 of the parts proves the object")
  func sha256OfParts() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 11 * mebi)
    try await script(box, "f", "s3://bucket/k", "--checksum", "sha256")
    let result = try await box.shell("sh up.sh f")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.contains("proven by its checksum"), "\(result.output)")
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("another object of the same size with as many parts is a failure of the script")
  func replaced() async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    try box.sample("g", 11 * mebi, seed: 5)
    try await script(box, "f", "s3://bucket/k")
    #expect(try await box.shell("sh up.sh f").status == 0)
    try await box.run("put", "g", "s3://bucket/k", "--part-size", "5M").expectSuccess()
    let result = try await box.shell("sh up.sh f")
    #expect(result.status == 69, "\(result.output) \(result.errors)")
  }

  @Test("if an ETag decides nothing, an object of another size is a failure")
  func opaqueETag() async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    try await script(box, "f", "s3://bucket/k")
    box.fake.setFaults([Fault(.init(.headObject), .etag("opaque"))])
    let first = try await box.shell("sh up.sh f")
    #expect(first.status == 0 && first.output.contains("it has this size"), "\(first.output) \(first.errors)")
    box.fake.putObject("k", bytes: randomBytes(mebi, seed: 3))
    #expect(try await box.shell("sh up.sh f").status == 69)
  }

  @Test("without the file, parts of another file of its size are sent again")
  func withoutFile() async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    let bytes = try box.sample("g", 11 * mebi, seed: 5)
    try await script(box, "--max-size", "20M", "s3://bucket/k")
    box.fake.setFaults([Fault(.init(.completeMultipartUpload, nth: 1), .errorIn200(code: "InternalError"))])
    #expect(try await box.shell("sh up.sh f").status == 75)
    let result = try await box.shell("sh up.sh g")
    #expect(result.status == 0, "\(result.errors)")
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test(
    "the script accepts no 200 that is not the answer to complete, whatever the key holds",
    arguments: [
      #"<Error xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Code>InternalError</Code></Error>"#, "",
      "<html><body>Please log in</body></html>",
    ])
  func falseCompletion(_ answer: String) async throws {
    let fault = Fault(
      Fault.Match(.completeMultipartUpload), .document(status: 200, text: answer, type: "application/xml"))
    let box = try BlackBox(faults: [fault])
    try box.sample("f", 3_000_000)
    try await box.run("ticket", "issue", "f", "s3://bucket/k", "-o", "up.sh", "--format", "sh").expectSuccess()
    box.fake.putObject("k", bytes: randomBytes(3_000_000, seed: 9))
    let result = try await box.shell("sh up.sh f")
    #expect(result.status == 75, "\(result.output) \(result.errors)")
    #expect(!result.output.contains("uploaded"))
  }

  @Test(
    "an error in a 200 to complete has the script's exit code for that error, as with put --ticket",
    arguments: [("AccessDenied", 77), ("InvalidPart", 69), ("PreconditionFailed", 73)] as [(String, Int32)])
  func errorIn200(_ code: String, _ exit: Int32) async throws {
    let box = try BlackBox(faults: [Fault(.init(.completeMultipartUpload), .errorIn200(code: code))])
    try box.sample("f", 100)
    try await script(box, "f", "s3://bucket/k")
    try await box.run("ticket", "issue", "f", "s3://bucket/k", "-o", "t").expectSuccess()
    let result = try await box.shell("sh up.sh f")
    #expect(result.status == exit && result.errors.contains(code), "\(result.errors)")
    #expect(try await box.stranger.run("put", "f", "--ticket", "t").status == exit)
  }

  @Test("if the object cannot be looked at after the upload is gone, the script says so, as put --ticket does")
  func cannotLook() async throws {
    let box = try BlackBox()
    try box.sample("f", 100)
    try await script(box, "f", "s3://bucket/k")
    try await box.run("ticket", "issue", "f", "s3://bucket/k", "-o", "t").expectSuccess()
    try await box.run("ticket", "revoke", "t").expectSuccess()
    #expect(try await box.shell("sh up.sh f").status == 0)
    box.fake.setFaults([Fault(.init(.headObject), .error(status: 403, code: "AccessDenied"))])
    let result = try await box.shell("sh up.sh f")
    #expect(result.status == 77 && result.errors.contains("the question for the object"), "\(result.errors)")
    let put = try await box.stranger.run("put", "f", "--ticket", "t")
    #expect(put.status == 77 && put.errors.contains("HTTP 403"), "\(put.errors)")
  }

  @Test("pages with 404, an unusual 5xx for a completion that has worked, and a closed standard output are no failure")
  func oddAnswers() async throws {
    let page = Fault.Action.document(status: 404, text: "404 page not found", type: "text/plain")
    let box = try BlackBox()
    let bytes = try box.sample("f", 11 * mebi)
    try await script(box, "f", "s3://bucket/k", "--if-none-match")
    // As if the completion had worked, which was answered with 520.
    #expect(try await box.run("put", "f", "s3://bucket/k", "--part-size", "5M").status == 0)
    box.fake.setFaults([
      Fault(.init(.listParts, nth: 1), page), Fault(.init(.uploadPart, nth: 1), page),
      Fault(.init(.completeMultipartUpload, nth: 1), .error(status: 520, code: "")),
      Fault(.init(.completeMultipartUpload), .error(status: 412, code: "PreconditionFailed")),
    ])
    let line = "{ sh up.sh f 2>log; echo $? >status; } | true; cat log >&2; exit $(cat status)"
    let result = try await box.shell(line)
    #expect(result.status == 0 && result.errors.contains("trying again in 1 s (520)"), "\(result.errors)")
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("the script takes no 200 that is not the store's answer to a part for one, and its next run sends the part")
  func falsePart() async throws {
    let page = Fault(
      .init(.uploadPart, partNumber: 2, nth: 1),
      .document(status: 200, text: "<html><body>Please log in</body></html>", type: "text/html"))
    let box = try BlackBox(faults: [page])
    let bytes = try box.sample("f", 11 * mebi)
    try await script(box, "f", "s3://bucket/k")
    let result = try await box.shell("sh up.sh f")
    #expect(result.status == 75 && result.errors.contains("part 2 failed"), "\(result.output) \(result.errors)")
    #expect(try await box.shell("sh up.sh f").status == 0)
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("a script that was cut off, wherever, is no script: it sends nothing, and does not end with success")
  func cutOff() async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    try await script(box, "f", "s3://bucket/k")
    let lines = try box.files.read("up.sh").split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let end = try #require(lines.lastIndex { $0.elementsEqual("}".utf8) })
    let begin = try #require(lines.firstIndex { $0.elementsEqual("{".utf8) })
    let words =
      "for n in $(seq \(begin + 1) \(end)); do head -n $n up.sh >part.sh; sh part.sh f 2>/dev/null && echo $n; done"
    let result = try await box.shell(words)
    #expect(result.output.isEmpty, "\(result.output)")
    #expect(box.fake.requests(.uploadPart).isEmpty && box.fake.objectCount == 0)
    #expect(try await box.shell("sh up.sh f").status == 0)
  }

  @Test("show, finish, renew and revoke read every form of a ticket", arguments: TicketForm.allCases)
  func readInEveryForm(_ form: TicketForm) async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 11 * mebi)
    let name = "t." + form.rawValue
    for key in ["k", "gone"] {
      let file = key == "k" ? name : "gone"
      // The key has a quote, the end of an element, and a letter that forms one character with the text after it.
      let issued = try await box.run(
        ["ticket", "issue", "f", "s3://bucket/\(key)'\"</script>\u{0600}<", "-o", file, "--format", form.rawValue]
          + ["--part-size", "5M"])
      #expect(issued.status == 0, "\(issued.errors)")
    }
    let sent = try await box.run("put", "f", "--ticket", name, "--parts", "1-2")
    #expect(sent.status == 0, "\(sent.errors)")
    let shown = try await box.run("ticket", "show", name, "--json")
    #expect(shown.json["missing"] as? [Int] == [3], "\(shown.output) \(shown.errors)")
    #expect(try await box.run("put", "f", "--ticket", name).status == 0)
    #expect(try await box.run("ticket", "finish", name).output.hasPrefix("already completed: s3://bucket/k"))
    #expect(try await box.run("ticket", "revoke", name).output.contains("had been completed, and the object stays"))
    #expect(box.fake.object("k'\"</script>\u{0600}<")?.holds(bytes) == true)

    let renewed = try await box.run("ticket", "renew", "gone", "--expires", "2h")
    #expect(renewed.status == 0, "\(renewed.errors)")
    // The format and the mode stay: a script can still be executed by its owner only.
    let again = try box.files.read("gone")
    #expect(TicketForm(of: again) == form)
    let attributes = try FileManager.default.attributesOfItem(atPath: box.files.path("gone"))
    #expect(attributes[.posixPermissions] as? Int == (form == .sh ? 0o700 : 0o600))
    let revoked = try await box.run("ticket", "revoke", "gone")
    #expect(revoked.output.hasPrefix("revoked the ticket"), "\(revoked.errors)")
    #expect(box.fake.unfinishedUploads.isEmpty)
  }

  @Test("a form that cannot be written is a usage error, and leaves nothing at the store")
  func impossible() async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    let issue = ["ticket", "issue", "-o", "t", "--format"]
    try await box.run(issue + ["curl", "--size", "20M", "s3://bucket/k"]).expectFailure(64, "json, sh")
    try await box.run(issue + ["sh", "f", "s3://bucket/k", "--part-size", "5242881"]).expectFailure(64, "5242881")
    try await box.run(issue + ["sh", "--size", "4G", "s3://bucket/k", "--part-size", "2G"]).expectFailure(64, "MiB")
    try await box.run(issue + ["sh", "-r", ".", "s3://bucket/"]).expectFailure(64, "one file")
    #expect(box.fake.unfinishedUploads.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: box.files.path("t")))
    // Each is found before an upload is begun.
    try FileManager.default.createDirectory(atPath: box.files.path("dir"), withIntermediateDirectories: false)
    for name in ["dir", "dir/", String(repeating: "n", count: 300)] {
      try await box.run("ticket", "issue", "f", "s3://bucket/k", "-o", name).expectFailure(64, "cannot be created")
    }
    #expect(box.fake.requests(.createMultipartUpload).isEmpty)
    // As is a condition that the object does not meet now.
    box.fake.putObject("there", bytes: [1])
    for condition in [["--if-none-match"], ["--if-match", "other"]] {
      try await box.run(["ticket", "issue", "f", "s3://bucket/there", "-o", "t"] + condition).expectFailure(
        73, "object")
    }
    #expect(box.fake.requests(.createMultipartUpload).isEmpty)
    try await box.run("ticket", "issue", "f", "s3://bucket/k", "-o", "t.json").expectSuccess()
    try await box.run("ticket", "renew", "t.json", "--format", "sh").expectFailure(64, "-o is missing")
  }

  @Test("a template's values are inserted as they are, and names without a value stay")
  func template() {
    let text = TicketTemplate(Array("__A__ b __C__ d__ __A__".utf8)).filled(["A": "__C__", "C": "$(x)"])
    #expect(String(decoding: text, as: UTF8.self) == "__C__ b $(x) d__ __C__")
  }
}
