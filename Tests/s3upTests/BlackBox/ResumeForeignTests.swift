import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support

/// Uploads of other clients under the same key, without a record on this machine, and `--resume adopt`.
@Suite(.crowd) struct ResumeForeignTests {
  private static let adopt = StoppedUpload.words + ["--resume", "adopt"]

  @Test("--clean asks for the list of uploads once, however many it aborts")
  func cleansFromOneList() async throws {
    let box = try BlackBox()
    try box.sample("f", StoppedUpload.size)
    for _ in 1...3 { _ = try await box.begin("f", parts: 1, ago: 600) }
    try await box.run("uploads", "s3://bucket", "--clean", "--all", "--older-than", "5m").expectSuccess()
    #expect(box.fake.unfinishedUploads.isEmpty)
    #expect(box.fake.requests(.abortMultipartUpload).count == 3)
    #expect(box.fake.requests(.listMultipartUploads).count == 1)
  }

  @Test("an upload is as old as the store's clock says, even if this machine's is days ahead")
  func agesByTheStore() async throws {
    let box = try BlackBox()
    box.fake.setClockOffset(-8 * 86_400)
    try await box.run("create", "s3://bucket/running").expectDone()
    let listed = try await box.run("uploads", "s3://bucket", "--json")
    #expect((listed.json["age_seconds"] as? Int).map { $0 < 3600 } == true, "\(listed.output)")
    try await box.run("uploads", "s3://bucket", "--clean", "--all", "--older-than", "7d").expectDone()
    #expect(box.fake.unfinishedUploads.count == 1 && box.fake.requests(.abortMultipartUpload).isEmpty)
  }

