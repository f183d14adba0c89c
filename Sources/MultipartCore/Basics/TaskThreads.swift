internal import CKernels
import Glibc

/// The threads on which the program's tasks run and sleep: at most one per core, and a new one is started only when there
/// are more jobs than the existing threads can take.
///
/// Swift's own pool starts two threads and a timer before the first task runs, a few hundredths of a small upload; and if
/// no thread can be created, it waits for one forever instead of reporting it.
package final class TaskThreads: TaskExecutor {
  package typealias Start = @Sendable (@escaping @Sendable () -> Void) throws(Failure) -> Void

  package static let shared = TaskThreads(most: Int(ck_processors()))

  /// One of the idle threads waits with a timeout, for the next sleeper.
  private struct Watch: Sendable {
    var thread: pthread_t
    var until: Duration
  }

  private struct State: Sendable {
    /// Oldest first.
    var jobs: [UnownedJob] = []
    var sleepers = Sleepers()
    var watch: Watch?
    var begun = 0
    /// Threads that run no job: they wait, or have been called and are on their way.
    var free = 0
    var threads: [pthread_t] = []

    /// A task that starts another one, or that sleeps, mostly waits right after that, so its thread is about to be free.
    func isSoonFree(_ caller: pthread_t) -> Bool {
      threads.contains { pthread_equal($0, caller) != 0 }
    }

    /// No idle thread's timeout is early enough for the next sleeper.
    var lacksWatch: Bool {
      guard let next = sleepers.next else { return false }
      return watch.map { next < $0.until } ?? true
    }
  }

  private enum Step {
    case run(UnownedJob, then: Help)
    case wake([Sleepers.Waiter])
    case wait(Duration?)
  }

  /// Which thread is to take the job: none, an idle one, or a new one.
  private enum Help { case none, call, begin }

  private let state = Locked(State())
  /// One for each job, and those for the clock. A thread that takes a job without waiting leaves the job's call behind:
  /// then another thread wakes and finds nothing, but no job is ever left without a call.
  private let calls = Semaphore()
  private let most: Int
  private let start: Start
  /// The semaphore's clock stands still while the machine is suspended, so a wait is never longer than this.
  private static let longestWatch: Duration = .seconds(60)

  package init(
    most: Int, start: @escaping Start = { body throws(Failure) in try OwnThread.start(body).detach() }
  ) {
    self.most = max(1, most)
    self.start = start
  }

  /// Starts the first thread, or throws: without any thread, tasks would wait forever.
  package func prepare() throws(Failure) {
    let isFirst = state.withLock { $0.begun == 0 && Self.begins(&$0, most) }
    if isFirst { try begin() }
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let caller = pthread_self()
    let begins = state.withLock { state in
      state.jobs.append(job)
      guard state.jobs.count > state.free + (state.isSoonFree(caller) ? 1 : 0) else { return false }
      return Self.begins(&state, most)
    }
    calls.signal()
    if begins { beginIfPossible() }
  }

  /// Throws early if the task is cancelled.
  package func sleep(for time: Duration) async throws {
    let until = .sinceBoot() + time
    let identifier = state.withLock { $0.sleepers.announce() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { add(identifier, until: until, $0) }
    } onCancel: {
      state.withLock { $0.sleepers.cancel(identifier) }?.resume(throwing: CancellationError())
    }
  }

  private func add(_ identifier: UInt64, until: Duration, _ waiter: Sleepers.Waiter) {
    let caller = pthread_self()
    let (sleeps, help) = state.withLock { state -> (Bool, Help) in
      guard state.sleepers.add(identifier, until: until, waiter) else { return (false, .none) }
      guard state.lacksWatch else { return (true, .none) }
      if state.free > 0 { return (true, .call) }
      return (true, !state.isSoonFree(caller) && Self.begins(&state, most) ? .begin : .none)
    }
    guard sleeps else { return waiter.resume(throwing: CancellationError()) }
    get(help)
  }

  private func get(_ help: Help) {
    switch help {
    case .none: break
    case .call: calls.signal()
    case .begin: beginIfPossible()
    }
  }

  /// Counts one more thread, if the limit allows it.
  private static func begins(_ state: inout State, _ most: Int) -> Bool {
    guard state.begun < most else { return false }
    state.begun += 1
    state.free += 1
    return true
  }

  private func beginIfPossible() {
    // If no thread can be started, the existing ones do the job, or the next one that can be started.
    do throws(Failure) { try begin() } catch {}
  }

  /// Its threads never end: there is one such executor for the whole life of the process.
  private func begin() throws(Failure) {
    do throws(Failure) {
      try start { self.work() }
    } catch {
      state.withLock { state in
        state.begun -= 1
        state.free -= 1
      }
      throw error
    }
  }

  private func work() {
    let own = pthread_self()
    state.withLock { $0.threads.append(own) }
    while true {
      switch state.withLock({ step(&$0, own) }) {
      case .run(let job, let help):
        get(help)
        job.runSynchronously(on: asUnownedTaskExecutor())
        state.withLock { $0.free += 1 }
      case .wake(let sleepers):
        for sleeper in sleepers { sleeper.resume() }
        state.withLock { $0.free += 1 }
      case .wait(let limit): calls.wait(atMost: limit)
      }
    }
  }

  private func step(_ state: inout State, _ own: pthread_t) -> Step {
    if let watch = state.watch, pthread_equal(watch.thread, own) != 0 { state.watch = nil }
    let now: Duration = state.sleepers.next == nil ? .zero : .sinceBoot()
    let woken = state.sleepers.wake(at: now)
    guard woken.isEmpty else {
      state.free -= 1
      return .wake(woken)
    }
    guard state.jobs.isEmpty else {
      state.free -= 1
      let job = state.jobs.removeFirst()
      guard state.lacksWatch else { return .run(job, then: .none) }
      return .run(job, then: state.free > 0 ? .call : Self.begins(&state, most) ? .begin : .none)
    }
    guard state.lacksWatch, let next = state.sleepers.next else { return .wait(nil) }
    let until = min(next, now + Self.longestWatch)
    state.watch = Watch(thread: own, until: until)
    return .wait(until - now)
  }
}

extension Task where Failure == Never {
  /// A task on the program's own threads, as are its child tasks. It is unstructured: whoever starts it may end before
  /// it does.
  @discardableResult
  package static func begin(_ work: @escaping @Sendable () async -> Success) -> Task {
    Task(executorPreference: TaskThreads.shared, operation: work)
  }
}
