import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// A misbehaviour of the store that an upload has to survive.
struct SurvivableFault: Sendable, CustomTestStringConvertible {
  var name: String
  var fault: Fault
  var testDescription: String { name }

  init(_ name: String, _ match: Fault.Match, _ action: Fault.Action) {
    self.name = name
    fault = Fault(match, action)
  }

  static let create = Fault.Match(.createMultipartUpload, nth: 1)
  static let part = Fault.Match(.uploadPart, partNumber: 2, nth: 1)
  static let complete = Fault.Match(.completeMultipartUpload, nth: 1)

  static let multipart = [
    SurvivableFault("create 500", create, .error(status: 500, code: "InternalError")),
    SurvivableFault("create reset", create, .resetBeforeReading),
    SurvivableFault("create garbage", create, .garbage()),
    SurvivableFault("part 500", part, .error(status: 500, code: "InternalError")),
    SurvivableFault("part 503", part, .error(status: 503, code: "SlowDown")),
    SurvivableFault("part 503 early", part, .error(status: 503, code: "SlowDown", early: true)),
    SurvivableFault("part 400 RequestTimeout", part, .error(status: 400, code: "RequestTimeout")),
    SurvivableFault("part 429", part, .error(status: 429, code: "TooManyRequests")),
    SurvivableFault("part BadDigest", part, .error(status: 400, code: "BadDigest")),
    SurvivableFault("part corrupted", part, .corruptBody),
    SurvivableFault("part reset before", part, .resetBeforeReading),
    SurvivableFault("part reset within", part, .resetAfterBody(bytes: 100_000)),
    SurvivableFault("part answer lost", part, .loseAnswer),
    SurvivableFault("part half-closed", part, .halfClose),
    SurvivableFault("part without ETag", part, .etag()),
    SurvivableFault("part with another checksum", part, .checksum("AAAAAAAAAAA=")),
    SurvivableFault("part garbage", part, .garbage()),
    SurvivableFault("part huge header", part, .hugeHeader(bytes: 1 << 20)),
    SurvivableFault("part stalls before", part, .stall(stage: .beforeBody)),
    SurvivableFault("part stalls within", part, .stall(stage: .withinBody)),
    SurvivableFault("part stalls after", part, .stall(stage: .beforeAnswer)),
    SurvivableFault("part closes after answer", part, .closeAfterAnswer),
    SurvivableFault("part gone", part, .error(status: 404, code: "NoSuchUpload")),
    SurvivableFault("complete 500", complete, .error(status: 500, code: "InternalError")),
    SurvivableFault("complete 200 with an error", complete, .errorIn200(code: "InternalError")),
    SurvivableFault("complete answer lost", complete, .loseAnswer),
    SurvivableFault("complete reset before", complete, .resetBeforeReading),
    SurvivableFault("complete answer cut", complete, .truncateAnswer(bytes: 60)),
    SurvivableFault("complete garbage", complete, .garbage()),
    SurvivableFault("complete huge", complete, .hugeBody(bytes: 32 << 20)),
    SurvivableFault("complete trickles", complete, .trickle(spaces: 5, milliseconds: 20)),
    SurvivableFault(
      "complete trickles after the declaration", complete, .trickle(spaces: 5, milliseconds: 20, declarationFirst: true)
    ),
    SurvivableFault("complete without ETag", complete, .etag()),
    SurvivableFault("complete without checksum", complete, .checksum()),
    SurvivableFault("complete with another ETag", complete, .etag("\"something\"")),
  ]

  static let put = Fault.Match(.putObject, nth: 1)
  static let single = [
    SurvivableFault("500", put, .error(status: 500, code: "InternalError")),
    SurvivableFault("503 early", put, .error(status: 503, code: "SlowDown", early: true)),
    SurvivableFault("reset before", put, .resetBeforeReading),
    SurvivableFault("reset within", put, .resetAfterBody(bytes: 100_000)),
    SurvivableFault("answer lost", put, .loseAnswer),
    SurvivableFault("corrupted", put, .corruptBody),
    SurvivableFault("stalls", put, .stall(stage: .withinBody)),
    SurvivableFault("without ETag", put, .etag()),
    SurvivableFault("with another checksum", put, .checksum("AAAAAAAAAAA=")),
    SurvivableFault("garbage", put, .garbage()),
    SurvivableFault("200 with an error", put, .errorIn200(code: "InternalError")),
  ]
}

