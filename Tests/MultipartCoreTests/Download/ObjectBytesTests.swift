import Support
import Testing

@testable import MultipartCore

/// An object as a sequence of bytes.
@Suite(.timeLimit(.minutes(15))) struct ObjectBytesTests {
  private let fake: FakeS3
  private let folder: TemporaryDirectory
  private let bytes: [UInt8]

  init() throws {
    fake = try FakeS3()
    folder = try TemporaryDirectory()
    bytes = randomBytes(3 << 20 | 70_001, seed: 5)
    fake.putObject("key", bytes: bytes)
  }

  private func store(_ connections: StoreOptions.Connections = .adaptive) async throws(Failure) -> Store {
    var options = StoreOptions()
    options.connections = connections
    options.environment = fake.environment().merging(["HOME": folder.path]) { $1 }
    return try await Store(bucket: "bucket", options)
  }

  private var options: DownloadOptions {
    var options = DownloadOptions()
    options.partSize = 640 << 10
    return options
  }

  @Test("The pieces are the object, in order, and a second loop downloads it again")
  func arrives() async throws {
    let object = try await store().bytes(of: "key", options)
    for loop in 1...2 {
      var got: [UInt8] = []
      for try await piece in object {
        #expect(!piece.isEmpty)
        got += piece
      }
      #expect(got == bytes)
      #expect(fake.requests(.getObject).count == loop * 5)
    }
    fake.putObject("empty", bytes: [])
    for try await _ in try await store().bytes(of: "empty") { Issue.record("an empty object has no piece") }
  }

  @Test("If the bytes are not the object, the loop throws and never gets the last piece")
  func wrong() async throws {
    fake.setFaults([Fault(.init(.getObject, nth: 2), .corruptAnswer)])
    let object = try await store().bytes(of: "key", options)
    var got = 0
    do {
      for try await piece in object { got += piece.count }
      Issue.record("it ended as if all were well")
    } catch {
      #expect("\(error)".contains("are not the object"))
    }
    #expect(got <= 4 * 640 << 10)
    await #expect(throws: Failure.self) {
      for try await _ in try await store().bytes(of: "none") {}
    }
  }

  @Test("A loop that is left early, or whose task is cancelled, ends the download", arguments: [true, false])
  func left(_ isCancelled: Bool) async throws {
    let gate = try folder.write([], to: "gate")
    fake.setFaults([Fault(.init(.getObject, from: 3), .hold(file: gate, stage: .beforeAnswer))])
    // Ranges are requested one after another, so that the first one is not held.
    let object = try await store(.fixed(1)).bytes(of: "key", options)
    let loop = Task {
      for try await _ in object where !isCancelled { break }
    }
    if isCancelled {
      #expect(await fake.wait { $0.count { $0.operation == .getObject } >= 3 })
      loop.cancel()
      await #expect(throws: Failure.self) { try await loop.value }
    } else {
      try await loop.value
    }
    #expect(await fake.wait { $0.allSatisfy(\.done) })
  }
}
