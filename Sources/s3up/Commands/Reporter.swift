import Glibc
import MultipartCore

/// Which of a run's retries are said: at most one in five seconds, however many uploads it has.
final class RetryPauses: Sendable {
  private let lastSaid = Locked<Duration?>(nil)

  func areDue(_ now: Duration) -> Bool {
    lastSaid.withLock { last in
      guard last.map({ now - $0 >= .seconds(5) }) ?? true else { return false }
      last = now
      return true
    }
  }
}

/// Tells people and programs how an upload goes: progress, messages, the events of `--json=all`.
final class Reporter: Sendable {
  private let session: Session
  private let subject: Event.Subject
  private let printer: ProgressPrinter
  private let retries: RetryPauses
  private let running = Locked<(upload: UploadTask, ticker: Task<Void, Never>)?>(nil)

  /// How progress is shown in this run.
  static func style(_ session: Session) -> ProgressPrinter.Style {
    ProgressPrinter.style(
      session.output.progress, terminal: Descriptor.isTerminal(STDERR_FILENO), environment: session.environment)
  }

  /// For one of many the progress is shown elsewhere.
  init(_ session: Session, subject: Event.Subject, _ retries: RetryPauses = RetryPauses(), isOne: Bool = true) {
    self.retries = retries
    self.session = session
    self.subject = subject
    let environment = session.environment
    printer = ProgressPrinter(
      style: isOne ? Self.style(session) : .none, console: session.console,
      width: { Descriptor.columns(STDERR_FILENO, environment: environment) })
  }

  func start(_ upload: UploadTask) {
    tick(upload)
    let tells = session.output.json == .all
    // Also if nothing is drawn: SIGUSR1 prints the rate of the last seconds.
    let ticker = Task { [self] in
      var ticks = 0
      while (try? await session.world.sleep(.milliseconds(200))) != nil {
        ticks += 1
        let state = tick(upload)
        // Programs get an event once per second.
        if tells, ticks % 5 == 0 { print(.progress(subject, state)) }
      }
    }
    running.withLock { $0 = (upload, ticker) }
  }

  /// Prints the state, on SIGUSR1.
  func report() {
    guard let (upload, _) = running.withLock({ $0 }) else { return }
    session.console.line(ProgressLine.plain(printer.measure(state(upload), now: session.world.uptime())))
  }

  /// On Ctrl-Z.
  func pause() {
    guard let (upload, _) = running.withLock({ $0 }) else { return }
    printer.pause(state(upload), now: session.world.uptime())
  }

  func finish() {
    guard let (upload, ticker) = running.withLock({ $0 }) else { return }
    ticker.cancel()
    printer.finish(state(upload), now: session.world.uptime())
  }

  @Sendable func hear(_ event: UploadEvent) {
    switch event {
    case .started(let id, let size, let parts, let partSize):
      print(.started(subject, size: size, parts: parts, partSize: partSize, uploadID: id))
    case .part(let number, let size, let etag, let took):
      print(.part(subject, number: number, size: size, etag: etag, seconds: took / .seconds(1)))
    case .retry(let part, let attempt, let wait, let code, let message):
      print(.retry(subject, part: part, attempt: attempt, wait: wait, because: Failure(code, message)))
      sayRetry(
        part.map { "part \($0)" } ?? "request", "\(message.commandText); try \(attempt) in \(Human.duration(wait))",
        wait)
    case .checksumChanged(let from, let to, let message):
      let next = to == .none ? "no checksum" : to.title
      session.world.log(1, "\(message): \(next) instead of \(from.title) from here on")
    case .resumed(let id, let parts, let bytes):
      print(.resumed(subject, uploadID: id, parts: parts, bytes: bytes))
      if parts > 0 {
        advise("resumes: \(Human.count(parts, "part")) (\(Human.size(bytes))) are at the store already")
      }
    case .connections(let connections, let why):
      let text = "\(Human.count(connections, "connection")) from here on: \(why)"
      if session.output.explain { session.console.line(text) } else { session.world.log(1, "\(text)") }
    case .startsAnew(let message): say("\(message): a new one begins")
    case .waitsForQuiet(let id, let wait):
      say(
        "somebody may still be sending to upload \(id); waits \(Human.duration(wait)) to see whether anybody does")
    case .passedBy(let id, let why): say("upload \(id) is left alone: \(why)")
    case .leftBehind(let id): say("upload \(id) could not be shown to be gone")
    case .leftAlone(let id): say("upload \(id), which this run has not begun, is left at the store")
    case .advice(let text): advise(text)
    case .warning(let text): say(text)
    }
  }

  private func say(_ text: Wording) {
    session.console.line("s3up: \(SafeText.oneLine(text.commandText))")
  }

  /// For a person at a terminal; otherwise logged.
  private func advise(_ text: Wording) {
    if Descriptor.isTerminal(STDERR_FILENO), !session.output.quiet { say(text) } else { session.world.log(1, text) }
  }

  /// With `-v` every retry; otherwise, on a terminal, at most one in five seconds of those with a long wait.
  private func sayRetry(_ what: String, _ text: String, _ wait: Duration) {
    guard session.output.verbosity == 0 else { return session.world.log(1, "\(what): \(text)") }
    guard !session.output.quiet, wait >= .milliseconds(500), Descriptor.isTerminal(STDERR_FILENO) else { return }
    if retries.areDue(session.world.uptime()) { session.console.line("s3up: \(what): \(SafeText.oneLine(text))") }
  }

  private func print(_ event: Event) {
    guard session.output.json == .all else { return }
    // If the reader has gone, that is reported with the result, which must be written.
    try? StandardOutput.line(event.json)
  }

  @discardableResult
  private func tick(_ upload: UploadTask) -> ProgressState {
    printer.tick(state(upload), now: session.world.uptime())
  }

  private func state(_ upload: UploadTask) -> ProgressState {
    ProgressState(upload.name, upload.progress)
  }
}