@Suite(.crowd) struct FaultTests {
  private let options = ["--part-size", "5M", "--stall-timeout", "1s"]

  private func put(_ box: BlackBox, _ more: String...) async throws -> ChildProcess.Result {
    try await box.run(["put", "f", "s3://bucket/k"] + options + more)
  }

  @Test("an upload in parts survives faults that pass", arguments: SurvivableFault.multipart)
  func multipart(_ fault: SurvivableFault) async throws {
    let box = try BlackBox(faults: [fault.fault])
    let bytes = try box.sample("f", 11 * mebi)
    let result = try await put(box)
    #expect(result.status == 0, "\(result.errors)")
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.requests.contains { $0.fault != nil })
    // A create with a garbled answer has begun an upload whose id is unknown: it may be another client's, and is named.
    let lost = fault.name == "create garbage"
    #expect(box.fake.unfinishedUploads.count == (lost ? 1 : 0))
    for upload in box.fake.unfinishedUploads { #expect(result.errors.contains("--upload-id='\(upload.id)'")) }
    let gone = fault.name == "part gone"
    #expect(result.errors.contains("starting a new one") == gone)
    if !gone, !lost { #expect(result.errors == "") }
  }

  @Test("a single request survives faults that pass", arguments: SurvivableFault.single)
  func single(_ fault: SurvivableFault) async throws {
    let box = try BlackBox(faults: [fault.fault])
    let bytes = try box.sample("f", 3 * mebi)
    let result = try await put(box)
    result.expectSuccess()
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.requests.contains { $0.fault != nil })
  }

  @Test("after a lost answer to a single create-only request a HEAD decides")
  func lostAnswerCreateOnly() async throws {
    let box = try BlackBox(faults: [Fault(.init(.putObject, nth: 1), .loseAnswer)])
    let bytes = try box.sample("f", 1000)
    try await put(box, "--if-none-match").expectSuccess()
    #expect(box.fake.object("k")?.holds(bytes) == true)
  }

  @Test("if the answer to complete is lost and another client's object is at the key, that is not a success")
  func lostAnswerOtherObject() async throws {
    let box = try BlackBox(faults: [
      Fault(.init(.completeMultipartUpload, nth: 1), .loseAnswer),
      Fault(.init(.completeMultipartUpload, from: 2), .error(status: 404, code: "NoSuchUpload")),
      // Each ends with the stall timeout, so there are seconds in which to put the other object at the key.
      Fault(.init(.headObject, to: 3), .stall(stage: .beforeBody)),
    ])
    try box.sample("f", 11 * mebi)
    let child = try box.start(["put", "f", "s3://bucket/k"] + options)
    #expect(await box.fake.wait { $0.contains { $0.operation == .headObject } })
    box.fake.putObject("k", bytes: [1, 2, 3])
    let result = await child.wait()
    #expect(result.status != 0 && result.status != nil)
    #expect(result.output == "")
  }

  /// Parts of 16 MiB: bytes in the two sockets' buffers count as sent.
  @Test("a part that stalls at the end is sent again before its timeout, but not with --hedge off")
  func hedged() async throws {
    for (choice, patience, retries) in [("auto", "100s", 0), ("off", "8s", 1)] {
      let box = try BlackBox(faults: [Fault(.init(.uploadPart, partNumber: 2, nth: 1), .stall(stage: .withinBody))])
      let bytes = try box.sample("f", 64 * mebi)
      let words = ["put", "f", "s3://bucket/k", "--part-size", "16M", "--hedge", choice, "--stall-timeout", patience]
      let result = try await box.run(words + ["--json"], timeout: .seconds(300))
      #expect(result.status == 0, "\(result.errors)")
      #expect(result.output.contains("\"retries\":\(retries),"), "\(result.output)")
      #expect(box.fake.requests(.uploadPart).compactMap(\.partNumber).sorted() == [1, 2, 2, 3, 4])
      #expect(box.fake.object("k")?.holds(bytes) == true)
    }
  }

