import MultipartBasics

/// A thread that owns one libcurl multi handle and every transfer on it.
///
/// Work comes in through `Inbox` and a wake-up; results leave through the continuations that it holds. Stopping fails all
/// waiting requests and joins the thread, so that no libcurl code runs after `stop` has returned.
final class CurlLoop: Sendable {
  private let inbox: Inbox
  private let thread: Locked<OwnThread?>
  private let uptime: @Sendable () -> Duration

  convenience init(
    options: TransportOptions, uptime: @escaping @Sendable () -> Duration = { .sinceBoot() }
  ) throws(Failure) {
    try self.init(options: options, shared: LoopShared(options), uptime: uptime)
  }

  /// With `awaitsLibrary` this throws whatever can fail; without, libcurl may still be initialising, and requests get
  /// the failure.
  init(
    options: TransportOptions, shared: LoopShared, awaitsLibrary: Bool = true,
    uptime: @escaping @Sendable () -> Duration = { .sinceBoot() }
  ) throws(Failure) {
    let inbox = Inbox()
    if awaitsLibrary { _ = try inbox.open() }
    self.inbox = inbox
    self.uptime = uptime
    thread = Locked(
      try OwnThread.start {
        do throws(Failure) {
          try LoopBody(inbox: inbox, options: options, shared: shared, uptime: uptime).run()
        } catch {
          inbox.close(error)
        }
      })
  }

  deinit { stop() }

  func send(_ request: Request) async throws(Failure) -> Response {
    let identifier = inbox.nextIdentifier()
    let result: Result<Response, Failure> = await withTaskCancellationHandler {
      await withCheckedContinuation { inbox.submit(identifier, request, $0) }
    } onCancel: {
      inbox.cancel(identifier)
    }
    return try result.get()
  }

  /// The CPU time of the loop's thread; zero once it has ended.
  var processorTime: Duration { thread.withLock { $0?.processorTime ?? .zero } }

  /// Ends the thread and all its transfers; further calls do nothing.
  func stop() {
    let running = thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
    guard let running else { return }
    inbox.stop()
    running.join()
  }
}
