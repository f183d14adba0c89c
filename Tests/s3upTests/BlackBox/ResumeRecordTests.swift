import Foundation
import MultipartBasics
import Testing

@testable import MultipartCore
@testable import Support

/// The record on disk, and the lock next to it.
@Suite(.crowd) struct ResumeRecordTests {
  /// Refuses the third part until the test removes the fault.
  private static let busy = Fault(.init(.uploadPart, partNumber: 3), .error(status: 503, code: "SlowDown"))

  private func running(_ box: BlackBox) async throws -> ChildProcess {
    box.fake.setFaults([Self.busy])
    let child = try box.start(StoppedUpload.words + ["--concurrency", "1", "--retries", "1000"])
    #expect(await box.fake.wait { $0.contains { $0.partNumber == 3 } })
    return child
  }

  @Test("The parts in a record are called recorded, because the store may have more; its file is named from the root")
  func listed() async throws {
    let stopped = try await StoppedUpload()
    let recorded = try await stopped.box.run("uploads").output
    #expect(recorded.contains("  2 parts recorded  10 MiB  \(stopped.uploadID)  "), "\(recorded)")
    #expect(recorded.contains("from \(stopped.box.files.path("f"))"), "\(recorded)")
    let there = try await stopped.box.run("uploads", "s3://bucket").output
    #expect(there.contains("  2 parts  10 MiB  \(stopped.uploadID)  "), "\(there)")
  }

  @Test("an upload under another customer key is not resumed, because no key could read an object of both")
  func customerKey() async throws {
    let box = try BlackBox()
    try box.files.write([UInt8](repeating: 1, count: 32), to: "k1")
    try box.files.write([UInt8](repeating: 2, count: 32), to: "k2")
    let stopped = try await StoppedUpload(box, options: ["--sse-c-key-file", "k1"])
    let other = try await stopped.again("--sse-c-key-file", "k2")
    #expect(other.result.status == 0 && other.sent == [1, 2, 3, 4, 5], "\(other.result.errors)")
    #expect(other.result.errors.contains("created with other options"), "\(other.result.errors)")
    #expect(box.fake.unfinishedUploads.isEmpty)
    let same = try await StoppedUpload(try BlackBox(), options: ["--sse-c-key-file", box.files.path("k1")])
    try same.expectDone(await same.again("--sse-c-key-file", box.files.path("k1")))
  }

  @Test("a recorded upload is as old as the store's clock says before it is cleaned up")
  func age() async throws {
    let box = try BlackBox()
    box.fake.setClockOffset(-8 * 86_400)
    let stopped = try await StoppedUpload(box)
    let kept = try await box.run("uploads", "--clean", "--older-than", "7d")
    #expect(kept.status == 0 && kept.errors.contains("kept \(stopped.uploadID) of s3://bucket/k"), "\(kept.errors)")
    #expect(try kept.output.isEmpty && box.fake.unfinishedUploads.count == 1 && box.records().count == 1)
    // Nothing of that is an error.
    let quiet = try await box.run("uploads", "--clean", "--older-than", "7d", "-q")
    #expect(quiet.status == 0 && quiet.output.isEmpty && quiet.errors.isEmpty, "\(quiet.errors)")
    let shown = try await box.run("uploads", "--clean", "--older-than", "7d", "--dry-run")
    #expect(shown.errors.contains("kept \(stopped.uploadID) of s3://bucket/k"), "\(shown.errors)")
    #expect(shown.status == 0 && shown.output.isEmpty, "\(shown.output)")
    let would = try await box.run("uploads", "--clean", "--older-than", "1ms", "--dry-run")
    #expect(would.status == 0 && would.output.hasPrefix("would abort  "), "\(would.output) \(would.errors)")
    #expect(try box.fake.unfinishedUploads.count == 1 && box.records().count == 1)
    let done = try await box.run("uploads", "--clean", "--older-than", "1ms", "-q")
    #expect(done.status == 0 && done.output.isEmpty && done.errors.isEmpty, "\(done.output) \(done.errors)")
    #expect(try box.fake.unfinishedUploads.isEmpty && box.records().isEmpty)
  }

