internal import CKernels
import Glibc

/// The threads that the program's tasks run on, and sleep on: as many as there are cores, and another one only while there
/// is more to do than those that there are can take.
///
/// Swift's own pool starts two threads and a timer before the first task goes on, a few hundredths of a small upload; and
/// where no thread can be made it waits for one for ever, instead of saying so.
package final class TaskThreads: TaskExecutor {
  package typealias Start = @Sendable (@escaping @Sendable () -> Void) throws(Failure) -> Void

  package static let shared = TaskThreads(most: Int(ck_processors()))

  /// Of the threads that have nothing to do one looks at the clock.
  private struct Watch: Sendable {
    var thread: pthread_t
    var until: Duration
  }

  private struct State: Sendable {
    /// The oldest first.
    var jobs: [UnownedJob] = []
    var sleepers = Sleepers()
    var watch: Watch?
    var begun = 0
    /// Those of the threads that run nothing: they wait, or have been called and are on their way.
    var free = 0
    var threads: [pthread_t] = []

    /// A task that begins another one, or that sleeps, mostly waits right after, and then its thread is free.
    func isSoonFree(_ caller: pthread_t) -> Bool {
      threads.contains { pthread_equal($0, caller) != 0 }
    }

    /// Somebody wakes before anyone looks.
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

  /// Who is to come, for what was left to others.
  private enum Help { case none, call, begin }

  private let state = Locked(State())
  /// One for each job, and those for the clock. A thread that takes a job without having waited leaves the call: then
  /// somebody looks for nothing, and nobody is called for nothing that is there.
  private let calls = Semaphore()
  private let most: Int
  private let start: Start
  /// The clock that is waited by stands still while the machine is suspended.
  private static let longestWatch: Duration = .seconds(60)

  package init(
    most: Int, start: @escaping Start = { body throws(Failure) in try OwnThread.start(body).detach() }
  ) {
    self.most = max(1, most)
    self.start = start
  }

  /// Begins the first thread, and tells when not even that can be had. Without it tasks would wait for one.
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

  /// Ends early, with an error, where the task is cancelled.
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

  /// Takes the place of one more thread, if there is one.
  private static func begins(_ state: inout State, _ most: Int) -> Bool {
    guard state.begun < most else { return false }
    state.begun += 1
    state.free += 1
    return true
  }

  private func beginIfPossible() {
    // Those that there are do it, or the next one that can be begun.
    do throws(Failure) { try begin() } catch {}
  }

  /// No thread ever ends: there is one such executor, for as long as the process lives.
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
  /// A task on the program's own threads, as are the tasks that belong to it. It belongs to nobody: whoever begins it may
  /// end before it.
  @discardableResult
  package static func begin(_ work: @escaping @Sendable () async -> Success) -> Task {
    Task(executorPreference: TaskThreads.shared, operation: work)
  }
}
