import Glibc

/// One `pthread_mutex_t` (`pthread_mutex_init`, `_lock`, `_unlock`, `_destroy`), which ThreadSanitizer understands.
/// Not recursive: taking it again on the same thread hangs.
///
/// Sendable, because the mutex lives at one address on the heap from `init` to `deinit` and is touched only through
/// the pthread functions, which are made to be called from any thread.
package final class Lock: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  package init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deinitialize(count: 1)
    mutex.deallocate()
  }

  /// Runs `body` alone among all who take this lock. No `await` fits in, so it is never held across a suspension.
  package func withLock<Result, E: Error>(_ body: () throws(E) -> Result) throws(E) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body()
  }
}

/// A value that is only reachable under its lock.
///
/// Sendable, because `value` is private, is touched only while `lock` is held, and is Sendable itself, so that what
/// `withLock` hands out may be used by another thread after the lock is let go.
package final class Locked<Value: Sendable>: @unchecked Sendable {
  private let lock = Lock()
  private var value: Value

  package init(_ value: Value) {
    self.value = value
  }

  package func withLock<Result, E: Error>(_ body: (inout Value) throws(E) -> Result) throws(E) -> Result {
    try lock.withLock { () throws(E) -> Result in try body(&value) }
  }
}
