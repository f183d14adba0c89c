import Foundation
@testable import MultipartCore
import Support
import Testing

@Suite(.crowd) struct TouchedFileTests {
  private let put = ["put", "f", "s3://bucket/k", "--part-size", "5M", "--concurrency", "1"]
  /// The file is touched before the third part, when two are at the store.
  private static let third = Fault.Match(.uploadPart, partNumber: 3)

  /// Runs `put` and touches the file when a request has reached the store, which holds it until then.
  private func run(
    _ box: BlackBox, _ touch: Touch, at match: Fault.Match, stage: Fault.Stage = .beforeBody, _ words: [String],
    input: ChildProcess.Input = .none
  ) async throws -> ChildProcess.Result {
    let gate = try box.files.write([], to: "gate")
    box.fake.setFaults([Fault(match, .hold(file: gate, stage: stage))])
    let child = try box.start(words, input: input)
    #expect(
      await box.fake.wait {
        $0.contains {
          $0.operation == match.operation
            && (match.partNumber == nil || $0.partNumber == match.partNumber)
        }
      })
    try touch.happen(to: box.files.path("f"))
    try FileManager.default.removeItem(atPath: gate)
    return await child.wait()
  }

  /// Over plain HTTP the bytes' SHA-256 is signed and therefore known; over TLS only the requested checksum is.
  static let ways: [([String], secure: Bool)] = [
    ([], false), ([], true), (["--checksum", "sha256"], true), (["--checksum", "md5"], true),
    (["--checksum", "none"], false), (["--checksum", "none"], true),
  ]

  @Test(
    "a file that is rewritten while its parts are sent, with its times restored, is 65, and nothing is published",
    arguments: ways)
  func rewritten(_ options: [String], secure: Bool) async throws {
    let box = try BlackBox(secure: secure)
    try box.sample("f", StoppedUpload.size)
    let result = try await run(box, .rewritten, at: Self.third, put + options)
    result.expectFailure(65, "was rewritten", "(f, s3://bucket/k")
    box.expectNothingLeft()
    #expect(box.fake.requests(.completeMultipartUpload).isEmpty)
    #expect(try box.records() == [])
  }

  @Test(
    "after a chmod or a link while its parts are sent the file is compared again, and the upload succeeds",
    arguments: ways)
  func touched(_ options: [String], secure: Bool) async throws {
    let box = try BlackBox(secure: secure)
    let bytes = try box.sample("f", StoppedUpload.size)
    let result = try await run(box, options.isEmpty ? .link : .chmod, at: Self.third, put + options + ["-v"])
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors.contains("comparing its bytes again"), "\(result.errors)")
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.requests(.uploadPart).count == 5)
  }

  @Test("an untouched file is not summed again")
  func untouched() async throws {
    let box = try BlackBox()
    try box.sample("f", StoppedUpload.size)
    let result = try await box.run(put + ["-v"])
    #expect(result.status == 0)
    #expect(!result.errors.contains("comparing its bytes again"), "\(result.errors)")
  }

  @Test("a touched file without anything to compare its parts with is 65")
  func nothingToCompare() async throws {
    let box = try BlackBox(secure: true) { $0.partETags = .odd }
    try box.sample("f", StoppedUpload.size)
    let result = try await run(box, .chmod, at: Self.third, put + ["--checksum", "none"])
    result.expectFailure(65, "(f, s3://bucket/k")
    box.expectNothingLeft()
  }

  /// The file is larger than the sockets' buffers, so that its last bytes are unread when it is touched.
  private func single(_ touch: Touch, _ options: [String], secure: Bool) async throws -> (BlackBox, ChildProcess.Result)
  {
    let box = try BlackBox(secure: secure)
    try box.files.sparseFile("f", size: Int64(40 * mebi), patches: [(1, [1, 2, 3])])
    let words = ["put", "f", "s3://bucket/k", "--part-size", "1G", "-v"] + options
    return (box, try await run(box, touch, at: .init(.putObject), words))
  }

  @Test(
    "if it is rewritten like that while a single request sends it, nothing is published",
    arguments: ways)
  func rewrittenSingle(_ options: [String], secure: Bool) async throws {
    let (box, result) = try await single(.rewritten, options, secure: secure)
    let says = secure && options.last == "none" ? "was touched" : "was rewritten"
    #expect(result.status == 65 && result.errors.contains(says), "\(result.errors)")
    box.expectNothingLeft()
    #expect(box.fake.requests(.putObject).count == 1)
  }

  @Test("a chmod while a single request sends it changes nothing", arguments: [false, true])
  func touchedSingle(secure: Bool) async throws {
    let (box, result) = try await single(.chmod, [], secure: secure)
    #expect(result.status == 0 && result.errors.contains("comparing its bytes again"), "\(result.errors)")
    #expect(box.fake.object("k")?.size == 40 * mebi)
    #expect(box.fake.requests(.putObject).count == 1)
  }

  @Test("a file on standard input is treated like that too", arguments: Touch.allCases)
  func input(_ touch: Touch) async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", StoppedUpload.size)
    let words = ["put", "-", "s3://bucket/k", "--part-size", "5M", "--concurrency", "1"]
    let result = try await run(box, touch, at: Self.third, words, input: .file(box.files.path("f")))
    guard touch == .rewritten else {
      result.expectSuccess()
      #expect(box.fake.object("k")?.holds(bytes) == true)
      return
    }
    result.expectFailure(65, "was rewritten")
    box.expectNothingLeft()
  }

  @Test("if the file is rewritten like that between two runs, a part that the record calls done is sent again")
  func betweenRuns() async throws {
    let stopped = try await StoppedUpload()
    let box = stopped.box
    try Touch.rewritten.happen(to: box.files.path("f"))
    let again = try await stopped.again()
    #expect(again.result.status == 0, "\(again.result.errors)")
    #expect(again.sent == [1, 3, 4, 5])
    #expect(box.fake.object("k")?.holds(try box.files.read("f")) == true)
  }

  @Test("a file rewritten like that while the next run resumes, after its parts were compared, is 65")
  func whileResuming() async throws {
    let stopped = try await StoppedUpload()
    let box = stopped.box
    let result = try await run(box, .rewritten, at: .init(.uploadPart, partNumber: 5), put)
    #expect(result.status == 65 && result.errors.contains("was rewritten"), "\(result.errors)")
    box.expectNothingLeft()
  }

  @Test("an upload that was completed from other bytes is no proof for a file that was rewritten like that since")
  func completedBefore() async throws {
    let box = try BlackBox(faults: [Fault(.init(.completeMultipartUpload), .stall(stage: .beforeAnswer))])
    try box.sample("f", StoppedUpload.size)
    let child = try box.start(StoppedUpload.words)
    #expect(await box.fake.wait { _ in box.fake.objectCount == 1 })
    child.signal(SIGKILL)
    _ = await child.wait()
    box.fake.setFaults([])
    try Touch.rewritten.happen(to: box.files.path("f"))
    let result = try await box.run(StoppedUpload.words)
    #expect(result.status == 0, "\(result.errors)")
    #expect(box.fake.object("k")?.holds(try box.files.read("f")) == true)
    #expect(try box.records() == [])
  }

  @Test("--expect-sha256 is about the bytes that were sent, whatever was written meanwhile", arguments: [1000, 5])
  func expectation(_ partSize: Int) async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", StoppedUpload.size)
    let words = [
      "put", "f", "s3://bucket/k", "--part-size", "\(partSize)M", "--if-none-match", "--expect-sha256", sha256(bytes),
    ]
    let result = try await run(box, .rewritten, at: .init(.headObject), stage: .beforeAnswer, words)
    result.expectFailure(65, "(f, s3://bucket/k")
    box.expectNothingLeft()
  }

  @Test("a chmod or a link while the part step sends a slice does no harm", arguments: [Touch.chmod, .link])
  func step(_ touch: Touch) async throws {
    let box = try BlackBox()
    try box.sample("f", 6 * mebi)
    let created = try await box.run("create", "s3://bucket/k")
    let id = try #require(created.lines.first)
    let words = ["part", "f", "s3://bucket/k", "--upload-id", id, "--part", "1", "-v"]
    let result = try await run(box, touch, at: .init(.uploadPart), words)
    #expect(result.status == 0 && result.errors.contains("comparing its bytes again"), "\(result.errors)")
  }
}