  @Test("A recorded upload of another store is not aborted, and a dry run says so", arguments: [[], ["--dry-run"]])
  func otherStore(_ dry: [String]) async throws {
    let box = try BlackBox()
    _ = try await StoppedUpload(box)
    let other = try BlackBox()
    let clean = ["uploads", "--clean", "--endpoint-url", other.fake.endpoint] + dry
    let result = try await box.run(clean)
    #expect(result.status == 64 && result.errors.contains("the upload is at "), "\(result.output) \(result.errors)")
    #expect(other.fake.requests(.listParts).isEmpty && box.fake.unfinishedUploads.count == 1)
    // With the uploads of two stores, each line says which one it is.
    #expect(try await !box.run("uploads").output.contains("at http"))
    let second = try await StoppedUpload(other)
    let record = try #require(try other.records().first)
    let name = (record as NSString).lastPathComponent
    try FileManager.default.copyItem(atPath: record, toPath: box.state + "/uploads/" + name)
    let lines = try await box.run("uploads").lines
    #expect(lines.contains { $0.contains("at \(box.fake.endpoint)  from") }, "\(lines)")
    #expect(
      lines.contains { $0.contains(second.uploadID) && $0.contains("at \(other.fake.endpoint)  from") }, "\(lines)")
  }

  @Test("A damaged record is named with what to do; its upload cannot be cleaned up, which is a failure")
  func damagedRecord() async throws {
    let box = try BlackBox()
    let stopped = try await StoppedUpload(box)
    let record = try #require(try box.records().first)
    try Data("nonsense".utf8).write(to: URL(fileURLWithPath: record))
    let listed = try await box.run("uploads")
    #expect(listed.status == 0 && listed.output.isEmpty, "\(listed.output)")
    #expect(
      listed.errors.contains("the record is damaged") && listed.errors.contains("\nRemove the file"), "\(listed.errors)"
    )
    try await box.run("uploads", "--clean").expectFailure(78, "the record is damaged", "Remove the file")
    #expect(box.fake.unfinishedUploads.map(\.id) == [stopped.uploadID])
    try FileManager.default.removeItem(atPath: record)
    let shown = try await box.run("uploads", "s3://bucket")
    #expect(shown.output.contains(stopped.uploadID) && shown.errors.isEmpty, "\(shown.errors)")
  }

  @Test(
    "A record that is removed while its run is working is written anew", arguments: ["the record", "its folder"],
    [false, true])
  func removedRecord(_ what: String, inTime: Bool) async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", StoppedUpload.size)
    let child = try await running(box)
    let record = try #require(try box.records().first)
    try FileManager.default.removeItem(atPath: what == "its folder" ? box.state : record)
    if inTime {
      // One more part, so that it is found before the end.
      box.fake.setFaults([Fault(.init(.uploadPart, partNumber: 4), .error(status: 503, code: "SlowDown"))])
      #expect(await box.fake.wait { $0.contains { $0.partNumber == 4 } })
    }
    child.signal(SIGTERM)
    #expect(await child.wait(timeout: .seconds(30)).status == 143)
    #expect(try box.records().count == 1)
    let before = box.fake.requests(.uploadPart).count
    box.fake.setFaults([])
    try await box.run(StoppedUpload.words).expectSuccess()
    #expect(box.fake.requests(.uploadPart).count - before == (inTime ? 2 : 3))
    #expect(box.fake.object("k")?.holds(bytes) == true && box.fake.unfinishedUploads.isEmpty)
  }

  @Test("--resume require begins no upload, and does not say that it does, if the store no longer has the recorded one")
  func requiredButGone() async throws {
    let box = try BlackBox()
    let stopped = try await StoppedUpload(box)
    var other = try BlackBox()
    other.environment = box.environment
    try await other.run("abort", "s3://bucket/k", "--upload-id", stopped.uploadID).expectSuccess()
    let result = try await box.run(StoppedUpload.words + ["--resume", "require"])
    #expect(result.status == 69 && result.errors.contains("the store no longer has the upload\n"), "\(result.errors)")
    #expect(box.fake.requests(.createMultipartUpload).count == 1)
  }

  @Test("While a run is working on an upload, no single step ends it", arguments: ["abort", "complete"])
  func stepsOfARunningUpload(_ step: String) async throws {
    let box = try BlackBox()
    try box.sample("f", StoppedUpload.size)
    let child = try await running(box)
    let id = try #require(box.fake.unfinishedUploads.first?.id)
    try await box.run(step, "s3://bucket/k", "--upload-id", id)
      .expectFailure(75, "a run is working on this upload (process \(child.pid))", "stop it first")
    box.fake.setFaults([])
    #expect(await child.wait(timeout: .seconds(60)).status == 0)
    #expect(box.fake.requests(.createMultipartUpload).count == 1 && box.fake.unfinishedUploads.isEmpty)
  }

  @Test("What --resume never has left is resumed without it, and its message says so")
  func neverResumed() async throws {
    let box = try BlackBox()
    try box.sample("f", StoppedUpload.size)
    box.fake.setFaults([Self.busy])
    let words = StoppedUpload.words + ["--concurrency", "1", "--retries", "1"]
    let first = try await box.run(words + ["--resume", "never"])
    first.expectFailure(75, "un it again without --resume never to resume: at least 2 of 5 parts")
    box.fake.setFaults([])
    let second = try await box.run(words)
    #expect(second.status == 0 && second.output.contains("resumed"), "\(second.output) \(second.errors)")
  }

  @Test("a second run for the same object is 75, and the first is not disturbed")
  func locked() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", StoppedUpload.size)
    let first = try await running(box)
    let second = try await box.run(StoppedUpload.words)
    second.expectFailure(75, "another run is uploading to this object", "process \(first.pid)", "--wait-lock")
    #expect(box.fake.requests(.createMultipartUpload).count == 1)
    #expect(box.fake.requests(.abortMultipartUpload).isEmpty)
    #expect(try box.records().count == 1)
    for place in [[], ["s3://bucket"]] {
      let listed = try await box.run(["uploads"] + place)
      #expect(listed.lines.count == 1 && listed.lines.allSatisfy { $0.hasSuffix("  (running)") }, "\(listed.output)")
      let cleaned = try await box.run(["uploads", "--clean"] + place)
      #expect(cleaned.status == 0 && cleaned.output.hasPrefix("running  "), "\(cleaned.output) \(cleaned.errors)")
    }
    box.fake.setFaults([])
    await first.wait().expectSuccess()
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.unfinishedUploads.map(\.id) == [])
  }

  @Test("--wait-lock waits for the first run, and then uploads")
  func waits() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", StoppedUpload.size)
    let first = try await running(box)
    let second = try box.start(StoppedUpload.words + ["--wait-lock"])
    #expect(await second.speaks())
    #expect(!second.ended)
    box.fake.setFaults([])
    await first.wait().expectSuccess()
    let result = await second.wait()
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors.contains("waiting for another run"), "\(result.errors)")
    #expect(box.fake.requests(.completeMultipartUpload).count == 2)
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("--wait-lock with a duration ends in 75 after it")
  func waitsSoLong() async throws {
    let box = try BlackBox()
    try box.sample("f", StoppedUpload.size)
    let first = try await running(box)
    let second = try await box.run(StoppedUpload.words + ["--wait-lock=1s"])
    #expect(second.status == 75 && second.seconds >= 1, "\(second.errors)")
    first.signal(SIGKILL)
    _ = await first.wait()
  }

  @Test("a run that waits for the lock ends at a signal and at its deadline", arguments: [SIGHUP, SIGINT, SIGTERM, 0])
  func waitIsInterrupted(_ signal: Int32) async throws {
    let box = try BlackBox()
    try box.sample("f", StoppedUpload.size)
    let first = try await running(box)
    let second = try box.start(StoppedUpload.words + ["--wait-lock"] + (signal == 0 ? ["--deadline", "1s"] : []))
    #expect(await second.speaks())
    if signal != 0 { second.signal(signal) }
    let result = await second.wait(timeout: .seconds(10))
    #expect(!result.timedOut)
    #expect(result.status == [SIGINT: 130, SIGTERM: 143, SIGHUP: 129, 0: 75][signal], "\(result.errors)")
    #expect(box.fake.requests(.createMultipartUpload).count == 1)
    #expect(!first.ended)
    first.signal(SIGKILL)
    _ = await first.wait()
  }

  @Test("--wait-lock resumes the upload of a run that is killed during the wait")
  func waitsForKilled() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", StoppedUpload.size)
    let first = try await running(box)
    let second = try box.start(StoppedUpload.words + ["--wait-lock"])
    #expect(await second.speaks())
    let before = box.fake.requests.count
    first.signal(SIGKILL)
    _ = await first.wait()
    box.fake.setFaults([])
    let result = await second.wait()
    #expect(result.status == 0, "\(result.errors)")
    #expect(Set(box.fake.partsSent(since: before)).isDisjoint(with: [1, 2]))
    #expect(box.fake.requests(.createMultipartUpload).count == 1)
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  /// A record that is cut off within its head is not one, and the upload counts as another client's.
  @Test(
    "with --resume adopt a record that is cut off anywhere loses nothing that the store has",
    arguments: [0, 1, 20, 100, 300, -1, -30])
  func torn(_ place: Int) async throws {
    let stopped = try await StoppedUpload()
    let path = try #require(try stopped.box.records().first)
    let size = try Data(contentsOf: URL(fileURLWithPath: path)).count
    #expect(truncate(path, off_t(place < 0 ? size + place : min(place, size))) == 0)
    stopped.box.fake.setClockOffset(90)
    try stopped.expectDone(try await stopped.again("--resume", "adopt"))
  }

  @Test("a part that only the store knew is recorded after comparison, so that a HEAD can find a lost completion")
  func wholeAgain() async throws {
    let stopped = try await StoppedUpload()
    let box = stopped.box
    let path = try #require(try box.records().first)
    // Only the head is left; the lines of both parts are gone.
    let head = try Data(contentsOf: URL(fileURLWithPath: path)).split(separator: UInt8(ascii: "\n")).prefix(2)
    #expect(truncate(path, off_t(head.reduce(0) { $0 + $1.count + 1 })) == 0)
    box.fake.setFaults([Fault(.init(.completeMultipartUpload), .stall(stage: .beforeAnswer))])
    let child = try box.start(StoppedUpload.words)
    let isThere = await box.fake.wait { _ in box.fake.objectCount == 1 }
    #expect(isThere)
    child.signal(SIGKILL)
    _ = await child.wait()
    box.fake.setFaults([])
    let (result, sent) = try await stopped.again()
    #expect(result.status == 0, "\(result.errors)")
    #expect(sent == [])
    #expect(box.fake.object("k")?.holds(stopped.bytes) == true)
    #expect(box.fake.unfinishedUploads.map(\.id) == [])
  }

  @Test("an upload whose create was in flight when the run was killed may be another machine's: the next run names it")
  func killedInCreate() async throws {
    let box = try BlackBox(faults: [Fault(.init(.createMultipartUpload), .stall(stage: .beforeAnswer))])
    let bytes = try box.sample("f", StoppedUpload.size)
    let child = try box.start(StoppedUpload.words)
    let isThere = await box.fake.wait { _ in box.fake.unfinishedUploads.count == 1 }
    #expect(isThere)
    child.signal(SIGKILL)
    _ = await child.wait()
    box.fake.setFaults([])
    let left = try #require(box.fake.unfinishedUploads.first?.id)
    let result = try await box.run(StoppedUpload.words)
    result.expectWarned("--upload-id='\(left)'")
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.unfinishedUploads.map(\.id) == [left])
  }

  @Test("an invalid record, or one with a part that never existed, does no harm")
  func nonsense() async throws {
    for text in ["nonsense\n", "\u{0}\u{0}\u{0}\u{0}", "s3up record 1 00000000\nupload\n"] {
      let stopped = try await StoppedUpload()
      let path = try #require(try stopped.box.records().first)
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      stopped.box.fake.setClockOffset(90)
      try stopped.expectDone(try await stopped.again("--resume", "adopt"))
    }
  }

  @Test("a record of an unknown version is 78 with a remedy, and nothing is touched")
  func unknownVersion() async throws {
    let stopped = try await StoppedUpload()
    let path = try #require(try stopped.box.records().first)
    let old = try Data(contentsOf: URL(fileURLWithPath: path))
    let head = RecordLine.write(["s3up", "record", "3"].map { Array($0.utf8) }).bytes
    let later = Data(head) + old.drop { $0 != UInt8(ascii: "\n") }.dropFirst()
    try later.write(to: URL(fileURLWithPath: path))
    let before = stopped.box.fake.requests.count
    try await stopped.box.run(StoppedUpload.words).expectFailure(78, "version 3", "remove the file")
    #expect(stopped.box.fake.requests.count == before)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == later)
    #expect(stopped.box.fake.unfinishedUploads.map(\.id) == [stopped.uploadID])
  }

  @Test("an unusable state folder is one warning, and the upload continues")
  func noStateFolder() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 11 * mebi)
    try box.files.write("a file", to: "state")
    for folder in ["state", "/proc/nowhere"] {
      let result = try await box.run(StoppedUpload.words + ["--state-dir", folder])
      result.expectWarned("could not be resumed")
      #expect(box.fake.object("k")?.holds(bytes) == true)
    }
  }

  @Test("without a record nothing is kept: after a failure the upload is aborted")
  func noRecordNoRest() async throws {
    let box = try BlackBox(faults: [Self.busy])
    try box.sample("f", StoppedUpload.size)
    let result = try await box.run(
      StoppedUpload.words + ["--state-dir", "/proc/nowhere", "--retries", "2", "--json"])
    #expect(result.status == 75)
    #expect(result.json["resumable"] as? Bool == false)
    box.expectNothingLeft()
  }

  @Test("a record and its folder are private, and contain no secret")
  func secrecy() async throws {
    let stopped = try await StoppedUpload()
    let path = try #require(try stopped.box.records().first)
    for (place, mode) in [(path, 0o600), (stopped.box.state + "/uploads", 0o700), (stopped.box.state, 0o700)] {
      #expect(try FileManager.default.attributesOfItem(atPath: place)[.posixPermissions] as? Int == mode)
    }
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.contains(stopped.uploadID))
    #expect(!text.contains(FakeCredential.standard.secret) && !text.contains(FakeCredential.standard.keyID))
  }
}

extension ChildProcess {
  /// Waits for the first output on standard error; false if the program ends without any, or is silent for long.
  fileprivate func speaks() async -> Bool {
    let end = ContinuousClock.now + .seconds(30)
    while stderr.isEmpty, !ended, ContinuousClock.now < end { await Task.yield() }
    return !stderr.isEmpty
  }
}
