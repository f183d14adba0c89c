import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// An object has its requested settings, or the run is not a success.
@Suite(.crowd) struct SettingsTests {
  struct Lost: Sendable, CustomTestStringConvertible {
    var options: [String]
    var passesOver: String
    var word: String
    var testDescription: String { word }

    init(_ word: String, _ passesOver: String, _ options: String...) {
      self.word = word
      self.passesOver = passesOver
      self.options = options
    }

    static let all = [
      Lost("another storage class (STANDARD)", "x-amz-storage-class", "--storage-class", "STANDARD_IA"),
      Lost("no metadata color", "x-amz-meta-", "--metadata", "Color=blue"),
      Lost("no metadata by-hand", "x-amz-meta-", "--header", "x-amz-meta-by-hand: yes"),
      Lost("no tags", "x-amz-tagging", "--tag", "team=blue"),
      Lost("another content-type (binary/octet-stream)", "content-type", "--content-type", "text/x-test"),
      Lost("no content-language", "content-language", "--content-language", "de"),
      Lost("no cache-control", "cache-control", "--cache-control", "no-store"),
      Lost("no expires", "expires", "--expires-header", "2031-01-31T00:00:00Z"),
      Lost("no website redirect", "x-amz-website", "--website-redirect", "/elsewhere"),
      Lost(
        "no object lock", "x-amz-object-lock", "--object-lock-mode", "GOVERNANCE", "--retain-until",
        "2031-01-31T00:00:00Z"),
      Lost("no legal hold", "x-amz-object-lock", "--legal-hold", "on"),
      Lost("no ACL", "x-amz-acl", "--acl", "public-read"),
      Lost("no ACL", "x-amz-grant", "--grant", "read=id=abc"),
    ]
  }

  @Test("a setting that the store ignores is 69, and the object is named", arguments: Lost.all, [100, 6 * mebi])
  func lost(_ lost: Lost, _ size: Int) async throws {
    let box = try BlackBox { $0.passesOver = [lost.passesOver] }
    try box.sample("f", size)
    let result = try await box.run(["put", "f", "s3://bucket/k", "--part-size", "5M"] + lost.options)
    result.expectFailure(69, lost.word, "the object exists", "s3://bucket/k", "Delete the object")
    #expect(box.fake.object("k")?.size == size)
    #expect(box.fake.unfinishedUploads.map(\.id) == [])
    // The same store without such a setting: nothing is checked.
    try await box.run("put", "f", "s3://bucket/plain", "--part-size", "5M").expectSuccess()
    #expect(box.fake.requests(.headObject).allSatisfy { $0.key == "k" })
  }

  @Test(
    "an object without a lock is 69, in whatever words the store reports that",
    arguments: [
      (404, "ObjectLockConfigurationNotFoundError"), (404, "NoSuchObjectLockConfiguration"), (404, "NoSuchRetention"),
      (400, "InvalidRequest"),
    ])
  func noLock(_ status: Int, _ code: String) async throws {
    let box = try BlackBox { ($0.passesOver, $0.noLock) = (["x-amz-object-lock"], (status, code)) }
    try box.sample("f", 6 * mebi)
    for (options, word) in [
      (["--object-lock-mode", "COMPLIANCE", "--retain-until", "2031-01-31T00:00:00Z"], "no object lock"),
      (["--legal-hold", "on"], "no legal hold"),
    ] {
      try await box.run(["put", "f", "s3://bucket/k", "--part-size", "5M"] + options)
        .expectFailure(69, word, "the object exists", "s3://bucket/k")
    }
  }

  /// Makes an upload step by step; `create` and `complete` get the options.
  private func steps(_ box: BlackBox, _ options: [String]) async throws -> (created: String, ChildProcess.Result) {
    try box.sample("f", 100)
    let created = try await box.run(["create", "s3://bucket/k"] + options)
    let id = try #require(created.lines.first, "\(created.errors)")
    // A part of a locked object carries a digest, and the part command does not know about the lock.
    try await box.run("part", "f", "s3://bucket/k", "--upload-id", id, "--part", "1", "--checksum", "md5")
      .expectSuccess()
    return (created.errors, try await box.run(["complete", "s3://bucket/k", "--upload-id", id] + options))
  }

