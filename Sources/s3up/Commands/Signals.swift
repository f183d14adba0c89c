import Glibc
import MultipartCore

/// SIGINT, SIGTERM and SIGHUP: the first asks for an orderly end, the second ends at once.
final class Signals: Sendable {
  private struct State: Sendable {
    var received: Int32?
    var stop: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  var received: Int32? { state.withLock { $0.received } }

  /// Blocks the signals in this thread and those it starts, and has a thread wait for them (`sigwait`): a handler could
  /// do next to nothing. To be called before anything starts a thread of its own that could take one.
  func listen(_ stop: @escaping @Sendable () -> Void) {
    state.withLock { $0.stop = stop }
    var set = Self.set()
    pthread_sigmask(SIG_BLOCK, &set, nil)
    var thread = pthread_t()
    let box = Unmanaged.passRetained(self)
    let status = pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<Signals>.fromOpaque(context).takeRetainedValue().wait()
        return nil
      }, box.toOpaque())
    guard status == 0 else {
      box.release()
      pthread_sigmask(SIG_UNBLOCK, &set, nil)
      return
    }
    pthread_detach(thread)
  }

  private func wait() {
    var set = Self.set()
    while true {
      var signal: Int32 = 0
      guard sigwait(&set, &signal) == 0 else { continue }
      let (first, stop) = state.withLock { state in
        defer { state.received = state.received ?? signal }
        return (state.received == nil, state.stop)
      }
      guard first else { _exit(128 + signal) }
      stop?()
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
