import Support
import Testing

/// Lets few tests that start programs run at the same time: each has a server and a process, and with all of them at
/// once on a small machine the scheduler, not the program, would decide what comes in time. Each has ten minutes from
/// the moment that it has its place, not counting what the machine fell behind.
struct CrowdTrait: SuiteTrait, TestTrait, TestScoping {
  let isRecursive = true

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    await Crowd.shared.enter()
    let (began, lag, limit) = (ContinuousClock.now, Lag(), Duration.seconds(600))
    let watch = Task {
      while ContinuousClock.now - began - lag.sofar < limit { try await Task.sleep(for: .seconds(1)) }
      Issue.record("the test did not end within \(limit)")
    }
    defer { watch.cancel() }
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
