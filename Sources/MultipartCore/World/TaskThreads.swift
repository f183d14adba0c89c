internal import CKernels
import Glibc

/// The threads that the program's tasks run on: as many as there are cores, and another one only while there is more to
/// do than those that there are can take.
///
/// Swift's own pool starts two threads and a timer before the first task goes on, which is a tenth of a small upload. It
/// is still where `Task.sleep` waits.
package final class TaskThreads: TaskExecutor {
  package typealias Start = @Sendable (@escaping @Sendable () -> Void) throws(Failure) -> Void

  package static let shared = TaskThreads(most: Int(ck_processors()))

  private struct State: Sendable {
    /// The oldest first.
    var jobs: [UnownedJob] = []
    var begun = 0
    /// Those of the threads that run nothing: they wait, or have been called and are on their way.
    var free = 0
    var threads: [pthread_t] = []
  }

  private let state = Locked(State())
  private let calls = Semaphore()
  private let most: Int
  private let start: Start

  package init(
    most: Int, start: @escaping Start = { body throws(Failure) in try OwnThread.start(body).detach() }
  ) {
    self.most = max(1, most)
    self.start = start
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let caller = pthread_self()
    let begins = state.withLock { state in
      state.jobs.append(job)
      // A task that begins another one mostly waits for something right after, and then its thread takes it.
      let soonFree = state.threads.contains { pthread_equal($0, caller) != 0 } ? 1 : 0
      let begins = state.jobs.count > state.free + soonFree && state.begun < most
      if begins { (state.begun, state.free) = (state.begun + 1, state.free + 1) }
      return begins
    }
    calls.signal()
    if begins { begin() }
  }

  /// No thread ever ends: there is one such executor, for as long as the process lives.
  private func begin() {
    do throws(Failure) {
      try start { self.work() }
    } catch {
      let left = state.withLock { state in
        (state.begun, state.free) = (state.begun - 1, state.free - 1)
        defer { if state.begun == 0 { state.jobs = [] } }
        return state.begun == 0 ? state.jobs : []
      }
      // Where not a single thread is to be had, Swift's pool has to do it.
      for job in left { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
    }
  }

  private func work() {
    state.withLock { $0.threads.append(pthread_self()) }
    while true {
      calls.wait()
      let job = state.withLock { state -> UnownedJob? in
        // None where Swift's pool was given those that the call was for.
        guard !state.jobs.isEmpty else { return nil }
        state.free -= 1
        return state.jobs.removeFirst()
      }
      guard let job else { continue }
      job.runSynchronously(on: asUnownedTaskExecutor())
      state.withLock { $0.free += 1 }
    }
  }
}

extension Task where Failure == Never {
  /// A task on the program's own threads, as are the tasks that belong to it. It belongs to nobody: whoever begins it may
  /// end before it.
  @discardableResult
  package static func begin(_ work: @escaping @Sendable () async -> Success) -> Task {
    Task(executorPreference: TaskThreads.shared, operation: work)
  }
}

/// A `sem_t` (`sem_init`, `sem_post`, `sem_wait`, `sem_destroy`).
///
/// `@unchecked Sendable` holds because it lives at one address on the heap from `init` to `deinit`, and is touched only
/// through functions that are made to be called from any thread.
private final class Semaphore: @unchecked Sendable {
  private let semaphore: UnsafeMutablePointer<sem_t>

  init() {
    semaphore = .allocate(capacity: 1)
    semaphore.initialize(to: sem_t())
    sem_init(semaphore, 0, 0)
  }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  func signal() { sem_post(semaphore) }

  /// A signal handler may end the wait early.
  func wait() {
    while sem_wait(semaphore) != 0 {}
  }
}
