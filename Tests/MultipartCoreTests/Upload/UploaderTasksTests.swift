import MultipartBasics
import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct UploaderTasksTests {
  private let tasks = Tasks()
  private let ended = Locked<Set<String>>([])

  /// Begins a task that runs until it is cancelled.
  private func begin(_ name: String, _ role: Tasks.Role) {
    tasks.begin(role) { [ended] in
      await cancellation()
      ended.withLock { _ = $0.insert(name) }
    }
  }

  private func fill() {
    for part in 1...2 {
      begin("part \(part)", .part(TransferProgress.Transfer(part: part)))
      begin("copy \(part)", .part(TransferProgress.Transfer(part: part, isCopy: true)))
    }
    begin("step", .step)
    begin("other", .other)
  }

  /// Waits until only this many are kept, and returns those that have ended.
  private func ended(leaving count: Int) async throws -> Set<String> {
    try await until("\(count) tasks are held") { tasks.count == count }
    return ended.withLock { $0 }
  }

  @Test("The transfer of a part whose bytes are all sent is not cancelled, because it may still arrive")
  func cancelled() async throws {
    defer { tasks.cancelAll() }
    fill()
    tasks.cancel(1) { $0 == TransferProgress.Transfer(part: 1) }
    #expect(try await ended(leaving: 5) == ["copy 1"])
    tasks.cancel(1) { $0 == TransferProgress.Transfer(part: 1, isCopy: true) }
    #expect(try await ended(leaving: 4) == ["copy 1", "part 1"])
  }

  @Test("Stopping the transfers ends the requests that move bytes, and no others; the end of the run leaves nothing")
  func all() async throws {
    fill()
    tasks.cancelTransfers()
    #expect(try await ended(leaving: 1) == ["part 1", "copy 1", "part 2", "copy 2", "step"])
    tasks.cancelAll()
    #expect(try await ended(leaving: 0).contains("other"))
  }

  @Test("Running tasks can be cancelled however many have ended since, and ended ones are not kept")
  func many() async throws {
    begin("first", .other)
    for _ in 0..<1000 { tasks.begin {} }
    #expect(try await ended(leaving: 1) == [])
    tasks.cancelAll()
    #expect(try await ended(leaving: 0) == ["first"])
  }
}

/// Returns when the task is cancelled.
func cancellation() async {
  let nothing = AsyncStream<Void> { _ in }
  for await _ in nothing {}
}
