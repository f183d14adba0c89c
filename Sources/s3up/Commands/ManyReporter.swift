import Glibc
import MultipartCore

/// Tells people and programs how an upload of many goes: a line for each file, the progress of those that are under way,
/// and a summary.
final class ManyReporter: Sendable {
  private struct State: Sendable {
    var batch: (any BatchRun)?
    var ticker: Task<Void, Never>?
    var rates = RateMeter()
    /// The rate of the bytes that need not be waited for any more, whether they were sent or not.
    var ends = RateMeter()
    var lastLine: Duration?
    var statuses: Set<ExitStatus> = []
    /// The first line that could not be written.
    var unsaid: Failure?
    var isFinished = false
  }

  /// How many of the files that are being sent have a line on a terminal.
  private static let mostLines = 8

  private let session: Session
  private let failures: FailedNames
  private let start: Duration
  private let style: ProgressPrinter.Style
  private let state = Locked(State())
  private let retries = RetryPauses()
  private let sharesTerminal: Bool
  private let paint: Paint
  private var isDown: Bool { session.invocation.command == .get }

  init(_ session: Session, _ failures: FailedNames, since start: Duration) {
    self.session = session
    self.failures = failures
    self.start = start
    style = Reporter.style(session)
    sharesTerminal = style == .bar && Descriptor.isTerminal(STDOUT_FILENO)
    paint = session.paint(STDOUT_FILENO)
  }

  // MARK: - What happens

  @Sendable func hear(_ event: BatchEvent) {
    switch event {
    case .ended(let result): ended(result)
    case .skipped(let source):
      if session.output.json == .all {
        line("", json: Event.skipped(source.path, source.why).json)
      }
      if !session.output.quiet {
        session.console.line("s3up: skipped \(SafeText.oneLine(source.path)): \(source.why)")
      }
    case .planned(let source, let bucket, let key, let size):
      let subject = Event.Subject(source: source, bucket: bucket, key: key)
      let (file, object) = (
        SafeText.oneLine(source, limit: .max), SafeText.oneLine("s3://\(bucket)/\(key)", limit: .max)
      )
      let what = isDown ? "would get \(object) as \(file)" : "would upload \(file) to \(object)"
      line(what + (size.map { " (\(Human.size($0)))" } ?? ""), json: Event.planned(subject, size: size).json)
    case .verified(let object, let source, let bucket, let key, let took):
      line(
        VerifyCommand.line(object, source, bucket, key, took),
        json: Event.verified(Event.Subject(source: source, bucket: bucket, key: key), object, took: took).json)
    case .downloaded(let object, let file, let bucket, let key, let took):
      let summary = DownloadSummary(result: object, destination: file, bucket: bucket, key: key, duration: took)
      line(
        summary.line, json: Event.got(Event.Subject(source: nil, bucket: bucket, key: key), summary).json)
    case .download(let event, let file, let bucket, let key):
      let subject = Event.Subject(source: nil, bucket: bucket, key: key)
      GetReporter(session, subject, name: file, retries, isOne: false).hear(event)
    case .upload(let event, let source, let bucket, let key):
      Reporter(session, subject: Event.Subject(source: source, bucket: bucket, key: key), retries, isOne: false)
        .hear(event)
    }
  }

  private func ended(_ result: BatchResult) {
    let source = result.source.isEmpty ? nil : result.source
    let subject = Event.Subject(source: source, bucket: result.bucket, key: result.key)
    switch result.result {
    case .success(let object):
      let summary = object.summary(duration: object.took)
      if object.isSkipped {
        line(
          summary.skippedLine(source: result.source, bucket: result.bucket, key: result.key),
          json: Event.skipped(subject, summary).json)
      } else if object.isUnchanged {
        line(
          summary.unchangedLine(source: result.source, bucket: result.bucket, key: result.key),
          json: Event.unchanged(subject, summary).json)
      } else {
        line(
          summary.line(source: result.source, bucket: result.bucket, key: result.key),
          json: Event.completed(subject, summary).json)
      }
    case .failure(let failure):
      let status = session.status(of: failure)
      // What was stopped has not failed: the same command resumes it.
      if failure.code == .interrupted || failure.code == .deadline { return }
      state.withLock { _ = $0.statuses.insert(status) }
      failures.add(result.name, source ?? "s3://\(result.bucket)/\(result.key)")
      var shown = failure
      shown.place.file = shown.place.file ?? source
      if session.output.json != nil {
        line("", json: Event.failed(subject, shown, exit: status, resumable: failure.isResumable).json)
      }
      session.show(shown)
    }
  }

  /// On standard output. If it cannot be written, that is said once, at the end.
  private func line(_ text: @autoclosure () -> String, json: @autoclosure () -> String) {
    guard session.output.json != nil || !session.output.quiet else { return }
    let text = session.output.json != nil ? json() : paint.result(text())
    do throws(Failure) {
      if sharesTerminal {
        try session.console.withoutLive { () throws(Failure) in try StandardOutput.line(text) }
      } else {
        try StandardOutput.line(text)
      }
    } catch {
      state.withLock { $0.unsaid = $0.unsaid ?? error }
    }
  }

  // MARK: - Progress

  func start(_ batch: any BatchRun) {
    let ticker = Task { [self] in
      while (try? await session.world.sleep(.milliseconds(200))) != nil { tick() }
    }
    state.withLock { ($0.batch, $0.ticker) = (batch, ticker) }
  }

