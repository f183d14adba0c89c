import Testing

@testable import MultipartCore

@Suite("Sleeping on the threads of the tasks")
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

  @Test("who sleeps shorter wakes first, whoever fell asleep first")
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

  @Test("a cancelled sleep ends at once with an error, and so does one of a task that is cancelled already")
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

  @Test("a task that keeps the only thread does not keep a sleeper from waking where there may be another")
  func besideBusy() async {
    let threads = starts.threads(most: 2)
    let (isRunning, woke) = (Gate(), Gate())
    let busy = Task(executorPreference: threads) {
      isRunning.open()
      return woke.wait()
    }
    #expect(await isRunning.waited())
    await inTime { try? await threads.sleep(for: .milliseconds(10)) }
    woke.open()
    #expect(await inTime { await busy.value } == true)
    #expect(starts.begun == 2)
  }

  @Test("a thread that looks at the clock and is called to a task leaves the clock to another")
  func watchPassedOn() async {
    let threads = starts.threads(most: 2)
    let (woke, slept) = (Gate(), Locked(false))
    let sleeper = Task(executorPreference: threads) {
      try? await threads.sleep(for: .milliseconds(100))
      slept.withLock { $0 = true }
      woke.open()
    }
    let busy = Task(executorPreference: threads) { woke.wait() }
    #expect(await inTime { await busy.value } == true)
    await inTime { await sleeper.value }
    #expect(slept.withLock { $0 })
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
