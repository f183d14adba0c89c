internal import CKernels
import Glibc
import MultipartBasics

/// A thread that runs one function (`pthread_create`). The owner ends it with exactly one of `pthread_join` and
/// `pthread_detach`.
struct OwnThread: Sendable {
  private let handle: pthread_t

  /// The thread takes over the only reference to `body`.
  static func start(_ body: @escaping @Sendable () -> Void) throws(Failure) -> OwnThread {
    let box = Unmanaged.passRetained(ThreadBody(body))
    var handle = pthread_t()
    // Signals are for the other threads of the process, except for this thread's own faults and SIGTTIN, which stops a
    // background job that reads the terminal; if it were blocked, the read would fail instead. SIGTTOU stays blocked,
    // so that messages of a background job do not stop it, even with `stty tostop`. SIGPIPE stays blocked, because
    // libcurl's writes would raise it after the other side has closed the connection.
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

  /// The CPU time that the thread has used (`pthread_getcpuclockid`). Call it only before the thread is joined.
  var processorTime: Duration {
    var clock = clockid_t()
    var time = timespec()
    guard pthread_getcpuclockid(handle, &clock) == 0, clock_gettime(clock, &time) == 0 else { return .zero }
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}

/// Tests whether a run can have its threads: if the system refuses a thread to Swift's pool, the pool waits for it
/// forever, without a message.
enum ThreadSupply {
  /// Throws unless as many threads can exist at once as a run may need: those of the pool, one for each core, the one
  /// that keeps its timers, and one for libcurl. If another program takes threads after that, the pool still waits
  /// forever.
  static func prove() throws(Failure) {
    // libdispatch reads the state of the pool's threads there, and ends the process by a signal if it cannot. Swift
    // reads the command line from there, and would take it for empty.
    guard access("/proc/self/stat", R_OK) == 0 else {
      throw Failure(
        .local, "/proc is not mounted, and threads cannot run without it",
        remedy: "In a chroot: mount -t proc proc /proc")
    }
    let gate = Lock()
    var threads: [OwnThread] = []
    defer { for thread in threads { thread.join() } }
    try gate.withLock { () throws(Failure) in
      for _ in 0..<Int(ck_processors()) + 2 { threads.append(try OwnThread.start { gate.withLock {} }) }
    }
  }
}

private final class ThreadBody {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
