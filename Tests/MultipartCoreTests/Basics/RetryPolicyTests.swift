import MultipartBasics
@testable import MultipartCore
import Testing

@Suite(.timeLimit(.minutes(15))) struct RetryPolicyTests {
  private let policy = RetryPolicy(tries: 10)
  private let reset = Failure(.network, "reset")

  @Test("The waits are those of the table: half fixed, half random, capped at 20 s")
  func table() {
    let full: [Duration] = [
      .milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(16),
      .seconds(20), .seconds(20),
    ]
    for (index, wait) in full.enumerated() {
      #expect(policy.wait(after: reset, attempt: index + 1, dice: 0) == wait / 2)
      let most = policy.wait(after: reset, attempt: index + 1, dice: 0.999_999)
      #expect(most.map { $0 > wait * 0.99 && $0 <= wait } == true)
    }
  }

  @Test("No try follows the last one")
  func ends() {
    #expect(policy.wait(after: reset, attempt: 10, dice: 0) == nil)
    #expect(RetryPolicy(tries: 1).wait(after: reset, attempt: 1, dice: 0) == nil)
    #expect(RetryPolicy(tries: 0).tries == 1)
  }

  @Test("Retry-After is the shortest wait, up to five minutes")
  func retryAfter() {
    let slow = Failure(.throttled, "slow down", retryAfter: .seconds(7))
    #expect(policy.wait(after: slow, attempt: 1, dice: 0.5) == .seconds(7))
    #expect(policy.wait(after: slow, attempt: 9, dice: 0.9).map { $0 > .seconds(7) } == true)
    let absurd = Failure(.throttled, "slow down", retryAfter: .seconds(86_400))
    #expect(policy.wait(after: absurd, attempt: 1, dice: 0) == .seconds(300))
  }

  @Test("Only failures that may pass are retried", arguments: Failure.Code.allCases)
  func codes(code: Failure.Code) {
    let passing: Set<Failure.Code> = [.network, .stalled, .throttled, .server, .dataMismatch]
    #expect((policy.wait(after: Failure(code, ""), attempt: 1, dice: 0) != nil) == passing.contains(code))
  }

  @Test(
    "An address that has never answered in this run is tried for ten seconds, at least twice, finally at their end"
  )
  func inVain() {
    func wait(_ tried: Duration?, attempt: Int) -> Duration? {
      var failure = reset
      failure.triedInVain = tried
      return policy.wait(after: failure, attempt: attempt, dice: 0.999_999)
    }
    #expect(wait(.zero, attempt: 1).map { $0 <= .milliseconds(250) } == true)
    #expect(wait(.seconds(8), attempt: 6) == .seconds(2))
    #expect(wait(.seconds(10), attempt: 7) == nil)
    // A first connection that timed out.
    #expect(wait(.seconds(10), attempt: 1) != nil)
    #expect(wait(.seconds(20), attempt: 2) == nil)
    #expect(wait(nil, attempt: 7).map { $0 > .seconds(15) } == true)
  }

  @Test("a failure that was already retried is not retried again")
  func settled() {
    var failure = Failure(.network, "x")
    #expect(RetryPolicy().wait(after: failure, attempt: 1, dice: 0) != nil)
    failure.isSettled = true
    #expect(RetryPolicy().wait(after: failure, attempt: 1, dice: 0) == nil)
  }
}
