import MultipartBasics
import Support
import Testing

@testable import MultipartCore

/// The library as used by a program that sets nothing but the environment.
@Suite(.timeLimit(.minutes(15))) struct StoreTests {
  private let fake: FakeS3
  private let folder: TemporaryDirectory

  init() throws {
    fake = try FakeS3()
    folder = try TemporaryDirectory()
  }

  private func options(_ more: [String: String] = [:]) -> StoreOptions {
    var options = StoreOptions()
    options.environment = fake.environment().merging(more.merging(["HOME": folder.path]) { own, _ in own }) { $1 }
    return options
  }

  private func failure(_ options: StoreOptions) async -> Failure? {
    do throws(Failure) {
      let store = try await Store(bucket: "bucket", options)
      try await store.upload(.file(folder.path("f")), to: "k")
      return nil
    } catch {
      return error
    }
  }

  @Test("AWS's variables set the store and the credentials, and the caller's options win over them")
  func variables() async throws {
    let bytes = randomBytes(1000, seed: 1)
    let path = try folder.write(bytes, to: "f")
    let store = try await Store(bucket: "bucket", options())
    #expect(store.endpoint.region == fake.options.region)
    #expect(try await store.upload(.file(path), to: "k").size == 1000)
    #expect(fake.object("k")?.bytes == bytes)
    #expect(try await store.head("k")?.size == 1000)
    #expect(try await store.head("none") == nil)
    var other = options(["AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9", "AWS_REGION": "elsewhere"])
    (other.endpoint, other.region) = (fake.endpoint, fake.options.region)
    #expect(await failure(other) == nil)
  }

  @Test("The expected SHA-256 of a file and of a stream may have capital letters", arguments: [true, false])
  func expectedSum(_ isFile: Bool) async throws {
    let bytes = randomBytes(1000, seed: 1)
    let path = try folder.write(bytes, to: "f")
    let store = try await Store(bucket: "bucket", options())
    var upload = UploadOptions()
    var sums = try MultiChecksum([.sha256])
    bytes.withUnsafeBytes { sums.update($0) }
    upload.expectedSHA256 = try sums.finish()[.sha256]?.hex.uppercased()
    if isFile {
      #expect(try await store.upload(.file(path), to: "k", upload).size == 1000)
    } else {
      let chunks = AsyncStream { chunks in
        chunks.yield(bytes)
        chunks.finish()
      }
      #expect(try await store.upload(.stream(chunks), to: "k", upload).size == 1000)
    }
    upload.expectedSHA256 = String(repeating: "0", count: 64)
    let failure = await #expect(throws: Failure.self) { try await store.upload(.file(path), to: "other", upload) }
    #expect(failure?.code == .dataMismatch && fake.object("other") == nil)
  }

  @Test(
    "an invalid variable is a configuration failure that names it",
    arguments: [
      ("AWS_USE_FIPS_ENDPOINT", "perhaps"), ("AWS_USE_DUALSTACK_ENDPOINT", "2"), ("AWS_MAX_ATTEMPTS", "0"),
      ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "yes!"),
    ])
  func wrongVariable(_ name: String, _ value: String) async throws {
    try folder.write([1], to: "f")
    let failure = await failure(options([name: value]))
    #expect(failure?.code == .configuration, "\(String(describing: failure))")
    #expect(failure?.message.contains(name) == true)
  }

  @Test("credentials come only from the source that the caller names")
  func credentials() async throws {
    try folder.write([1], to: "f")
    var own = options(["AWS_ACCESS_KEY_ID": "NOBODY", "AWS_SECRET_ACCESS_KEY": "nothing"])
    #expect(await failure(own)?.code == .credentials)
    let good = fake.environment()
    let keys = Credentials(
      accessKeyID: good["AWS_ACCESS_KEY_ID"] ?? "", secretAccessKey: Secret(good["AWS_SECRET_ACCESS_KEY"] ?? ""),
      source: "a test")
    own.credentials = .keys(keys)
    #expect(await failure(own) == nil)
    own.credentials = .source { keys }
    #expect(await failure(own) == nil)
    struct Locked: Error {}
    own.credentials = .source { throw Locked() }
    let failed = await failure(own)
    #expect(failed?.code == .credentials && failed?.message.contains("Locked") == true)
    own.credentials = .unsigned
    #expect(await failure(own)?.code == .credentials)
    #expect(fake.requests.last?.headers["authorization"] == nil)
  }

  @Test("a stream of this process that is faster than the upload has to wait")
  func feed() async throws {
    let (feed, reading) = try StreamFeed.open(.ofProcess([:]) { _, _ in })
    let written = Guarded(0)
    let writer = Task {
      for _ in 0..<64 {
        try await feed.write([UInt8](repeating: 7, count: 1 << 20))
        written.with { $0 += 1 }
      }
    }
    let plan = try StreamPlan(partSize: 5 << 20)
    let source = try StreamSource(
      descriptor: reading, owns: true, plan: plan, ring: PartRing(plan: plan, concurrency: 1))
    let first = try #require(try await source.next())
    // Of 64 MiB, only the part in use, one read ahead and the socket's buffer can have been written.
    #expect(written.with { $0 } <= 12)
    first.part.release()
    source.stop()
    writer.cancel()
    _ = await writer.result
  }

  @Test("a stream whose sequence throws publishes nothing, and its upload is aborted", arguments: [1, 12 << 20])
  func brokenStream(_ size: Int) async throws {
    struct Broken: Error {}
    let chunks = AsyncThrowingStream<[UInt8], any Error> { stream in
      stream.yield([UInt8](repeating: 1, count: size))
      stream.finish(throwing: Broken())
    }
    let store = try await Store(bucket: "bucket", options())
    do throws(Failure) {
      try await store.upload(.stream(chunks), to: "half")
      Issue.record("half a stream was published")
    } catch {
      #expect(error.code == .sourceMissing && error.message.contains("Broken"), "\(error)")
    }
    #expect(fake.objectCount == 0 && fake.unfinishedUploads.isEmpty)
  }

  @Test("a cancelled task stops its upload, which the next one resumes; with abortsWhenCancelled nothing is left")
  func cancellation() async throws {
    for aborts in [false, true] {
      let key = "k-\(aborts)"
      fake.setFaults([Fault(.init(.uploadPart, partNumber: 2), .stall(stage: .beforeAnswer))])
      let path = try folder.write(randomBytes(11 << 20, seed: 2), to: "f")
      let store = try await Store(bucket: "bucket", options())
      var upload = UploadOptions()
      upload.partSize = 5 << 20
      upload.abortsWhenCancelled = aborts
      let (parts, arrived) = AsyncStream<Int>.makeStream()
      let task = Task { [upload] in
        try await store.upload(.file(path), to: key, upload) { event in
          if case .part(let number, _, _, _) = event { arrived.yield(number) }
        }
      }
      for await _ in parts.prefix(1) {}
      task.cancel()
      let failure = await #expect(throws: Failure.self) { try await task.value }
      #expect(failure?.code == .interrupted && failure?.isResumable == !aborts, "\(String(describing: failure))")
      #expect(fake.unfinishedUploads.count == (aborts ? 0 : 1))
      fake.setFaults([])
      let object = try await store.upload(.file(path), to: key, upload)
      #expect((object.bytesResumed > 0) == !aborts)
      #expect(fake.unfinishedUploads.isEmpty)
    }
  }

  @Test("an upload that is cancelled before it has begun sends no request", arguments: [1, 11 << 20])
  func cancelledAtOnce(_ size: Int) async throws {
    let path = try folder.write(randomBytes(size, seed: 3), to: "f")
    let store = try await Store(bucket: "bucket", options())
    let upload = try store.uploadTask(.file(path), to: "k")
    upload.cancel()
    let failure = await #expect(throws: Failure.self) { try await upload.run() }
    #expect(failure?.code == .interrupted)
    #expect(fake.requests.isEmpty && fake.objectCount == 0)
  }

  @Test("an upload whose calling task was cancelled before sends no request")
  func callerIsCancelled() async throws {
    let path = try folder.write(randomBytes(11 << 20, seed: 3), to: "f")
    let store = try await Store(bucket: "bucket", options())
    for _ in 1...20 {
      let call = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await store.upload(.file(path), to: "k")
      }
      let failure = await #expect(throws: Failure.self) { try await call.value }
      #expect(failure?.code == .interrupted)
    }
    #expect(fake.requests.isEmpty)
  }

  @Test("a task runs once: a second run is refused, also beside the first, and does not end the first one's events")
  func once() async throws {
    let path = try folder.write(randomBytes(11 << 20, seed: 3), to: "f")
    let store = try await Store(bucket: "bucket", options())
    let upload = try store.uploadTask(.file(path), to: "k")
    try await expectOnce(upload.events) { () throws(Failure) in _ = try await upload.run() }
    let download = try store.downloadTask("k", to: .file(path + ".back"))
    try await expectOnce(download.events) { () throws(Failure) in _ = try await download.run() }
    let batch = store.batch([UploadItem(.file(path), to: "b")])
    try await expectOnce(batch.events) { () throws(Failure) in _ = try await batch.run() }
    #expect(fake.objectCount == 2)
    let many = try store.downloads(DownloadSources(.below([""]), prefix: ""), into: FilePath(folder.path("many")))
    try await expectOnce(many.events) { () throws(Failure) in _ = try await many.run() }
    let verification = try store.verification(BatchSources(.named([FilePath(folder.path("many"))]), prefix: ""))
    try await expectOnce(verification.events) { () throws(Failure) in _ = try await verification.run() }
  }

  /// Runs twice at once and once more: one run succeeds, with its events to the last.
  private func expectOnce<Event>(
    _ events: AsyncStream<Event>, _ run: @escaping @Sendable () async throws(Failure) -> Void
  ) async throws {
    async let first: Failure? = Self.failure(run)
    async let second: Failure? = Self.failure(run)
    var failures = [await first, await second]
    failures.append(await Self.failure(run))
    #expect(failures.filter { $0 == nil }.count == 1)
    #expect(failures.compactMap { $0 }.allSatisfy { $0.code == .usage && $0.message.description.contains("once") })
    var count = 0
    for await _ in events { count += 1 }
    #expect(count > 0)
  }

  private static func failure(_ run: @Sendable () async throws(Failure) -> Void) async -> Failure? {
    do throws(Failure) {
      try await run()
      return nil
    } catch {
      return error
    }
  }
}
