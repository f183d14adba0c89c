import Glibc
import MultipartCore

/// A run of many, from its first byte to its summary.
struct ManyRun: Sendable {
  let session: Session
  let selection: SelectionOptions
  var options = BatchOptions()
  let reports: ManyReports
  var commandForFailed: String?
  /// It is all right if there was nothing to do.
  var allowsNothing = true
  private let start: Duration

  /// Makes the run and gives the signer of its requests; nil if there is nothing to do.
  typealias Begin =
    @Sendable (BatchOptions, ManyReporter) async throws(Failure) -> (batch: any BatchRun, signer: BucketSigner?)?

  init(_ session: Session) throws(Failure) {
    self.session = session
    start = session.world.uptime()
    selection = try SelectionOptions(session.invocation, environment: session.environment)
    options.upload = session.options.upload
    options.stopsAtFirstFailure = selection.stopsAtFirstFailure
    options.onlyLooks = selection.isDryRun
    reports = try ManyReports(session, selection)
    options.manifest = reports.manifest?.manifest
    options.outputs = reports.outputs
  }

  func alarmed(_ begin: @escaping Begin) async throws(Failure) -> ExitStatus {
    let status = Locked(ExitStatus.success)
    try await RunAlarm.run(session.options.upload.deadline, session.world) { (alarm) async throws(Failure) in
      let result = try await run(alarm, begin)
      status.withLock { $0 = result }
    }
    return status.withLock { $0 }
  }

  private func run(_ alarm: RunAlarm, _ begin: Begin) async throws(Failure) -> ExitStatus {
    var options = options
    // The time limit is for the whole command, and part of it has passed.
    options.upload.deadline = options.upload.deadline.map { $0 - (session.world.uptime() - start) }
    let reporter = ManyReporter(session, reports.failures, since: start)
    guard let (batch, signer) = try await begin(options, reporter) else {
      return try await end(BatchSummary(), reporter, nil)
    }
    session.signals.listen { batch.cancel() }
    session.signals.onReport { reporter.report() }
    session.signals.onPause { reporter.pause() }
    reporter.start(batch)
    let watch = signer.flatMap { signer in
      CredentialWatch(session, signer) {
        let progress = batch.progress
        return (progress.ended, progress.remaining)
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
    try alarm.disarm()
    let summary = batch.progress.summary
    if cut == nil, !allowsNothing, summary.verified + summary.failed == 0 {
      cut = Failure(
        .sourceMissing, "there is no file", remedy: "Look at what was named, or give --allow-empty if that is right.")
    }
    // Nothing has begun: there is only the reason to tell.
    if let cut, summary == BatchSummary() { throw cut }
    return try await end(summary, reporter, cut)
  }

  /// The summary, then the reports, then what the run ends with: what became of the files, and only if that is well, what
  /// became of the reports.
  private func end(
    _ summary: BatchSummary, _ reporter: ManyReporter, _ cut: Failure?
  ) async throws(Failure) -> ExitStatus {
    reporter.tell(summary)
    var trouble: Failure?
    if !selection.isDryRun {
      trouble = await reports.write(
        session, summary, isComplete: reporter.status == .success && cut == nil, command: commandForFailed)
    }
    if var trouble {
      (trouble.code, trouble.isResumable) = (.output, false)
      if cut == nil, reporter.status == .success {
        trouble.message += "; what it was to report is done"
        if session.invocation.command == .put { trouble.remedy = trouble.remedy ?? Self.remedyForReport }
        throw trouble
      }
      session.show(trouble)
    }
    try reporter.settle(summary)
    if var cut {
      if cut.code == .interrupted || cut.code == .deadline {
        cut.remedy = "run the same command again to go on"
        cut.isResumable = true
      }
      throw cut
    }
    return reporter.status
  }

  private static let remedyForReport: Wording =
    "the same command with --skip-same writes it, and sends nothing that is at the store already"
}
