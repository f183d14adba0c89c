import Glibc

/// How far this machine has fallen behind, for tests that measure time on a busy machine. A thread repeatedly sleeps for
/// 50 ms and works for half a millisecond; the time beyond that is added up.
///
///     let lag = Lag()
///     …
///     #expect(took - lag.sofar < .seconds(5))
package struct Lag: Sendable {
  private static let sum = Guarded(Duration.zero)
  private static let thread: PosixThread? = try? PosixThread.start {
    while true {
      let began = ContinuousClock.now
      usleep(50_000)
      let work = threadTime() + .microseconds(500)
      while threadTime() < work {}
      let late = ContinuousClock.now - began - .microseconds(50_500)
      sum.with { $0 += late }
    }
  }

  private let before: Duration

  package init() {
    _ = Self.thread
    before = Self.sum.with { $0 }
  }

  /// With a sanitizer a program needs a second to start, and longer to end.
  private static let sanitizer: Duration =
    CommandLine.arguments.first?.contains("-sanitizer/") == true ? .seconds(2) : .zero

  /// The lag since the beginning. Half a turn of the thread may be missing.
  package var sofar: Duration { Self.sum.with { $0 } - before + Self.sanitizer }
}

/// How long this thread has been on a core, so that a busy machine does not count (`CLOCK_THREAD_CPUTIME_ID`).
package func threadTime() -> Duration {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
