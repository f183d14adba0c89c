@testable import MultipartCore
import Support
import Testing

/// An upload that is begun for a caller that sends the parts.
@Suite(.timeLimit(.minutes(15))) struct CreationTests {
  private let fake: FakeS3
  private let home: TemporaryDirectory

  init() throws {
    fake = try FakeS3()
    home = try TemporaryDirectory()
  }

  private func store() async throws -> Store {
    var options = StoreOptions()
    options.environment = fake.environment().merging(["HOME": home.path]) { own, _ in own }
    return try await Store(bucket: "bucket", options)
  }

  @Test("A task that is cancelled while it begins an upload leaves none: the answer is awaited, and the upload aborted")
  func cancelled() async throws {
    fake.setFaults([Fault(.init(.createMultipartUpload), .stall(milliseconds: 1000, stage: .beforeAnswer))])
    let store = try await store()
    let task = Task { () async -> Failure? in
      do throws(Failure) {
        _ = try await store.createUpload("key")
        return nil
      } catch {
        return error
      }
    }
    try await until("the store has begun an upload") { !fake.unfinishedUploads.isEmpty }
    task.cancel()
    let failure = try #require(await task.value)
    #expect(failure.code == .interrupted)
    #expect(failure.message.description.contains("aborted"))
    #expect(fake.requests(.abortMultipartUpload).count == 1)
    #expect(fake.unfinishedUploads.isEmpty)
  }

  @Test("A task that is not cancelled gets its upload")
  func begun() async throws {
    let upload = try await store().createUpload("key")
    #expect(fake.unfinishedUploads.map(\.id) == [upload.uploadID])
  }
}
