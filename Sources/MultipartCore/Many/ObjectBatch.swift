import MultipartBasics

/// How a batch handles what it finds, in either direction.
protocol ObjectMaking: Sendable {
  associatedtype Found: Findable
  associatedtype Object: Performer

  /// Whether it makes objects at the store.
  static var writesObjects: Bool { get }
  var world: World { get }
  /// The outcome of a candidate that needs no object; nil: it waits for its turn.
  func answer(to found: Found) -> ObjectEnd?
  func object(
    of found: Found, in driver: RunDriver<Object>, tell: @escaping @Sendable (BatchEvent) -> Void
  ) async throws(Failure) -> Object
  /// Whether preparing it may have to wait for another run.
  func mayWait(_ object: Object) -> Bool
  /// The number of bytes to be transferred, as far as it is known before the object starts.
  func size(of object: Object) -> Int64
  func progress(of object: Object) -> (file: String, state: UploadState)
  /// The result for a candidate that could not become an object, or, without one, for a source that could not be read.
  func failed(_ found: Found?, _ failure: Failure) -> BatchResult
  func end(of object: Object, _ result: Result<Object.Output, Failure>) -> ObjectEnd
  /// Asks whether the bucket of many missing objects exists, and calls `isMissing` if it does not.
  func doubtBucket(_ isMissing: @escaping @Sendable (Failure) -> Void)
  /// Called when the object's end was reported.
  func close(_ object: Object)
  /// Called at the end of the run.
  func close(keepsRecord: Bool)
}

/// The outcome of one object of a run.
enum ObjectEnd: Sendable {
  /// A dry run: something would be done.
  case planned(source: String, bucket: String, key: String, size: Int64?)
  /// `note` records the object for the next run and the manifest, once it was reported.
  case done(
    BatchEvent, count: @Sendable (inout BatchSummary) -> Void,
    note: @Sendable () throws(Failure) -> Void = { () throws(Failure) in })
  case failed(BatchResult, Failure)
}

/// A batch of objects over one window of connections, in either direction. If one fails, the others continue.
final class ObjectBatch<Maker: ObjectMaking>: BatchRun {
  private let driver: RunDriver<Maker.Object>
  private let maker: Maker
  private let deadline: Duration?
  private let find: Finder<Maker.Found>
  private let ledger: BatchLedger
  private let state = Locked(State())

  private struct State: Sendable {
    /// Why the sources could not be read to their end.
    var trouble: Failure?
    /// Why the last try failed that an interrupted object, or the search for objects, was about to repeat.
    var lastTry: Wording?
  }

  init(
    _ maker: Maker, deadline: Duration?, stopsAtFirstFailure: Bool, driver: RunDriver<Maker.Object>,
    find: @escaping Finder<Maker.Found>, onEvent: @escaping @Sendable (BatchEvent) -> Void
  ) {
    (self.maker, self.deadline, self.driver, self.find) = (maker, deadline, driver, find)
    ledger = BatchLedger(
      driver.world, readsObjects: !Maker.writesObjects, stopsAtFirstFailure: stopsAtFirstFailure, onEvent: onEvent)
  }

  var progress: BatchState {
    let running = driver.objects
    var now = ledger.now
    for object in running {
      let (file, own) = maker.progress(of: object)
      now.remaining = max(0, now.remaining - own.bytes)
      now.bytes += own.bytes
      now.transferred += own.transferred
      now.connections += own.connections
      now.running.append(BatchState.Running(file, own))
    }
    return now
  }

  func cancel() { driver.interrupt() }

  func run() async throws(Failure) -> BatchSummary {
    try await driver.perform(deadline: deadline) { [self] () throws(Failure) in
      await driver.run { [self] door in
        await feed(door)
      } ended: { [self] object, result in
        ended(object, result)
      }
    }
    let (summary, stop) = ledger.close(state.withLock { $0.trouble ?? interruption($0.lastTry) })
    maker.close(keepsRecord: stop != nil || summary.failed > 0 || driver.interruption != nil)
    if let stop { throw stop }
    return summary
  }

  private func interruption(_ lastTry: Wording?) -> Failure? {
    driver.interruption.map { interruption in lastTry.map(interruption.endedWaiting) ?? interruption }
  }

  // MARK: - Finding and opening

  private func feed(_ door: RunDriver<Maker.Object>.Door) async {
    let ahead = Lookahead<Maker.Found>(large: UploadPlan.defaultPart)
    let finder = ahead.fill(by: find) { [self] step in
      await take(step, ahead)
    } ended: { [self] trouble in
      ledger.foundAll(trouble == nil)
      let isInterrupted = driver.interruption != nil
      state.withLock { state in
        if isInterrupted {
          state.lastTry = state.lastTry ?? trouble?.lastTry
        } else {
          state.trouble = state.trouble ?? trouble
        }
      }
    }
    driver.onInterruption { ahead.close(dropping: true) }
    await withDiscardingTaskGroup { group in
      while await door.enter() {
        guard let found = await ahead.take() else {
          door.leave()
          break
        }
        do throws(Failure) {
          let object = try await maker.object(of: found, in: driver) { [ledger] in ledger.tell($0) }
          // The size may have changed since the object was found, or has only now become known.
          ledger.found(bytes: maker.size(of: object) - (found.size ?? 0))
          if maker.mayWait(object) { group.addTask { await door.offer(object) } } else { await door.offer(object) }
        } catch {
          door.leave()
          ledger.settled(found.size ?? 0)
          ended(.failed(maker.failed(found, error), error))
        }
      }
      ahead.close(dropping: true)
    }
    await finder.value
  }

  private func take(_ step: CandidateStep<Maker.Found>, _ ahead: Lookahead<Maker.Found>) async -> Bool {
    let found = ledger.candidate(in: step) { failure, name in
      var result = maker.failed(nil, failure)
      result.name = name
      failed(result, failure)
    }
    if let found {
      let end = maker.answer(to: found)
      if case .failed? = end {
      } else {
        ledger.found(found.size)
      }
      guard let end else { return await ahead.put(found) }
      ended(end)
    }
    return driver.interruption == nil
  }

  // MARK: - Ending

  private func ended(_ object: Maker.Object, _ result: Result<Maker.Object.Output, Failure>) {
    ledger.settled(maker.size(of: object))
    let end = maker.end(of: object, result)
    if case .planned = end { return ended(end) }
    let own = maker.progress(of: object).state
    ledger.moved(own.bytes, transferred: own.transferred)
    ended(end)
    // The result was reported, so a record may be deleted.
    maker.close(object)
  }

  private func ended(_ end: ObjectEnd) {
    switch end {
    case .planned(let source, let bucket, let key, let size):
      ledger.ended(.planned(source: source, bucket: bucket, key: key, size: size)) { summary in
        summary.planned += 1
        summary.bytes = summary.bytes.plus(size ?? 0)
      }
    case .done(let event, let count, let note):
      ledger.ended(event, count: count)
      do throws(Failure) {
        try note()
      } catch {
        state.withLock { $0.trouble = $0.trouble ?? error }
      }
    case .failed(let result, let failure): failed(result, failure)
    }
  }

  private func failed(_ result: BatchResult, _ failure: Failure) {
    state.withLock { $0.lastTry = $0.lastTry ?? failure.lastTry }
    ledger.failed(
      result, failure, isInterrupted: driver.interruption != nil, doubtBucket: maker.doubtBucket
    ) { [driver] in
      driver.interrupt(Failure(.interrupted, "not tried, because another file failed"))
    }
  }
}
