import Glibc

/// A value that one thread at a time may touch, behind a `pthread_mutex_t`.
///
/// `Synchronization.Mutex` would do, but ThreadSanitizer on Linux does not see its futex and reports races that are
/// none; it knows the pthread calls.
///
/// `@unchecked Sendable` holds because `value` is only reached between `pthread_mutex_lock` and `pthread_mutex_unlock`.
package final class Locked<Value>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var value: Value

  package init(_ value: Value) {
    self.value = value
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deinitialize(count: 1)
    mutex.deallocate()
  }

  package func withLock<Result, Problem: Error>(
    _ body: (inout Value) throws(Problem) -> Result
  ) throws(Problem) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}
