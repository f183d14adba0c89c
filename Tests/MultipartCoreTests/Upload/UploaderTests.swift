import Dispatch
import MultipartBasics
import Support
import Testing

@testable import MultipartCore

/// The driver: it performs the machine's actions, and reports their results to it.
@Suite(.timeLimit(.minutes(15))) struct UploaderTests {
  private let directory: TemporaryDirectory
  private let clock = TestWorld()
  private let told = Locked<[String]>([])
  private let looks = Locked(0)

  init() throws {
    directory = try TemporaryDirectory()
    try directory.sparseFile("file", size: 11 << 20)
  }

  /// A store that also provides samples of the line.
  private struct WatchedStore: Transport {
    let store: ScriptedStore
    let looks: Locked<Int>
    var leastTrip: Duration = .zero

    func send(_ request: Request) async throws(Failure) -> Response { try await store.send(request) }

    func look() -> LineSample? {
      looks.withLock { $0 += 1 }
      var sample = LineSample(at: .zero, delivered: 0)
      sample.leastTrip = leastTrip
      return sample
    }
  }

  /// A store's answer to each step of an upload without failures.
  private static func good(_ step: String) -> Response {
    let body =
      switch step {
      case "create": "<InitiateMultipartUploadResult><UploadId>id</UploadId></InitiateMultipartUploadResult>"
      case "complete": "<CompleteMultipartUploadResult><ETag>\"x\"</ETag></CompleteMultipartUploadResult>"
      case "uploads": "<ListMultipartUploadsResult></ListMultipartUploadsResult>"
      case "list": "<ListPartsResult><UploadId>id</UploadId></ListPartsResult>"
      default: ""
      }
    return Response(
      status: 200, headers: ["ETag": "\"x\"", "Content-Length": "\(11 << 20)"], body: Array(body.utf8))
  }

  /// An uploader of a file in three parts.
  private func uploader(
    _ store: ScriptedStore, world: World? = nil, concurrency: Int = 3, book: RecordBook? = nil,
    partSize: Int64? = 5 << 20, line: LineClass = .fast, leastTrip: Duration = .zero,
    onRetry: @escaping @Sendable () -> Void = {}
  ) throws -> Uploader {
    var job = UploadJob(file: try SourceFile(FilePath(directory.path("file"))), to: ObjectAddress("bucket", "key"))
    job.partSize = partSize
    job.line = line
    job.concurrency = concurrency
    job.checksum = ChecksumForm.nothing
    job.hedges = false
    job.retry = RetryPolicy(tries: 2000)
    let world = world ?? clock.passing
    let client = S3Client(
      signer: try store.client(world).signer,
      transport: WatchedStore(store: store, looks: looks, leastTrip: leastTrip), world: world)
    return try Uploader(job: job, client: client, world: world, book: book) { [told] event in
      switch event {
      case .started(let id, _, let parts, _): told.withLock { $0.append("started \(id ?? "") \(parts ?? 0)") }
      case .part(let number, _, _, _): told.withLock { $0.append("part \(number)") }
      case .warning(let text): told.withLock { $0.append(text.description) }
      case .retry: onRetry()
      default: break
      }
    }
  }

  /// The steps without the list of other uploads, which arrives while parts are sent.
  private static func steps(_ store: ScriptedStore) -> [String] {
    store.requests.map(\.step).filter { $0 != "uploads" }
  }

  @Test("The steps of an upload are performed in the machine's order, and reported in that order")
  func order() async throws {
    let store = ScriptedStore { request, _ in Self.good(request.step) }
    let uploader = try uploader(store, concurrency: 1)
    let result = try await finishes("the upload") { try await uploader.run() }
    #expect(Self.steps(store) == ["create", "part 1", "part 2", "part 3", "complete", "head"])
    #expect(told.withLock { $0 } == ["started id 3", "part 1", "part 2", "part 3"])
    #expect(result.parts == 3 && result.size == 11 << 20)
  }

  @Test("An interruption cancels the running requests, aborts the upload, and leaves nothing running")
  func interrupted() async throws {
    let (out, ended) = (Locked(0), Locked(0))
    let store = ScriptedStore { (request, _) throws(Failure) in
      guard request.step.hasPrefix("part") else { return Self.good(request.step) }
      out.withLock { $0 += 1 }
      await cancellation()
      ended.withLock { $0 += 1 }
      throw Failure(.interrupted, "the transfer was cancelled")
    }
    var world = clock.world
    world.sleep = { _ in
      await cancellation()
      throw CancellationError()
    }
    let uploader = try uploader(store, world: world)
    let run = Task { () async -> Failure? in
      do throws(Failure) {
        _ = try await uploader.run()
        return nil
      } catch {
        return error
      }
    }
    try await until("the parts are out") { out.withLock { $0 } == 3 }
    uploader.interrupt()
    let failure = try await finishes("the interrupted upload") { await run.value }
    #expect(failure?.code == .interrupted)
    #expect(ended.withLock { $0 } == 3)
    #expect(Self.steps(store).suffix(2) == ["abort", "list"])
    // Neither the sampling of the line is left nor the timer that would have ended the run.
    try await until("nothing is under way") { uploader.taskCount == 0 }
    #expect(uploader.progress.connections == 0)
  }

  @Test("A record that cannot be written is one warning, and the upload succeeds")
  func recordless() async throws {
    let store = ScriptedStore { request, _ in Self.good(request.step) }
    let uploader = try uploader(store, book: RecordBook(folder: directory.path("file") + "/below"))
    _ = try await finishes("the upload") { try await uploader.run() }
    uploader.close()
    let warning = "should this upload be interrupted, it could not be resumed: "
    #expect(told.withLock { $0 }.count { $0.hasPrefix(warning) } == 1)
  }

  @Test("Events after the end are not kept, and change nothing")
  func afterTheEnd() async throws {
    let store = ScriptedStore { request, _ in Self.good(request.step) }
    let uploader = try uploader(store)
    _ = try await finishes("the upload") { try await uploader.run() }
    let (requests, news) = (store.requests.count, told.withLock { $0 })
    uploader.interrupt()
    guard case .terminated = uploader.run.post(.interrupted(Failure(.interrupted, "interrupted"))) else {
      Issue.record("an event is kept for a run that is over")
      return
    }
    try await until("nothing is under way") { uploader.taskCount == 0 }
    #expect(store.requests.count == requests)
    #expect(told.withLock { $0 } == news)
  }

  @Test("A run of hours with 1,000 retries holds no more tasks at its end than at its beginning")
  func hours() async throws {
    let (held, subject) = (Locked<[Int]>([]), Locked<Uploader?>(nil))
    let store = ScriptedStore { request, _ in
      guard request.step == "part 2" else { return Self.good(request.step) }
      let count = subject.withLock { $0?.taskCount ?? 0 }
      let tries = held.withLock { held in
        held.append(count)
        return held.count
      }
      return tries > 1000 ? Self.good(request.step) : .error(500, "InternalError")
    }
    let uploader = try uploader(store)
    subject.withLock { $0 = uploader }
    defer { subject.withLock { $0 = nil } }
    let result = try await finishes("the upload") { try await uploader.run() }
    #expect(result.retries == 1000)
    #expect(clock.uptime > .seconds(1000 + 3600))
    // There are three parts, a sample of the line and a timer; and each may just be ending.
    let counts = held.withLock { $0 }
    #expect(counts.min() ?? 0 > 0 && counts.max() ?? .max <= 10)
    try await until("nothing is under way") { uploader.taskCount == 0 }
  }

  @Test(
    "Parts are of 5 MiB on a line to elsewhere, but not on one to this machine, a fast one, or with a chosen size",
    arguments: [
      (Duration.milliseconds(50), .usual, nil, 3), (.milliseconds(2), .modest, nil, 3),
      (.microseconds(200), .usual, nil, 2), (.milliseconds(50), .fast, nil, 2), (.milliseconds(50), .usual, 6 << 20, 2),
    ] as [(Duration, LineClass, Int64?, Int)])
  func finer(_ trip: Duration, _ line: LineClass, _ partSize: Int64?, _ count: Int) async throws {
    let store = ScriptedStore { request, _ in Self.good(request.step) }
    let book = RecordBook(folder: directory.path("records"))
    let uploader = try uploader(store, book: book, partSize: partSize, line: line, leastTrip: trip)
    let result = try await finishes("the upload") { try await uploader.run() }
    #expect(result.parts == count)
    #expect(Self.steps(store).filter { $0.hasPrefix("part ") }.count == count)
    #expect(told.withLock { $0.first } == "started id \(count)")
  }

  @Test("Among the other requests only the list of other uploads, which sends little, closes its connection")
  func closes() async throws {
    let closed = Locked<Set<String>>([])
    let store = ScriptedStore { request, _ in
      if request.closesConnection { closed.withLock { _ = $0.insert(request.step) } }
      return Self.good(request.step)
    }
    let uploader = try uploader(store)
    _ = try await finishes("the upload") { try await uploader.run() }
    try await until("the list was asked for") { store.requests.contains { $0.step == "uploads" } }
    #expect(closed.withLock { $0 } == ["uploads"])
  }

  @Test("While a disk or a listener blocks the driver, samples of the line do not queue up")
  func heldUp() async throws {
    let store = ScriptedStore { request, number in
      request.step == "part 2" && number < 10 ? .error(500, "InternalError") : Self.good(request.step)
    }
    let more = Locked<[Int]>([])
    let uploader = try uploader(store) { [looks] in
      let before = looks.withLock { $0 }
      let ranAll = DispatchSemaphore(value: 0)
      // Jobs run in order: a sample that did not wait for the driver would run once in each round.
      for _ in 0..<100 {
        Task { ranAll.signal() }
        ranAll.wait()
      }
      more.withLock { $0.append(looks.withLock { $0 } - before) }
    }
    _ = try await finishes("the upload") { try await uploader.run() }
    let counts = more.withLock { $0 }
    #expect(!counts.isEmpty && counts.allSatisfy { $0 <= 1 })
  }
}