  @Test("complete checks the settings that create was given: one that the store ignores is 69", arguments: Lost.all)
  func lostInSteps(_ lost: Lost) async throws {
    let box = try BlackBox { $0.passesOver = [lost.passesOver] }
    let (created, result) = try await steps(box, lost.options)
    #expect(created.hasPrefix("s3up: only complete can check "), "\(created)")
    #expect(created.hasSuffix(", if it is given the same options\n"), "\(created)")
    result.expectFailure(69, lost.word, "the object exists", "s3://bucket/k", "Delete the object")
    #expect(box.fake.object("k")?.size == 100)
    let (_, kept) = try await steps(try BlackBox(), lost.options)
    kept.expectSuccess()
  }

  @Test(
    "An upload by ticket checks the settings that it was issued with, as far as HEAD shows them",
    arguments: Lost.all.filter { $0.options[0] != "--header" })
  func lostByTicket(_ lost: Lost) async throws {
    let box = try BlackBox { $0.passesOver = [lost.passesOver] }
    try box.sample("f", 6 * mebi)
    try await box.run(["ticket", "issue", "f", "s3://bucket/k", "-o", "t"] + lost.options).expectSuccess()
    let sent = try await box.stranger.run("put", "f", "--ticket", "t")
    let finished = try await box.run("ticket", "finish", "t")
    #expect(box.fake.object("k")?.size == 6 * mebi)
    // What HEAD does not show, or only to some users, is named.
    let title = lost.word.split(separator: " (")[0].split(separator: " ").dropFirst().joined(separator: " ")
    if ["ACL", "tags", "object lock", "legal hold"].contains(title) {
      #expect(sent.status == 0 && sent.errors.contains(title), "\(sent.errors)")
    } else {
      for result in [sent, finished] {
        #expect(
          result.status == 69 && result.errors.contains("the object exists with \(lost.word)"), "\(result.errors)")
      }
    }
    let kept = try BlackBox()
    try kept.sample("f", 6 * mebi)
    try await kept.run(["ticket", "issue", "f", "s3://bucket/k", "-o", "t"] + lost.options).expectSuccess()
    #expect(try await kept.stranger.run("put", "f", "--ticket", "t").status == 0)
    #expect(try await kept.run("ticket", "finish", "t").status == 0)
  }

  @Test("complete of an upload that was completed before checks the object's settings too")
  func completedBefore() async throws {
    let box = try BlackBox { $0.passesOver = ["x-amz-object-lock"] }
    try box.sample("f", 100)
    let id = try #require(try await box.run("create", "s3://bucket/k").lines.first)
    try await box.run("part", "f", "s3://bucket/k", "--upload-id", id, "--part", "1").expectSuccess()
    try box.files.write(try await box.run("parts", "s3://bucket/k", "--upload-id", id).output, to: "list")
    let complete = ["complete", "s3://bucket/k", "--upload-id", id, "--parts-file", "list"]
    try await box.run(complete).expectSuccess()
    try await box.run(complete).expectSuccess()
    try await box.run(complete + ["--legal-hold", "on"]).expectFailure(69, "the object exists with no legal hold")
  }

  @Test("complete reports what it may not read, and create does not mention what its answer confirms")
  func unconfirmedInSteps() async throws {
    let box = try BlackBox()
    box.fake.setFaults([Fault(.init(.getObjectACL), .error(status: 403, code: "AccessDenied"))])
    let (_, result) = try await steps(box, ["--acl", "public-read"])
    result.expectWarned("could not be confirmed: ACL (GetObjectAcl is not allowed)")
    #expect(result.output.contains("; not confirmed: ACL"))
    #expect(try await steps(try BlackBox(), ["--sse", "AES256"]).created == "")
  }

  @Test("settings that the store keeps are a success, and cost one HEAD", arguments: Lost.all, [100, 6 * mebi])
  func kept(_ lost: Lost, _ size: Int) async throws {
    let box = try BlackBox()
    try box.sample("f", size)
    try await box.run(["put", "f", "s3://bucket/k", "--part-size", "5M"] + lost.options).expectSuccess()
    let asked = box.fake.requests.filter {
      [.headObject, .getObjectACL, .getObjectTagging, .getObjectRetention, .getObjectLegalHold].contains($0.operation)
    }
    #expect(asked.count == 1, "\(asked.map(\.operation))")
  }

  @Test("an object that another client has written since decides nothing about this one")
  func replaced() async throws {
    let box = try BlackBox { ($0.versioning, $0.passesOver) = (true, ["x-amz-meta-"]) }
    try box.sample("f", 6 * mebi)
    box.fake.setFaults([Fault(.init(.headObject), .headers(["x-amz-version-id": "another"]))])
    try await box.run("put", "f", "s3://bucket/k", "--part-size", "5M", "--metadata", "color=blue")
      .expectWarned("could not be confirmed: metadata color (another object is now at the key)")
  }

  @Test("a stream's object is checked too")
  func stream() async throws {
    let box = try BlackBox { $0.passesOver = ["x-amz-storage-class"] }
    try await box.run("put", "-", "s3://bucket/k", "--storage-class", "GLACIER", input: .bytes([1, 2, 3]))
      .expectFailure(69, "another storage class", "the object exists")
  }

  @Test("an object with more access than requested is 69")
  func wider() async throws {
    let box = try BlackBox { $0.letsEverybodyRead = true }
    try box.sample("f", 10)
    for options in [["--acl", "private"], ["--acl", "bucket-owner-read"], ["--grant", "read=id=abc"]] {
      try await box.run(["put", "f", "s3://bucket/k"] + options)
        .expectFailure(69, "another ACL (READ for AllUsers)")
    }
    try await box.run("put", "f", "s3://bucket/k", "--acl", "public-read").expectSuccess()
  }

  @Test("encryption that no answer confirms is 69, in parts before anything is published", arguments: [100, 6 * mebi])
  func encryption(_ size: Int) async throws {
    for (answer, options, word) in [
      (FakeOptions.Encryption.none, ["--sse", "AES256"], "no encryption"),
      (.none, ["--sse", "aws:kms"], "no encryption"),
      (.always("AES256"), ["--sse", "aws:kms", "--sse-kms-key-id", "k"], "another encryption (AES256)"),
      (.always("aws:kms"), ["--sse", "aws:kms", "--bucket-key"], "no bucket key"),
    ] {
      let box = try BlackBox { $0.encryption = answer }
      try box.sample("f", size)
      let result = try await box.run(["put", "f", "s3://bucket/k", "--part-size", "5M"] + options)
      result.expectFailure(69, "does not encrypt as requested", word)
      #expect(result.errors.contains("the object exists") == (size < mebi))
      if size > mebi { box.expectNothingLeft() }
    }
  }

  @Test("SSE-C that the store ignores is 69, in parts before anything is published", arguments: [100, 6 * mebi])
  func customerKey(_ size: Int) async throws {
    let box = try BlackBox(secure: true) { $0.encryption = .none }
    try box.sample("f", size)
    try box.files.write(randomBytes(32, seed: 5), to: "key")
    let result = try await box.run("put", "f", "s3://bucket/k", "--part-size", "5M", "--sse-c-key-file", "key")
    result.expectFailure(69, "does not encrypt with the SSE-C key")
    #expect(result.errors.contains("the object exists, unencrypted") == (size < mebi))
    if size > mebi { box.expectNothingLeft() }
    try await box.run("create", "s3://bucket/k", "--sse", "AES256").expectFailure(69, "no encryption")
    #expect(box.fake.unfinishedUploads.map(\.id) == [])
  }

  @Test("An answer to create or complete that names another encryption is 69, whatever the parts confirm")
  func contradicted() async throws {
    for operation in [FakeOperation.createMultipartUpload, .completeMultipartUpload] {
      let box = try BlackBox()
      box.fake.addFault(
        Fault(.init(operation), .headers(["x-amz-server-side-encryption": "AES256"])))
      if operation == .completeMultipartUpload {
        box.fake.addFault(Fault(.init(.headObject), .headers(["x-amz-server-side-encryption": "AES256"])))
      }
      try box.sample("f", 6 * mebi)
      let result = try await box.run("put", "f", "s3://bucket/k", "--part-size", "5M", "--sse", "aws:kms")
      result.expectFailure(69, "another encryption (AES256)")
      #expect((box.fake.object("k") == nil) == (operation == .createMultipartUpload))
      #expect(box.fake.unfinishedUploads.isEmpty)
    }
  }

  @Test("a store that names the encryption only with the parts does encrypt")
  func namedWithParts() async throws {
    let box = try BlackBox { $0.createNamesEncryption = false }
    try box.sample("f", 6 * mebi)
    try await box.run("put", "f", "s3://bucket/k", "--part-size", "5M", "--sse", "aws:kms").expectSuccess()
    #expect(box.fake.requests(.headObject).isEmpty)
  }

  @Test("a setting that may not be read is reported, and is not a failure")
  func unconfirmed() async throws {
    let box = try BlackBox()
    try box.sample("f", 6 * mebi)
    box.fake.addFault(Fault(.init(.headObject), .error(status: 403, code: "AccessDenied")))
    box.fake.addFault(Fault(.init(.getObjectTagging), .error(status: 501, code: "NotImplemented")))
    let result = try await box.run(
      "put", "f", "s3://bucket/k", "--part-size", "5M", "--storage-class", "GLACIER", "--tag", "a=b", "--json")
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      result.errors
        == "s3up: could not be confirmed: storage class, tags (HeadObject is not allowed; GetObjectTagging: NotImplemented)\n"
    )
    #expect((result.json["evidence"] as? String)?.hasSuffix("; not confirmed: storage class, tags") == true)
  }

  @Test("a setting that a HEAD does not show to everybody is requested separately")
  func hidden() async throws {
    let box = try BlackBox {
      $0.headHides = [
        "x-amz-object-lock-mode", "x-amz-object-lock-retain-until-date", "x-amz-object-lock-legal-hold",
        "x-amz-tagging-count",
      ]
    }
    try box.sample("f", 10)
    try await box.run(
      "put", "f", "s3://bucket/k", "--tag", "a=b c", "--legal-hold", "on", "--object-lock-mode", "COMPLIANCE",
      "--retain-until", "2031-01-31T00:00:00Z"
    ).expectSuccess()
    #expect(box.fake.requests(.getObjectRetention).count == 1)
    #expect(box.fake.requests(.getObjectLegalHold).count == 1)
    #expect(box.fake.requests(.getObjectTagging).count == 1)
  }

  /// The store ignores the headers of a lock as well, like OpenStack Swift. The bytes of the file look like the lock's
  /// document.
  @Test(
    "a store that answers a request for a setting with the object itself does not have that setting",
    arguments: [0, 100, 6 * mebi])
  func ignoredQuery(_ size: Int) async throws {
    let box = try BlackBox {
      $0.ignoresSettingsQueries = true
      $0.passesOver = ["x-amz-object-lock", "x-amz-tagging", "x-amz-acl"]
    }
    let until = "2031-01-31T00:00:00Z"
    let document = "<A><Mode>COMPLIANCE</Mode><RetainUntilDate>\(until)</RetainUntilDate><Status>ON</Status></A>"
    let bytes = size == 100 ? Array(document.utf8) : randomBytes(size, seed: 1)
    try box.files.write(bytes, to: "f")
    for (word, options) in [
      ("no object lock", ["--object-lock-mode", "COMPLIANCE", "--retain-until", until]),
      ("no legal hold", ["--legal-hold", "on"]), ("no tags", ["--tag", "a=b"]),
      ("no ACL", ["--acl", "public-read"]),
    ] {
      let result = try await box.run(["put", "f", "s3://bucket/k", "--part-size", "5M"] + options)
      result.expectFailure(69, word, "the object exists", "s3://bucket/k", "Delete the object")
    }
    let closed = try await box.run("put", "f", "s3://bucket/k", "--part-size", "5M", "--acl", "private", "--json")
    #expect((closed.json["evidence"] as? String)?.hasSuffix("; not confirmed: ACL") == true)
    let asked = box.fake.requests.filter { $0.operation != .getObject && $0.operation.rawValue.hasPrefix("GetObject") }
    #expect(asked.count == 5, "\(asked.map(\.operation))")
  }

  @Test("a HEAD that fails for a while is retried, and one that is never answered is 75 with the object named")
  func headPasses() async throws {
    let box = try BlackBox()
    try box.sample("f", 10)
    let put = ["put", "f", "s3://bucket/k", "--storage-class", "GLACIER"]
    box.fake.setFaults([Fault(.init(.headObject, nth: 1), .error(status: 404, code: "NoSuchKey"))])
    try await box.run(put).expectSuccess()
    box.fake.setFaults([Fault(.init(.headObject), .error(status: 500, code: "InternalError"))])
    try await box.run(put + ["--retries", "2"]).expectFailure(75, "the object exists and is proven", "s3://bucket/k")
  }

  @Test("a request that locks an object has a digest, whatever --checksum says", arguments: [100, 6 * mebi])
  func locked(_ size: Int) async throws {
    let box = try BlackBox()
    try box.sample("f", size)
    try await box.run(
      "put", "f", "s3://bucket/k", "--part-size", "5M", "--checksum", "none", "--legal-hold", "on"
    ).expectSuccess()
    let sent = box.fake.requests(size < mebi ? .putObject : .uploadPart)
    #expect(!sent.isEmpty && sent.allSatisfy { $0.headers["content-md5"] != nil })
  }

  @Test("a part's returned checksum is compared with the bytes: once wrong, the part is sent again; always wrong is 65")
  func partChecksum() async throws {
    for always in [false, true] {
      let box = try BlackBox(faults: [
        Fault(.init(.uploadPart, nth: always ? nil : 1), .checksum("AAAAAAAAAAA="))
      ])
      try box.sample("f", 6 * mebi)
      let result = try await box.run("put", "f", "s3://bucket/k", "--part-size", "5M", "--retries", "2")
      guard always else {
        result.expectSuccess()
        #expect(box.fake.requests(.uploadPart).count == 3)
        continue
      }
      result.expectFailure(65, "received other bytes than were sent (CRC64NVME)")
      box.expectNothingLeft()
    }
  }

  @Test("over TLS to an unverified server the body is signed, as over HTTP", arguments: [100, 6 * mebi])
  func insecure(_ size: Int) async throws {
    var box = try BlackBox(secure: true)
    box.environment["AWS_CA_BUNDLE"] = nil
    let bytes = try box.sample("f", size)
    try await box.run("put", "f", "s3://bucket/k", "--part-size", "5M", "--insecure").expectSuccess()
    let sent = box.fake.requests(size < mebi ? .putObject : .uploadPart)
    let hashes = size < mebi ? [sha256(bytes)] : [sha256(bytes[..<(5 * mebi)]), sha256(bytes[(5 * mebi)...])]
    #expect(Set(sent.map { $0.headers["x-amz-content-sha256"] }) == Set(hashes))
  }

  @Test("a tab in metadata arrives unchanged, and in another header it is refused")
  func tab() async throws {
    let box = try BlackBox()
    try box.sample("f", 10)
    try await box.run("put", "f", "s3://bucket/k", "--metadata", "a=b\tc").expectSuccess()
    #expect(EncodedWord.decode(box.fake.object("k")?.metadata["a"] ?? "") == "b\tc")
    try await box.run("put", "f", "s3://bucket/x", "--cache-control", "a\tb").expectFailure(64, "Cache-Control", "tab")
    try await box.run("put", "f", "s3://bucket/x", "--header", "X-Test: a\tb").expectFailure(64, "X-Test", "tab")
    #expect(box.fake.object("x") == nil)
  }

  @Test(
    "a conditional PUT that collides with another write is sent again, as S3 documents, and in the end it is 75",
    arguments: ["--if-none-match", "--skip-existing"])
  func conflict(_ condition: String) async throws {
    let conflict = Fault.Action.error(status: 409, code: "ConditionalRequestConflict")
    let box = try BlackBox(faults: [Fault(.init(.putObject, to: 2), conflict)])
    try box.sample("f", 10)
    try await box.run("put", "f", "s3://bucket/k", condition).expectSuccess()
    #expect(box.fake.requests(.putObject).count == 3)
    box.fake.setFaults([Fault(.init(.putObject), conflict)])
    try await box.run("put", "f", "s3://bucket/l", condition, "--retries", "2")
      .expectFailure(75, "ConditionalRequestConflict")
    // A conflict is about one key, so the others are tried, however many have failed.
    for number in 0..<30 { try box.sample("t/\(number)", 10) }
    let many = try await box.run("put", "-r", "t", "s3://bucket/m/", condition, "--retries", "1", "--json")
    let failed = many.output.components(separatedBy: "\"event\":\"failed\"").count - 1
    #expect(many.status == 75 && failed == 30, "\(many.output)")
    try box.sample("large", 11 * mebi)
    box.fake.setFaults([Fault(.init(.completeMultipartUpload), conflict)])
    let large = try await box.run("put", "large", "s3://bucket/n", condition, "--part-size", "5M", "--retries", "2")
    #expect(large.status == 75 && large.errors.contains("ConditionalRequestConflict"), "\(large.errors)")
    #expect(box.fake.object("n") == nil && box.fake.object("l") == nil)
  }

  @Test("a region that is not a DNS label is refused before anything is signed, wherever it was set")
  func region() async throws {
    var box = try BlackBox()
    try box.sample("f", 10)
    try await box.run("put", "f", "s3://bucket/k", "--region", "us-east-2!").expectFailure(64, "us-east-2!")
    box.environment["AWS_REGION"] = "us-east-2!"
    try await box.run("put", "f", "s3://bucket/k").expectFailure(78, "us-east-2!")
    box.environment["AWS_REGION"] = nil
    try box.binary.home.write("[default]\nregion = us-east-2!\n", to: ".aws/config")
    try await box.run("put", "f", "s3://bucket/k").expectFailure(78, "us-east-2!")
    #expect(box.fake.requests.isEmpty)
  }
}
