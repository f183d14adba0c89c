import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// How the file changes while it is sent.
enum SourceChange: String, CaseIterable, Sendable {
  case truncated, emptied, grown, rewritten, replaced, removed

  func happen(to path: String) throws {
    switch self {
    case .truncated: try cut(path, to: 9 << 20)
    case .emptied: try cut(path, to: 0)
    case .grown: try append(path)
    case .rewritten:
      let file = open(path, O_WRONLY | O_CLOEXEC)
      guard file >= 0 else { throw SystemError("open") }
      defer { close(file) }
      guard pwrite(file, "changed", 7, 1000) == 7 else { throw SystemError("pwrite") }
    case .replaced:
      let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
      try Data(count: size).write(to: URL(fileURLWithPath: path + ".new"))
      guard rename(path + ".new", path) == 0 else { throw SystemError("rename") }
    case .removed: guard unlink(path) == 0 else { throw SystemError("unlink") }
    }
  }

  private func cut(_ path: String, to size: Int) throws {
    guard truncate(path, off_t(size)) == 0 else { throw SystemError("truncate") }
  }

  private func append(_ path: String) throws {
    let file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
    guard file >= 0 else { throw SystemError("open") }
    defer { close(file) }
    guard write(file, "more", 4) == 4 else { throw SystemError("write") }
  }
}

@Suite(.crowd) struct SourceChangeTests {
  /// 40 MiB, more than the sockets' buffers hold, so that much of it is unread when the change happens.
  private static let size = 40 * mebi

  private func run(
    _ box: BlackBox, _ change: SourceChange, _ operation: FakeOperation, _ options: [String]
  ) async throws -> ChildProcess.Result {
    try box.files.sparseFile("f", size: Int64(Self.size), patches: [(1, [1, 2, 3])])
    let child = try box.start(["put", "f", "s3://bucket/k"] + options)
    #expect(await box.fake.wait { $0.contains { $0.operation == operation } })
    try change.happen(to: box.files.path("f"))
    let result = await child.wait()
    #expect(result.signal == nil && !result.timedOut)
    result.expectFailure(65, "(f, s3://bucket/k", "\nNothing was published; run it again when nothing writes to")
    return result
  }

  @Test(
    "a file that changes while a single request sends it is 65 and nothing is published",
    arguments: SourceChange.allCases)
  func single(_ change: SourceChange) async throws {
    let box = try BlackBox(faults: [Fault(.init(.putObject), .slowRead(bytesPerSecond: 2 * mebi))])
    _ = try await run(box, change, .putObject, ["--part-size", "1G"])
    box.expectNothingLeft()
    #expect(box.fake.requests(.putObject).count == 1)
  }

  @Test("a change of the file after all of it has arrived has no effect: the object exists and is proven")
  func afterwards() async throws {
    let box = try BlackBox(faults: [Fault(.init(.putObject), .stall(milliseconds: 500, stage: .beforeAnswer))])
    let bytes = try box.sample("f", 1000)
    let child = try box.start(["put", "f", "s3://bucket/k"])
    #expect(await box.fake.wait { $0.contains { $0.operation == .putObject && $0.bodyLength == 1000 } })
    try SourceChange.grown.happen(to: box.files.path("f"))
    await child.wait().expectSuccess()
    #expect(box.fake.object("k")?.bytes == bytes)
  }

  @Test("a file that changes while its parts are sent is 65 and no upload is left", arguments: SourceChange.allCases)
  func multipart(_ change: SourceChange) async throws {
    let box = try BlackBox(faults: [Fault(.init(.uploadPart), .slowRead(bytesPerSecond: 2 * mebi))])
    _ = try await run(box, change, .uploadPart, ["--concurrency", "2", "--part-size", "20M"])
    box.expectNothingLeft()
    #expect(box.fake.requests(.completeMultipartUpload).isEmpty)
    #expect(box.fake.requests(.abortMultipartUpload).count == 1)
    #expect(box.fake.requests(.listParts).count == 1)
  }

  /// All parts are at the store and unchanged; complete was refused, and waits for its next try.
  @Test("a file that changes between the last part and complete is 65, and complete is not sent")
  func beforeComplete() async throws {
    let refusal = Fault.Action.error(status: 503, code: "SlowDown", headers: ["Retry-After": "5"])
    let box = try BlackBox(faults: [Fault(.init(.completeMultipartUpload, nth: 1), refusal)])
    try box.sample("f", 11 * mebi)
    let child = try box.start(["put", "f", "s3://bucket/k", "--part-size", "5M"])
    #expect(await box.fake.wait { $0.contains { $0.operation == .completeMultipartUpload && $0.done } })
    try SourceChange.rewritten.happen(to: box.files.path("f"))
    await child.wait().expectFailure(65, "(f, s3://bucket/k")
    box.expectNothingLeft()
    #expect(box.fake.requests(.completeMultipartUpload).count == 1)
  }

  @Test(
    "a change is noticed at the next try of a stalled request", arguments: [SourceChange.rewritten, .emptied])
  func stalled(_ change: SourceChange) async throws {
    let box = try BlackBox(faults: [Fault(.init(.uploadPart, partNumber: 1), .stall(stage: .beforeAnswer))])
    _ = try await run(
      box, change, .uploadPart, ["--stall-timeout", "4s", "--concurrency", "1", "--payload-signing", "never"])
    box.expectNothingLeft()
    #expect(box.fake.requests(.uploadPart).count == 1)
  }

  @Test("over TLS, with only the checksum, a truncated file is 65 too", arguments: [SourceChange.truncated, .emptied])
  func secure(_ change: SourceChange) async throws {
    let box = try BlackBox(
      secure: true, faults: [Fault(.init(.uploadPart), .slowRead(bytesPerSecond: 2 * mebi))])
    _ = try await run(box, change, .uploadPart, ["--concurrency", "1", "--part-size", "20M"])
    box.expectNothingLeft()
  }

  @Test("a file of another size than given to the part step is not sent")
  func part() async throws {
    let box = try BlackBox(faults: [Fault(.init(.uploadPart), .slowRead(bytesPerSecond: 2 * mebi))])
    try box.files.sparseFile("f", size: Int64(Self.size))
    let created = try await box.run("create", "s3://bucket/k")
    let id = try #require(created.lines.first)
    let child = try box.start(["part", "f", "s3://bucket/k", "--upload-id", id, "--part", "1"])
    #expect(await box.fake.wait { $0.contains { $0.operation == .uploadPart } })
    try SourceChange.truncated.happen(to: box.files.path("f"))
    await child.wait().expectFailure(65, "(f, s3://bucket/k")
    #expect(box.fake.unfinishedUploads.first?.parts.isEmpty == true)
  }
}
