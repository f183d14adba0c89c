import Foundation
@testable import MultipartCore
import Support
import Testing

/// The tickets of a folder, one on each line of a file.
@Suite(.timeLimit(.minutes(15))) struct TicketBatchTests {
  @Test("of two tickets for one key the second is not sent, but one ticket may be given twice")
  func batchOfTwins() async throws {
    let box = try BlackBox()
    for name in ["x/k", "y/k"] { try box.sample(name, 3, seed: UInt64(name.utf8.first!)) }
    for folder in ["x", "y"] {
      try await box.shell("cd \(folder) && \"$S3UP\" ticket issue -r . s3://bucket/tb/ -o ../\(folder).jsonl")
        .expectSuccess()
    }
    let joined = try await box.shell(
      ##"sed 's#"file":"k"#"file":"x/k"#' x.jsonl >all; cat all >>all.2; cat all all.2 >twice; sed 's#"file":"k"#"file":"y/k"#' y.jsonl >>all"##
    )
    joined.expectSuccess()
    let result = try await box.run("put", ".", "--ticket", "all")
    #expect(result.status == 64, "\(result.output) \(result.errors)")
    #expect(result.errors.contains("same key as an earlier file") && result.errors.contains("s3://bucket/tb/k"))
    #expect(!result.errors.contains("s3://bucket/s3://"), "\(result.errors)")
    #expect(try box.fake.object("tb/k")?.holds(box.files.read("x/k")) == true)
    #expect(try await box.run("put", ".", "--ticket", "twice").status == 0)
  }

  @Test("a damaged line of tickets is answered with who can give the file again, not with how to edit it")
  func damagedLine() async throws {
    let box = try BlackBox()
    for name in ["d/a", "d/b"] { try box.sample(name, 3) }
    try await box.run("ticket", "issue", "-r", "d", "s3://bucket/p", "-o", "t.jsonl").expectSuccess()
    try await box.shell("sed '2s/\"bucket\":\"bucket\"/\"bucket\":5/' t.jsonl >damaged").expectSuccess()
    let result = try await box.stranger.run("put", "d", "--ticket", "damaged")
    #expect(result.status == 78 && result.errors.contains("line 2 of the ticket: "), "\(result.errors)")
    #expect(result.errors.contains("sk its issuer for the file again"), "\(result.errors)")
  }

  @Test("a folder in the place of a ticket's file is named, and the others are sent")
  func folderInPlace() async throws {
    let box = try BlackBox()
    for name in ["d/a", "d/b"] { try box.sample(name, 3) }
    try await box.run("ticket", "issue", "-r", "d", "s3://bucket/p", "-o", "t.jsonl").expectSuccess()
    try await box.shell("rm d/a && mkdir d/a").expectSuccess()
    let result = try await box.stranger.run("put", "d", "--ticket", "t.jsonl")
    #expect(result.status == 66, "\(result.errors)")
    #expect(result.errors.contains("something other than a regular file is in the place"), "\(result.errors)")
    #expect(box.fake.object("p/b") != nil)
  }

  @Test("the holder of an expired ticket is told that it has expired", arguments: ["show", "finish", "revoke"])
  func expired(_ action: String) async throws {
    let box = try BlackBox()
    try box.sample("f", 3)
    try await box.run("ticket", "issue", "f", "s3://bucket/k", "-o", "t.json", "--expires", "1s").expectSuccess()
    try await Task.sleep(for: .seconds(2))
    let result = try await box.stranger.run("ticket", action, "t.json")
    #expect(result.status != 0 && result.errors.contains("the ticket expired at "), "\(result.errors)")
  }

  @Test("several files that are named get a ticket each")
  func named() async throws {
    let box = try BlackBox()
    for name in ["a", "b"] { try box.sample(name, 300, seed: UInt64(name.utf8.first ?? 0)) }
    try await box.run("ticket", "issue", "a", "b", "s3://bucket/p/", "-o", "t.jsonl").expectSuccess()
    #expect(try await box.stranger.run("put", ".", "--ticket", "t.jsonl").status == 0)
    for name in ["a", "b"] { #expect(try box.fake.object("p/" + name)?.holds(box.files.read(name)) == true) }
  }

  @Test("the tickets of a folder upload its files, and a second run only what is missing")
  func folder() async throws {
    let box = try BlackBox()
    for folder in ["d", "d/sub", "d/sub/deep"] {
      try FileManager.default.createDirectory(atPath: box.files.path(folder), withIntermediateDirectories: true)
    }
    var sent: [String: [UInt8]] = [:]
    for (name, size) in [("a", 0), ("b.txt", 3), ("sub/c", 6 * mebi), ("sub/deep/d e", 70_000)] {
      sent[name] = try box.sample("d/" + name, size, seed: UInt64(size + 7))
    }
    let issued = try await box.run("ticket", "issue", "-r", "d", "s3://bucket/p", "-o", "t.jsonl", "--exclude", "*.txt")
    issued.expectSuccess()
    #expect(issued.output.hasPrefix("issued t.jsonl for 3 files in s3://bucket "), "\(issued.output)")
    #expect(box.fake.unfinishedUploads.count == 3)
    let other = box.stranger
    let first = try await other.run("put", "d", "--ticket", "t.jsonl")
    #expect(first.status == 0, "\(first.errors)")
    #expect(first.lines.last?.hasPrefix("3 files uploaded") == true, "\(first.output)")
    for (name, bytes) in sent where name != "b.txt" {
      #expect(box.fake.object("p/" + name)?.holds(bytes) == true)
    }
    #expect(box.fake.unfinishedUploads.isEmpty)
    let before = box.fake.requests(.uploadPart).count
    #expect(try await other.run("put", "d", "--ticket", "t.jsonl").status == 0)
    #expect(box.fake.requests(.uploadPart).count == before)
    let shown = try await other.run("ticket", "show", "t.jsonl", "--json")
    #expect(shown.lines.count { $0.contains(#""state":"completed""#) } == 3, "\(shown.output)")
  }

  @Test("each ticket that fails is told, and the exit status is 1 if they fail for different reasons")
  func failures() async throws {
    let box = try BlackBox()
    for name in ["a", "b", "c"] { try box.sample("d/" + name, 10) }
    try await box.run("ticket", "issue", "-r", "d", "s3://bucket/p", "-o", "t.jsonl").expectSuccess()
    let refused = { (key: String) in Fault(.init(key: key), .error(status: 403, code: "AccessDenied")) }
    for command in ["show", "finish", "revoke"] {
      box.fake.setFaults([refused("p/a"), Fault(.init(key: "p/b"), .error(status: 404, code: "NoSuchBucket"))])
      let several = try await box.run("ticket", command, "t.jsonl", "--json")
      #expect(several.status == 1 && several.errors.hasSuffix("tickets failed\n"), "\(several.errors)")
      for exit in [69, 77] {
        #expect(several.lines.count { $0.contains(#""event":"failed""#) && $0.contains(#""exit":\#(exit),"#) } == 1)
      }
      box.fake.setFaults(["p/a", "p/b", "p/c"].map(refused))
      #expect(try await box.run("ticket", command, "t.jsonl").status == 77)
    }
  }

  @Test("the tickets of a folder are not for one of its files, nor for a part of them, and the messages say so")
  func ofFolder() async throws {
    let box = try BlackBox()
    for name in ["a", "b"] { try box.sample("d/" + name, 10) }
    try await box.run("ticket", "issue", "-r", "d", "s3://bucket/p", "-o", "t.jsonl").expectSuccess()
    let other = box.stranger
    try await other.run("put", "d/a", "--ticket", "t.jsonl")
      .expectFailure(78, "has several tickets", "\nUpload the folder")
    for more in [[], ["--failed-to", "list"]] {
      try await other.run(["put", "d", "--ticket", "t.jsonl", "--shard", "1/2"] + more)
        .expectFailure(64, "--shard is not for a folder", "\nLeave it out: it is for the ticket of one file")
    }
  }

  @Test("a file below --min-size is not sent by its ticket, as it is not sent without one")
  func leastSize() async throws {
    let box = try BlackBox()
    for (name, size) in [("d/a", 0), ("d/b", 10)] { try box.sample(name, size) }
    try await box.run("ticket", "issue", "-r", "d", "s3://bucket/p", "-o", "t.jsonl").expectSuccess()
    let result = try await box.stranger.run("put", "d", "--ticket", "t.jsonl", "--min-size", "1")
    #expect(result.status == 65 && result.errors.contains("failed: d/a"), "\(result.output) \(result.errors)")
    #expect(box.fake.object("p/a") == nil && box.fake.object("p/b") != nil)
  }

  @Test("no ticket is issued for the folder of s3up's state, and none is begun for a name that no ticket can have")
  func unnamed() async throws {
    let box = try BlackBox()
    try box.sample("d/a", 10)
    let state = ["--state-dir", "d/state"]
    try await box.run(["ticket", "issue", "d/a", "s3://bucket/a", "-o", "first.json"] + state).expectSuccess()
    #expect(try FileManager.default.subpathsOfDirectory(atPath: box.files.path("d/state")).count > 0)
    let issued = try await box.run(["ticket", "issue", "-r", "d", "s3://bucket/p", "-o", "t.jsonl"] + state)
    #expect(issued.status == 0 && issued.output.contains(" for 1 file in "), "\(issued.output) \(issued.errors)")
    let before = box.fake.requests(.createMultipartUpload).count
    try await box.shell("mkdir e && printf x >\"$(printf 'e/\\344')\"").expectSuccess()
    try await box.run("ticket", "issue", "-r", "e", "s3://bucket/p", "-o", "e.jsonl")
      .expectFailure(64, "a ticket cannot name this file, because its name is not UTF-8", "ename it, or leave it out")
    #expect(box.fake.requests(.createMultipartUpload).count == before)
  }

  @Test("the tickets of a folder are renewed and revoked together")
  func folderSteps() async throws {
    let box = try BlackBox()
    try FileManager.default.createDirectory(atPath: box.files.path("d"), withIntermediateDirectories: true)
    for index in 0..<3 { try box.sample("d/\(index)", 9) }
    try await box.run("ticket", "issue", "-r", "d", "s3://bucket/p", "-o", "t.json", "--expires", "1s").expectSuccess()
    try await Task.sleep(for: .seconds(2))
    let other = box.stranger
    #expect(try await other.run("put", "d", "--ticket", "t.json").status == 77)
    let renewed = try await box.run("ticket", "renew", "t.json")
    #expect(renewed.output.hasPrefix("renewed t.json: 3 tickets"), "\(renewed.output) \(renewed.errors)")
    let page = try await box.run("ticket", "renew", "t.json", "--format", "html", "-o", "page.html")
    #expect(page.status == 64 && page.errors.contains("is for one ticket"), "\(page.errors)")
    #expect(access(box.files.path("page.html"), F_OK) != 0)
    let revoked = try await other.run("ticket", "revoke", "t.json")
    #expect(revoked.lines.count == 3, "\(revoked.output) \(revoked.errors)")
    #expect(box.fake.unfinishedUploads.isEmpty)
    let late = try await other.run("ticket", "finish", "t.json")
    #expect(late.status == 69 && late.errors.contains("3 of 3 tickets"), "\(late.errors)")
  }

  @Test(
    "a ticket of a batch names a file below the folder, and no other is sent",
    arguments: ["../secret", "/etc/hostname", "link", "loop/secret", "sub//x", "."])
  func batchEscapes(_ name: String) async throws {
    let box = try BlackBox()
    try FileManager.default.createDirectory(atPath: box.files.path("d"), withIntermediateDirectories: true)
    try box.sample("d/a", 9)
    try box.sample("secret", 9)
    try FileManager.default.createSymbolicLink(
      atPath: box.files.path("d/link"), withDestinationPath: box.files.path("secret"))
    try FileManager.default.createSymbolicLink(atPath: box.files.path("d/loop"), withDestinationPath: "..")
    try await box.run("ticket", "issue", "-r", "d", "s3://bucket/p", "-o", "t.json").expectSkips()
    try box.edit("t.json") { $0 = $0.replacingOccurrences(of: "\"file\":\"a\"", with: "\"file\":\"\(name)\"") }
    let result = try await box.stranger.run("put", "d", "--ticket", "t.json")
    #expect(result.status == 66 || result.status == 78, "\(result.status ?? -1) \(result.errors)")
    #expect(box.fake.requests(.uploadPart).isEmpty && box.fake.objectCount == 0)
  }

  @Test("if one of many tickets cannot be issued, no upload is left")
  func batchFails() async throws {
    let box = try BlackBox(
      faults: [Fault(.init(.createMultipartUpload, from: 3), .error(status: 403, code: "AccessDenied", message: nil))])
    try FileManager.default.createDirectory(atPath: box.files.path("d"), withIntermediateDirectories: true)
    for index in 0..<5 { try box.sample("d/\(index)", 9) }
    let result = try await box.run("ticket", "issue", "-r", "d", "s3://bucket/p", "-o", "t.json")
    result.expectFailure(77, "have been aborted")
    #expect(box.fake.unfinishedUploads.isEmpty)
    // Where none can be aborted, both things to do are named.
    box.fake.setFaults([
      Fault(.init(.createMultipartUpload, from: 3), .error(status: 403, code: "AccessDenied")),
      Fault(.init(.abortMultipartUpload), .error(status: 403, code: "AccessDenied")),
    ])
    try await box.run("ticket", "issue", "-r", "d", "s3://bucket/p", "-o", "t.json")
      .expectFailure(77, "could not be aborted", "s3:PutObject", "then s3up uploads s3://bucket lists them")
    #expect(!FileManager.default.fileExists(atPath: box.files.path("t.json")))
  }
}

extension ChildProcess.Result {
  /// Expects that omitted files are reported.
  fileprivate func expectSkips(_ at: SourceLocation = #_sourceLocation) {
    #expect(status == 0 && errors.contains("a symbolic link"), "\(errors)", sourceLocation: at)
  }
}
