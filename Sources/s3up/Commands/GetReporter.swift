import Glibc
import MultipartCore

/// Tells people and programs how a download goes.
final class GetReporter: Sendable {
  private let session: Session
  private let subject: Event.Subject
  private let name: String
  private let printer: ProgressPrinter
  private let retries: RetryPauses
  private let running = Locked<(download: DownloadTask, ticker: Task<Void, Never>)?>(nil)

  /// For one of many the progress is shown elsewhere.
  init(
    _ session: Session, _ subject: Event.Subject, name: String, _ retries: RetryPauses = RetryPauses(),
    isOne: Bool = true
  ) {
    (self.session, self.subject, self.name, self.retries) = (session, subject, name, retries)
    let environment = session.environment
    printer = ProgressPrinter(
      style: isOne ? Reporter.style(session) : .none, console: session.console,
      width: { Descriptor.columns(STDERR_FILENO, environment: environment) })
  }

  func start(_ download: DownloadTask) {
    let ticker = Task { [self] in
      var ticks = 0
      while (try? await session.world.sleep(.milliseconds(200))) != nil {
        ticks += 1
        let state = printer.tick(ProgressState(name, download.progress), now: session.world.uptime())
        if ticks % 5 == 0 { print(.progress(subject, state)) }
      }
    }
    running.withLock { $0 = (download, ticker) }
  }

  /// On SIGUSR1.
  func report() {
    guard let state else { return }
    session.console.line(ProgressLine.plain(printer.measure(state, now: session.world.uptime())))
  }

  /// On Ctrl-Z.
  func pause() {
    guard let state else { return }
    printer.pause(state, now: session.world.uptime())
  }

  func finish() {
    guard let state else { return }
    running.withLock { $0 }?.ticker.cancel()
    printer.finish(state, now: session.world.uptime())
  }

  private var state: ProgressState? { running.withLock { $0 }.map { ProgressState(name, $0.download.progress) } }

  @Sendable func hear(_ event: DownloadEvent) {
    switch event {
    case .started(let size, let ranges, let rangeSize):
      print(.started(subject, size: size, parts: ranges, partSize: rangeSize, uploadID: nil))
    case .resumed(let ranges, let bytes):
      print(.resumed(subject, uploadID: "", parts: ranges, bytes: bytes))
      session.world.log(1, "resumes: \(Human.count(ranges, "range")) (\(Human.size(bytes))) are on disk already")
    case .range(let number, let size, let took):
      print(.part(subject, number: number, size: size, etag: nil, seconds: took / .seconds(1)))
    case .retry(let range, let attempt, let wait, let code, let message):
      print(.retry(subject, part: range, attempt: attempt, wait: wait, because: Failure(code, message)))
      let text = "\(message.commandText); try \(attempt) in \(Human.duration(wait))"
      let what = range.map { "range \($0)" } ?? "request"
      if session.output.verbosity > 0 {
        session.world.log(1, "\(what): \(text)")
      } else if !session.output.quiet, wait >= .milliseconds(500), Descriptor.isTerminal(STDERR_FILENO),
        retries.areDue(session.world.uptime())
      {
        say("\(what): \(text)")
      }
    case .reloads: say("what came is not the object: every range is loaded once more, from other connections")
    case .connections(let connections, let why):
      session.world.log(1, "\(Human.count(connections, "connection")) from here on: \(why)")
    case .warning(let text): say(text)
    }
  }

  private func say(_ text: Wording) { session.console.line("s3up: \(SafeText.oneLine(text.commandText))") }

  private func print(_ event: Event) {
    guard session.output.json == .all else { return }
    // If the reader has gone, that is reported with the result, which must be written.
    try? StandardOutput.line(event.json)
  }
}
