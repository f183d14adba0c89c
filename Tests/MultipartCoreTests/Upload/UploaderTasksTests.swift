import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct UploaderTasksTests {
  /// Goes on until it is cancelled.
  private static func waiting() -> Task<Void, Never> {
    let nothing = AsyncStream<Void> { _ in }
    return Task { for await _ in nothing {} }
  }

  private static func tasks() -> Uploader.Tasks {
    var tasks = Uploader.Tasks()
    for part in 1...2 {
      tasks.parts[part] = waiting()
      tasks.copies[part] = waiting()
    }
    return tasks
  }

  private static func receipt(_ part: Int) -> UploadMachine.Event {
    .partDone(PartReceipt(number: part, size: 1, etag: "\"e\"", proof: .etag))
  }

  @Test("Of a part's transfers the one whose bytes are all out is not cancelled, for it may arrive all the same")
  func cancelled() {
    for sentCopy in [false, true] {
      let tasks = Self.tasks()
      defer { tasks.cancelAll() }
      tasks.cancel(1) { $0 == UploadProgress.Transfer(part: 1, isCopy: sentCopy) }
      #expect(tasks.parts[1]?.isCancelled == sentCopy)
      #expect(tasks.copies[1]?.isCancelled == !sentCopy)
      #expect(tasks.parts[2]?.isCancelled == false && tasks.copies[2]?.isCancelled == false)
    }
  }

  @Test("Two transfers of a part can both be cancelled until both have answered")
  func held() {
    var tasks = Self.tasks()
    let again = Self.waiting()
    // What is forgotten is not cancelled with the rest.
    let forgotten = [tasks.parts[1], tasks.copies[1], again]
    defer {
      tasks.cancelAll()
      for task in forgotten { task?.cancel() }
    }
    for event in [Self.receipt(1), .partFailed(1, Failure(.interrupted, "the transfer was cancelled"))] {
      #expect(tasks.parts[1] != nil && tasks.copies[1] != nil)
      tasks.forget(event)
    }
    #expect(tasks.parts[1] == nil && tasks.copies[1] == nil)
    tasks.parts[1] = again
    tasks.forget(Self.receipt(1))
    #expect(tasks.parts[1] == nil, "a new try of the same part is alone")
    #expect(tasks.parts[2] != nil && tasks.copies[2] != nil)
  }
}
