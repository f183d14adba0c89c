import Glibc
import MultipartCore

/// SIGINT, SIGTERM and SIGHUP: the first stops the run in order, the second ends it at once. SIGUSR1 prints the state.
final class Signals: Sendable {
  private struct State: Sendable {
    var received: Int32?
    var stop: (@Sendable () -> Void)?
    var report: (@Sendable () -> Void)?
    var pause: (@Sendable () -> Void)?
    var restore: (@Sendable () -> Void)?
    var abandon: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  var received: Int32? { state.withLock { $0.received } }

  /// Blocks the signals in this thread and all it starts. Called by the main thread before any other exists, because
  /// another thread could receive a signal and end the process.
  init() {
    var set = Self.set()
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// What the first signal does from now on; without it, the signal ends the program.
  func listen(_ stop: @escaping @Sendable () -> Void) {
    state.withLock { $0.stop = stop }
  }

  /// What SIGUSR1 does; without it, nothing.
  func onReport(_ report: @escaping @Sendable () -> Void) {
    state.withLock { $0.report = report }
  }

  /// What is done before Ctrl-Z stops the process.
  func onPause(_ pause: @escaping @Sendable () -> Void) {
    state.withLock { $0.pause = pause }
  }

  /// What must be restored before a signal ends the program at once: the terminal's echo.
  func beforeExit(_ restore: (@Sendable () -> Void)?) {
    state.withLock { $0.restore = restore }
  }

  /// Kills what must not outlive the program, such as a command that it started.
  func atEnd(_ abandon: @escaping @Sendable () -> Void) {
    state.withLock { $0.abandon = abandon }
  }

  /// Ends the process with `_exit`: nothing is buffered, and if it were killed while `exit` still worked, after the record
  /// is deleted, the next run would send everything again.
  func end(_ status: Int32) -> Never {
    let (restore, abandon) = state.withLock { ($0.restore, $0.abandon) }
    restore?()
    abandon?()
    _exit(status)
  }

  /// Waits for signals (`sigwait`) as long as the process lives, because a signal handler may do very little. Called on the
  /// main thread: otherwise the runtime would leave it in `sigsuspend` with all signals unblocked.
  func wait() -> Never {
    var set = Self.set()
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
      let (first, stop) = state.withLock { state in
        defer { state.received = state.received ?? signal }
        return (state.received == nil, state.stop)
      }
      guard first, let stop else {
        end(128 + signal)
      }
      stop()
    }
  }

  /// Stops the process by the signal itself, unblocked for this moment, so that shells see an ordinary stop.
  private func pause() {
    state.withLock { $0.pause }?()
    var one = sigset_t()
    sigemptyset(&one)
    sigaddset(&one, SIGTSTP)
    kill(getpid(), SIGTSTP)
    pthread_sigmask(SIG_UNBLOCK, &one, nil)
    pthread_sigmask(SIG_BLOCK, &one, nil)
  }

  /// A signal that was ignored when the program started (`nohup`, a background job of a script) stays ignored.
  private static func set() -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGUSR1)
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGTSTP] {
      var action = sigaction()
      sigaction(signal, nil, &action)
      let ignored = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
      if !ignored { sigaddset(&set, signal) }
    }
    return set
  }
}