  private func tick() {
    let now = session.world.uptime()
    guard let progress = measured(at: now) else { return }
    switch style {
    case .bar: session.console.live(lines(progress, now: now))
    case .plain:
      let isDue = state.withLock { state in
        guard let last = state.lastLine else {
          state.lastLine = now
          return false
        }
        guard now - last >= .seconds(10) else { return false }
        state.lastLine = now
        return true
      }
      if isDue { session.console.line(total(progress)) }
    case .none: break
    }
  }

  /// On SIGUSR1.
  func report() {
    guard let progress = measured(at: session.world.uptime()) else { return }
    session.console.line(total(progress))
  }

  /// On Ctrl-Z.
  func pause() {
    guard style == .bar, let progress = measured(at: session.world.uptime()) else { return }
    session.console.finishLive(total(progress) + ", paused")
  }

  func finish() {
    state.withLock { state in
      state.ticker?.cancel()
      state.isFinished = true
    }
    session.console.live(nil)
  }

  private func measured(at now: Duration) -> BatchState? {
    state.withLock { state in
      guard !state.isFinished, let batch = state.batch else { return nil }
      let progress = batch.progress
      state.rates.add(progress.taken, at: now)
      state.ends.add(progress.ended, at: now)
      return progress
    }
  }

  /// One line for each file that is sent in parts, and the total.
  private func lines(_ progress: BatchState, now: Duration) -> [String] {
    let width = Descriptor.columns(STDERR_FILENO, environment: session.environment) - 1
    let large = progress.running.filter { ($0.state.parts ?? 0) > 1 || $0.state.total == nil }
    var lines = large.prefix(Self.mostLines).map { running in
      ProgressLine.draw(ProgressState(running.source, running.state), width: width)
    }
    if large.count > Self.mostLines { lines.append("and \(large.count - Self.mostLines) more") }
    return lines + [TextWidth.cut(total(progress), to: width)]
  }

  private func total(_ progress: BatchState) -> String {
    let summary = progress.summary
    let done = summary.uploaded + summary.downloaded + summary.unchanged + summary.existing + summary.verified
    let all = progress.foundAll ? "of \(progress.found)" : "of \(progress.found) so far"
    var fields = ["\(done) \(all) files", Human.size(progress.bytes)]
    if progress.summary.failed > 0 { fields.append("\(progress.summary.failed) failed") }
    let (rate, eta) = state.withLock { state in
      (state.rates.rate, progress.foundAll ? state.ends.eta(remaining: progress.left) : nil)
    }
    if let rate, rate > 0 { fields.append(Human.rate(rate)) }
    if let eta { fields.append("ETA " + Human.clock(eta)) }
    if progress.connections > 0 { fields.append(Human.count(progress.connections, "connection")) }
    return fields.joined(separator: ", ")
  }

  // MARK: - The end

  /// The exit status: that of the reason if all failures have the same one, otherwise `several`.
  var status: ExitStatus {
    let statuses = state.withLock { $0.statuses }
    guard let first = statuses.first else { return .success }
    return statuses.count == 1 ? first : .several
  }

  /// The summary, and what has failed.
  func tell(_ summary: BatchSummary) {
    let duration = session.world.uptime() - start
    line(sentence(summary, duration), json: Event.summary(summary, seconds: duration / .seconds(1)).json)
    guard summary.failed > 0 else { return }
    let names = failures.first.map { SafeText.oneLine($0) }
    for name in names { session.console.line("  failed: \(name)") }
    if failures.count > names.count { session.console.line("  and \(failures.count - names.count) more") }
  }

  /// The last call: throws if a line could not be written.
  func settle(_ summary: BatchSummary) throws(Failure) {
    guard let unsaid = state.withLock({ $0.unsaid }) else { return }
    try session.unsaid(unsaid, sentence(summary, session.world.uptime() - start))
  }

  private func sentence(_ summary: BatchSummary, _ duration: Duration) -> String {
    let isDry = session.invocation.toggle(.dryRun) == true
    var facts = [
      session.invocation.command == .verify
        ? "\(Human.count(summary.verified, "file")) verified"
        : isDry
          ? "\(Human.count(summary.planned, "file")) would be \(isDown ? "downloaded" : "uploaded")"
          : isDown
            ? "\(Human.count(summary.downloaded, "file")) downloaded"
            : "\(Human.count(summary.uploaded, "file")) uploaded"
    ]
    if summary.unchanged > 0 { facts.append("\(summary.unchanged) unchanged") }
    let skipped = summary.skipped + summary.existing
    if skipped > 0 { facts.append("\(skipped) skipped") }
    if summary.failed > 0 { facts.append("\(summary.failed) failed") }
    if summary.hasGivenUp { facts.append("the others were not tried") }
    var sizes = [Human.size(summary.bytes), Human.duration(duration)]
    if summary.bytesResumed > 0 { sizes.append("\(Human.size(summary.bytesResumed)) of it resumed") }
    let moved = summary.bytesSent + summary.bytesReceived
    if duration >= .milliseconds(500), moved > 0 {
      sizes.append(Human.rate(Double(moved) / (duration / .seconds(1))))
    }
    return facts.joined(separator: ", ") + " (" + sizes.joined(separator: ", ") + ")"
  }
}

extension BatchState {
  /// Bytes of what is at the store, was there before, or has failed. Unlike what was sent, it ends where the run does.
  var ended: Int64 { foundBytes - left }
}
