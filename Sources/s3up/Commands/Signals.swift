import Glibc
import MultipartCore

/// SIGINT, SIGTERM and SIGHUP: the first asks for an orderly end, the second ends at once. While nobody listens there
/// is nothing to put in order, and the first ends at once too.
///
/// A signal goes to any thread that does not block it, so they are blocked before there is a second thread: whoever
/// blocks them later finds that libcurl's or the runtime's threads take them and die of them.
final class Signals: Sendable {
  private struct State: Sendable {
    var received: Int32?
    var stop: (@Sendable () -> Void)?
  }

  static let ofProcess = Signals()

  private let state = Locked(State())

  var received: Int32? { state.withLock { $0.received } }

  /// For this thread and those it starts (`pthread_sigmask`). Called before the first thread is started.
  func block() {
    var set = Self.set()
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// `stop` is called for the first signal, on a thread of its own.
  func listen(_ stop: @escaping @Sendable () -> Void) {
    state.withLock { $0.stop = stop }
  }

  /// Waits for signals (`sigwait`): a handler could do next to nothing. It is the first thread that does, for the
  /// runtime would have it wait in `dispatch_main`, which lets every signal through again, to its default: death.
  func wait() -> Never {
    var set = Self.set()
    while true {
      var signal: Int32 = 0
      guard sigwait(&set, &signal) == 0 else { continue }
      let (first, stop) = state.withLock { state in
        defer { state.received = state.received ?? signal }
        return (state.received == nil, state.stop)
      }
      guard first, let stop else { _exit(128 + signal) }
      stop()
    }
  }

  /// A signal that was ignored when the program began (`nohup`, a job in the background of a script) stays so.
  private static func set() -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in [SIGINT, SIGTERM, SIGHUP] {
      var action = sigaction()
      sigaction(signal, nil, &action)
      let ignored = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
      if !ignored { sigaddset(&set, signal) }
    }
    return set
  }
}
