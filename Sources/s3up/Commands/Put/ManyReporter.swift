import Glibc
import MultipartBasics
import MultipartCore

/// Reports to people and programs how a batch proceeds: a line for each file, the progress of the files being
/// transferred, and a summary.
final class ManyReporter: Sendable {
  private struct State: Sendable {
    var batch: (any BatchRun)?
    var ticker: Task<Void, Never>?
    var progress = ManyProgress()
    /// How often each failure occurred, regardless of the file.
    var failures: [[UInt8]: (count: Int, message: String)] = [:]
    var log = LogPace()
    var statuses: Set<ExitStatus> = []
    /// The first error of standard output.
    var unsaid: Failure?
    var isFinished = false

    /// The progress now; nil before the start and after the end.
    mutating func measured(at now: Duration) -> ManyProgress? {
      guard !isFinished, let batch else { return nil }
      progress.measure(batch.progress, at: now)
      return progress
    }
  }

  private let session: Session
  private let failures: FailedNames
  private let start: Duration
  private let style: ProgressPrinter.Style
  private let state = Locked(State())
  private let reporter: Reporter
  private let isTerminal: Bool
  private let sharesTerminal: Bool
  private let title: TerminalTitle?
  private let paint: Paint
  private var isDown: Bool { session.invocation.command == .get }

  init(_ session: Session, _ failures: FailedNames, since start: Duration) {
    self.session = session
    self.failures = failures
    self.start = start
    reporter = Reporter(session, isOfMany: true)
    style = session.progressStyle
    isTerminal = Descriptor.isTerminal(STDOUT_FILENO)
    sharesTerminal = style == .bar && isTerminal
    paint = session.paint(STDOUT_FILENO)
    title = session.terminalTitle()
  }

  // MARK: - What happens

  @Sendable func hear(_ event: BatchEvent) {
    switch event {
    case .ended(let result): ended(result)
    case .skipped(let source):
      if session.output.json != nil { line("", json: Event.skipped(source.path, source.reason.words).json) }
      if !session.output.quiet { session.tell(source) }
    case .planned(let source, let bucket, let key, let size):
      let subject = Event.Subject(source: source, bucket: bucket, key: key)
      let (file, object) = (
        SafeText.oneLine(source, limit: .max), SafeText.oneLine("s3://\(bucket)/\(key)", limit: .max)
      )
      let what = isDown ? "would get \(object) as \(file)" : "would upload \(file) to \(object)"
      line(what + (size.map { " (\(Human.size($0)))" } ?? ""), json: Event.planned(subject, size: size).json)
    case .verified(let object, let source, let bucket, let key, let took):
      result(
        object.line(source: source, bucket: bucket, key: key, took: took),
        json: Event.verified(Event.Subject(source: source, bucket: bucket, key: key), object, took: took).json)
    case .downloaded(let object, let file, let bucket, let key, let took):
      result(
        object.line(source: "s3://\(bucket)/\(key)", destination: file, took: took),
        json: Event.ended(Event.Subject(source: nil, bucket: bucket, key: key), at: file, object, took: took).json)
    case .download(let event, _, let bucket, let key):
      reporter.hear(event, of: Event.Subject(source: nil, bucket: bucket, key: key))
    case .upload(let event, let source, let bucket, let key):
      reporter.hear(event, of: Event.Subject(source: source, bucket: bucket, key: key))
    }
  }

  private func ended(_ result: BatchResult) {
    let source = result.source.isEmpty ? nil : result.source
    // A line that cannot be read names no object.
    let key = result.key.isEmpty ? nil : result.key
    let subject = Event.Subject(source: source, bucket: result.bucket, key: key)
    switch result.result {
    case .success(let object):
      session.report?.add(
        JobReport.Row(source: result.source, bucket: result.bucket, key: result.key, object: object))
      self.result(
        object.line(source: result.source, bucket: result.bucket, key: result.key, took: result.took),
        json: Event.ended(subject, object, took: result.took).json)
    case .failure(let failure):
      let status = session.status(of: failure)
      // An object that was interrupted has not failed: the same command resumes it.
      if failure.isInterruption {
        // It says that something may be left at the store.
        if !failure.isResumable, failure.remedy != nil { session.show(failure) }
        return
      }
      state.withLock { _ = $0.statuses.insert(status) }
      failures.add(result.name, source ?? "s3://\(result.bucket)/\(result.key)")
      var shown = failure
      shown.place.file = shown.place.file ?? source
      if session.output.json != nil {
        line("", json: Event.failed(subject, shown, exit: status, resumable: failure.isResumable).json)
      }
      if isFirst(shown) { session.show(shown) }
    }
  }

