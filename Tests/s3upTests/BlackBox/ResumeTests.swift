import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support

@Suite(.crowd) struct ResumeTests {
  @Test("after SIGKILL the same command resumes and sends nothing again", arguments: [false, true])
  func killed(secure: Bool) async throws {
    let stopped = try await StoppedUpload(try BlackBox(secure: secure))
    try stopped.box.expectKept()
    let before = stopped.box.fake.requests.count
    try stopped.expectDone(try await stopped.again())
    let later = stopped.box.fake.requests.dropFirst(before)
    #expect(!later.contains { [.createMultipartUpload, .abortMultipartUpload].contains($0.operation) })
    #expect(later.allSatisfy { $0.uploadID == nil || $0.uploadID == stopped.uploadID })
  }

  @Test("killed again and again, it still finishes, with each part sent completely once")
  func again() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", StoppedUpload.size)
    for part in 2...5 {
      box.fake.setFaults([Fault(.init(.uploadPart, partNumber: part), .stall(stage: .withinBody))])
      let child = try box.start(StoppedUpload.words + ["--concurrency", "1"])
      #expect(await box.fake.wait { $0.contains { $0.partNumber == part } })
      child.signal(SIGKILL)
      _ = await child.wait()
    }
    try await box.expectResumes(StoppedUpload.words, to: bytes)
    let whole = box.fake.requests(.uploadPart).filter { $0.status == 200 }.compactMap(\.partNumber)
    #expect(whole.sorted() == [1, 2, 3, 4, 5])
  }

  @Test("without a record --resume adopt finds the upload at the store")
  func noRecord() async throws {
    let stopped = try await StoppedUpload()
    try stopped.loseRecord()
    try stopped.expectDone(try await stopped.again("--resume", "adopt"))
    #expect(stopped.box.fake.requests(.createMultipartUpload).count == 1)
  }

  @Test("--resume never aborts the old upload and begins a new one")
  func never() async throws {
    let stopped = try await StoppedUpload()
    let again = try await stopped.again("--resume", "never")
    try stopped.expectDone(again, sent: [1, 2, 3, 4, 5], resumed: 0, says: "--resume never")
    #expect(stopped.box.fake.requests(.abortMultipartUpload).map(\.uploadID) == [stopped.uploadID])
  }

  @Test("--resume require and adopt resume the recorded upload, however recent it is", arguments: ["require", "adopt"])
  func recorded(mode: String) async throws {
    let stopped = try await StoppedUpload()
    try stopped.expectDone(try await stopped.again("--resume", mode))
  }

  @Test(
    "--resume require is 69 without a record, whatever uploads the store has, and begins nothing",
    arguments: [true, false])
  func requireNone(isForeign: Bool) async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    if isForeign { _ = try await box.begin("f", parts: 2, ago: 120) }
    let before = box.fake.requests(.createMultipartUpload).count
    try await box.run(StoppedUpload.words + ["--resume", "require"])
      .expectFailure(69, "no record of an unfinished upload", "--resume adopt")
    #expect(box.fake.objectCount == 0)
    #expect(box.fake.unfinishedUploads.count == (isForeign ? 1 : 0))
    #expect(box.fake.requests(.createMultipartUpload).count == before)
    #expect(try box.records() == [])
  }

  @Test(
    "--resume require is 69 for a file or stream that one request sends, and sends nothing: there is nothing to resume")
  func requireSmall() async throws {
    let box = try BlackBox()
    try box.sample("small", 1000)
    try await box.run("put", "small", "s3://bucket/small", "--resume", "require")
      .expectFailure(69, "no record of an unfinished upload")
    let short = ["put", "-", "s3://bucket/small", "--resume", "require"]
    try await box.run(short, input: .bytes([1, 2])).expectFailure(69, "no record of an unfinished upload")
    #expect(box.fake.objectCount == 0)
    #expect(box.fake.requests(.putObject).isEmpty)
  }

  @Test("a plain run looks for no upload before it begins its own; while sending it lists the others once")
  func noLookFirst() async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    try await box.run(StoppedUpload.words).expectSuccess()
    #expect(box.fake.requests.first?.operation == .createMultipartUpload)
    #expect(box.fake.requests(.listMultipartUploads).count == 1)
    try box.sample("small", 1000)
    let before = box.fake.requests.count
    try await box.run("put", "small", "s3://bucket/small").expectSuccess()
    #expect(box.fake.requests.count == before + 1)
  }

  @Test("a list of the others that never arrives delays nothing, and a refused one is not reported")
  func noOthers() async throws {
    for action in [Fault.Action.stall(stage: .beforeAnswer), .error(status: 500, code: "InternalError"), .garbage()] {
      let box = try BlackBox(faults: [Fault(.init(.listMultipartUploads), action)])
      let bytes = try box.sample("f", 11 * mebi)
      try await box.run(StoppedUpload.words + ["--stall-timeout", "1h"]).expectSuccess()
      #expect(box.fake.object("k")?.holds(bytes) == true)
    }
  }

  @Test("the upload of a file that was touched or written again with the same bytes is resumed")
  func sameBytes() async throws {
    for isNew in [false, true] {
      let stopped = try await StoppedUpload()
      let path = stopped.box.files.path("f")
      if isNew {
        try FileManager.default.copyItem(atPath: path, toPath: path + ".new")
        guard rename(path + ".new", path) == 0 else { throw SystemError("rename") }
      } else {
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1e9)], ofItemAtPath: path)
      }
      // After another interruption it is found by its record.
      stopped.box.fake.setFaults([Fault(.init(.uploadPart, partNumber: 4), .stall(stage: .beforeBody))])
      let child = try stopped.box.start(StoppedUpload.words + ["--concurrency", "1"])
      #expect(await stopped.box.fake.wait { $0.contains { $0.partNumber == 4 } })
      child.signal(SIGKILL)
      _ = await child.wait()
      stopped.box.fake.setFaults([])
      try stopped.expectDone(try await stopped.again(), sent: [4, 5], resumed: 15 * mebi)
      #expect(stopped.box.fake.object("k")?.uploadID == stopped.uploadID)
    }
  }

  @Test(
    "if the source has changed between the runs, the old upload is aborted and one line says so",
    arguments: [SourceChange.rewritten, .grown, .truncated, .replaced])
  func sourceChanged(_ change: SourceChange) async throws {
    let stopped = try await StoppedUpload()
    try change.happen(to: stopped.box.files.path("f"))
    let bytes = try stopped.box.files.read("f")
    let again = try await stopped.again()
    #expect(again.result.status == 0, "\(again.result.errors)")
    #expect(again.result.errors.split(separator: "\n").count == 1, "\(again.result.errors)")
    #expect(again.result.errors.contains("the source differs from that of the unfinished upload"))
    #expect(again.result.json["bytes_resumed"] as? Int == 0)
    #expect(stopped.box.fake.object("k")?.holds(bytes) == true)
    #expect(stopped.box.fake.unfinishedUploads.map(\.id) == [])
    #expect(stopped.box.fake.requests(.abortMultipartUpload).map(\.uploadID) == [stopped.uploadID])
    #expect(try stopped.box.records() == [])
  }

  @Test("what an upload was created with cannot change: with other options a new one begins")
  func otherOptions() async throws {
    let stopped = try await StoppedUpload()
    let again = try await stopped.again("--metadata", "colour=blue")
    try stopped.expectDone(again, sent: [1, 2, 3, 4, 5], resumed: 0, says: "other options")
    #expect(stopped.box.fake.object("k")?.metadata == ["colour": "blue"])
    #expect(stopped.box.fake.requests(.abortMultipartUpload).map(\.uploadID) == [stopped.uploadID])
  }

  @Test("options that only affect the transfer resume the upload")
  func otherWay() async throws {
    let stopped = try await StoppedUpload()
    try stopped.expectDone(
      try await stopped.again("--concurrency", "3", "--retries", "4", "--stall-timeout", "20s", "--verify"))
  }

  @Test("another part size begins a new upload")
  func otherParts() async throws {
    let stopped = try await StoppedUpload()
    let again = try await stopped.again("--part-size", "8M")
    try stopped.expectDone(again, sent: [1, 2, 3], resumed: 0, says: "has a different part size")
  }

  /// Uploads in parts of 5 MiB, with a command that leaves their size to the program.
  private func freely(
    _ stopped: StoppedUpload, _ options: [String] = []
  ) async throws -> (result: ChildProcess.Result, sent: [Int]) {
    let before = stopped.box.fake.requests.count
    let result = try await stopped.box.run(["put", "f", "s3://bucket/k", "--json"] + options)
    return (result, stopped.box.fake.partsSent(since: before))
  }

  @Test("without a requested part size an upload is resumed with its own part size", arguments: [true, false])
  func ownParts(hasRecord: Bool) async throws {
    let stopped = try await StoppedUpload()
    if !hasRecord { try stopped.loseRecord() }
    try stopped.expectDone(try await freely(stopped, hasRecord ? [] : ["--resume", "adopt"]))
  }

  @Test("another upload with other parts is left alone, and this run uses its own part size")
  func foreignParts() async throws {
    let stopped = try await StoppedUpload()
    try stopped.loseRecord()
    let bytes = try stopped.box.sample("f", StoppedUpload.size, seed: 2)
    let (result, sent) = try await freely(stopped, ["--resume", "adopt"])
    #expect(result.status == 0, "\(result.errors)")
    #expect(sent == [1, 2, 3])
    #expect(stopped.box.fake.object("k")?.holds(bytes) == true)
    #expect(stopped.box.fake.unfinishedUploads.map(\.id) == [stopped.uploadID])
  }

  @Test("if the store no longer has the upload, a new one begins, and one line says so")
  func gone() async throws {
    let stopped = try await StoppedUpload()
    stopped.box.fake.dropUpload(stopped.uploadID)
    let again = try await stopped.again()
    try stopped.expectDone(
      again, sent: [1, 2, 3, 4, 5], resumed: 0, says: "the store no longer has the upload: starting a new one")
  }

  @Test("a part that the store has lost is sent again")
  func lostPart() async throws {
    let stopped = try await StoppedUpload()
    stopped.box.fake.dropPart(1, of: stopped.uploadID)
    try stopped.expectDone(try await stopped.again(), sent: [1, 3, 4, 5], resumed: 5 * mebi)
  }

  @Test("a part at the store that does not match the file is sent again", arguments: [5 * mebi, 1000])
  func otherPart(_ size: Int) async throws {
    let stopped = try await StoppedUpload()
    try stopped.box.sample("other", size, seed: 99)
    try await stopped.box.run(
      "part", "other", "s3://bucket/k", "--upload-id", stopped.uploadID, "--part", "1", "--checksum", "crc64nvme"
    ).expectDone()
    let again = try await stopped.again()
    #expect(again.result.status == 0, "\(again.result.errors)")
    #expect(stopped.box.fake.object("k")?.holds(stopped.bytes) == true)
    #expect(stopped.box.fake.unfinishedUploads.map(\.id) == [])
    // A part of another length means an upload of another file, of which nothing is used.
    #expect(again.sent == (size == 1000 ? [1, 2, 3, 4, 5] : [1, 3, 4, 5]))
  }

  @Test("an object completed from an older state of the file is no proof for its present state")
  func completedBefore() async throws {
    let box = try BlackBox(faults: [Fault(.init(.completeMultipartUpload), .stall(stage: .beforeAnswer))])
    try box.sample("f", StoppedUpload.size)
    let child = try box.start(StoppedUpload.words)
    #expect(await box.fake.wait { $0.contains { $0.operation == .completeMultipartUpload } })
    #expect(await box.fake.wait { _ in box.fake.objectCount == 1 })
    child.signal(SIGKILL)
    _ = await child.wait()
    box.fake.setFaults([])
    let bytes = try box.sample("f", StoppedUpload.size, seed: 5)
    let again = try await box.run(StoppedUpload.words + ["--json"])
    #expect(again.status == 0, "\(again.errors)")
    #expect(again.json["bytes_resumed"] as? Int == 0)
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(try box.records() == [])
  }

  @Test("if the upload was completed when the process was killed, a HEAD finds the object, and nothing is sent")
  func completed() async throws {
    let box = try BlackBox(faults: [Fault(.init(.completeMultipartUpload), .stall(stage: .beforeAnswer))])
    let bytes = try box.sample("f", StoppedUpload.size)
    let child = try box.start(StoppedUpload.words)
    #expect(await box.fake.wait { $0.contains { $0.operation == .completeMultipartUpload } })
    let isThere = await box.fake.wait { _ in box.fake.objectCount == 1 }
    #expect(isThere)
    child.signal(SIGKILL)
    _ = await child.wait()
    #expect(try box.records().count == 1)
    box.fake.setFaults([])
    let before = box.fake.requests.count
    let result = try await box.run(StoppedUpload.words + ["--json"])
    result.expectSuccess()
    #expect((result.json["evidence"] as? String)?.contains("CRC64NVME") == true)
    #expect(result.json["bytes_sent"] as? Int == 0)
    #expect(result.json["bytes_resumed"] as? Int == bytes.count)
    // The upload that is gone is aborted anyway: a store that only lost sight of it would keep its parts.
    let operations = box.fake.requests.dropFirst(before).map(\.operation)
    #expect(operations == [.listParts, .headObject, .abortMultipartUpload])
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(try box.records() == [])
  }

  @Test("another object of the same size is not taken for the result of an upload that is gone")
  func notCompleted() async throws {
    let box = try BlackBox(faults: [Fault(.init(.completeMultipartUpload), .stall(stage: .beforeBody))])
    let bytes = try box.sample("f", StoppedUpload.size)
    let child = try box.start(StoppedUpload.words)
    #expect(await box.fake.wait { $0.contains { $0.operation == .completeMultipartUpload } })
    child.signal(SIGKILL)
    _ = await child.wait()
    box.fake.setFaults([])
    box.fake.dropUpload(try #require(box.fake.unfinishedUploads.first?.id))
    box.fake.putObject("k", bytes: [UInt8](repeating: 1, count: bytes.count))
    let result = try await box.run(StoppedUpload.words)
    #expect(result.status == 0 && result.errors.contains("starting a new one"), "\(result.errors)")
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("a false list of parts costs parts, never the object", arguments: [1, 1000])
  func lyingLists(_ pageLimit: Int) async throws {
    for kind in [FakeOptions.ListParts.onePage, .inclusiveMarker, .noMarker, .endless] {
      let stopped = try await StoppedUpload()
      stopped.box.fake.options.listParts = kind
      stopped.box.fake.options.pageLimit = pageLimit
      let again = try await stopped.again()
      #expect(again.result.status == 0, "\(kind): \(again.result.errors)")
      #expect(stopped.box.fake.object("k")?.holds(stopped.bytes) == true, "\(kind)")
      #expect(Set([3, 4, 5]).isSubset(of: again.sent), "\(kind)")
      stopped.box.fake.options.listParts = .paged
      #expect(stopped.box.fake.unfinishedUploads.map(\.id) == [], "\(kind)")
    }
  }

  @Test("a failed list is retried, and then the upload is kept")
  func listFails() async throws {
    let stopped = try await StoppedUpload()
    stopped.box.fake.setFaults([Fault(.init(.listParts), .error(status: 503, code: "SlowDown"))])
    let again = try await stopped.again("--retries", "2")
    again.result.expectResumable(75, "SlowDown")
    #expect(again.sent == [])
    try stopped.box.expectKept()
    stopped.box.fake.setFaults([])
    try stopped.expectDone(try await stopped.again())
  }

  @Test("--deadline at a complete that does not answer is 75 too", arguments: [[], ["--verify"]])
  func deadlineAtComplete(_ options: [String]) async throws {
    let operation: FakeOperation = options.isEmpty ? .completeMultipartUpload : .headObject
    let box = try BlackBox(faults: [Fault(.init(operation), .stall(stage: .beforeAnswer))])
    try box.sample("f", 11 * mebi)
    let lag = Lag()
    let result = try await box.run(StoppedUpload.words + ["--deadline", "2s", "--json"] + options)
    #expect(result.status == 75, "\(result.errors)")
    #expect(.seconds(result.seconds) - lag.sofar < .seconds(5))
    #expect(result.json["code"] as? String == "deadline")
    #expect(result.errors.contains("--deadline"))
  }

  @Test("--resume require leaves another file's upload alone, and its own file resumes it")
  func requireOther() async throws {
    let stopped = try await StoppedUpload()
    let (own, other) = (stopped.box.files.path("f"), stopped.box.files.path("f.own"))
    try FileManager.default.moveItem(atPath: own, toPath: other)
    try stopped.box.sample("f", StoppedUpload.size, seed: 9)
    let before = stopped.box.fake.requests.count
    let refused = try await stopped.again("--resume", "require")
    #expect(refused.result.status == 69)
    #expect(refused.result.errors.contains("the source differs"), "\(refused.result.errors)")
    let sent = stopped.box.fake.requests.dropFirst(before).map(\.operation)
    #expect(!sent.contains(.abortMultipartUpload) && !sent.contains(.uploadPart), "\(sent)")
    #expect(stopped.box.fake.unfinishedUploads.map(\.id) == [stopped.uploadID])
    try FileManager.default.removeItem(atPath: own)
    try FileManager.default.moveItem(atPath: other, toPath: own)
    try stopped.expectDone(try await stopped.again("--resume", "require"))
  }

  @Test("--deadline ends the run in time with 75, and the next one completes it")
  func deadline() async throws {
    let box = try BlackBox(faults: [StoppedUpload.standsStill])
    let bytes = try box.sample("f", StoppedUpload.size)
    let lag = Lag()
    let result = try await box.run(StoppedUpload.words + ["--concurrency", "1", "--deadline", "4s", "--json"])
    result.expectResumable(75, "--deadline")
    #expect(result.json["code"] as? String == "deadline")
    #expect(result.seconds >= 4)
    #expect(.seconds(result.seconds) - lag.sofar < .seconds(5))
    #expect(box.fake.requests(.abortMultipartUpload).isEmpty)
    try await box.expectResumes(StoppedUpload.words, to: bytes)
  }

  @Test("--on-interrupt abort leaves nothing", arguments: [SIGINT, SIGTERM, SIGHUP])
  func onInterruptAbort(_ signal: Int32) async throws {
    let box = try BlackBox(faults: [StoppedUpload.standsStill])
    try box.sample("f", StoppedUpload.size)
    let child = try box.start(StoppedUpload.words + ["--concurrency", "1", "--on-interrupt", "abort", "--json"])
    #expect(await box.fake.wait { $0.contains { $0.partNumber == 3 } })
    child.signal(signal)
    let result = await child.wait(timeout: .seconds(30))
    #expect(result.json["resumable"] as? Bool == false)
    #expect(!result.errors.contains("to resume: "), "\(result.errors)")
    box.expectNothingLeft()
    #expect(try box.records() == [])
  }
}
