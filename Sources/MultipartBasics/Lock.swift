public import Glibc

/// One `pthread_mutex_t` (`pthread_mutex_init`, `_lock`, `_unlock`, `_destroy`), which ThreadSanitizer understands. Not
/// recursive: taking it again on the same thread hangs.
///
/// `@unchecked Sendable` holds because the mutex stays at one address on the heap from `init` to `deinit` and is only
/// accessed through the pthread functions, which any thread may call.
public struct Lock: ~Copyable, @unchecked Sendable {
  @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>

  /// An open lock.
  public init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deinitialize(count: 1)
    mutex.deallocate()
  }

  /// Runs `body` under the lock. No `await` fits in, so it is never held across a suspension.
  @inlinable public func withLock<Result, E: Error>(_ body: () throws(E) -> Result) throws(E) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body()
  }
}

/// A value that is only reachable under its lock.
///
/// `@unchecked Sendable` holds because `value` is only accessed while `lock` is held, and is Sendable
/// itself, so that another thread may use what `withLock` returns.
public final class Locked<Value: Sendable>: @unchecked Sendable {
  @usableFromInline let lock = Lock()
  @usableFromInline var value: Value

  /// A value and its lock.
  @inlinable public init(_ value: Value) {
    self.value = value
  }

  /// Runs `body` on the value, under the lock.
  @inlinable public func withLock<Result, E: Error>(_ body: (inout Value) throws(E) -> Result) throws(E) -> Result {
    try lock.withLock { () throws(E) -> Result in try body(&value) }
  }
}
