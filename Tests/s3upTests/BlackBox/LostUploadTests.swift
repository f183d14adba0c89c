import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// Uploads that a run begins or finds and cannot use.
@Suite(.crowd) struct LostUploadTests {
  private let put = ["put", "f", "s3://bucket/k", "--part-size", "5M"]
  private static let create = Fault.Match(.createMultipartUpload, nth: 1)

  @Test(
    "An upload whose id did not arrive may be another machine's: it is named, none is aborted, and another is begun")
  func lostCreate() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 11 * mebi)
    box.fake.setFaults([Fault(Self.create, .loseAnswer)])
    let result = try await box.run(put)
    let lost = try #require(box.fake.unfinishedUploads.first?.id)
    result.expectWarned("--upload-id='\(lost)'")
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.unfinishedUploads.map(\.parts.count) == [0])
    #expect(box.fake.requests(.abortMultipartUpload).isEmpty)
  }

  @Test("Another machine's upload that began at the same moment and has no part yet survives and succeeds")
  func anotherJustBegun() async throws {
    let box = try BlackBox(faults: [Fault(Self.create, .loseAnswer)])
    try box.sample("f", 11 * mebi)
    let theirs = box.fake.beginUpload("k")
    #expect(try await box.run(put).status == 0)
    #expect(box.fake.unfinishedUploads.map(\.id).contains(theirs))
    box.fake.setFaults([])
    #expect(try await box.run(put).status == 0)
    #expect(box.fake.unfinishedUploads.map(\.id).contains(theirs))
    #expect(box.fake.requests(.abortMultipartUpload).isEmpty)
  }

  @Test("Without a further try the failure says that an upload may be left, and the next run names it")
  func lostForGood() async throws {
    let box = try BlackBox(faults: [Fault(Self.create, .loseAnswer)])
    let bytes = try box.sample("f", 11 * mebi)
    try await box.run(put + ["--retries", "1"]).expectFailure(75, "may be left", "s3up uploads s3://bucket/k")
    let lost = try #require(box.fake.unfinishedUploads.first?.id)
    box.fake.setFaults([])
    try await box.run(put).expectWarned("--upload-id='\(lost)'")
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.unfinishedUploads.map(\.id) == [lost])
  }

  @Test("That another upload was begun before does not hide one whose id did not arrive")
  func secondLost() async throws {
    let box = try BlackBox(faults: [
      Fault(.init(.uploadPart), .error(status: 404, code: "NoSuchUpload")),
      Fault(.init(.createMultipartUpload, nth: 2), .loseAnswer),
      Fault(.init(.createMultipartUpload, nth: 3), .stall(stage: .beforeAnswer)),
    ])
    try box.sample("f", 11 * mebi)
    let child = try box.start(put)
    #expect(await box.fake.wait { $0.filter { $0.operation == .createMultipartUpload }.count == 3 })
    child.signal(SIGINT)
    let result = await child.wait(timeout: .seconds(60))
    #expect(result.status == 130 && result.errors.contains("an upload without parts may be left"), "\(result.errors)")
  }

  @Test("An interrupted check of an object that the store has reported names no upload to abort")
  func checkInterrupted() async throws {
    let box = try BlackBox(faults: [Fault(.init(.headObject), .stall(stage: .beforeAnswer))])
    try box.sample("f", 11 * mebi)
    let child = try box.start(["put", "--verify", "--from-command", "s3://bucket/k", "--", "cat", "f"])
    #expect(await box.fake.wait { $0.contains { $0.operation == .headObject } })
    child.signal(SIGINT)
    let result = await child.wait(timeout: .seconds(60))
    #expect(result.status == 130 && result.errors.contains("has reported the object as created"), "\(result.errors)")
    #expect(!result.errors.contains("abort"), "\(result.errors)")
  }

  private static let proxyPage = Fault.Action.document(status: 404, text: "default backend - 404", type: "text/plain")

  @Test("A proxy that does not find the store for a moment does not make the run begin another upload")
  func notFoundByProxy() async throws {
    let operations: [FakeOperation] = [.uploadPart, .completeMultipartUpload]
    let box = try BlackBox(faults: operations.map { Fault(.init($0, nth: 1), Self.proxyPage) })
    let bytes = try box.sample("f", 11 * mebi)
    try await box.run(put).expectSuccess()
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.requests(.createMultipartUpload).count == 1)
  }

  @Test("While a proxy does not find the store, no upload is said to be gone")
  func notGoneByProxy() async throws {
    let operations: [FakeOperation] = [.listParts, .abortMultipartUpload]
    let box = try BlackBox(faults: operations.map { Fault(.init($0), Self.proxyPage) })
    let id = box.fake.beginUpload("k")
    let upload = ["s3://bucket/k", "--upload-id", id, "--retries", "2"]
    try await box.run(["abort"] + upload).expectFailure(75, "404")
    try await box.run(["parts"] + upload).expectFailure(75, "404")
  }

  @Test("If no store was ever reached, the failure does not say that an upload may be left")
  func neverReached() async throws {
    let box = try BlackBox()
    try box.sample("f", 11 * mebi)
    box.fake.stop()
    let result = try await box.run(put + ["--deadline", "1s"])
    result.expectFailure(75, "Connection refused")
    #expect(!result.errors.contains("may be left"), "\(result.errors)")
  }

  @Test("The create step says that an upload whose id did not arrive may be left, and prints one id")
  func step() async throws {
    let box = try BlackBox(faults: [Fault(Self.create, .loseAnswer)])
    let result = try await box.run("create", "s3://bucket/k")
    #expect(result.status == 0)
    #expect(result.lines.count == 1)
    #expect(result.errors.contains("s3up uploads s3://bucket/k"), "\(result.errors)")
    #expect(box.fake.unfinishedUploads.count == 2)
  }

  @Test("A recorded upload is aborted if the next source for its key is sent in one request")
  func small() async throws {
    let stopped = try await StoppedUpload()
    let box = stopped.box
    let bytes = try box.sample("f", 1000, seed: 7)
    let result = try await box.run(StoppedUpload.words)
    #expect(result.status == 0)
    #expect(result.errors.split(separator: "\n").count == 1)
    #expect(result.errors.contains("is now sent in one request"), "\(result.errors)")
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.unfinishedUploads.map(\.id) == [])
    #expect(try box.records() == [])
  }
}
