import Glibc

/// A thread with a body that runs once. `pthread_create`, `pthread_join`, `pthread_detach`: one of the last two is
/// called, once.
struct OwnThread: Sendable {
  private let handle: pthread_t

  /// The thread takes over the one reference to its body.
  static func start(_ body: @escaping @Sendable () -> Void) throws(Failure) -> OwnThread {
    let box = Unmanaged.passRetained(ThreadBody(body))
    var handle = pthread_t()
    // Signals belong to the process's other threads, but for those that are about this one: faults, and SIGTTIN, which
    // stops a job in the background that reads the terminal; blocked, it would turn into a read error. SIGTTOU stays
    // blocked: what is said of an upload in the background does not stop it, whatever the terminal is set to. SIGPIPE stays
    // blocked because libcurl's writes would raise it when the other side has closed.
    var blocked = sigset_t()
    var before = sigset_t()
    sigfillset(&blocked)
    for signal in [SIGBUS, SIGSEGV, SIGILL, SIGFPE, SIGTTIN] { sigdelset(&blocked, signal) }
    pthread_sigmask(SIG_SETMASK, &blocked, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let status = pthread_create(
      &handle, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, box.toOpaque())
    guard status == 0 else {
      box.release()
      throw Failure.system(.local, status, "no thread could be started")
    }
    return OwnThread(handle: handle)
  }

  func join() { pthread_join(handle, nil) }
  func detach() { pthread_detach(handle) }

  /// How long it has been on a core (`pthread_getcpuclockid`). Only before it is joined.
  var processorTime: Duration {
    var clock = clockid_t()
    var time = timespec()
    guard pthread_getcpuclockid(handle, &clock) == 0, clock_gettime(clock, &time) == 0 else { return .zero }
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}

private final class ThreadBody {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
