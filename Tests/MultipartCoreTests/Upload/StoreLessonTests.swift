import Foundation
import MultipartBasics
import Support
import Testing

@testable import MultipartCore

/// What an upload records for the next one at the same store.
@Suite(.timeLimit(.minutes(15))) struct StoreLessonTests {
  private let directory: TemporaryDirectory
  private let memory: StoreMemory
  private let said = Guarded<[String]>([])

  init() throws {
    directory = try TemporaryDirectory()
    memory = StoreMemory(folder: directory.path("state"))
  }

  private let world = World(
    now: { Timestamp(seconds: Int64(time(nil))) }, uptime: { .sinceBoot() },
    sleep: { try await Task.sleep(for: $0) }, random: { 0.5 }, environment: [:])

  private func client(_ fake: FakeS3) throws -> S3Client {
    let bucket = try EndpointResolver.resolve(bucket: "bucket", endpointURL: fake.endpoint)
    let credentials = Credentials(
      accessKeyID: fake.credential.keyID, secretAccessKey: Secret(fake.credential.secret), source: "test")
    let signer = BucketSigner(
      bucket: bucket, now: world.now,
      credentials: CredentialKeeper(world: world) { () async throws(Failure) in credentials })
    return S3Client(signer: signer, transport: try plainTransport(), world: world)
  }

  private func uploader(_ job: UploadJob, _ fake: FakeS3, remembers: Bool = true) throws -> Uploader {
    try Uploader(job: job, client: client(fake), world: world, memory: remembers ? memory : nil) { [said] news in
      switch news {
      case .warning(let text): said.with { $0.append("warning: \(text.description)") }
      case .advice(let text): said.with { $0.append("advice: \(text.description)") }
      default: break
      }
    }
  }

  /// A stream of 5, 5, 6 and 1 MiB, or of equal parts.
  private func stream(equal: Bool = false) throws -> UploadStream {
    let path = try directory.write([UInt8](repeating: 7, count: 17 << 20), to: "stream")
    let steps = [StreamPlan.Step(parts: 2, size: 5 << 20), StreamPlan.Step(parts: 100, size: (equal ? 5 : 6) << 20)]
    let plan = try StreamPlan(steps: steps)
    let source = try StreamSource(
      descriptor: open(path, O_RDONLY), owns: true, plan: plan, ring: PartRing(plan: plan, concurrency: 4),
      name: "stream", hashes: false)
    return UploadStream(name: "stream", source: source)
  }

  private func run(_ fake: FakeS3, equal: Bool) async throws -> Failure? {
    let job = UploadJob(source: .stream(try stream(equal: equal)), to: ObjectAddress("bucket", "k"))
    let uploader = try uploader(job, fake)
    do throws(Failure) {
      _ = try await uploader.run()
      return nil
    } catch {
      return error
    }
  }

  @Test("A store that refuses parts of several sizes is remembered, and one that lacks a part is not")
  func equalParts() async throws {
    let fake = try FakeS3(FakeOptions { $0.wantsEqualParts = true })
    let origin = fake.endpoint
    let refused = try await run(fake, equal: false)
    #expect(refused?.s3Code == "InvalidPart")
    #expect(refused?.remedy?.contains("parts of equal size") == true)
    #expect(memory.lessons(of: origin, now: world.now()).contain(.equalParts))
    #expect(fake.unfinishedUploads.isEmpty)
    #expect(try await run(fake, equal: true) == nil)
    #expect(fake.object("k")?.size == 17 << 20)

    let lossy = try FakeS3(faults: [
      Fault(.init(.completeMultipartUpload), .error(status: 400, code: "InvalidPart", message: "not found"))
    ])
    lossy.addFault(Fault(.init(.listParts), .error(status: 403, code: "AccessDenied")))
    #expect(try await run(lossy, equal: false)?.s3Code == "InvalidPart")
    #expect(!memory.lessons(of: lossy.endpoint, now: world.now()).contain(.equalParts))
  }

  /// Uploads 17 MiB; each answer of the store takes this long by the run's clock, and complete an hour.
  private func upload(_ fake: FakeS3, each: Duration, heldDown: Bool = false) async throws {
    let path = try directory.write([UInt8](repeating: 7, count: 17 << 20), to: "file")
    var job = UploadJob(source: .file(try SourceFile(FilePath(path))), to: ObjectAddress("bucket", "k"))
    job.limitRate = heldDown ? .bytesPerSecond(1 << 40) : nil
    var world = world
    world.uptime = {
      let completes = fake.requests(.completeMultipartUpload).count
      return each * (fake.requests.count - completes) + .seconds(3600) * completes
    }
    let uploader = try Uploader(job: job, client: client(fake), world: world, memory: memory)
    _ = try await uploader.run()
  }

  @Test("The line's speed is remembered, unless it was limited")
  func line() async throws {
    let fake = try FakeS3()
    let line = { memory.lessons(of: fake.endpoint, now: world.now()).line }
    try await upload(fake, each: .seconds(1))
    #expect(line() == nil, "3 s tell nothing")
    try await upload(fake, each: .seconds(30), heldDown: true)
    #expect(line() == nil)
    // Slow also if a part is sent twice because the run's clock jumps.
    try await upload(fake, each: .seconds(90))
    #expect(line() == .slow)
    try await upload(fake, each: .seconds(3))
    #expect(line() == .modest)
  }

  @Test("A missing lifecycle rule for abandoned uploads is reported once per bucket, never if there is one")
  func lifecycle() async throws {
    let fake = try FakeS3()
    let path = try directory.write([UInt8](repeating: 7, count: 11 << 20), to: "file")
    func put(_ key: String, remembers: Bool = true) async throws {
      var job = UploadJob(file: try SourceFile(FilePath(path)), to: ObjectAddress("bucket", key))
      job.partSize = 5 << 20
      job.expectsAbortDate = true
      _ = try await uploader(job, fake, remembers: remembers).run()
    }
    fake.options.abortDate = "Fri, 27 Nov 2026 00:00:00 GMT"
    try await put("a")
    #expect(said.with { $0 } == [])
    fake.options.abortDate = nil
    try await put("b")
    try await put("c")
    #expect(said.with { $0.count } == 1)
    #expect(said.with { $0.first }?.hasPrefix("warning: no lifecycle rule") == true)
    try await put("d", remembers: false)
    #expect(said.with { $0.last }?.hasPrefix("advice: no lifecycle rule") == true)
  }
}