  @Test("each part's wrong ETag ends in failure, never in an object; over TLS with MD5 it is sent again")
  func wrongETag() async throws {
    let wrong = Fault.Action.etag("\"0123456789abcdef0123456789abcdef\"")
    let plain = try BlackBox(faults: [Fault(.init(.uploadPart, partNumber: 2), wrong)])
    try plain.sample("f", 11 * mebi)
    let result = try await put(plain)
    #expect(result.status == 69 && result.errors.contains("InvalidPart"), "\(result.errors)")
    #expect(plain.fake.requests(.createMultipartUpload).count == 2)
    plain.expectNothingLeft()
    let fault = Fault(.init(.uploadPart, partNumber: 2, nth: 1), wrong)
    let secure = try BlackBox(secure: true, faults: [fault])
    let bytes = try secure.sample("f", 11 * mebi)
    try await put(secure, "--checksum", "md5").expectSuccess()
    #expect(secure.fake.object("k")?.holds(bytes) == true)
    #expect(secure.fake.requests(.uploadPart).count == 4)
  }

  @Test("a part that is refused for good ends the run with its reason, and the upload is aborted")
  func refusedPart() async throws {
    let box = try BlackBox(faults: [
      Fault(.init(.uploadPart, partNumber: 2), .error(status: 400, code: "EntityTooLarge")),
      Fault(.init(.abortMultipartUpload, nth: 1), .error(status: 500, code: "InternalError")),
    ])
    try box.sample("f", 11 * mebi)
    try await put(box).expectFailure(69, "EntityTooLarge", "part 2", "s3://bucket/k")
    box.expectNothingLeft()
    #expect(try box.records() == [])
    #expect(box.fake.requests(.abortMultipartUpload).count == 2)
    #expect(box.fake.requests(.listParts).count == 1)
    #expect(box.fake.requests(.completeMultipartUpload).isEmpty)
  }

  @Test("a part that credentials do not allow is 77, and the upload is kept until they do")
  func deniedPart() async throws {
    let box = try BlackBox(faults: [
      Fault(.init(.uploadPart, partNumber: 2), .error(status: 403, code: "AccessDenied"))
    ])
    let bytes = try box.sample("f", 11 * mebi)
    let result = try await put(box, "--concurrency", "1")
    result.expectFailure(77, "AccessDenied", "part 2", "s3://bucket/k", "s3:PutObject")
    result.expectResumable(77, "1 of 3 parts")
    #expect(box.fake.requests(.completeMultipartUpload).isEmpty)
    try await box.expectResumes(["put", "f", "s3://bucket/k"] + options, to: bytes)
  }

  @Test("the first cause is the one reported", arguments: ["AccessDenied", "EntityTooLarge"])
  func firstCause(_ code: String) async throws {
    let box = try BlackBox(faults: [
      Fault(.init(.uploadPart, partNumber: 1), .error(status: code == "AccessDenied" ? 403 : 400, code: code)),
      Fault(.init(.uploadPart, partNumber: 2), .stall(stage: .withinBody)),
      Fault(.init(.listParts), .error(status: 403, code: "AccessDenied", message: "no listing")),
    ])
    let bytes = try box.sample("f", 11 * mebi)
    try await put(box).expectFailure(code == "AccessDenied" ? 77 : 69, code, "part 1")
    guard code == "AccessDenied" else { return box.expectNothingLeft() }
    try await box.expectResumes(["put", "f", "s3://bucket/k"] + options, to: bytes)
  }

