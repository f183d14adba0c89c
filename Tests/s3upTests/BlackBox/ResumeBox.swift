import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// An upload of five parts that was stopped before its third: two are at the store.
struct StoppedUpload {
  private(set) var box: BlackBox
  let bytes: [UInt8]
  let uploadID: String

  static let size = 22 * mebi
  static let words = ["put", "f", "s3://bucket/k", "--part-size", "5M"]
  /// The bytes at the store when it was stopped.
  static let confirmed = 10 * mebi
  static let standsStill = Fault(.init(.uploadPart, partNumber: 3), .stall(stage: .beforeBody))

  /// With one connection the third part is sent when the second is at the store and in the record.
  init(_ box: BlackBox, options: [String] = [], by signal: Int32 = SIGKILL, seed: UInt64 = 1) async throws {
    self.box = box
    bytes = try box.sample("f", Self.size, seed: seed)
    box.fake.setFaults([Self.standsStill])
    let child = try box.start(Self.words + ["--concurrency", "1"] + options)
    #expect(await box.fake.wait { $0.contains { $0.partNumber == 3 } })
    child.signal(signal)
    let result = await child.wait(timeout: .seconds(30))
    #expect(signal == SIGKILL ? result.signal == SIGKILL : result.signal == nil)
    uploadID = try #require(box.fake.unfinishedUploads.first?.id)
    #expect(box.fake.unfinishedUploads.first?.parts.keys.sorted() == [1, 2])
    box.fake.setFaults([])
  }

  init(options: [String] = [], by signal: Int32 = SIGKILL) async throws {
    try await self.init(try BlackBox(), options: options, by: signal)
  }

  /// Moves the store to another name.
  mutating func moveToOtherAddress() {
    box.environment["AWS_ENDPOINT_URL_S3"] = box.fake.endpoint.replacing("127.0.0.1", with: "localhost")
  }

  /// Removes the record and ages the parts, as if on another machine a while later.
  func loseRecord() throws {
    try FileManager.default.removeItem(atPath: box.state)
    box.fake.setClockOffset(90)
  }

  /// Runs the same command; returns its result and the parts that it sent.
  func again(_ options: String...) async throws -> (result: ChildProcess.Result, sent: [Int]) {
    let before = box.fake.requests.count
    let result = try await box.run(Self.words + ["--json"] + options)
    return (result, box.fake.partsSent(since: before))
  }

  /// Expects that the run resumed and sent the missing parts, and that only the object is left.
  func expectDone(
    _ again: (result: ChildProcess.Result, sent: [Int]), sent: [Int] = [3, 4, 5], resumed: Int = confirmed,
    says: String? = nil, where location: SourceLocation = #_sourceLocation
  ) throws {
    let (result, parts) = again
    #expect(result.status == 0, "\(result.errors)", sourceLocation: location)
    #expect(parts == sent, sourceLocation: location)
    #expect(box.fake.object("k")?.holds(bytes) == true, sourceLocation: location)
    #expect(result.json["bytes_resumed"] as? Int == resumed, sourceLocation: location)
    #expect(result.json["bytes_sent"] as? Int == bytes.count - resumed, sourceLocation: location)
    #expect(box.fake.unfinishedUploads.map(\.id) == [], sourceLocation: location)
    #expect(try box.records() == [], sourceLocation: location)
    let lines = result.errors.split(separator: "\n")
    #expect(lines.count == (says == nil ? 0 : 1), "\(result.errors)", sourceLocation: location)
    if let says { #expect(result.errors.contains(says), "\(result.errors)", sourceLocation: location) }
  }
}

extension BlackBox {
  var state: String { binary.home.path(".local/state/s3up") }

  /// The record files; an empty list without the folder.
  func records() throws -> [String] {
    let folder = state + "/uploads"
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".record") }
      .map { folder + "/" + $0 }
  }

  /// Expects that the upload and its record wait for the next run: no object, and exactly one of each.
  func expectKept(where location: SourceLocation = #_sourceLocation) throws {
    #expect(fake.objectCount == 0, sourceLocation: location)
    #expect(fake.unfinishedUploads.count == 1, sourceLocation: location)
    #expect(fake.requests(.abortMultipartUpload).isEmpty, sourceLocation: location)
    #expect(try records().count == 1, sourceLocation: location)
  }

  /// Expects that the same command, without the faults, completes the upload and sends no part again that the store
  /// has.
  func expectResumes(
    _ words: [String], to bytes: [UInt8], where location: SourceLocation = #_sourceLocation
  ) async throws {
    try expectKept(where: location)
    let held = Set(fake.unfinishedUploads.first?.parts.keys.map { $0 } ?? [])
    fake.setFaults([])
    let before = fake.requests.count
    try await run(words).expectSuccess(where: location)
    #expect(held.isDisjoint(with: fake.partsSent(since: before)), sourceLocation: location)
    #expect(
      !fake.requests.dropFirst(before).contains { $0.operation == .createMultipartUpload }, sourceLocation: location)
    #expect(fake.object("k")?.holds(bytes) == true, sourceLocation: location)
    #expect(fake.unfinishedUploads.map(\.id) == [], sourceLocation: location)
    #expect(try records() == [], sourceLocation: location)
  }
}

extension FakeS3 {
  /// The numbers of the parts sent after this many requests, in order.
  func partsSent(since count: Int) -> [Int] {
    requests.dropFirst(count).filter { $0.operation == .uploadPart }.compactMap(\.partNumber).sorted()
  }
}

extension ChildProcess.Result {
  /// Expects a failure that a later run can resume: the record is kept, and the remedy is the same command.
  func expectResumable(_ exit: Int32, _ words: String..., where location: SourceLocation = #_sourceLocation) {
    #expect(status == exit, "\(errors)", sourceLocation: location)
    #expect(errors.contains("un the same command again"), "\(errors)", sourceLocation: location)
    for word in words { #expect(errors.contains(word), "\(errors)", sourceLocation: location) }
    guard !output.isEmpty else { return }
    #expect(json["resumable"] as? Bool == true, sourceLocation: location)
    #expect(json["exit"] as? Int == Int(exit), sourceLocation: location)
  }

  /// Expects exit code 0, and one line on standard error.
  func expectWarned(_ words: String, where location: SourceLocation = #_sourceLocation) {
    #expect(status == 0, "\(errors)", sourceLocation: location)
    #expect(errors.split(separator: "\n").count == 1, "\(errors)", sourceLocation: location)
    #expect(errors.contains(words), "\(errors)", sourceLocation: location)
  }

  /// Expects success of a step that belongs to the test itself.
  func expectDone(where location: SourceLocation = #_sourceLocation) {
    #expect(status == 0, "\(errors)", sourceLocation: location)
  }
}
