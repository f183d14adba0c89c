import Support
import Testing

/// Limits how many tests that start programs run at once: each has a server and a process, and with all of them on a
/// small machine the scheduler would decide which of them are in time. Each has ten minutes from its start, not
/// counting the time that the machine fell behind.
struct CrowdTrait: SuiteTrait, TestTrait, TestScoping {
  let isRecursive = true

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await Self.places.hold {
      let (began, lag, limit) = (ContinuousClock.now, Lag(), Duration.seconds(600))
      let watch = Task {
        while ContinuousClock.now - began - lag.sofar < limit { try await Task.sleep(for: .seconds(1)) }
        Issue.record("the test did not end within \(limit)")
      }
      defer { watch.cancel() }
      try await function()
    }
  }

  private static let places = Places(6)
}

extension Trait where Self == CrowdTrait {
  static var crowd: CrowdTrait { CrowdTrait() }
}