  @Test("a failure that does not pass is 75 after the tries of --retries", arguments: [1, 3])
  func retries(_ tries: Int) async throws {
    let box = try BlackBox(faults: [
      Fault(.init(.uploadPart, partNumber: 3), .error(status: 500, code: "InternalError"))
    ])
    let bytes = try box.sample("f", 11 * mebi)
    let result = try await put(box, "--retries", String(tries))
    result.expectFailure(75, "InternalError", "HTTP 500", "part 3")
    result.expectResumable(75)
    #expect(box.fake.requests(.uploadPart).count { $0.partNumber == 3 } == tries)
    try await box.expectResumes(["put", "f", "s3://bucket/k"] + options, to: bytes)
  }

  @Test("a complete that always fails is 75 and the upload kept, one that is refused is 69 and leaves nothing")
  func completeFails() async throws {
    for (action, exit) in [
      (Fault.Action.errorIn200(code: "InternalError"), Int32(75)), (.error(status: 400, code: "InvalidPart"), 69),
      (.error(status: 403, code: "AccessDenied"), 77), (.resetBeforeReading, 75),
    ] {
      let box = try BlackBox(faults: [Fault(.init(.completeMultipartUpload), action)])
      let bytes = try box.sample("f", 6 * mebi)
      let result = try await put(box, "--retries", "2")
      guard exit != 69 else {
        #expect(result.status == 69, "\(result.errors)")
        box.expectNothingLeft()
        continue
      }
      result.expectFailure(exit)
      try await box.expectResumes(["put", "f", "s3://bucket/k"] + options, to: bytes)
    }
  }

