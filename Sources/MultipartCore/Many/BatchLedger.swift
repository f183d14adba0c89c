import MultipartBasics

/// Counts and reports what a batch finds and how its objects end, and decides when a batch is given up: the same for
/// uploads, downloads and comparisons.
final class BatchLedger: Sendable {
  private struct State: Sendable {
    var now = BatchState()
    var despair: Despair
    var isOver = false
  }

  private let world: World
  private let stopsAtFirstFailure: Bool
  private let onEvent: @Sendable (BatchEvent) -> Void
  private let state: Locked<State>

  init(
    _ world: World, readsObjects: Bool, stopsAtFirstFailure: Bool, onEvent: @escaping @Sendable (BatchEvent) -> Void
  ) {
    (self.world, self.stopsAtFirstFailure, self.onEvent) = (world, stopsAtFirstFailure, onEvent)
    state = Locked(State(despair: Despair(ofReading: readsObjects)))
  }

  /// The totals, without the objects in progress.
  var now: BatchState { state.withLock { $0.now } }

  func tell(_ event: BatchEvent) { onEvent(event) }

  // MARK: - Finding

  /// Reports what is not a candidate; `failed` receives a source that cannot become an object.
  func candidate<Found>(in step: CandidateStep<Found>, failed: (Failure, [UInt8]?) -> Void) -> Found? {
    switch step {
    case .candidate(let found): return found
    case .skipped(let source):
      state.withLock { $0.now.summary.skipped += 1 }
      onEvent(.skipped(source))
    case .leftOut(let source):
      world.log(1, "left out: \(SafeText.oneLine(source.path)): \(source.reason.words)")
    case .advice(let text): world.log(0, text)
    case .failed(let failure, let name): failed(failure, name)
    }
    return nil
  }

  func found(_ size: Int64?) {
    state.withLock { $0.now.found += 1 }
    found(bytes: size ?? 0)
  }

  /// Bytes that an object has beyond the size with which it was found.
  func found(bytes: Int64) {
    state.withLock { state in
      state.now.foundBytes = state.now.foundBytes.plus(bytes)
      state.now.remaining = state.now.remaining.plus(bytes)
    }
  }

  func foundAll(_ isAll: Bool) { state.withLock { $0.now.foundAll = isAll } }

  // MARK: - Ending

  /// An object of this size has ended, in whatever way.
  func settled(_ bytes: Int64) {
    // Sizes beyond 64 bits were counted only as far as they fit.
    state.withLock { $0.now.remaining = max(0, $0.now.remaining - bytes) }
  }

  func moved(_ bytes: Int64, transferred: Int64) {
    state.withLock { state in
      state.now.bytes = state.now.bytes.plus(bytes)
      state.now.transferred = state.now.transferred.plus(transferred)
    }
  }

  func ended(_ event: BatchEvent, count: (inout BatchSummary) -> Void) {
    state.withLock { count(&$0.now.summary) }
    onEvent(event)
  }

  /// Reports a failure, and ends the run with `giveUp` if the objects after it would fail too. An object of an
  /// interrupted run has not failed: the next run continues it. `doubtBucket` asks whether the bucket exists, and calls
  /// back if it does not.
  func failed(
    _ result: BatchResult, _ failure: Failure, isInterrupted: Bool,
    doubtBucket: (_ isMissing: @escaping @Sendable (Failure) -> Void) -> Void,
    giveUp: @escaping @Sendable () -> Void
  ) {
    var (result, failure) = (result, failure)
    // Without an interruption of the run it is a failure, whatever it calls itself: no other line would tell of it.
    if failure.isInterruption, !isInterrupted {
      failure.code = .local
      result.result = .failure(failure.at(Place(bucket: result.bucket, key: result.key)))
    }
    if !failure.isInterruption { state.withLock { $0.now.summary.failed += 1 } }
    onEvent(.ended(result))
    guard !failure.isInterruption else { return }
    let (givesUp, doubtsBucket) = state.withLock { state in
      let done = state.now.summary.done
      let isHopeless = state.despair.isHopeless(failure, done: done)
      if isHopeless || stopsAtFirstFailure { state.now.summary.hasGivenUp = true }
      return (isHopeless || stopsAtFirstFailure, state.despair.doubtsBucket(failure, done: done))
    }
    if givesUp {
      giveUp()
    } else if doubtsBucket {
      doubtBucket { [self] missing in if ends(missing) { giveUp() } }
    }
  }

  /// Says that the bucket does not exist, which ends the run; false if an object was found meanwhile, or the run is over.
  private func ends(_ missing: Failure) -> Bool {
    let ends = state.withLock { state in
      guard !state.isOver, state.now.summary.done == 0 else { return false }
      state.now.summary.hasGivenUp = true
      return true
    }
    if ends { world.log(0, missing.message) }
    return ends
  }

  /// Ends the run, and returns its totals and the reason why objects are left over. A run that has given up was stopped
  /// by itself, so that an interruption is no reason then.
  func close(_ stop: Failure?) -> (summary: BatchSummary, stop: Failure?) {
    state.withLock { state in
      state.isOver = true
      let stop = state.now.summary.hasGivenUp && stop?.isInterruption == true ? nil : stop
      if stop != nil { state.now.summary.hasGivenUp = true }
      return (state.now.summary, stop)
    }
  }
}
