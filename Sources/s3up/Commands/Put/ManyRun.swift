import Glibc
import MultipartBasics
import MultipartCore

/// Runs a batch, from the start to the summary.
struct ManyRun: Sendable {
  let session: Session
  let selection: SelectionOptions
  var options = BatchOptions()
  let reports: ManyReports
  var commandForFailed: String?
  /// Whether finding nothing to do is a success.
  var allowsNothing = true
  private let start: Duration

  /// Creates the run, and the store whose credentials sign its requests; nil if there is nothing to do.
  typealias Begin =
    @Sendable (BatchOptions, ManyReporter) async throws(Failure) -> (batch: any BatchRun, store: Store?)?

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
    do throws(Failure) {
      return try await RunAlarm.run(session.options.upload.deadline, session.world) { (alarm) async throws(Failure) in
        try await run(alarm, begin)
      }
    } catch {
      if !selection.isDryRun, error.code != .usage { reports.withdraw(session) }
      throw error
    }
  }

  private func run(_ alarm: RunAlarm, _ begin: Begin) async throws(Failure) -> ExitStatus {
    var options = options
    options.upload.deadline = session.left(of: options.upload.deadline, since: start)
    let reporter = ManyReporter(session, reports.failures, since: start)
    guard let (batch, store) = try await begin(options, reporter) else {
      return try await end(BatchSummary(), reporter, nil)
    }
    session.signals.listen { batch.cancel() }
    session.signals.onReport { reporter.report() }
    session.signals.onPause { reporter.pause() }
    reporter.start(batch)
    let watch = store.flatMap { store in
      CredentialWatch(session, store) {
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
    var nothing = BatchSummary()
    nothing.hasGivenUp = summary.hasGivenUp
    let isEmpty = summary == nothing
    if cut == nil, !allowsNothing, summary.verified + summary.failed == 0 {
      cut = Failure(
        .sourceMissing, "no file was found", remedy: "Check the names, or give --allow-empty if that is intended.")
    }
    // Nothing was begun, so that only the reason is reported. A comparison keeps nothing of what it has begun.
    let hasBegun = cut?.isInterruption == true && session.invocation.command != .verify && batch.progress.bytes > 0
    if let cut, isEmpty, !hasBegun { throw cut }
    return try await end(summary, reporter, cut)
  }

  /// Prints the summary, then writes the reports, then decides how the run ends: by the files' outcome, or if that is a
  /// success, by the reports'.
  private func end(
    _ summary: BatchSummary, _ reporter: ManyReporter, _ cut: Failure?
  ) async throws(Failure) -> ExitStatus {
    reporter.tell(summary, isWhole: cut == nil)
    var trouble: Failure?
    if !selection.isDryRun {
      trouble = await reports.write(
        session, summary, isComplete: reporter.status == .success && cut == nil,
        hasTriedAll: cut == nil && !summary.hasGivenUp, command: commandForFailed,
        until: session.options.upload.deadline.map { start + $0 })
    }
    if var trouble {
      let isStopped = trouble.isInterruption
      if !isStopped { trouble.code = .output }
      trouble.isResumable = false
      if cut == nil, reporter.status == .success {
        trouble.message += "; the run itself succeeded"
        if session.invocation.command == .put {
          trouble.remedy = (trouble.remedy.map { $0 + "; then " } ?? "") + Self.remedyForReport
        }
        throw trouble
      }
      session.showBeside(trouble)
    }
    try reporter.settle(summary, isWhole: cut == nil)
    if var cut {
      // A comparison keeps nothing that could be continued.
      if cut.isInterruption, session.invocation.command != .verify {
        cut.remedy =
          options.upload.resume == .never
          ? "run it again without \(.resume, "never") to continue" : "run the same command again to continue"
        cut.isResumable = true
      }
      throw cut
    }
    return reporter.status
  }

  private static let remedyForReport: Wording =
    "the same command with --skip-same writes it, and sends nothing that the store already has"
}
