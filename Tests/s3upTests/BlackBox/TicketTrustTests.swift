import Foundation
@testable import MultipartCore
import Support
import Testing

/// A ticket does what it says, and what is signed again is what was issued.
@Suite(.timeLimit(.minutes(15))) struct TicketTrustTests {
  private func issue(_ box: BlackBox, _ words: String...) async throws {
    try await box.run(["ticket", "issue"] + words + ["-o", "t.json", "--part-size", "5M"]).expectSuccess()
  }

  private func change(_ box: BlackBox, _ old: String, _ new: String) throws {
    let text = String(decoding: try box.files.read("t.json"), as: UTF8.self)
    #expect(text.contains(old), "\(old)")
    try box.files.write(Array(text.replacingOccurrences(of: old, with: new).utf8), to: "t.json")
  }

  /// Words for a run on another machine, which has issued nothing.
  private func elsewhere(_ words: [String]) -> [String] { words + ["--state-dir", "other"] }

  @Test(
    "a ticket whose names are not those of its URLs is refused by every command, before any request",
    arguments: [
      ("\"bucket\":\"bucket\"", "\"bucket\":\"our-backups\""), ("\"key\":\"k\"", "\"key\":\"nightly/db.img\""),
      ("\"key\":\"k\"", "\"key\":\"bucket/k\""), ("\"key\":\"k\"", "\"key\":\"\\u212a\""),
      ("\"upload_id\":\"", "\"upload_id\":\"x"), ("partNumber=2", "partNumber=1"),
      ("partNumber=1&", "partNumber=1&acl=&"),
      ("part-number-marker=0", "part-number-marker=1"), ("&X-Amz-Expires=", "&X-Amz-Date=0&X-Amz-Expires="),
      ("\"head\":{\"url\":\"", "\"head\":{\"url\":\"http://x/\",\"u\":\""),
    ])
  func lies(_ old: String, _ new: String) async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    try await issue(box, "f", "s3://bucket/k")
    try change(box, old, new)
    let before = box.fake.requests.count
    for words in [["put", "f", "--ticket"]] + ["show", "finish", "renew", "revoke"].map({ ["ticket", $0] }) {
      try await box.run(words + ["t.json"]).expectFailure(78, "the ticket cannot be used")
    }
    // The same is tested for one ticket of many.
    try FileManager.default.createDirectory(atPath: box.files.path("d"), withIntermediateDirectories: true)
    try await box.run("put", "d", "--ticket", "t.json").expectFailure(78, "the ticket cannot be used")
    #expect(box.fake.requests.count == before)
  }

  @Test("a key of any bytes, in the path or in the host, is that of its URLs", arguments: ["path", "virtual"])
  func anyKey(_ addressing: String) async throws {
    let box = try BlackBox()
    try box.sample("f", 9)
    for key in ["a b/%2F", "é\u{301}\u{0600}<", "/x//", "bucket/k", "?uploadId=1#"] {
      try? FileManager.default.removeItem(atPath: box.files.path("t.json"))
      try await issue(box, "f", "s3://bucket/\(key)", "--addressing", addressing == "path" ? "path" : "auto")
      #expect(try await box.run("ticket", "show", "t.json").status == 0)
    }
  }

  @Test("a path before the bucket is shown with the server that gets the bytes")
  func basePath() async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    try await issue(box, "f", "s3://bucket/our-backups/k")
    // A ticket for bucket/our-backups/k claims to be for our-backups/k.
    try change(box, "\"bucket\":\"bucket\"", "\"bucket\":\"our-backups\"")
    try change(box, "\"key\":\"our-backups/k\"", "\"key\":\"k\"")
    let result = try await box.run("put", "f", "--ticket", "t.json")
    #expect(result.errors.contains("s3://our-backups/k to \(box.fake.endpoint)/bucket,"), "\(result.errors)")
  }

  @Test(
    "renew signs nothing of a ticket that was edited after it was issued",
    arguments: [
      ("\"Content-MD5\":", "\"x-amz-unused\":"), ("\"size\":11534336", "\"max_size\":11534336"),
      ("\"size\":11534336", "\"size\":11534337"), ("\"If-None-Match\":\"*\"", "\"x-amz-unused\":\"*\""),
      ("\"checksum\":\"md5\"", "\"checksum\":\"none\""), ("\"etag_is_md5\":true", "\"etag_is_md5\":false"),
      ("\"created\":\"20", "\"created\":\"19"),
    ])
  func edited(_ old: String, _ new: String) async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    try await issue(box, "f", "s3://bucket/k", "--if-none-match")
    try change(box, old, new)
    let ticket = try box.files.read("t.json")
    let before = box.fake.requests.count
    for words in [[], ["--trust-edited"]] {
      try await box.run(["ticket", "renew", "t.json"] + words).expectFailure(78, "was edited")
    }
    #expect(box.fake.requests.count == before)
    #expect(try box.files.read("t.json") == ticket)
  }

  @Test("renew signs nothing of a ticket for a stream that was made longer, or shorter")
  func editedMost() async throws {
    let box = try BlackBox()
    try await issue(box, "--max-size", "12M", "s3://bucket/k")
    for size in [12 * mebi + 1, 12 * mebi - 1] {
      let ticket = try box.files.read("t.json")
      try change(box, "\"max_size\":\(12 * mebi)", "\"max_size\":\(size)")
      try await box.run("ticket", "renew", "t.json").expectFailure(78, "was edited")
      try box.files.write(ticket, to: "t.json")
    }
    try await box.run("ticket", "renew", "t.json").expectSuccess()
  }

  @Test("without the issuer's key renew prints what it would sign, and signs it only with the option that trusts it")
  func unknown() async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    try await issue(box, "f", "s3://bucket/k", "--if-none-match")
    let ticket = try box.files.read("t.json")
    let refused = try await box.run(elsewhere(["ticket", "renew", "t.json"]))
    #expect(refused.status == 78 && refused.errors.contains("--trust-edited"), "\(refused.errors)")
    for right in [
      "s3://bucket/k at \(box.fake.endpoint)", "exactly 11534336 bytes", "3 parts", "signed", "If-None-Match: *",
    ] {
      #expect(refused.errors.contains(right), "\(refused.errors)")
    }
    #expect(try box.files.read("t.json") == ticket)
    let trusted = try await box.run(elsewhere(["ticket", "renew", "t.json", "--trust-edited"]))
    #expect(trusted.status == 0 && trusted.errors.contains("exactly 11534336 bytes"), "\(trusted.errors)")
    // From now on the ticket is known there.
    try await box.run(elsewhere(["ticket", "renew", "t.json"])).expectSuccess()
    // An edit that removes the mark does not bypass the print-out.
    try change(box, "\"Content-MD5\":", "\"x-amz-unused\":")
    try change(box, "\"mark\":", "\"no_mark\":")
    let bare = try await box.run("ticket", "renew", "t.json")
    #expect(bare.status == 78 && bare.errors.contains("not signed: any bytes"), "\(bare.errors)")
  }

  @Test(
    "credentials neither finish nor revoke an expired ticket that names another upload than the one it was issued for",
    arguments: ["finish", "revoke"])
  func expiredAndEdited(_ action: String) async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    try await issue(box, "f", "s3://bucket/k")
    let id = try #require(box.fake.unfinishedUploads.first?.id)
    let created = try await box.run("create", "s3://bucket/payroll")
    let other = try #require(created.lines.first)
    try box.edit("t.json") { text in
      text.replace(#/"expires":"[^"]*"/#, with: "\"expires\":\"2026-01-02T03:04:05Z\"")
    }
    let issued = try box.files.read("t.json")
    for (old, new) in [(id, other), ("/bucket/k", "/bucket/payroll"), ("\"key\":\"k\"", "\"key\":\"payroll\"")] {
      try change(box, old, new)
    }
    let ended = { box.fake.requests(.abortMultipartUpload) + box.fake.requests(.completeMultipartUpload) }
    try await box.run("ticket", action, "t.json").expectFailure(78, "was edited")
    try await box.run("ticket", action, "t.json", "--trust-edited").expectFailure(78, "was edited")
    // Nor if the mark was taken out, unless somebody says so.
    try change(box, "\"mark\":", "\"no_mark\":")
    try await box.run("ticket", action, "t.json").expectFailure(78, "--trust-edited")
    #expect(ended().isEmpty && box.fake.unfinishedUploads.count == 2)
    let trusted = try await box.run("ticket", action, "t.json", "--trust-edited")
    #expect(trusted.status == (action == "revoke" ? 0 : 65), "\(trusted.errors)")
    // The ticket as it was issued is the issuer's to end.
    try box.files.write(issued, to: "t.json")
    try await box.run("ticket", "revoke", "t.json").expectSuccess()
    #expect(!box.fake.unfinishedUploads.contains { $0.id == id })
  }

  @Test("parts whose listed checksum is not the signed one are missing: finish takes none, and renew signs them again")
  func otherParts() async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    try await issue(box, "f", "s3://bucket/k")
    #expect(try await box.run("put", "f", "--ticket", "t.json", "--parts", "1-2").status == 0)
    // A store that does not compare Content-MD5 may have other bytes.
    box.fake.setFaults([Fault(.init(.listParts), .etag("\"0123456789abcdef0123456789abcdef\""))])
    let shown = try await box.run("ticket", "show", "t.json", "--json")
    #expect(shown.json["parts_there"] as? Int == 0, "\(shown.output)")
    try await box.run("ticket", "finish", "t.json").expectFailure(65, "the store has no part")
    try await box.run("ticket", "renew", "t.json").expectSuccess()
    box.fake.setFaults([])
    let before = box.fake.requests(.uploadPart).count
    #expect(try await box.run("put", "f", "--ticket", "t.json").status == 0)
    #expect(box.fake.requests(.uploadPart).count - before == 1)
  }

  @Test("a ticket that another program has rewritten with other spaces and another order is still valid")
  func laidOut() async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    try await issue(box, "f", "s3://bucket/k", "--metadata", "a=b", "--if-none-match")
    let object = try JSONSerialization.jsonObject(with: Data(try box.files.read("t.json")))
    let sorted = try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .prettyPrinted])
    try box.files.write([UInt8](sorted), to: "t.json")
    for _ in 1...2 { try await box.run("ticket", "renew", "t.json").expectSuccess() }
  }

  @Test("only the owner can read the key of the marks, and two runs that need it first make one")
  func key() async throws {
    let box = try BlackBox()
    try box.sample("f", 9)
    let runs = try (1...4).map {
      try box.start(["ticket", "issue", "f", "s3://bucket/k\($0)", "-o", "t\($0).json", "--state-dir", "s"])
    }
    for run in runs { #expect(await run.wait().status == 0) }
    let path = box.files.path("s/ticket-key")
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600 && attributes[.size] as? Int == 32)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: box.files.path("s")).filter { $0.hasPrefix("ticket-key") }
        .count == 1)
    for index in 1...4 {
      try await box.run("ticket", "renew", "t\(index).json", "--state-dir", "s").expectSuccess()
    }
  }

  @Test("if nothing can be stored, tickets are issued without a mark, and that is reported")
  func noFolder() async throws {
    let box = try BlackBox()
    try box.sample("f", 9)
    try box.files.write([], to: "file")
    let issued = try await box.run("ticket", "issue", "f", "s3://bucket/k", "-o", "t.json", "--state-dir", "file/x")
    #expect(issued.status == 0 && issued.errors.contains("has no mark"), "\(issued.errors)")
    #expect(try await box.run("put", "f", "--ticket", "t.json").status == 0)
  }

  @Test(
    "a ticket that is made to cost memory or time is refused",
    arguments: ["values", "depth", "url", "headers", "value", "file", "size"])
  func hostile(_ what: String) async throws {
    let box = try BlackBox()
    try box.sample("f", 9)
    try await issue(box, "f", "s3://bucket/k")
    let start = "{\"s3up_ticket\":1,"
    let long = String(repeating: "a", count: 1 << 20)
    switch what {
    case "values": try change(box, start, start + "\"x\":[" + String(repeating: "0,", count: 2 << 20) + "0],")
    case "depth": try change(box, start, start + "\"x\":" + String(repeating: "[", count: 1 << 20) + ",")
    case "url": try change(box, "X-Amz-Algorithm=", "X-Amz-Credential=\(long)&X-Amz-Algorithm=")
    case "headers":
      let many = (0..<100).map { "\"x-amz-\($0)\":\"\"," }.joined()
      try change(box, "\"headers\":{", "\"headers\":{" + many)
    case "value": try change(box, "\"headers\":{", "\"headers\":{\"x-amz-x\":\"\(long)\",")
    case "file": try change(box, "\"file\":\"f\"", "\"file\":\"\(long)\"")
    default: try change(box, "\"size\":9", "\"size\":9223372036854775807")
    }
    let result = try await box.run("put", "f", "--ticket", "t.json")
    result.expectFailure(78, "the ticket cannot be used")
    #expect(result.errors.utf8.count < 1000)
  }
}
