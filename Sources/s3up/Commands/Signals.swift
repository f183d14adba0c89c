import Glibc
import MultipartBasics
import MultipartCore

/// Handles the signals that end a program: the first stops the run in an orderly way, the second ends it at once. SIGUSR1
/// prints the state.
final class Signals: Sendable {
  private struct State: Sendable {
    var received: Int32?
    var stop: (@Sendable () -> Void)?
    var report: (@Sendable () -> Void)?
    var pause: (@Sendable () -> Void)?
    var restore: (@Sendable () -> Void)?
    var leave: (@Sendable () -> Void)?
    var abandon: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  var received: Int32? { state.withLock { $0.received } }

  /// Blocks the signals in this thread and in all threads that it starts. The main thread calls it before any other
  /// thread exists, because another thread could receive a signal and end the process.
  init() {
    var set = Self.set()
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Sets what the first signal does from now on; by default it ends the program.
  func listen(_ stop: @escaping @Sendable () -> Void) {
    state.withLock { $0.stop = stop }
  }

  /// Does the work in a task that the first signal cancels. If that does not end it within `grace`, the process ends,
  /// after `late`.
  func run<Value: Sendable>(
    grace: Duration? = nil, late: @escaping @Sendable () -> Void = {},
    _ work: @escaping @Sendable () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let task = SignalledTask<Value>()
    listen { [self] in
      task.cancel()
      guard let grace else { return }
      Task {
        try? await Task.sleep(for: grace)
        await endLate(task, late)
      }
    }
    try requireNone()
    do throws(Failure) { return try await task.run(work) } catch { throw meaning(of: error) }
  }

  /// Ends the process because the work has taken too long. Work that has just ended gets a second to report its result.
  private func endLate<Value>(_ task: SignalledTask<Value>, _ late: () -> Void) async {
    if task.takesReport() { late() } else { try? await Task.sleep(for: .seconds(1)) }
    end(Self.status(of: received ?? SIGTERM).rawValue)
  }

  /// A terminal also sends the signal to a program that was to return credentials.
  private func meaning(of failure: Failure) -> Failure {
    received != nil && [.credentials, .credentialsExpired].contains(failure.code)
      ? Failure.interrupted.at(failure.place) : failure
  }

  /// Nothing is begun after a signal that came before it was listened for.
  private func requireNone() throws(Failure) {
    if received != nil { throw .interrupted }
  }

  /// Does work that publishes an object. After the first signal the store's answer is awaited for 3 s, and its result
  /// reported like any other: a request that was cancelled could still have created the object.
  func awaitingAnswer<Value: Sendable>(
    remedy: Wording? = nil, late: @escaping @Sendable (Failure) -> Void,
    _ work: @escaping @Sendable () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let task = SignalledTask<Value>()
    let unknown = Failure(
      .interrupted, "interrupted before the store has answered: the object may exist", remedy: remedy)
    listen { [self] in
      Task {
        try? await Task.sleep(for: .seconds(3))
        task.cancel()
        try? await Task.sleep(for: .seconds(1))
        await endLate(task) { late(unknown) }
      }
    }
    try requireNone()
    do throws(Failure) {
      return try await task.run(work)
    } catch {
      var failure = meaning(of: error)
      guard failure.code == .interrupted else { throw failure }
      (failure.message, failure.remedy) = (unknown.message, unknown.remedy)
      throw failure
    }
  }

  /// Sets what SIGUSR1 does; by default nothing.
  func onReport(_ report: @escaping @Sendable () -> Void) {
    state.withLock { $0.report = report }
  }

  /// Sets what happens before Ctrl-Z stops the process.
  func onPause(_ pause: @escaping @Sendable () -> Void) {
    state.withLock { $0.pause = pause }
  }

  /// Sets what must be restored before a signal ends the program at once, such as the terminal's echo.
  func beforeExit(_ restore: (@Sendable () -> Void)?) {
    state.withLock { $0.restore = restore }
  }

  /// Sets what is taken back from the terminal before the program ends, whichever way.
  func beforeLeaving(_ leave: @escaping @Sendable () -> Void) {
    state.withLock { $0.leave = leave }
  }

  /// Sets what kills whatever must not outlive the program, such as a command that it started.
  func atEnd(_ abandon: @escaping @Sendable () -> Void) {
    state.withLock { $0.abandon = abandon }
  }

  /// Ends the process with `_exit`. Nothing is buffered; if the process were killed inside `exit`, after the record was
  /// deleted, the next run would send everything again.
  func end(_ status: Int32) -> Never {
    let (restore, leave, abandon) = state.withLock { ($0.restore, $0.leave, $0.abandon) }
    restore?()
    leave?()
    abandon?()
    _exit(status)
  }

  /// The exit status of a run that the signal has ended.
  static func status(of signal: Int32) -> ExitStatus {
    switch signal {
    case SIGTERM: .terminated
    case SIGHUP: .hungUp
    default: .interrupted
    }
  }

  /// Whether a signal belongs to the first one: `timeout` sends its signal to its child and to its group, and systemd
  /// may send SIGHUP after SIGTERM. Ctrl-C is pressed twice by a person who does not want to wait.
  static func isEcho(_ signal: Int32, of first: Int32?, after pause: Duration) -> Bool {
    // The kernel repeats it each second, up to the hard limit.
    if signal == SIGXCPU, first == SIGXCPU { return true }
    guard let first, pause < .milliseconds(500) else { return false }
    return [first, signal].allSatisfy { [SIGTERM, SIGHUP].contains($0) }
  }

  /// Waits for signals (`sigwait`) for the life of the process, because a signal handler may do very little. Called on
  /// the main thread: otherwise the runtime would leave it in `sigsuspend` with all signals unblocked.
  func wait() -> Never {
    var set = Self.set()
    var firstAt: ContinuousClock.Instant?
    while true {
      var signal: Int32 = 0
      guard sigwait(&set, &signal) == 0 else { continue }
      guard signal != SIGUSR1 else {
        state.withLock { $0.report }?()
        continue
      }
      guard signal != SIGTSTP else {
        pause()
        continue
      }
      let now = ContinuousClock.now
      let (earlier, stop) = state.withLock { state in
        defer { state.received = state.received ?? signal }
        return (state.received, state.stop)
      }
      if let firstAt, Self.isEcho(signal, of: earlier, after: now - firstAt) { continue }
      firstAt = firstAt ?? now
      guard earlier == nil, let stop else {
        end(Self.status(of: signal).rawValue)
      }
      stop()
    }
  }

  /// Stops the process by the signal itself, unblocked for a moment, so that shells see an ordinary stop.
  private func pause() {
    state.withLock { $0.pause }?()
    var one = sigset_t()
    sigemptyset(&one)
    sigaddset(&one, SIGTSTP)
    kill(getpid(), SIGTSTP)
    pthread_sigmask(SIG_UNBLOCK, &one, nil)
    pthread_sigmask(SIG_BLOCK, &one, nil)
  }

  /// Those that end a program without a fault of its own. They may not do that at once: a command that receives an object
  /// would take the end of its input for that of the object. SIGXFSZ is only blocked, so that the write fails instead.
  private static let ending = [
    SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT, SIGXCPU, SIGXFSZ,
  ]

  /// A signal that was ignored when the program started (`nohup`, a background job of a script) stays ignored.
  private static func set() -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGUSR1)
    for signal in ending + [SIGTSTP] {
      var action = sigaction()
      sigaction(signal, nil, &action)
      let ignored = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
      if !ignored { sigaddset(&set, signal) }
    }
    return set
  }
}

/// Work that can be cancelled before it begins: its signal is listened for first, because it may come with the first
/// request.
private final class SignalledTask<Value: Sendable>: Sendable {
  private struct State: Sendable {
    var isCancelled = false
    var isReported = false
    var task: Task<Result<Value, Failure>, Never>?
  }

  private let state = Locked(State())

  func cancel() {
    let task = state.withLock { state in
      state.isCancelled = true
      return state.task
    }
    task?.cancel()
  }

  func run(_ work: @escaping @Sendable () async throws(Failure) -> Value) async throws(Failure) -> Value {
    let task = Task { () async -> Result<Value, Failure> in
      do throws(Failure) { return .success(try await work()) } catch { return .failure(error) }
    }
    let isCancelled = state.withLock { state in
      state.task = task
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
    let result = await task.value
    // The process is being ended, and the message for that is already on its way.
    if !takesReport() { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
    return try result.get()
  }

  /// Whether the caller reports how the work ended; true only for the first caller.
  func takesReport() -> Bool {
    state.withLock { state in
      defer { state.isReported = true }
      return !state.isReported
    }
  }
}
