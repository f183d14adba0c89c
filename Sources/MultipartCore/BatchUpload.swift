/// An upload of many objects over one window of connections, which can be watched and stopped. A failure of one does not
/// stop the others.
///
///     let batch = try store.batch([UploadItem(.file("a"), to: "a"), UploadItem(.file("b"), to: "b")])
///     let summary = try await batch.run()
///     print(summary.uploaded, summary.failed)
public final class BatchUpload: BatchRun {
  let driver: RunDriver<Uploader>
  private let maker: any UploaderMaking
  private let find: Finder
  private let options: BatchOptions
  private let onEvent: @Sendable (BatchEvent) -> Void
  private let state = Locked(State())

  private struct State: Sendable {
    var summary = BatchSummary()
    var found = 0
    var foundBytes: Int64 = 0
    var foundAll = false
    /// Of objects that were found and have not ended.
    var left: Int64 = 0
    /// Of objects that have ended.
    var bytes: Int64 = 0
    var taken: Int64 = 0
    /// Why the sources could not be read to their end.
    var trouble: Failure?
    var despair = Despair()
  }

  init(
    _ maker: any UploaderMaking, _ options: BatchOptions, driver: RunDriver<Uploader>, find: @escaping Finder,
    onEvent: @escaping @Sendable (BatchEvent) -> Void
  ) {
    (self.maker, self.options, self.driver, self.find, self.onEvent) = (maker, options, driver, find, onEvent)
  }

  /// The progress; can be read at any time.
  public var progress: BatchState {
    var now = BatchState()
    let running = driver.objects
    state.withLock { state in
      now.summary = state.summary
      (now.found, now.foundBytes, now.foundAll) = (state.found, state.foundBytes, state.foundAll)
      (now.left, now.bytes, now.taken) = (state.left, state.bytes, state.taken)
    }
    for uploader in running {
      let own = UploadState(uploader)
      now.left = max(0, now.left - own.bytes)
      now.bytes += own.bytes
      now.taken += own.taken
      now.connections += own.connections
      now.running.append((uploader.job.source.path.text, own))
    }
    return now
  }

  /// Stops the run; can be called from anywhere.
  public func cancel() { driver.interrupt() }

  /// Runs it; call it once. Cancelling the calling task stops the run. Throws if the sources cannot be read to their
  /// end, if the run is cancelled, or at its deadline; what becomes of each object is reported as an event.
  public func run() async throws(Failure) -> BatchSummary {
    let start = driver.world.uptime()
    let alarm = options.upload.deadline.map { driver.interrupt(after: $0, since: start, aborts: false) }
    defer { alarm?.cancel() }
    // In a task of its own: a cancelled task could not send the requests that abort or keep the uploads.
    let work = Task { [self] in
      await driver.run { [self] door in
        await feed(door)
      } ended: { [self] uploader, result in
        ended(uploader, result)
      }
    }
    await withTaskCancellationHandler {
      await work.value
    } onCancel: { [driver] in
      driver.interrupt()
    }
    let (summary, trouble) = state.withLock { state in
      (state.summary, state.trouble ?? (state.summary.hasGivenUp ? nil : driver.interruption))
    }
    close(keepsRecord: trouble != nil || summary.failed > 0 || driver.interruption != nil)
    if let trouble { throw trouble }
    return summary
  }

  private func close(keepsRecord: Bool) {
    do throws(Failure) {
      try options.record?.close(keeps: keepsRecord)
    } catch {
      driver.world.log(0, "the record of this run cannot be written: \(error.message)")
    }
  }

  // MARK: - Finding and opening

  private func feed(_ door: RunDriver<Uploader>.Door) async {
    let ahead = Lookahead(large: UploadPlan.defaultPart)
    let finder = ahead.fill(by: find) { [self] step in
      await take(step, ahead)
    } ended: { [self] trouble in
      state.withLock { ($0.foundAll, $0.trouble) = (trouble == nil, $0.trouble ?? trouble) }
    }
    await withDiscardingTaskGroup { group in
      while await door.enter() {
        guard let candidate = await ahead.take() else {
          door.leave()
          break
        }
        do throws(Failure) {
          let uploader = try await maker.uploader(candidate, driver) { [onEvent] in onEvent($0) }
          // The size may have changed since the file was found, or is known only now.
          found((uploader.job.source.size ?? 0) - (candidate.size ?? 0))
          if uploader.mayWait { group.addTask { await door.offer(uploader) } } else { await door.offer(uploader) }
        } catch {
          door.leave()
          settled(candidate.size ?? 0)
          ended(maker.result(candidate.item, error))
        }
      }
      ahead.close(dropping: true)
    }
    await finder.value
  }

