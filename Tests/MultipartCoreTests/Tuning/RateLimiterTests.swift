import MultipartCore
import Testing

@Suite(.timeLimit(.minutes(15))) struct RateLimiterTests {
  /// Several takers who take what they get and come back when told to, for `seconds`.
  private func run(rate: Int64, seconds: Int, takers: Int, wanted: Int) -> (bytes: Int, largestBurst: Int, steps: Int) {
    let limiter = RateLimiter(rate: rate, now: .zero)
    var now = Duration.zero
    var (bytes, steps, burst, largest) = (0, 0, 0, 0)
    while now < .seconds(seconds), steps < 10_000_000 {
      steps += 1
      burst = 0
      for _ in 0..<takers { burst += limiter.take(wanted, now: now) }
      largest = max(largest, burst)
      bytes += burst
      now += max(limiter.wait(now: now), .microseconds(100))
    }
    return (bytes, largest, steps)
  }

  private static let rates: [Int64] = [1, 7, 100, 4096, 50_000, 1 << 20, 100 << 20, 10_000_000_000]

  @Test("Over time all takers together keep to the rate, however low or high", arguments: rates)
  func keepsToTheRate(rate: Int64) {
    let seconds = rate < 100 ? 600 : 20
    let (bytes, burst, _) = run(rate: rate, seconds: seconds, takers: 8, wanted: 1 << 28)
    let wanted = Double(rate) * Double(seconds)
    #expect(Double(bytes) <= wanted)
    #expect(Double(bytes) >= wanted * 0.97 - 4096)
    // At once no more than a twentieth of a second's worth.
    #expect(burst <= max(1, Int(rate / 20)))
  }

  @Test("What was not used in a pause is not made up for by a burst")
  func noBurstAfterPause() {
    let limiter = RateLimiter(rate: 1 << 20, now: .zero)
    #expect(limiter.take(1 << 20, now: .seconds(3600)) == (1 << 20) / 20)
    #expect(limiter.take(1 << 20, now: .seconds(3600)) == 0)
  }

  @Test("It begins empty: the first second is no faster than the others")
  func beginsEmpty() {
    #expect(RateLimiter(rate: 1 << 20, now: .seconds(5)).take(1000, now: .seconds(5)) == 0)
  }

  @Test("After the wait that it names there is something to take, and not before", arguments: rates)
  func waitIsTrue(rate: Int64) {
    let limiter = RateLimiter(rate: rate, now: .zero)
    var now = Duration.zero
    for step in 0..<2000 {
      let wait = limiter.wait(now: now)
      if wait > .microseconds(1) {
        #expect(limiter.take(1 << 20, now: now + wait / 2) == 0)
      }
      now += wait
      let taken = limiter.take(1 << 20, now: now)
      guard taken > 0 else {
        Issue.record("step \(step): nothing to take after \(wait)")
        return
      }
    }
  }

  @Test("The end of a body, shorter than the smallest step, is not held back")
  func smallEnd() {
    let limiter = RateLimiter(rate: 1 << 20, now: .zero)
    #expect(limiter.take(10, now: .microseconds(20)) == 10)
  }

  @Test("A rate of zero or less is one byte per second, and never a division by zero")
  func absurdRates() {
    for rate: Int64 in [0, -5, .min] {
      let limiter = RateLimiter(rate: rate, now: .zero)
      #expect(limiter.wait(now: .zero) == .seconds(1))
      #expect(limiter.take(100, now: .seconds(1)) == 1)
    }
  }

  @Test("A clock that stands still or goes back gives nothing")
  func clockBack() {
    let limiter = RateLimiter(rate: 1000, now: .seconds(10))
    #expect(limiter.take(100, now: .seconds(9)) == 0)
    #expect(limiter.take(100, now: .seconds(10)) == 0)
    #expect(limiter.take(100, now: .seconds(11)) > 0)
  }
}
