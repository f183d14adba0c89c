import Glibc
import MultipartCore

/// `s3up put` of many: `A B C s3://B/PREFIX/`, `-r DIR`, `--files-from`, `--batch`.
struct PutManyCommand {
  private let session: Session
  private let sources: ManySources

  init(_ session: Session) throws(Failure) {
    self.session = session
    sources = try ManySources(session.invocation)
  }

  func run() async throws(Failure) -> ExitStatus {
    var run = try PutManyRun(session)
    let selection = run.selection
    run.commandForFailed = sources.commandForFailed(selection)
    let list = try sources.inputs(selection)
    let manifest = try ManifestTarget(selection, environment: session.environment)
    run.manifest = manifest
    run.options.manifest = manifest?.manifest
    run.options.manifestPrefix = list.prefix
    return try await run.alarmed { (options, reporter) async throws(Failure) in
      guard let bucket = sources.target?.bucket else { return nil }
      let store = try await session.store(bucket)
      if store.endpoint.kind == .directory { try DirectoryBucket.check(session.invocation) }
      if session.output.explain {
        for line in try await ManyPlan(store, options.upload, sources).lines { session.console.line(line) }
      }
      return (try store.batch(list, options, onEvent: reporter.hear), store.signer)
    }
  }
}

/// A run of many uploads, from its first byte to its summary.
struct PutManyRun: Sendable {
  let session: Session
  let selection: SelectionOptions
  var options = BatchOptions()
  var manifest: ManifestTarget?
  var commandForFailed: String?
  private let start: Duration
  private let limit: Duration?

  /// Makes the run, and says who signs its requests; nil if there is nothing to do.
  typealias Begin =
    @Sendable (BatchOptions, ManyReporter) async throws(Failure) -> (batch: BatchUpload, signer: BucketSigner?)?

  init(_ session: Session) throws(Failure) {
    self.session = session
    start = session.world.uptime()
    selection = try SelectionOptions(session.invocation, environment: session.environment)
    limit = try ResumeOptions(session.invocation).deadline
    options.upload = try UploadOptions(session.invocation)
    options.stopsAtFirstFailure = selection.stopsAtFirstFailure
    options.onlyLooks = selection.isDryRun
  }

  func alarmed(_ begin: @escaping Begin) async throws(Failure) -> ExitStatus {
    let status = Locked(ExitStatus.success)
    try await RunAlarm.run(limit, session.world) { (alarm) async throws(Failure) in
      let result = try await run(alarm, begin)
      status.withLock { $0 = result }
    }
    return status.withLock { $0 }
  }

  private func run(_ alarm: RunAlarm, _ begin: Begin) async throws(Failure) -> ExitStatus {
    var options = options
    // The time limit is for the whole command, and part of it has passed.
    options.upload.deadline = options.upload.deadline.map { $0 - (session.world.uptime() - start) }
    let failures = try FailedNames(selection.failedTo, endWithNUL: selection.endsWithNUL)
    let reporter = ManyReporter(session, failures, since: start)
    guard let (batch, signer) = try await begin(options, reporter) else {
      try reporter.tell(BatchSummary(), command: nil)
      return .success
    }
    session.signals.listen { batch.cancel() }
    session.signals.onReport { reporter.report() }
    session.signals.onPause { reporter.pause() }
    reporter.start(batch)
    let watch = signer.flatMap { signer in
      CredentialWatch(session, signer) {
        let progress = batch.progress
        return (progress.ended, progress.left)
      }.start()
    }
    defer { watch?.cancel() }
    var cut: Failure?
    do throws(Failure) {
      _ = try await batch.run()
    } catch {
      cut = error
    }
    reporter.finish()
    try failures.finish()
    guard alarm.disarm() else { throw Failure(.deadline, "the time given by --deadline is over") }
    if let manifest, !selection.isDryRun {
      if reporter.status == .success, cut == nil {
        try await manifest.write(session)
      } else {
        session.console.line("s3up: no manifest is written, because not everything has arrived")
      }
    }
    let summary = batch.progress.summary
    // Nothing has begun: there is only the reason to tell.
    if let cut, summary == BatchSummary() { throw cut }
    try reporter.tell(summary, command: commandForFailed)
    if var cut {
      if cut.code == .interrupted || cut.code == .deadline {
        cut.remedy = "run the same command again to go on"
        cut.isResumable = true
      }
      throw cut
    }
    return reporter.status
  }
}
