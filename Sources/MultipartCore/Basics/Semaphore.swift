import Glibc

/// A counting semaphore (`pthread_mutex_t`, `pthread_cond_t`). Not a `sem_t`: before glibc 2.30 its timed wait uses the
/// wall clock only, which may be set back.
///
/// `@unchecked Sendable` holds because the mutex and the condition stay at one address on the heap from `init` to
/// `deinit` and are touched only through thread-safe functions, and the count only while the mutex is held.
final class Semaphore: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var count = 0

  init() {
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    condition.initialize(to: pthread_cond_t())
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  func signal() {
    pthread_mutex_lock(mutex)
    count += 1
    pthread_cond_signal(condition)
    pthread_mutex_unlock(mutex)
  }

  /// Waits until a call can be taken, or until the limit has passed; nil: without a limit.
  func wait(atMost limit: Duration?) {
    var end = timespec()
    if let limit {
      clock_gettime(CLOCK_MONOTONIC, &end)
      let (whole, rest) = (.nanoseconds(end.tv_nsec) + max(.zero, limit)).components
      (end.tv_sec, end.tv_nsec) = (end.tv_sec + Int(whole), Int(rest / 1_000_000_000))
    }
    pthread_mutex_lock(mutex)
    var isOver = false
    while count == 0, !isOver {
      let status = limit == nil ? pthread_cond_wait(condition, mutex) : pthread_cond_timedwait(condition, mutex, &end)
      isOver = status == ETIMEDOUT
    }
    if count > 0 { count -= 1 }
    pthread_mutex_unlock(mutex)
  }
}