  /// Whether to print a failure: of failures that differ only in their place, the first is printed, and their number at
  /// the end.
  private func isFirst(_ failure: Failure) -> Bool {
    let message = SafeText.oneLine(failure.message.commandText)
    let kind = Array("\(failure.code) \(failure.s3Code ?? "") \(failure.status ?? 0) \(message)".utf8)
    return state.withLock { state in
      // Messages that contain file names all differ, so only `mostKinds` of them are remembered.
      guard state.failures[kind] != nil || state.failures.count < Self.mostKinds else { return true }
      state.failures[kind, default: (0, message)].count += 1
      return state.failures[kind]?.count == 1
    }
  }

  private static let mostKinds = 100

  /// The result of one object. On a terminal the summary is enough, unless more was asked for.
  private func result(_ text: @autoclosure () -> String, json: @autoclosure () -> String) {
    guard !isTerminal || session.output.json != nil || session.output.verbosity > 0 else { return }
    line(text(), json: json())
  }

  /// Prints a line to standard output. An error is reported once, at the end.
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
    if !session.output.quiet {
      fold(session.report?.fold("s3up \(session.invocation.command.rawValue)", session.world.now()))
    }
    let ticker = Task { [self] in
      while (try? await session.world.sleep(.milliseconds(200))) != nil { tick() }
    }
    state.withLock { ($0.batch, $0.ticker) = (batch, ticker) }
  }

  private func fold(_ line: String?) {
    if let line { session.console.line(line) }
  }

  private func tick() {
    let now = session.world.uptime()
    // Drawn while no other thread can end it: a frame after the end would stay below the summary.
    state.withLock { state in
      guard let progress = state.measured(at: now) else { return }
      switch style {
      case .bar:
        let width = Descriptor.columns(STDERR_FILENO, environment: session.environment) - ProgressPrinter.free
        session.console.live(progress.lines(width: width, rows: Descriptor.rows(STDERR_FILENO)))
        title?.show(progress.title, progress.fraction)
      case .plain, .log: if state.log.isDue(style, at: now) { session.console.line(progress.plain) }
      case .none: break
      }
    }
  }

  /// Prints the state, on SIGUSR1.
  func report() {
    let now = session.world.uptime()
    guard let progress = state.withLock({ $0.measured(at: now) }) else { return }
    session.console.line(progress.plain)
  }

  /// Prepares for a stop by Ctrl-Z.
  func pause() {
    let now = session.world.uptime()
    state.withLock { state in
      guard style == .bar, let progress = state.measured(at: now) else { return }
      title?.pause()
      session.console.finishLive(progress.plain + ", paused")
    }
  }

  func finish() {
    state.withLock { state in
      state.ticker?.cancel()
      state.isFinished = true
      title?.finish()
      session.console.live(nil)
    }
    fold(session.report?.unfold(session.world.now()))
  }

  // MARK: - The end

  /// The exit status, by the failures of the files.
  var status: ExitStatus { ExitStatus(of: state.withLock { $0.statuses }) }

  /// Prints the summary, and what has failed. `isWhole`: the run was not stopped.
  func tell(_ summary: BatchSummary, isWhole: Bool) {
    let duration = session.world.uptime() - start
    let event = Event.summary(summary, seconds: duration / .seconds(1)).json
    session.notification?.note(event)
    line(sentence(summary, duration, isWhole: isWhole), json: event)
    guard summary.failed > 0 else { return }
    let repeated = state.withLock { $0.failures.values }.filter { $0.count > 1 }
    for (count, message) in repeated.sorted(by: { ($1.count, $0.message) < ($0.count, $1.message) }) {
      session.console.line("s3up: \(count) files failed because \(message)")
    }
    let names = failures.first.map { SafeText.oneLine(Redaction.text($0)) }
    for name in names { session.console.line("  failed: \(name)") }
    if failures.count > names.count { session.console.line("  and \(failures.count - names.count) more") }
  }

  /// The last call: throws if a line of a run without failures could not be written.
  func settle(_ summary: BatchSummary, isWhole: Bool) throws(Failure) {
    guard let unsaid = state.withLock({ $0.unsaid }) else { return }
    // The lines are all that it is for.
    if session.invocation.toggle(.dryRun) == true, isWhole, status == .success { throw unsaid }
    try session.unsaid(
      unsaid, sentence(summary, session.world.uptime() - start, isWhole: isWhole),
      isSuccess: isWhole && status == .success)
  }

  private func sentence(_ summary: BatchSummary, _ duration: Duration, isWhole: Bool) -> String {
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
    if summary.hasGivenUp { facts.append("the others were not \(isDry ? "looked at" : "completed")") }
    var sizes = [Human.size(summary.bytes), Human.duration(duration)]
    if summary.bytesResumed > 0 { sizes.append("\(Human.size(summary.bytesResumed)) of it resumed") }
    let moved = summary.bytesSent + summary.bytesReceived
    // What the objects that were stopped have moved is not in the summary.
    if isWhole, duration >= .milliseconds(500), moved > 0 {
      sizes.append(Human.rate(Double(moved) / (duration / .seconds(1))))
    }
    return facts.joined(separator: ", ") + " (" + sizes.joined(separator: ", ") + ")"
  }
}
