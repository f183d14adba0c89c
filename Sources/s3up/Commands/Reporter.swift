import Glibc
import MultipartCore

/// Tells people and programs how an upload goes: progress line, notices, the events of `--json=all`.
final class Reporter: Sendable {
  private let session: Session
  private let subject: Event.Subject
  private let name: String
  private let printer: ProgressPrinter
  private let lastRetrySaid = Locked<Duration?>(nil)
  private let running = Locked<(uploader: Uploader, ticker: Task<Void, Never>)?>(nil)

  /// How progress is shown in this run.
  static func style(_ session: Session) -> ProgressPrinter.Style {
    ProgressPrinter.style(
      session.output.progress, terminal: Descriptor.isTerminal(STDERR_FILENO), environment: session.environment)
  }

  init(_ session: Session, subject: Event.Subject, name: String) {
    self.session = session
    self.subject = subject
    self.name = name
    let environment = session.environment
    printer = ProgressPrinter(
      style: Self.style(session), console: session.console,
      width: { Descriptor.columns(STDERR_FILENO, environment: environment) })
  }

  func start(_ uploader: Uploader) {
    tick(uploader)
    let tells = session.output.json == .all
    // Also where nothing is drawn: who asks by SIGUSR1 is told the rate of the last seconds.
    let ticker = Task.begin { [self] in
      var turn = 0
      while (try? await session.world.sleep(.milliseconds(200))) != nil {
        turn += 1
        let state = tick(uploader)
        // A program is told once a second.
        if tells, turn % 5 == 0 { print(.progress(subject, state)) }
      }
    }
    running.withLock { $0 = (uploader, ticker) }
  }

  /// The state, on request.
  func report(_ uploader: Uploader) {
    session.console.line(ProgressLine.plain(printer.measure(state(uploader), now: session.world.uptime())))
  }

  /// By Ctrl-Z.
  func pause(_ uploader: Uploader) {
    printer.pause(state(uploader), now: session.world.uptime())
  }

  func finish() {
    guard let (uploader, ticker) = running.withLock({ $0 }) else { return }
    ticker.cancel()
    printer.finish(state(uploader), now: session.world.uptime())
  }

  @Sendable func hear(_ news: UploadNews) {
    switch news {
    case .started(let id, let size, let parts, let partSize):
      print(.started(subject, size: size, parts: parts, partSize: partSize, uploadID: id))
    case .part(let receipt, let took):
      print(
        .part(subject, number: receipt.number, size: receipt.size, etag: receipt.etag, seconds: took / .seconds(1)))
    case .notice(let notice): hear(notice)
    case .advice(let text):
      if Descriptor.isTerminal(STDERR_FILENO), !session.output.quiet {
        session.console.line("s3up: \(SafeText.oneLine(text.commandText))")
      } else {
        session.world.log(1, text)
      }
    case .warning(let text): session.console.line("s3up: \(SafeText.oneLine(text.commandText))")
    }
  }

  private func hear(_ notice: UploadMachine.Notice) {
    switch notice {
    case .retry(let part, let attempt, let code, let message, let wait):
      print(.retry(subject, part: part, attempt: attempt, wait: wait, because: Failure(code, message)))
      sayRetry(
        part.map { "part \($0)" } ?? "request", "\(message.commandText); try \(attempt) in \(Human.duration(wait))",
        wait)
    case .steppedDown(let from, let to, let message):
      let next = to == .none ? "no checksum" : to.title
      session.world.log(1, "\(message): \(next) instead of \(from.title) from here on")
    case .resumes(let id, let parts, let bytes):
      print(.resumed(subject, uploadID: id, parts: parts, bytes: bytes))
      let text = "goes on: \(Human.count(parts, "part")) of it (\(Human.size(bytes))) are at the store"
      if Descriptor.isTerminal(STDERR_FILENO), !session.output.quiet {
        session.console.line("s3up: " + text)
      } else {
        session.world.log(1, "\(text)")
      }
    case .paced(let connections, let why):
      let text = "\(Human.count(connections, "connection")) from here on: \(why)"
      if session.output.explain { session.console.line(text) } else { session.world.log(1, "\(text)") }
    case .startsAnew(let message):
      session.console.line("s3up: \(SafeText.oneLine(message.commandText)): a new one begins")
    case .waitsForQuiet(let id, let wait):
      session.console.line(
        "s3up: somebody may still be sending to upload \(SafeText.oneLine(id)); waits \(Human.duration(wait)) to see "
          + "whether anybody does")
    case .passedBy(let id, let why):
      session.console.line("s3up: upload \(SafeText.oneLine(id)) is left alone: \(why)")
    case .leftBehind(let id):
      session.console.line("s3up: upload \(SafeText.oneLine(id)) could not be shown to be gone")
    case .leftAlone(let id):
      session.console.line("s3up: upload \(SafeText.oneLine(id)), which this run has not begun, is left at the store")
    }
  }

  /// With `-v` each; else, on a terminal, one in five seconds of those that keep a person waiting.
  private func sayRetry(_ what: String, _ text: String, _ wait: Duration) {
    guard session.output.verbosity == 0 else { return session.world.log(1, "\(what): \(text)") }
    guard !session.output.quiet, wait >= .milliseconds(500), Descriptor.isTerminal(STDERR_FILENO) else { return }
    let now = session.world.uptime()
    let isDue = lastRetrySaid.withLock { last in
      guard last.map({ now - $0 >= .seconds(5) }) ?? true else { return false }
      last = now
      return true
    }
    if isDue { session.console.line("s3up: \(what): \(SafeText.oneLine(text))") }
  }

  private func print(_ event: Event) {
    guard session.output.json == .all else { return }
    // A reader that has gone shows at the result, which must be written.
    try? StandardOutput.line(event.json)
  }

  @discardableResult
  private func tick(_ uploader: Uploader) -> ProgressState {
    printer.tick(state(uploader), now: session.world.uptime())
  }

  private func state(_ uploader: Uploader) -> ProgressState {
    let progress = uploader.progress
    var state = ProgressState(name: name, total: progress.total, parts: progress.parts)
    state.done = min(progress.bytes, progress.total ?? .max)
    state.partsDone = progress.partsDone
    state.connections = progress.connections
    state.taken = progress.taken
    state.beginnings = progress.beginnings
    state.activity = uploader.activity
    return state
  }
}
