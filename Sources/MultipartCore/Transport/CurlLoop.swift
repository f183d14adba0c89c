import Glibc

/// A request handed to a loop, with the one who waits for it.
struct Submission: Sendable {
  var identifier: UInt64
  var request: Request
  var finish: @Sendable (Result<Response, Failure>) -> Void
}

/// A thread that owns one libcurl multi handle and every transfer on it.
///
/// Work comes in through `Inbox` and a wake-up; results leave through the closures of the submissions. Stopping hands
/// an error to every waiter and joins the thread, so that nothing of libcurl runs once `stop` is back.
package final class CurlLoop: Sendable {
  private let inbox: Inbox
  private let thread: Locked<pthread_t?>
  private let uptime: @Sendable () -> Duration

  package convenience init(
    options: TransportOptions, uptime: @escaping @Sendable () -> Duration = { .sinceBoot() }
  ) throws(Failure) {
    try self.init(options: options, shared: LoopShared(options), uptime: uptime)
  }

  init(
    options: TransportOptions, shared: LoopShared, uptime: @escaping @Sendable () -> Duration = { .sinceBoot() }
  ) throws(Failure) {
    let inbox = try Inbox()
    self.inbox = inbox
    self.uptime = uptime
    let body = LoopBody(inbox: inbox, options: options, shared: shared, uptime: uptime)
    thread = Locked(try Self.start(body))
  }

  deinit { stop() }

  package func send(_ request: Request) async throws(Failure) -> Response {
    let identifier = inbox.nextIdentifier()
    let result: Result<Response, Failure> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        inbox.submit(Submission(identifier: identifier, request: request) { continuation.resume(returning: $0) })
      }
    } onCancel: {
      inbox.cancel(identifier)
    }
    return try result.get()
  }

  /// How long the loop's thread has been on a core (`pthread_getcpuclockid`); nothing once it has ended.
  var processorTime: Duration {
    thread.withLock { thread in
      var clock = clockid_t()
      var time = timespec()
      guard let thread, pthread_getcpuclockid(thread, &clock) == 0, clock_gettime(clock, &time) == 0 else {
        return .zero
      }
      return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
  }

  /// Ends the thread and every transfer with it; a second call does nothing.
  package func stop() {
    let running = thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
    guard let running else { return }
    inbox.stop()
    pthread_join(running, nil)
  }

  /// `pthread_create`; the thread takes over the one reference to its body.
  private static func start(_ body: LoopBody) throws(Failure) -> pthread_t {
    let box = Unmanaged.passRetained(body)
    var thread = pthread_t()
    // Signals belong to the process's other threads. SIGPIPE stays blocked here because libcurl's writes would raise
    // it when the other side has closed. Those of a fault are left to whoever looks into crashes.
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    sigdelset(&all, SIGBUS)
    sigdelset(&all, SIGSEGV)
    sigdelset(&all, SIGILL)
    sigdelset(&all, SIGFPE)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let status = pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<LoopBody>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, box.toOpaque())
    guard status == 0 else {
      box.release()
      throw Failure(.local, "no thread could be started: " + String(cString: strerror(status)))
    }
    return thread
  }
}