  @Test("if the store lacks a part at complete, all of them are sent once more in a new upload")
  func invalidPartOnce() async throws {
    let box = try BlackBox(faults: [
      Fault(.init(.completeMultipartUpload, nth: 1), .error(status: 400, code: "InvalidPart"))
    ])
    let bytes = try box.sample("f", 6 * mebi)
    let result = try await put(box)
    result.expectWarned("starting a new one")
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.requests(.createMultipartUpload).count == 2)
    #expect(box.fake.unfinishedUploads.map(\.id) == [])
  }

  @Test("an upload that cannot be aborted is named, with the command that aborts it")
  func abortFails() async throws {
    let box = try BlackBox(faults: [
      Fault(.init(.uploadPart, partNumber: 2), .error(status: 400, code: "EntityTooLarge")),
      Fault(.init(.abortMultipartUpload), .error(status: 500, code: "InternalError")),
    ])
    try box.sample("f", 6 * mebi)
    let result = try await put(box, "--retries", "2")
    #expect(result.status == 69)
    let id = try #require(box.fake.unfinishedUploads.first?.id)
    #expect(result.errors.contains("s3up abort s3://bucket/k --upload-id='\(id)'"), "\(result.errors)")
  }

  @Test("an abort after which a part still exists is repeated")
  func lingeringPart() async throws {
    let box = try BlackBox(faults: [
      Fault(.init(.uploadPart, partNumber: 2), .error(status: 400, code: "EntityTooLarge")),
      // The abort is answered with a success, but not carried out.
      Fault(.init(.abortMultipartUpload, nth: 1), .error(status: 204, code: "")),
    ])
    try box.sample("f", 6 * mebi)
    _ = try await put(box, "--concurrency", "1")
    #expect(box.fake.requests(.abortMultipartUpload).count == 2)
    box.expectNothingLeft()
  }

  @Test("Retry-After is waited for")
  func retryAfter() async throws {
    let box = try BlackBox(faults: [
      Fault(.init(.putObject, nth: 1), .error(status: 503, code: "SlowDown", headers: ["Retry-After": "2"]))
    ])
    try box.sample("f", 100)
    try await put(box).expectSuccess()
    let tries = box.fake.requests(.putObject)
    #expect(tries.count == 2)
    #expect(tries[1].began - tries[0].began >= .seconds(2))
  }

  @Test("retries are counted, and reported with -v")
  func told() async throws {
    let box = try BlackBox(faults: [
      Fault(.init(.uploadPart, partNumber: 2, to: 2), .error(status: 500, code: "InternalError"))
    ])
    try box.sample("f", 11 * mebi)
    let result = try await put(box, "--json", "-v")
    #expect(result.status == 0)
    #expect(result.json["retries"] as? Int == 2)
    #expect(result.errors.contains("part 2: "))
    #expect(result.json["bytes_sent"] as? Int ?? 0 >= 11 * mebi)
  }

  @Test("if the store repeatedly forgets the upload, the run gives up")
  func forgetful() async throws {
    let box = try BlackBox(faults: [
      Fault(.init(.uploadPart, partNumber: 2), .error(status: 404, code: "NoSuchUpload"))
    ])
    try box.sample("f", 6 * mebi)
    let result = try await put(box)
    #expect(result.status == 69, "\(result.errors)")
    #expect(box.fake.objectCount == 0)
    #expect(box.fake.requests(.createMultipartUpload).count <= 10)
  }

  @Test("That is also reported if the request that noticed it is still refused, by the first one that succeeds")
  func clockOfRefused() async throws {
    let box = try BlackBox(faults: [Fault(.init(.listMultipartUploads), .error(status: 403, code: "AccessDenied"))])
    box.fake.setClockOffset(3600)
    try box.sample("f", 11 * mebi)
    let result = try await put(box, "--resume", "adopt")
    #expect(result.status == 0)
    let lines = result.errors.split(separator: "\n")
    #expect(lines.count == 2 && lines.first?.contains("could not be listed") == true, "\(result.errors)")
    #expect(lines.last == "s3up: the clock of this machine is 60 min behind the store's; corrected for this run")
  }

  @Test("a wrong clock is measured, corrected for, and reported once", arguments: [-3600, 3600])
  func clock(_ offset: Int64) async throws {
    let box = try BlackBox()
    box.fake.setClockOffset(offset)
    try box.sample("f", 6 * mebi)
    let result = try await put(box)
    #expect(result.status == 0)
    let side = offset > 0 ? "behind" : "ahead of"
    #expect(result.errors == "s3up: the clock of this machine is 60 min \(side) the store's; corrected for this run\n")
    #expect(box.fake.requests.count { $0.errorCode == "RequestTimeTooSkewed" } == 1)
  }

  @Test(
    "a request that is refused as too late by a store whose clock agrees is signed anew, once", arguments: [1, 2],
    ["RequestTimeTooSkewed", "RequestInTheFuture"])
  func lateOnce(_ times: Int, _ code: String) async throws {
    let refused = Fault(.init(.putObject, to: times), .error(status: 403, code: code))
    let box = try BlackBox(faults: [refused])
    try box.sample("f", 1000)
    let result = try await put(box)
    if times == 1 { result.expectSuccess() } else { result.expectFailure(77, code) }
    #expect(box.fake.requests(.putObject).count == 2)
  }

  @Test("a refused signature on a machine with a wrong clock names the clock")
  func clockNamed() async throws {
    let box = try BlackBox(faults: [Fault(.all, .error(status: 403, code: "SignatureDoesNotMatch"))])
    box.fake.setClockOffset(1200)
    try box.sample("f", 1000)
    try await put(box).expectFailure(77, "SignatureDoesNotMatch", "20 min behind")
  }

  @Test(
    "stores with odd but correct answers work",
    arguments: [
      FakeOptions { $0.completeETag = .empty }, FakeOptions { $0.completeETag = .unquoted },
      FakeOptions { $0.completeETag = .missing }, FakeOptions { $0.completeETag = .escaped },
      FakeOptions { $0.partETags = .odd }, FakeOptions { $0.partETags = .opaque },
      FakeOptions { $0.errorBodies = .empty }, FakeOptions { $0.repeatedAbort = .success },
      FakeOptions { $0.conditionsAtComplete = false },
    ])
  func oddStores(_ options: FakeOptions) async throws {
    for secure in [false, true] {
      let box = try BlackBox(secure: secure) { $0 = options }
      let bytes = try box.sample("f", 11 * mebi)
      try await put(box).expectSuccess()
      #expect(box.fake.object("k")?.holds(bytes) == true)
    }
  }
}
