import Foundation
import MultipartBasics
import Support
import Testing

@testable import MultipartCore

/// What a program may pass by mistake is a failure that says so: no crash, no other request than the one it meant.
@Suite(.timeLimit(.minutes(15))) struct BadOptionTests {
  private let fake: FakeS3
  private let folder: TemporaryDirectory
  private let bytes = randomBytes(1000, seed: 1)

  init() throws {
    fake = try FakeS3()
    folder = try TemporaryDirectory()
    try folder.write(bytes, to: "f")
    fake.putObject("k", bytes: bytes)
  }

  private func store(_ change: (inout StoreOptions) -> Void = { _ in }) async throws -> Store {
    var options = StoreOptions()
    options.environment = fake.environment().merging(["HOME": folder.path]) { own, _ in own }
    change(&options)
    return try await Store(bucket: "bucket", options)
  }

  private func expectUsage(
    _ words: String, at location: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
  ) async {
    let failure = await #expect(throws: Failure.self, sourceLocation: location) { try await body() }
    let message = failure?.message.description ?? ""
    #expect(message.contains(words), "\(words): \(message)", sourceLocation: location)
  }

  @Test("Ranges, slices and numbers of parts that cannot be are refused, however far out they are")
  func bounds() async throws {
    let store = try await store()
    for range in [Int64.min...Int64.max, -5...5] {
      var options = DownloadOptions()
      options.range = range
      await expectUsage("begins at 0") { for try await _ in store.bytes(of: "k", options) {} }
    }
    var both = DownloadOptions()
    (both.range, both.part) = (0...9, 2)
    await expectUsage("exclude each other") { for try await _ in store.bytes(of: "k", both) {} }
    for number in [Int.min, -1, 0, 10_001, .max] {
      var options = DownloadOptions()
      options.part = number
      await expectUsage("there is no part \(number)") { for try await _ in store.bytes(of: "k", options) {} }
      await expectUsage("there is no part \(number)") {
        _ = try await store.download("k", to: .file(folder.path("new")), options)
      }
    }
    let upload = try await store.createUpload("new")
    for offset in [Int64.min, -1, 1001, .max] {
      await expectUsage("is not within the file's 1000") {
        _ = try await upload.part(1, .file(folder.path("f")), offset: offset)
      }
    }
    for number in [Int.min, 0, 10_001, .max] {
      await expectUsage("there is no part \(number)") {
        _ = try await upload.complete([UploadedPart(number: number, etag: "x")])
      }
      await expectUsage("there is no part \(number)") {
        try UploadedPart.requireWhole([UploadedPart(number: number, etag: "x")])
      }
    }
    let ticket = try await store.issueTicket(.file(folder.path("f")), to: "other", for: .seconds(60))
    for number in [Int.min, 0, 2, .max] { #expect(ticket.sum(ofPart: number) == nil) }
    let task = try ticket.uploadTask(.file(folder.path("f")))
    #expect(ticket.explain(task, share: .min ..< .max).contains { $0.text.description.contains("sends part 1") })
  }

  @Test("A URL of a part is only signed with the upload's id: with the number alone it would replace the object")
  func partURL() async throws {
    let store = try await store()
    for (number, id, words) in [
      (3, nil, "needs both the number"), (nil, "id", "needs both the number"), (3, "", "needs both the number"),
      (-5, "id", "there is no part"),
    ] as [(Int?, String?, String)] {
      var options = PresignOptions()
      (options.partNumber, options.uploadID) = (number, id)
      await expectUsage(words) { _ = try await store.presign(.put, "k", for: .seconds(60), options) }
    }
  }

  @Test("Conditions that no object can meet are refused before anything is asked for")
  func conditions() async throws {
    let store = try await store()
    var options = UploadOptions()
    options.conditions = WriteConditions(ifNoneMatch: true, ifMatch: "x")
    let before = fake.requests.count
    for key in ["k", "new"] {
      await expectUsage("both be absent and have an ETag") {
        _ = try await store.upload(.file(folder.path("f")), to: key, options)
      }
    }
    #expect(fake.requests.count == before)
  }

  @Test(
    "Keys that would begin a header of their own, or are empty, sign nothing",
    arguments: [
      ("a\r\nX-Injected: yes", "s", nil), ("a", "", nil), ("", "s", nil), ("a", "s", "t\nX: y"), ("a\0", "s", nil),
    ])
  func keys(_ id: String, _ secret: String, _ token: String?) async throws {
    let keys = Credentials(
      accessKeyID: id, secretAccessKey: Secret(secret), sessionToken: token.map { Secret($0) }, source: "the test")
    for credentials in [StoreOptions.CredentialChoice.keys(keys), .source { keys }] {
      let store = try await store { $0.credentials = credentials }
      let failure = await #expect(throws: Failure.self) { _ = try await store.head("k") }
      #expect(failure?.code == .credentials && failure?.message.contains("characters that no key has") == true)
    }
    #expect(fake.requests.isEmpty)
  }

  @Test("A path with a zero byte is no file: neither the one before the zero byte nor a new one")
  func zeroByte() async throws {
    let store = try await store()
    let odd = folder.path("f") + "\0zzz"
    await expectUsage("cannot be read") { _ = try await store.upload(.file(odd), to: "new") }
    await expectUsage("File name too long") { _ = try await store.verify(.file(odd), is: "k") }
    for target in [folder.path("new") + "\0.tmp", folder.path("new\0x") + "/y"] {
      await expectUsage("File name too long") { _ = try await store.download("k", to: .file(target)) }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["f"])
    #expect(fake.object("new") == nil)
    await expectUsage("the target has no name") { _ = try await store.download("k", to: .file("")) }
  }

  @Test("A user agent with a line break begins no header of its own", arguments: ["x\r\nY: z", "x\ny", "\u{0}"])
  func userAgent(_ text: String) async throws {
    await expectUsage("User-Agent") { _ = try await store { $0.userAgent = text } }
  }

  @Test("A call that is cancelled while the program's own source of credentials is asked was interrupted")
  func cancelledSource() async throws {
    let asked = Locked(false)
    let store = try await store {
      $0.credentials = .source {
        asked.withLock { $0 = true }
        try await Task.sleep(for: .seconds(100))
        throw CancellationError()
      }
    }
    let call = Task { try await store.head("k") }
    try await until("the source is asked") { asked.withLock { $0 } }
    call.cancel()
    let failure = await #expect(throws: Failure.self) { _ = try await call.value }
    #expect(failure?.isInterruption == true, "\(String(describing: failure))")
  }

  @Test("An upload that has succeeded leaves no record, and locks no other one out, although its task is kept")
  func keptTask() async throws {
    let store = try await store()
    try folder.write(randomBytes(11 << 20, seed: 2), to: "big")
    var options = UploadOptions()
    options.partSize = 5 << 20
    let task = try store.uploadTask(.file(folder.path("big")), to: "new", options)
    _ = try await task.run()
    #expect(try await store.upload(.file(folder.path("big")), to: "new", options).outcome == .completed)
    let records = folder.path(".local/state/s3up/uploads")
    #expect(((try? FileManager.default.contentsOfDirectory(atPath: records)) ?? []).isEmpty)
    #expect(task.name == "big")
  }
}
