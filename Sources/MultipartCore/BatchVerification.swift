import MultipartBasics

/// A comparison of many objects with their files or with a manifest, several at a time, which can be watched and
/// stopped.
///
///     let images = BatchSources(.named([FilePath("images")]), prefix: "images/")
///     let check = try store.verification(images) { event in print(event) }
///     print(try await check.run().verified)
public final class BatchVerification: BatchRun {
  private struct State: Sendable {
    /// Why the run ends before all sources were compared.
    var stop: Failure?
    /// Why the last try failed that an interrupted comparison, or the search for sources, was about to repeat.
    var lastTry: Wording?
    var work: Task<Void, Never>?
  }

  private let store: Store
  private let stores: Siblings
  private let options: VerifyOptions
  private let find: Finder<Comparison>
  private let tap: EventTap<BatchEvent>
  private let ledger: BatchLedger
  private let state = Locked(State())
  /// Up to 16 comparisons run at once: except for large files, each spends most of its time waiting for the store.
  private let gate = Gate(16)
  /// Of objects that are downloaded, two at a time may be larger than a range. Twelve ranges of each are in memory.
  private let largeGate = Gate(2)
  private static let rangeSize: Int64 = 1 << 20

  init(
    _ store: Store, _ options: VerifyOptions, find: @escaping Finder<Comparison>,
    onEvent: @escaping @Sendable (BatchEvent) -> Void
  ) {
    var options = options
    options.rangeSize = Self.rangeSize
    let tap = EventTap(onEvent)
    (self.store, self.options, self.find, self.tap) = (store, options, find, tap)
    stores = Siblings(of: store)
    ledger = BatchLedger(
      store.world, readsObjects: true, stopsAtFirstFailure: options.stopsAtFirstFailure, onEvent: tap.tell)
  }

  /// The progress; can be read at any time.
  public var progress: BatchState { ledger.now }

  /// What happens, for one reader; it ends when the run does. Of events that are not read only the newest are kept.
  public var events: AsyncStream<BatchEvent> { tap.events }

  /// Stops the run; can be called from anywhere.
  public func cancel() { stop(.interrupted) }

  /// Runs the comparison; call it once. Cancelling the calling task stops the run. Throws if the sources cannot be read
  /// to their end, if the run is cancelled, or at its deadline; the outcome of each object is reported as an event.
  public func run() async throws(Failure) -> BatchSummary {
    try tap.begin()
    defer { tap.finish() }
    let alarm = options.deadline.map { limit in
      Task { [self] in
        if (try? await store.world.sleep(max(.zero, limit.bounded))) != nil { self.stop(.timeIsOver) }
      }
    }
    defer { alarm?.cancel() }
    let work = Task { [self] in await compareAll() }
    let isStopped = state.withLock { state in
      state.work = work
      return state.stop != nil
    }
    if isStopped { work.cancel() }
    await withTaskCancellationHandler {
      await work.value
    } onCancel: { [self] in
      cancel()
    }
    let (summary, stop) = ledger.close(
      state.withLock { state in state.stop.map { stop in state.lastTry.map(stop.endedWaiting) ?? stop } })
    if let stop { throw stop }
    return summary
  }

  private func stop(_ failure: Failure) {
    let work = state.withLock { state in
      state.stop = state.stop ?? failure
      return state.work
    }
    work?.cancel()
  }

  private var goesOn: Bool { state.withLock { $0.stop == nil } }

  private func compareAll() async {
    let ahead = Lookahead<Comparison>(large: UploadPlan.defaultPart)
    let finder = ahead.fill(by: find) { [self] step in
      await take(step, ahead)
    } ended: { [self] trouble in
      ledger.foundAll(trouble == nil)
      state.withLock { state in
        if state.stop != nil { state.lastTry = state.lastTry ?? trouble?.lastTry }
        state.stop = state.stop ?? trouble
      }
    }
    await withTaskCancellationHandler {
      await withDiscardingTaskGroup { group in
        while await gate.enter() {
          guard goesOn, let comparison = await ahead.take() else { break }
          group.addTask { [self] in
            await verify(comparison)
            gate.leave()
          }
        }
        ahead.close(dropping: true)
      }
    } onCancel: {
      ahead.close(dropping: true)
    }
    await finder.value
  }

  private func take(_ step: CandidateStep<Comparison>, _ ahead: Lookahead<Comparison>) async -> Bool {
    let comparison = ledger.candidate(in: step) { failure, name in
      failed(failure, failure.place.file ?? "", store.bucket, failure.place.key ?? "", name: name)
    }
    guard let comparison else { return goesOn }
    ledger.found(comparison.size)
    return await ahead.put(comparison)
  }

