import Dispatch
import Foundation
import Support
import Testing

@testable import MultipartCore

/// What is broken here hangs: every wait has a limit, and nil or false is its end.
@Suite("The threads that tasks run on", .timeLimit(.minutes(15)))
struct TaskThreadsTests {
  /// Threads that are counted, and can be refused.
  final class Starts: Sendable {
    private let state = Locked((begun: 0, most: Int.max))
    var begun: Int { state.withLock { $0.begun } }

    func allow(_ most: Int) { state.withLock { $0.most = most } }

    func threads(most: Int) -> TaskThreads {
      TaskThreads(most: most) { body throws(Failure) in
        try self.state.withLock { (state) throws(Failure) in
          guard state.begun < state.most else { throw Failure(.local, "no thread") }
          state.begun += 1
        }
        try OwnThread.start(body).detach()
      }
    }
  }

  /// Holds the thread on which it waits, as a sum does.
  struct Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    func open() { semaphore.signal() }
    @discardableResult func wait() -> Bool { semaphore.wait(timeout: .now() + hangs) == .success }
    func waited() async -> Bool { await off { wait() } }
  }

  /// A task that has a thread and keeps it until its gate is opened.
  struct Busy {
    let gate = Gate()
    let task: Task<Bool, Never>

    init(on threads: TaskThreads) async {
      let (isRunning, gate) = (Gate(), gate)
      task = Task(executorPreference: threads) {
        isRunning.open()
        return gate.wait()
      }
      #expect(await isRunning.waited())
    }

    /// False when the gate was never opened.
    func ends() async -> Bool { await inTime { [task] in await task.value } == true }
  }

  /// Each participant keeps its thread until all have arrived.
  struct Meeting: Sendable {
    private let size: Int
    private let came = Locked(0)
    private let all = Gate()

    init(of size: Int) { self.size = size }

    func arrive() -> Bool {
      let isLast = came.withLock { came in
        came += 1
        return came == size
      }
      if isLast { for _ in 0..<size { all.open() } }
      return all.wait()
    }
  }

  private let starts = Starts()

  @Test("a waiting task leaves its thread to the task it waits for")
  func oneThread() async {
    let threads = starts.threads(most: 1)
    let answer = await inTime {
      await Task(executorPreference: threads) {
        let inner = Task(executorPreference: threads) { 20 }
        async let child = 22
        return await inner.value + child
      }.value
    }
    #expect(answer == 42)
    #expect(starts.begun == 1)
  }

  @Test("a task that starts another one and waits for it needs no second thread")
  func noSecondThread() async {
    let threads = starts.threads(most: 4)
    let answer = await inTime {
      await Task(executorPreference: threads) { await Task(executorPreference: threads) { 7 }.value }.value
    }
    #expect(answer == 7)
    #expect(starts.begun == 1)
  }

  @Test("a task that occupies its thread does not delay others if two threads are allowed")
  func sideBySide() async {
    let threads = starts.threads(most: 2)
    let busy = await Busy(on: threads)
    Task(executorPreference: threads) { [gate = busy.gate] in gate.open() }
    #expect(await busy.ends())
    #expect(starts.begun == 2)
  }

  @Test("two tasks started by one that continues get their own thread")
  func twoBegun() async {
    let threads = starts.threads(most: 2)
    let waited = await inTime {
      await Task(executorPreference: threads) {
        let gate = Gate()
        for _ in 0..<2 { Task(executorPreference: threads) { gate.open() } }
        return gate.wait()
      }.value
    }
    #expect(waited == true)
    #expect(starts.begun == 2)
  }

  @Test("there are never more threads than allowed, and every task is run")
  func bounded() async {
    let threads = starts.threads(most: 3)
    let sum = await inTime {
      let tasks = (0..<500).map { number in
        Task(executorPreference: threads) {
          await Task.yield()
          return number
        }
      }
      var sum = 0
      for task in tasks { sum += await task.value }
      return sum
    }
    #expect(sum == 124_750)
    #expect((1...3).contains(starts.begun))
  }

  @Test("tasks that start together each get a thread if there are enough")
  func together() async {
    let threads = starts.threads(most: 3)
    for _ in 0..<4 {
      let meeting = Meeting(of: 3)
      let tasks = (0..<3).map { _ in Task(executorPreference: threads) { meeting.arrive() } }
      #expect(await allMet(tasks))
    }
    #expect(starts.begun == 3)
  }

  @Test("the oldest task runs first")
  func order() async {
    let threads = starts.threads(most: 1)
    let seen = Locked<[Int]>([])
    let busy = await Busy(on: threads)
    let tasks = (0..<10).map { number in Task(executorPreference: threads) { seen.withLock { $0.append(number) } } }
    busy.gate.open()
    await inTime { for task in tasks { await task.value } }
    #expect(seen.withLock { $0 } == Array(0..<10))
  }

  @Test("if a second thread cannot be started, the first one does the work")
  func refusedSecond() async {
    starts.allow(1)
    let threads = starts.threads(most: 2)
    let busy = await Busy(on: threads)
    let other = Task(executorPreference: threads) { 3 }
    busy.gate.open()
    #expect(await inTime { await other.value } == 3)
    #expect(starts.begun == 1)
  }

  @Test("if the first thread cannot be started, that is reported, and tasks wait for one")
  func refusedFirst() async throws {
    starts.allow(0)
    let threads = starts.threads(most: 2)
    #expect(throws: Failure.self) { try threads.prepare() }
    let early = Task(executorPreference: threads) { 1 }
    starts.allow(.max)
    try threads.prepare()
    try threads.prepare()
    #expect(await inTime { await early.value } == 1)
    #expect(starts.begun == 1)
  }

  @Test("after failed starts later tasks do not start more threads")
  func refusedOften() async {
    starts.allow(0)
    let threads = starts.threads(most: 16)
    let early = (0..<100).map { _ in Task(executorPreference: threads) { await Task.yield() } }
    starts.allow(.max)
    await inTime {
      for _ in 0..<200 { await Task(executorPreference: threads) { await Task.yield() }.value }
      for task in early { await task.value }
    }
    let before = starts.begun
    await inTime { for _ in 0..<200 { await Task(executorPreference: threads) { await Task.yield() }.value } }
    #expect(starts.begun == before)
  }

  @Test("a task from Task.begin runs on the program's threads, and can be cancelled")
  func begin() async {
    let isOwn = await inTime {
      await Task.begin {
        withUnsafeCurrentTask { $0?.unownedTaskExecutor == TaskThreads.shared.asUnownedTaskExecutor() }
      }.value
    }
    #expect(isOwn == true)
    let task = Task.begin { while !Task.isCancelled { await Task.yield() } }
    task.cancel()
    #expect(await inTime { await task.value } != nil)
  }
}

/// Seconds. Beside all other tests, those of the fake store among them, the next task may be half a minute away.
private let hangs = 600.0

/// Runs `work` where it may block a thread.
func off<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
  await withCheckedContinuation { continuation in
    let thread = try? PosixThread.start { continuation.resume(returning: work()) }
    thread?.detach()
    #expect(thread != nil)
  }
}

func allMet(_ tasks: [Task<Bool, Never>]) async -> Bool {
  await inTime {
    var met = 0
    for task in tasks where await task.value { met += 1 }
    return met
  } == tasks.count
}

/// Nil if it does not finish.
@discardableResult
func inTime<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value? {
  await withCheckedContinuation { continuation in
    let waiter = Locked<CheckedContinuation<Value?, Never>?>(continuation)
    let answer: @Sendable (Value?) -> Void = { value in waiter.withLock { $0.take() }?.resume(returning: value) }
    Task.detached { answer(await work()) }
    DispatchQueue.global().asyncAfter(deadline: .now() + hangs) { answer(nil) }
  }
}
