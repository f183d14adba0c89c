import Foundation

/// Runs work that takes seconds of CPU time on its own thread with the lowest priority: the tests' pool has one thread per
/// core, and tests that measure time need them.
package func aside<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    do {
      try PosixThread.start {
        // On Linux zero means the calling thread, not its process.
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
        continuation.resume(with: Result(catching: body))
      }.detach()
    } catch {
      continuation.resume(throwing: error)
    }
  }
}

/// Does something repeatedly on its own thread, so that no other test waits for it. It stops with its last reference.
package final class Repeater: Sendable {
  private let stops = DispatchSemaphore(value: 0)
  private let thread: PosixThread

  package init(every interval: Duration, _ body: @escaping @Sendable () -> Void) throws {
    let stops = stops
    let pause = DispatchTimeInterval.nanoseconds(Int(interval / .nanoseconds(1)))
    thread = try PosixThread.start {
      var next = DispatchTime.now() + pause
      while stops.wait(timeout: next) == .timedOut {
        body()
        next = next + pause
      }
    }
  }

  deinit {
    stops.signal()
    thread.join()
  }
}
