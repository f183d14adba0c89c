import Dispatch
import Testing

@testable import MultipartCore

@Suite("The threads that tasks run on", .timeLimit(.minutes(1)))
struct TaskThreadsTests {
  /// Counts the threads that are begun.
  private final class Count: Sendable {
    private let begun = Locked(0)
    var value: Int { begun.withLock { $0 } }

    func threads(most: Int) -> TaskThreads {
      TaskThreads(most: most) { body throws(Failure) in
        self.begun.withLock { $0 += 1 }
        try OwnThread.start(body).detach()
      }
    }
  }

  /// Holds the thread on which it waits, as a sum does.
  private struct Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    func open() { semaphore.signal() }
    func wait() { semaphore.wait() }
  }

  @Test("a task that waits leaves its thread to the one it waits for")
  func oneThread() async {
    let count = Count()
    let threads = count.threads(most: 1)
    let answer = await Task(executorPreference: threads) {
      let inner = Task(executorPreference: threads) { 20 }
      async let child = 22
      return await inner.value + child
    }.value
    #expect(answer == 42)
    #expect(count.value == 1)
  }

  @Test("a task that begins another one and waits for it needs no second thread")
  func noSecondThread() async {
    let count = Count()
    let threads = count.threads(most: 4)
    let answer = await Task(executorPreference: threads) {
      await Task(executorPreference: threads) { 7 }.value
    }.value
    #expect(answer == 7)
    #expect(count.value == 1)
  }

  @Test("a task that keeps its thread does not keep others waiting where there may be two")
  func sideBySide() async {
    let count = Count()
    let threads = count.threads(most: 2)
    let (isRunning, gate) = (Gate(), Gate())
    let busy = Task(executorPreference: threads) {
      isRunning.open()
      gate.wait()
    }
    await onThread { isRunning.wait() }
    await Task(executorPreference: threads) { gate.open() }.value
    await busy.value
    #expect(count.value == 2)
  }

  @Test("two tasks begun by one that goes on get a thread of their own")
  func twoBegun() async {
    let count = Count()
    let threads = count.threads(most: 2)
    await Task(executorPreference: threads) {
      let gate = Gate()
      let others = [0, 1].map { _ in Task(executorPreference: threads) { gate.open() } }
      gate.wait()
      for other in others { await other.value }
    }.value
    #expect(count.value == 2)
  }

  @Test("there are never more threads than there may be, and every task is run")
  func bounded() async {
    let count = Count()
    let threads = count.threads(most: 3)
    let tasks = (0..<500).map { number in
      Task(executorPreference: threads) {
        await Task.yield()
        return number
      }
    }
    var sum = 0
    for task in tasks { sum += await task.value }
    #expect(sum == 124_750)
    #expect((1...3).contains(count.value))
  }

  @Test("where no thread is to be had, Swift's own pool runs the tasks")
  func noThreads() async {
    let threads = TaskThreads(most: 2) { _ throws(Failure) in throw Failure(.local, "none") }
    let answer = await Task(executorPreference: threads) {
      await Task.yield()
      return 5
    }.value
    #expect(answer == 5)
  }

  @Test("what Task.begin begins can be cancelled and waited for")
  func begin() async {
    let task = Task.begin { while !Task.isCancelled { await Task.yield() } }
    task.cancel()
    await task.value
  }

  private func onThread(_ work: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        work()
        continuation.resume()
      }
    }
  }
}