  private func take(_ step: CandidateStep, _ ahead: Lookahead) async -> Bool {
    switch step {
    case .skipped(let source):
      state.withLock { $0.summary.skipped += 1 }
      onEvent(.skipped(source))
    case .leftOut(let source):
      driver.world.log(1, "left out: \(SafeText.oneLine(source.path)): \(source.why)")
    case .advice(let text): driver.world.log(0, text)
    case .failed(let failure, let name):
      var result = maker.result(nil, failure)
      if !name.isEmpty { result.name = name }
      ended(result)
    case .candidate(let candidate):
      let item = candidate.item
      let bucket = item.bucket ?? maker.bucket
      if let refusal = options.outputs.refusal(
        of: candidate.inode, item.input.path, bucket: bucket, key: item.key)
      {
        ended(maker.result(item, refusal))
        return driver.interruption == nil
      }
      state.withLock { $0.found += 1 }
      found(candidate.size ?? 0)
      if options.onlyLooks, !options.upload.skipsSame, !options.upload.skipsExisting {
        plan(item.input.path.text, bucket, item.key, candidate.size)
        return driver.interruption == nil
      }
      return await ahead.put(candidate)
    }
    return driver.interruption == nil
  }

  private func found(_ bytes: Int64) {
    state.withLock { state in
      state.foundBytes = state.foundBytes.plus(bytes)
      state.left = state.left.plus(bytes)
    }
  }

  private func settled(_ bytes: Int64) {
    // Of sizes beyond 64 bits only as much was counted as there is room for.
    state.withLock { $0.left = max(0, $0.left - bytes) }
  }

  private func plan(_ source: String, _ bucket: String, _ key: String, _ size: Int64?) {
    state.withLock { state in
      state.summary.planned += 1
      state.summary.bytes = state.summary.bytes.plus(size ?? 0)
    }
    onEvent(.planned(source: source, bucket: bucket, key: key, size: size))
  }

  // MARK: - Ending

  private func ended(_ uploader: Uploader, _ result: Result<UploadResult, Failure>) {
    settled(uploader.job.source.size ?? 0)
    if case .success(let planned) = result, planned.isPlanned {
      let job = uploader.job
      return plan(job.source.path.text, job.bucket, job.key, planned.size)
    }
    state.withLock { state in
      state.bytes += uploader.progress.bytes
      state.taken += uploader.progress.taken
    }
    let told = maker.result(uploader, result)
    ended(told)
    note(uploader, told)
    // The result was told, so the record may go.
    uploader.close()
  }

  /// For the next run, and in the manifest.
  private func note(_ uploader: Uploader, _ result: BatchResult) {
    // Of an object that was skipped nothing is known.
    guard case .success(let object) = result.result, !object.isSkipped else { return }
    do throws(Failure) {
      if let etag = object.etag, !uploader.job.source.isStream {
        try options.record?.append(uploader.job.recorded(), etag: etag)
      }
      try options.manifest?.add(
        ManifestEntry(
          key: options.nameInManifest(result.key), size: object.size, etag: object.etag, versionID: object.versionID,
          checksum: object.sum, sha256: object.sha256))
    } catch {
      state.withLock { $0.trouble = $0.trouble ?? error }
    }
  }

  private func ended(_ result: BatchResult) {
    state.withLock { state in
      switch result.result {
      case .success(let object) where object.isSkipped:
        state.summary.existing += 1
        state.summary.bytesSent += object.bytesSent
        state.summary.retries += object.retries
      case .success(let object):
        if object.isUnchanged { state.summary.unchanged += 1 } else { state.summary.uploaded += 1 }
        state.summary.bytes = state.summary.bytes.plus(object.size)
        state.summary.bytesSent += object.bytesSent
        state.summary.bytesResumed += object.bytesResumed
        state.summary.retries += object.retries
      // What was stopped has not failed: the next run resumes it.
      case .failure(let failure) where [.interrupted, .deadline].contains(failure.code): break
      case .failure: state.summary.failed += 1
      }
    }
    onEvent(.ended(result))
    guard case .failure(let failure) = result.result, failure.code != .interrupted, failure.code != .deadline else {
      return
    }
    let isHopeless = state.withLock { state in
      let done = state.summary.uploaded + state.summary.unchanged + state.summary.existing
      return state.despair.isHopeless(failure, done: done)
    }
    if options.stopsAtFirstFailure || isHopeless {
      state.withLock { $0.summary.hasGivenUp = true }
      driver.interrupt(Failure(.interrupted, "not sent, because another file failed"))
    }
  }
}
