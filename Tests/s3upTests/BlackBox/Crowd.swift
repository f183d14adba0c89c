import Testing

/// Lets few tests that start programs run at the same time: each has a server and a process, and with all of them at
/// once on a small machine the scheduler, not the program, would decide what comes in time.
struct CrowdTrait: SuiteTrait, TestTrait, TestScoping {
  let isRecursive = true

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    await Crowd.shared.enter()
    do {
      try await function()
    } catch {
      await Crowd.shared.leave()
      throw error
    }
    await Crowd.shared.leave()
  }
}

extension Trait where Self == CrowdTrait {
  static var crowd: CrowdTrait { CrowdTrait() }
}

/// A semaphore that waits without holding a thread.
private actor Crowd {
  static let shared = Crowd(places: 5)

  private var places: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(places: Int) {
    self.places = places
  }

  func enter() async {
    if places > 0 {
      places -= 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  func leave() {
    if waiting.isEmpty {
      places += 1
    } else {
      waiting.removeFirst().resume()
    }
  }
}