  @Test("a plain put never resumes another client's upload, even if its parts match the file: it begins its own")
  func notByDefault() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", StoppedUpload.size)
    let id = try await box.begin("f", parts: 3, ago: 600, options: ["--acl", "public-read", "--metadata", "a=b"])
    let before = box.fake.requests.count
    let result = try await box.run(StoppedUpload.words + ["--json"])
    result.expectWarned("s3up abort s3://bucket/k --upload-id='\(id)'")
    #expect(box.fake.partsSent(since: before) == [1, 2, 3, 4, 5])
    #expect(result.json["bytes_resumed"] as? Int == 0)
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.object("k")?.uploadID != id)
    #expect(box.fake.object("k")?.headers["x-amz-acl"] == nil)
    box.expectUntouched(id, parts: 3, since: before)
  }

  @Test("an upload that this machine has begun at another address of the store is named, with --resume adopt")
  func otherAddress() async throws {
    var stopped = try await StoppedUpload()
    let first = stopped.box.fake.endpoint
    stopped.moveToOtherAddress()
    let listed = try await stopped.box.run("uploads", "s3://bucket")
    #expect(listed.output.contains("started at \(first); resume it here with put --resume adopt"), "\(listed.output)")
    let result = try await stopped.box.run(StoppedUpload.words)
    result.expectWarned("begun upload \(stopped.uploadID) of this key at another address of this store, \(first)")
    #expect(result.errors.contains("--resume adopt"), "\(result.errors)")
  }

  @Test("the warning about another client's upload says how to continue that one, and that works")
  func continued() async throws {
    let box = try BlackBox(faults: [Fault(.init(.uploadPart, partNumber: 4), .stall(stage: .beforeBody))])
    let bytes = try box.sample("f", StoppedUpload.size)
    let id = try await box.begin("f", parts: 3, ago: 600)
    let child = try box.start(StoppedUpload.words)
    #expect(await child.says("stop this run, abort the upload that it began, and run it again with --resume adopt"))
    child.signal(SIGTERM)
    #expect(await child.wait().status == 143)
    box.fake.setFaults([])
    #expect(try await box.run("uploads", "s3://bucket/k", "--clean").output.hasPrefix("aborted"))
    try await box.run(Self.adopt).expectSuccess()
    #expect(box.fake.object("k")?.uploadID == id && box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.unfinishedUploads.map(\.id) == [])
  }

  @Test("with --resume adopt an abandoned upload whose parts match the file is adopted")
  func adopted() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", StoppedUpload.size)
    let id = try await box.begin("f", parts: 3, ago: 120)
    let before = box.fake.requests.count
    let result = try await box.run(Self.adopt + ["--json"])
    result.expectSuccess()
    #expect(box.fake.partsSent(since: before) == [4, 5])
    #expect(result.json["bytes_resumed"] as? Int == 15 * mebi)
    #expect(result.json["bytes_sent"] as? Int == bytes.count - 15 * mebi)
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.object("k")?.uploadID == id)
    #expect(box.fake.unfinishedUploads.map(\.id) == [])
  }

  @Test(
    "a run waits if a part of the upload was just sent; a message says so, and a signal ends the wait at once")
  func stoppedWhileWaiting() async throws {
    let box = try BlackBox()
    try box.sample("f", StoppedUpload.size)
    let id = try await box.begin("f", parts: 3, ago: 0)
    let before = box.fake.requests.count
    let child = try box.start(Self.adopt)
    #expect(await child.says("waiting"))
    child.signal(SIGTERM)
    let (sent, lag) = (ContinuousClock.now, Lag())
    let result = await child.wait()
    #expect(result.endedAt - sent - lag.sofar < .seconds(5))
    #expect(result.status == 143, "\(result.errors)")
    #expect(result.errors.contains(id), "\(result.errors)")
    #expect(box.fake.objectCount == 0)
    box.expectUntouched(id, parts: 3, since: before)
  }

  @Test("--deadline ends the wait too")
  func deadline() async throws {
    let box = try BlackBox()
    try box.sample("f", StoppedUpload.size)
    let id = try await box.begin("f", parts: 3, ago: 0)
    let before = box.fake.requests.count
    let result = try await box.run(Self.adopt + ["--deadline", "3s"])
    #expect(result.status == 75, "\(result.errors)")
    box.expectUntouched(id, parts: 3, since: before)
  }

  @Test(
    "with options for the object no upload is adopted, because its own options are unknown, and a message says so",
    arguments: [
      ["--sse", "AES256"], ["--acl", "private"], ["--metadata", "a=b"], ["--tag", "a=b"],
      ["--content-type", "text/plain"],
      ["--cache-control", "no-cache"], ["--storage-class", "STANDARD_IA"], ["--legal-hold", "on"],
    ])
  func asksForMore(_ options: [String]) async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", StoppedUpload.size)
    let id = try await box.begin("f", parts: 3, ago: 120)
    let before = box.fake.requests.count
    let result = try await box.run(Self.adopt + ["--json"] + options)
    #expect(result.status == 0)
    #expect(result.errors.contains("cannot be seen"), "\(result.errors)")
    #expect(result.json["bytes_resumed"] as? Int == 0)
    #expect(box.fake.object("k")?.holds(bytes) == true)
    box.expectUntouched(id, parts: 3, since: before)
  }

  @Test("another file's upload is neither touched nor used", arguments: [5 * mebi, 6 * mebi])
  func another(_ size: Int) async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", StoppedUpload.size)
    try box.sample("g", StoppedUpload.size, seed: 7)
    let id = try await box.begin("g", parts: 2, size: size, ago: 120)
    let before = box.fake.requests.count
    let result = try await box.run(Self.adopt + ["--json"])
    result.expectWarned("--upload-id='\(id)'")
    #expect(result.json["bytes_resumed"] as? Int == 0)
    #expect(result.json["bytes_sent"] as? Int == bytes.count)
    #expect(box.fake.object("k")?.holds(bytes) == true)
    box.expectUntouched(id, parts: 2, since: before)
  }

  @Test("parts of an adopted upload are completed with the checksum that the upload carries", arguments: 1...4)
  func adoptedChecksum(_ run: Int) async throws {
    let stopped = try await StoppedUpload(options: ["--checksum", "sha256"])
    try stopped.loseRecord()
    let again = try await stopped.again("--resume", "adopt")
    try stopped.expectDone(again)
    #expect((again.result.json["evidence"] as? String)?.contains("SHA256") == true, "\(again.result.output)")
  }

  @Test("an upload without parts is not adopted, because nothing shows which file it is for")
  func empty() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", StoppedUpload.size)
    let id = try await box.begin("f", parts: 0, ago: 120)
    let before = box.fake.requests.count
    try await box.run(Self.adopt).expectWarned("--upload-id='\(id)'")
    #expect(box.fake.object("k")?.holds(bytes) == true)
    box.expectUntouched(id, parts: 0, since: before)
  }

  @Test("an upload with one different part is left alone, none of it counts as resumed; an older one is adopted")
  func mixed() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", StoppedUpload.size)
    try box.sample("g", StoppedUpload.size, seed: 7)
    let older = try await box.begin("f", parts: 2, ago: 300)
    let newer = try await box.begin("f", parts: 2, ago: 200) { id in
      try await box.run(
        "part", "g", "s3://bucket/k", "--upload-id", id, "--part", "2", "--offset", String(5 * mebi), "--length",
        String(5 * mebi)
      ).expectDone()
    }
    let before = box.fake.requests.count
    let result = try await box.run(Self.adopt + ["--json"])
    result.expectWarned("--upload-id='\(newer)'")
    #expect(box.fake.partsSent(since: before) == [3, 4, 5])
    #expect(result.json["bytes_resumed"] as? Int == 10 * mebi)
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.object("k")?.uploadID == older)
    #expect(box.fake.unfinishedUploads.map(\.id) == [newer])
  }

  @Test("compared parts of an upload that is not adopted do not count as resumed")
  func notResumed() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", StoppedUpload.size)
    try box.sample("g", StoppedUpload.size, seed: 7)
    let id = try await box.begin("f", parts: 4, ago: 200) { id in
      try await box.run(
        "part", "g", "s3://bucket/k", "--upload-id", id, "--part", "4", "--offset", String(15 * mebi), "--length",
        String(5 * mebi)
      ).expectDone()
    }
    let result = try await box.run(Self.adopt + ["--json=all"])
    #expect(result.status == 0, "\(result.errors)")
    #expect(!result.output.contains("\"event\":\"resumed\""))
    #expect(result.output.contains("\"bytes_resumed\":0,"), "\(result.output)")
    #expect(result.output.contains("\"bytes_sent\":\(bytes.count),"), "\(result.output)")
    #expect(box.fake.unfinishedUploads.map(\.id) == [id])
  }

  @Test("a longer key with the same beginning is another object, and is not named")
  func longerKey() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", StoppedUpload.size)
    let created = try await box.run("create", "s3://bucket/k2")
    let id = try #require(created.lines.first)
    try await box.run(
      "part", "f", "s3://bucket/k2", "--upload-id", id, "--part", "1", "--length", String(5 * mebi)
    ).expectDone()
    try await box.run(Self.adopt).expectSuccess()
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.unfinishedUploads.map(\.id) == [id])
  }

  @Test("if the store forbids the list, a new upload begins; a message says so only with --resume adopt")
  func forbidden() async throws {
    let box = try BlackBox(faults: [
      Fault(.init(.listMultipartUploads), .error(status: 403, code: "AccessDenied"))
    ])
    let bytes = try box.sample("f", 11 * mebi)
    try await box.run(StoppedUpload.words).expectSuccess()
    #expect(box.fake.object("k")?.holds(bytes) == true)
    try await box.run(Self.adopt).expectWarned("could not be listed")
  }

  @Test("a killed upload is resumed on another machine with --resume adopt, a minute after the last part")
  func otherMachine() async throws {
    let stopped = try await StoppedUpload()
    stopped.box.fake.setClockOffset(90)
    let other = try S3upBinary()
    let result = try await other.run(
      Self.adopt, environment: stopped.box.environment, directory: stopped.box.files.path)
    result.expectSuccess()
    #expect(stopped.box.fake.object("k")?.uploadID == stopped.uploadID)
    #expect(stopped.box.fake.object("k")?.holds(stopped.bytes) == true)
    #expect(stopped.box.fake.unfinishedUploads.map(\.id) == [])
    // The first machine's record is of an upload that no longer exists.
    let again = try await stopped.again()
    #expect(again.result.status == 0 && again.result.errors.contains("starting a new one"), "\(again.result.errors)")
    #expect(try stopped.box.records() == [])
  }

  @Test("two machines that upload to one key at once both succeed, each with its own upload")
  func twoMachines() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", StoppedUpload.size)
    box.fake.setFaults([Fault(.init(.uploadPart, partNumber: 3, nth: 1), .stall(stage: .beforeBody))])
    let first = try box.start(Self.adopt + ["--concurrency", "1", "--stall-timeout", "20s"])
    #expect(await box.fake.wait { $0.contains { $0.partNumber == 3 } })
    let id = try #require(box.fake.unfinishedUploads.first?.id)
    let other = try S3upBinary()
    let second = try await other.run(StoppedUpload.words, environment: box.environment, directory: box.files.path)
    second.expectWarned("--upload-id='\(id)'")
    #expect(box.fake.object("k")?.uploadID != id)
    let result = await first.wait(timeout: .seconds(100))
    #expect(result.status == 0, "\(result.errors)")
    #expect(box.fake.object("k")?.uploadID == id)
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.requests(.abortMultipartUpload).isEmpty)
    #expect(box.fake.unfinishedUploads.map(\.id) == [])
  }

  @Test("of forty uploads one is named, with the command that lists the others")
  func many() async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    for _ in 0..<40 { box.fake.beginUpload("k") }
    let first = try #require(box.fake.unfinishedUploads.first?.id)
    let result = try await box.run(StoppedUpload.words)
    result.expectWarned("--upload-id=\(first)")
    #expect(result.errors.contains("39 more: s3up uploads s3://bucket/k"), "\(result.errors)")
    #expect(box.fake.unfinishedUploads.count == 40)
  }

  @Test("of 300 uploads the eight newest are examined, and a message says so")
  func eightOfMany() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", StoppedUpload.size)
    for _ in 0..<299 { box.fake.beginUpload("k", ago: 4000) }
    let id = try await box.begin("f", parts: 2, ago: 300)
    let before = box.fake.requests.count
    let result = try await box.run(Self.adopt)
    #expect(result.status == 0)
    #expect(result.errors.contains("examined the 8 newest of 300 unfinished uploads"), "\(result.errors)")
    #expect(box.fake.object("k")?.uploadID == id)
    #expect(box.fake.object("k")?.holds(bytes) == true)
    let lists = box.fake.requests.dropFirst(before).filter { $0.operation == .listParts }
    #expect(Set(lists.map(\.uploadID)).count == 8)
    #expect(lists.count == 9)
  }

  @Test("an upload whose list of parts is invalid is ignored after three tries, and no other waits for it")
  func nonsense() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", StoppedUpload.size)
    let id = try await box.begin("f", parts: 2, ago: 300)
    box.fake.setFaults([Fault(.init(.listParts), .garbage())])
    let before = box.fake.requests.count
    let result = try await box.run(Self.adopt)
    #expect(result.status == 0)
    #expect(result.errors.contains("examined none of 1 unfinished upload"), "\(result.errors)")
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.requests.dropFirst(before).count { $0.operation == .listParts } == 3)
    box.expectUntouched(id, parts: 2, since: before)
  }
}