  private func verify(_ comparison: Comparison) async {
    let isLarge = options.comparesBytes && comparison.size.map { $0 > Self.rangeSize } ?? true
    if isLarge { _ = await largeGate.enter() }
    defer { if isLarge { largeGate.leave() } }
    let start = store.world.uptime()
    let result: Result<VerifiedObject, Failure>
    do throws(Failure) {
      result = .success(try await comparison.verify(at: stores, options))
    } catch {
      result = .failure(error)
    }
    let size = comparison.size ?? 0
    ledger.settled(size)
    ledger.moved(size, transferred: size)
    switch result {
    case .success(let object):
      let took = store.world.uptime() - start
      let event = BatchEvent.verified(
        object, source: comparison.path.text, bucket: comparison.bucket ?? store.bucket, key: comparison.key,
        took: took)
      ledger.ended(event) { summary in
        summary.verified += 1
        summary.bytes = summary.bytes.plus(object.size)
      }
    case .failure(let failure):
      let bucket = comparison.bucket ?? store.bucket
      failed(failure, comparison.path.text, bucket, comparison.key, name: comparison.name)
    }
  }

  private func failed(_ failure: Failure, _ path: String, _ bucket: String, _ key: String, name: [UInt8]?) {
    // A folder that cannot be read is about no object.
    let place = key.isEmpty ? Place(file: path) : Place(file: path, bucket: bucket, key: key)
    state.withLock { $0.lastTry = $0.lastTry ?? failure.lastTry }
    let result = BatchResult(
      source: path, bucket: bucket, key: key, result: .failure(failure.at(place)), name: name)
    ledger.failed(result, failure, isInterrupted: !goesOn, doubtBucket: store.doubtBucket) { [self] in
      stop(Failure(.interrupted, "not compared, because another file failed"))
    }
  }
}

extension Store {
  /// Verifies each file that the sources find against its object, in a run that starts with `run()`. Objects without a
  /// file are ignored.
  public func verification(
    _ sources: BatchSources, _ options: VerifyOptions = VerifyOptions(),
    onEvent: @escaping @Sendable (BatchEvent) -> Void = { _ in }
  ) throws(Failure) -> BatchVerification {
    try verification(sources, options, besides: RunOutputs(), onEvent: onEvent)
  }

  /// Verifies each file that the sources find, but those that the run itself writes.
  public func verification(
    _ sources: BatchSources, _ options: VerifyOptions, besides outputs: RunOutputs,
    onEvent: @escaping @Sendable (BatchEvent) -> Void
  ) throws(Failure) -> BatchVerification {
    try checkKey(options.customerKey)
    var outputs = outputs
    outputs.stateFolder = self.options.stateFolder(world.environment)
    return BatchVerification(
      self, options,
      find: { [self, outputs] give in
        try await sources.find(in: bucket, besides: outputs) { step in
          await give(step.map { Comparison($0) })
        } listing: {
          nil
        }
      }, onEvent: onEvent)
  }

  /// Verifies that the objects of a manifest are still those that it lists, without their files; `sources` is a
  /// manifest.
  public func verification(
    listed sources: DownloadSources, _ options: VerifyOptions = VerifyOptions(),
    onEvent: @escaping @Sendable (BatchEvent) -> Void = { _ in }
  ) throws(Failure) -> BatchVerification {
    try checkKey(options.customerKey)
    guard case .manifest = sources.kind else {
      throw Failure(.usage, "only a manifest lists what its objects are compared with")
    }
    return BatchVerification(
      self, options,
      find: { [self] give in
        try await sources.find(in: self, asFiles: false) { step in await give(step.map { Comparison($0) }) }
      }, onEvent: onEvent)
  }
}

/// One object that a run compares, and what with.
struct Comparison: Findable {
  private enum Original: Sendable {
    case file(UploadItem)
    case entry(ManifestEntry)
  }

  let key: String
  /// The file, or the path of the key below the prefix.
  let path: FilePath
  /// The name for the list of failures.
  let name: [UInt8]
  let size: Int64?
  private let original: Original

  init(_ candidate: Candidate) {
    let item = candidate.item
    (key, path, name) = (item.key, item.input.path, item.name ?? item.input.path.bytes)
    (size, original) = (candidate.size, .file(item))
  }

  init(_ wanted: WantedObject) {
    (key, path, name, size) = (wanted.key, FilePath(bytes: wanted.path), wanted.name, wanted.size)
    original = .entry(wanted.noted ?? ManifestEntry(key: wanted.key))
  }

  /// The bucket, if it is not that of the run.
  var bucket: String? { if case .file(let item) = original { item.bucket } else { nil } }

  func verify(at stores: Siblings, _ options: VerifyOptions) async throws(Failure) -> VerifiedObject {
    switch original {
    case .file(let item): try await stores.store(of: item).verify(item.input, is: key, options).proven()
    case .entry(let entry): try await ManifestCheck(stores.own, entry, key, options).run()
    }
  }
}
