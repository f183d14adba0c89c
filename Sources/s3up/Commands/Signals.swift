import Glibc
import MultipartCore

/// SIGINT, SIGTERM and SIGHUP: the first asks for an orderly end, the second ends at once. SIGUSR1 asks how it goes.
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

  /// Blocks the signals in this thread and all it starts. Called by the main thread before there is another one, which
  /// could take a signal and die of it.
  init() {
    var set = Self.set()
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// What the first signal does from now on; without it, it ends the program.
  func listen(_ stop: @escaping @Sendable () -> Void) {
    state.withLock { $0.stop = stop }
  }

  /// What SIGUSR1 does; without it, nothing.
  func onReport(_ report: @escaping @Sendable () -> Void) {
    state.withLock { $0.report = report }
  }

  /// What is still said when Ctrl-Z stops the process.
  func onPause(_ pause: @escaping @Sendable () -> Void) {
    state.withLock { $0.pause = pause }
  }

  /// What has to be put right before a signal ends the program at once: the terminal's echo.
  func beforeExit(_ restore: (@Sendable () -> Void)?) {
    state.withLock { $0.restore = restore }
  }

  /// What must not outlive the program, however it ends: a command that it has started.
  func atEnd(_ abandon: @escaping @Sendable () -> Void) {
    state.withLock { $0.abandon = abandon }
  }

  /// Ends the process. Not by `exit`: nothing is buffered, and once the record is gone a kill would have the whole sent
  /// again.
  func end(_ status: Int32) -> Never {
    let (restore, abandon) = state.withLock { ($0.restore, $0.abandon) }
    restore?()
    abandon?()
    _exit(status)
  }

  /// Waits for signals (`sigwait`) for as long as the process lives: a handler could do next to nothing. For the main
  /// thread: left to the runtime, it would sit in `sigsuspend` with every signal unblocked.
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

  /// Stopped as it would have been without us: by the signal itself, let through for once. Nothing else would be right
  /// for a shell, or for a process that has none.
  private func pause() {
    state.withLock { $0.pause }?()
    var one = sigset_t()
    sigemptyset(&one)
    sigaddset(&one, SIGTSTP)
    kill(getpid(), SIGTSTP)
    pthread_sigmask(SIG_UNBLOCK, &one, nil)
    pthread_sigmask(SIG_BLOCK, &one, nil)
  }

  /// A signal that was ignored when the program began (`nohup`, a job in the background of a script) stays so.
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