extension ChildProcess {
  /// Waits for these words on standard error; false if the child ends without them.
  func says(_ words: String) async -> Bool {
    while !String(decoding: stderr, as: UTF8.self).contains(words) {
      if ended { return String(decoding: stderr, as: UTF8.self).contains(words) }
      try? await Task.sleep(for: .milliseconds(3))
    }
    return true
  }
}

extension BlackBox {
  /// Begins an upload of `name` as another machine would, this many seconds ago, with its first parts.
  func begin(
    _ name: String, parts: Int, size: Int = 5 * mebi, ago: Int64, options: [String] = [],
    then: (_ id: String) async throws -> Void = { _ in }
  ) async throws -> String {
    fake.setClockOffset(-ago)
    defer { fake.setClockOffset(0) }
    let created = try await run(["create", "s3://bucket/k"] + options)
    let id = try #require(created.lines.first)
    for number in 1..<parts + 1 {
      try await run(
        "part", name, "s3://bucket/k", "--upload-id", id, "--part", String(number), "--offset",
        String((number - 1) * size), "--length", String(size)
      ).expectDone()
    }
    try await then(id)
    return id
  }

  /// Expects that the upload has not changed, and that nothing was sent to it.
  func expectUntouched(_ id: String, parts: Int, since: Int, where location: SourceLocation = #_sourceLocation) {
    let upload = fake.unfinishedUploads.first { $0.id == id }
    #expect(upload?.parts.count == parts, sourceLocation: location)
    #expect(fake.unfinishedUploads.count == 1, sourceLocation: location)
    let writes = fake.requests.dropFirst(since).filter { $0.operation != .listParts && $0.uploadID == id }
    #expect(writes.isEmpty, sourceLocation: location)
  }
}
