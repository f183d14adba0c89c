import Foundation
import MultipartCore
import Testing

@testable import Support

/// Uploads that a run makes or finds and has no use for.
@Suite(.crowd) struct LostUploadTests {
  private let put = ["put", "f", "s3://bucket/k", "--part-size", "5M"]
  private static let create = Fault.Match(.createMultipartUpload, nth: 1)

  @Test("An upload whose id did not arrive is ended before another is created, and nobody else's")
  func lostCreate() async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", 11 * mebi)
    let other = try await box.run("create", "s3://bucket/k").lines
    #expect(other.count == 1)
    box.fake.setFaults([Fault(Self.create, .loseAnswer)])
    let result = try await box.run(put)
    result.expectSuccess()
    #expect(box.fake.object("k")?.sha256 == sha256(bytes))
    #expect(box.fake.unfinishedUploads.map(\.id) == other)
    #expect(box.fake.requests(.abortMultipartUpload).count == 1)
  }

  @Test("When no further try is made, the next run ends the upload whose id did not arrive")
  func lostForGood() async throws {
    let box = try BlackBox(faults: [Fault(Self.create, .loseAnswer)])
    let bytes = try box.sample("f", 11 * mebi)
    try await box.run(put + ["--retries", "1"]).expectFailure(75)
    #expect(box.fake.unfinishedUploads.count == 1)
    box.fake.setFaults([])
    let again = try await box.run(put)
    #expect(again.status == 0)
    #expect(again.errors.contains("had only begun is ended"), "\(again.errors)")
    #expect(box.fake.object("k")?.sha256 == sha256(bytes))
    #expect(box.fake.unfinishedUploads.map(\.id) == [])
  }

  @Test("The single step create says that an upload may be left whose id did not arrive, and prints one id")
  func step() async throws {
    let box = try BlackBox(faults: [Fault(Self.create, .loseAnswer)])
    let result = try await box.run("create", "s3://bucket/k")
    #expect(result.status == 0)
    #expect(result.lines.count == 1)
    #expect(result.errors.contains("s3up uploads s3://bucket/k"), "\(result.errors)")
    #expect(box.fake.unfinishedUploads.count == 2)
  }

  @Test("A recorded upload is ended when the key's next source goes in one request")
  func small() async throws {
    let stopped = try await StoppedUpload()
    let box = stopped.box
    let bytes = try box.sample("f", 1000, seed: 7)
    let result = try await box.run(StoppedUpload.words)
    #expect(result.status == 0)
    #expect(result.errors.split(separator: "\n").count == 1)
    #expect(result.errors.contains("goes in one request now"), "\(result.errors)")
    #expect(box.fake.object("k")?.sha256 == sha256(bytes))
    #expect(box.fake.unfinishedUploads.map(\.id) == [])
    #expect(try box.records() == [])
  }
}
