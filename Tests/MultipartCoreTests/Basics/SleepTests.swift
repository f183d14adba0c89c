import Testing

@testable import MultipartCore

/// Sleeping is what is tested: each duration is a lower bound or is cut short, and none is waited for as a pause.
@Suite("Sleeping on the threads of the tasks", .timeLimit(.minutes(15)))
struct SleepTests {
  private typealias Gate = TaskThreadsTests.Gate

  private let starts = TaskThreadsTests.Starts()

  @Test("a sleep lasts as long as it should")
  func lasts() async {
    let threads = starts.threads(most: 1)
    let slept = await inTime {
      await Task(executorPreference: threads) {
        let start = Duration.sinceBoot()
        try? await threads.sleep(for: .milliseconds(30))
        return .sinceBoot() - start
      }.value
    }
    #expect(slept.map { $0 >= .milliseconds(30) } == true)
    #expect(starts.begun == 1)
  }

  @Test("the shortest sleep ends first, in whatever order they began")
  func order() async {
    let threads = starts.threads(most: 2)
    let (isAsleep, hasWoken) = (Gate(), Locked(false))
    let long = Task(executorPreference: threads) {
      isAsleep.open()
      try? await threads.sleep(for: .seconds(3600))
      hasWoken.withLock { $0 = true }
    }
    #expect(await isAsleep.waited())
    for _ in 0..<3 {
      let short = Task(executorPreference: threads) { try? await threads.sleep(for: .milliseconds(10)) }
      #expect(await inTime { await short.value } != nil)
    }
    #expect(!hasWoken.withLock { $0 })
    long.cancel()
    #expect(await inTime { await long.value } != nil)
  }

  @Test("a cancelled sleep throws at once, and so does a sleep in a task that is already cancelled")
  func cancelled() async {
    let threads = starts.threads(most: 1)
    let isAsleep = Gate()
    let task = Task(executorPreference: threads) {
      isAsleep.open()
      let first = (try? await threads.sleep(for: .seconds(3600))) == nil
      let second = (try? await threads.sleep(for: .seconds(3600))) == nil
      return first && second
    }
    #expect(await isAsleep.waited())
    task.cancel()
    #expect(await inTime { await task.value } == true)
  }

  @Test("a task that occupies the only thread does not delay a sleeper if another thread is allowed")
  func besideBusy() async {
    let threads = starts.threads(most: 2)
    let busy = await TaskThreadsTests.Busy(on: threads)
    await inTime { try? await threads.sleep(for: .milliseconds(10)) }
    busy.gate.open()
    #expect(await busy.ends())
    #expect(starts.begun == 2)
  }

  @Test("a thread that waits for the clock and gets a task leaves the clock to another")
  func watchPassedOn() async {
    let threads = starts.threads(most: 2)
    let (isAsleep, woke) = (Gate(), Gate())
    Task(executorPreference: threads) {
      isAsleep.open()
      try? await threads.sleep(for: .milliseconds(500))
      woke.open()
    }
    #expect(await isAsleep.waited())
    let busy = await TaskThreadsTests.Busy(on: threads)
    #expect(await woke.waited())
    busy.gate.open()
    #expect(await busy.ends())
  }

  @Test("sleepers that wake together each get a thread if there are enough")
  func together() async {
    let threads = starts.threads(most: 3)
    let meeting = TaskThreadsTests.Meeting(of: 3)
    let due = Duration.sinceBoot() + .milliseconds(300)
    var tasks: [Task<Bool, Never>] = []
    // One after the other, so that one thread is enough until they wake.
    for _ in 0..<3 {
      let isAsleep = Gate()
      tasks.append(
        Task(executorPreference: threads) {
          isAsleep.open()
          try? await threads.sleep(for: due - .sinceBoot())
          return meeting.arrive()
        })
      #expect(await isAsleep.waited())
    }
    #expect(await allMet(tasks))
    #expect(starts.begun == 3)
  }

  @Test("a thousand sleepers all wake")
  func many() async {
    let threads = starts.threads(most: 2)
    let count = await inTime {
      await withTaskGroup { group in
        for number in 0..<1000 {
          group.addTask(executorPreference: threads) {
            (try? await threads.sleep(for: .milliseconds(number % 7))) != nil
          }
        }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
    }
    #expect(count == 1000)
  }
}
