import MultipartBasics
import Support
import Testing

@testable import MultipartCore

/// Many objects in one run, against a store that answers as S3 does.
@Suite(.timeLimit(.minutes(15))) struct BatchTests {
  private let fake: FakeS3
  private let folder: TemporaryDirectory
  private let heard = Locked<[BatchEvent]>([])

  init() throws {
    fake = try FakeS3()
    folder = try TemporaryDirectory()
  }

  private func store() async throws -> Store {
    var options = StoreOptions()
    options.environment = fake.environment().merging(["HOME": folder.path]) { own, _ in own }
    return try await Store(bucket: "bucket", options)
  }

  private func items(_ sizes: [Int]) throws -> [UploadItem] {
    try sizes.enumerated().map { number, size in
      let path = try folder.write(randomBytes(size, seed: UInt64(number)), to: "f\(number)")
      return UploadItem(.file(path), to: "k/\(number)")
    }
  }

  private var ended: [BatchResult] {
    heard.withLock { events in
      events.compactMap { if case .ended(let result) = $0 { result } else { nil } }
    }
  }

  private func run(
    _ store: Store, _ items: [UploadItem], _ options: BatchOptions = BatchOptions()
  ) async throws -> BatchSummary {
    let batch = store.batch(items, options) { [heard] event in heard.withLock { $0.append(event) } }
    return try await batch.run()
  }

  @Test("Small and large files arrive over one window, each intact, and nothing is left over")
  func mixed() async throws {
    let sizes = [0, 1, 4096, 300_000, 9 << 20, 20 << 20] + (0..<200).map { $0 * 37 }
    let summary = try await run(store(), items(sizes))
    #expect(summary.uploaded == sizes.count && summary.failed == 0)
    #expect(summary.bytes == sizes.reduce(0) { $0 + Int64($1) })
    for (number, size) in sizes.enumerated() {
      #expect(fake.object("k/\(number)")?.bytes == randomBytes(size, seed: UInt64(number)), "\(number)")
    }
    #expect(fake.unfinishedUploads.isEmpty)
    #expect(Set(ended.map(\.key)).count == sizes.count)
    // There is not one connection for each of the 200 files.
    #expect(fake.counters.connections <= 24)
  }

  @Test("The events are a sequence too, which ends with the run and keeps the newest if nobody reads it")
  func sequence() async throws {
    let store = try await store()
    let batch = try store.batch(items([1, 2, 3])) { [heard] event in heard.withLock { $0.append(event) } }
    async let keys = batch.events.reduce(into: [String]()) { keys, event in
      if case .ended(let result) = event { keys.append(result.key) }
    }
    _ = try await batch.run()
    #expect(await Set(keys) == ["k/0", "k/1", "k/2"] && ended.count == 3)

    var options = UploadOptions()
    options.partSize = 5 << 20
    let large = try folder.write(randomBytes(6 << 20, seed: 1), to: "large")
    let upload = try store.uploadTask(.file(large), to: "whole", options)
    _ = try await upload.run()
    #expect(await upload.events.contains { if case .started = $0 { true } else { false } })

    let tap = EventTap<Int> { _ in }
    for number in 0..<5000 { tap.tell(number) }
    tap.finish()
    let kept = await tap.events.reduce(into: [Int]()) { $0.append($1) }
    #expect(kept.count < 5000 && kept.last == 4999 && kept == Array(5000 - kept.count..<5000))
  }

  @Test("A file that is missing, one that is refused, and their neighbours")
  func someFail() async throws {
    fake.addFault(Fault(.init(.putObject, key: "k/3"), .error(status: 403, code: "AccessDenied")))
    var items = try items(Array(repeating: 1000, count: 20))
    items[7].input = .file(folder.path("none"))
    let summary = try await run(store(), items)
    #expect(summary.uploaded == 18 && summary.failed == 2)
    let codes = Dictionary(
      uniqueKeysWithValues: ended.compactMap { result in
        if case .failure(let failure) = result.result { (result.key, failure.code) } else { nil }
      })
    #expect(codes == ["k/3": .credentials, "k/7": .sourceMissing])
    #expect(fake.objectCount == 18)
  }

  @Test("After a failure that stops the run, files that have not begun are not sent")
  func failFast() async throws {
    var options = BatchOptions()
    options.stopsAtFirstFailure = true
    var items = try items(Array(repeating: 1000, count: 400))
    items[0].input = .file(folder.path("none"))
    let summary = try await run(store(), items, options)
    #expect(summary.failed >= 1)
    #expect(fake.objectCount < 400)
  }

  @Test("A run that is cancelled keeps the large file's parts, and the next one resumes it")
  func cancelled() async throws {
    let items = try items([40 << 20] + Array(repeating: 5000, count: 50))
    fake.addFault(Fault(.init(.uploadPart, partNumber: 3), .stall(stage: .beforeBody)))
    let batch = try await store().batch(items) { [heard] event in heard.withLock { $0.append(event) } }
    let work = Task { try await batch.run() }
    try await until("some parts are there") { fake.unfinishedUploads.first.map { $0.parts.count > 0 } ?? false }
    batch.cancel()
    let cut = await #expect(throws: Failure.self) { try await work.value }
    #expect(cut?.code == .interrupted)
    #expect(fake.object("k/0") == nil && fake.unfinishedUploads.count == 1)
    fake.setFaults([])
    heard.withLock { $0 = [] }
    let summary = try await run(store(), items)
    #expect(summary.uploaded == items.count && summary.bytesResumed > 0)
    #expect(fake.object("k/0")?.bytes == randomBytes(40 << 20, seed: 0))
    #expect(fake.unfinishedUploads.isEmpty)
  }

  @Test("The unfinished files do not include those that are unchanged, have failed or were sent")
  func left() async throws {
    var items = try items(Array(repeating: 5000, count: 12) + [40 << 20])
    _ = try await run(store(), Array(items.prefix(10)))
    fake.addFault(Fault(.init(.putObject, key: "k/11"), .error(status: 403, code: "AccessDenied")))
    fake.addFault(Fault(.init(.uploadPart), .stall(stage: .beforeBody)))
    items[3].input = .file(folder.path("none"))
    var options = BatchOptions()
    options.upload.skipsSame = true
    let batch = try await store().batch(items, options) { _ in }
    let work = Task { try await batch.run() }
    try await until("all but one have ended") {
      let summary = batch.progress.summary
      return (summary.unchanged, summary.failed, summary.uploaded) == (9, 2, 1)
    }
    let progress = batch.progress
    #expect(progress.foundAll && progress.found == 13)
    #expect(progress.remaining + progress.running.reduce(0) { $0 + $1.state.bytes } == 40 << 20)
    batch.cancel()
    _ = try? await work.value
  }

  @Test("What a slow sequence has yielded is sent before it yields more")
  func slowSequence() async throws {
    let items = try items([10, 20, 30])
    let (stream, more) = AsyncStream<UploadItem>.makeStream()
    let batch = try await store().batch(stream) { [heard] event in heard.withLock { $0.append(event) } }
    let work = Task { try await batch.run() }
    for (number, item) in items.enumerated() {
      more.yield(item)
      try await until("item \(number) is there") { fake.object("k/\(number)") != nil }
    }
    more.finish()
    #expect(try await work.value.uploaded == 3)
    #expect(batch.progress.summary.uploaded == 3 && batch.progress.foundAll)
  }

  @Test("A folder's files are sent below a prefix, by rules and shares, and skipped if their objects exist")
  func tree() async throws {
    for name in ["a.txt", "b/c.png", "b/d/e.txt"] { try folder.write(Array(name.utf8), to: "tree/" + name) }
    var tree = BatchSources(.named([FilePath(folder.path("tree"))]), prefix: "p/")
    tree.rules = try GlobRules([.exclude("*.png")])
    var options = BatchOptions()
    options.upload.skipsSame = true
    let store = try await store()
    #expect(try await store.batch(tree, options).run().uploaded == 2)
    #expect(fake.object("p/b/d/e.txt")?.bytes == Array("b/d/e.txt".utf8) && fake.objectCount == 2)
    tree.rules = GlobRules()
    var (uploaded, unchanged) = (0, 0)
    for number in 1...3 {
      tree.shard = Shard(number, of: 3)
      let summary = try await store.batch(tree, options).run()
      (uploaded, unchanged) = (uploaded + summary.uploaded, unchanged + summary.unchanged)
    }
    #expect(uploaded == 1 && unchanged == 2)
    #expect(Shard(4, of: 3) == nil && Shard(0, of: 3) == nil && Shard(1, of: 0) == nil)
  }

  @Test("A run of an empty list ends at once, and a sequence that throws ends the run with its error")
  func odd() async throws {
    #expect(try await run(store(), []) == BatchSummary())
    struct Broken: Error {}
    let broken = AsyncThrowingStream<UploadItem, any Error> { $0.finish(throwing: Broken()) }
    let batch = try await store().batch(broken)
    await #expect(throws: Failure.self) { try await batch.run() }
  }
}
