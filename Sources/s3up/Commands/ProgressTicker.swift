import Glibc
import MultipartBasics
import MultipartCore

/// Shows the progress of one object, in either direction, until it ends.
final class ProgressTicker: Sendable {
  private let session: Session
  private let subject: Event.Subject
  private let state: @Sendable () -> ProgressState
  private let printer: ProgressPrinter
  private let task = Locked<Task<Void, Never>?>(nil)

  init(_ session: Session, _ subject: Event.Subject, state: @escaping @Sendable () -> ProgressState) {
    (self.session, self.subject, self.state) = (session, subject, state)
    let environment = session.environment
    printer = ProgressPrinter(
      style: session.progressStyle, console: session.console, title: session.terminalTitle(),
      width: { Descriptor.columns(STDERR_FILENO, environment: environment) })
  }

  func start() {
    let tells = session.output.json == .all
    // It ticks even if nothing is drawn, because SIGUSR1 prints the rate of the last seconds.
    let ticker = Task { [self] in
      var ticks = 0
      while (try? await session.world.sleep(.milliseconds(200))) != nil {
        ticks += 1
        let state = tick()
        // Programs get an event once per second. If the reader is gone, that is reported with the result.
        if tells, ticks % 5 == 0 { try? StandardOutput.line(Event.progress(subject, state).json) }
      }
    }
    task.withLock { $0 = ticker }
  }

  @discardableResult
  func tick() -> ProgressState { printer.tick(state(), now: session.world.uptime()) }

  /// Prints the state, on SIGUSR1.
  func report() {
    session.console.line(ProgressLine.plain(printer.measure(state(), now: session.world.uptime())))
  }

  /// Prepares for a stop by Ctrl-Z.
  func pause() { printer.pause(state(), now: session.world.uptime()) }

  /// `isWhole`: the object is at its target, so the last frame says so, whoever has brought it there.
  func finish(isWhole: Bool = false) {
    task.withLock { $0 }?.cancel()
    var state = state()
    if isWhole { (state.done, state.partsDone) = (state.total ?? state.done, state.parts ?? state.partsDone) }
    printer.finish(state, now: session.world.uptime())
  }
}
