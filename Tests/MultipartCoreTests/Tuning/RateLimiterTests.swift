import MultipartBasics
@testable import MultipartCore
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(15))) struct RateLimiterTests {
  /// Runs several takers for `seconds`, which take what they get and return when told to.
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
    // No burst is larger than a twentieth of a second's worth.
    #expect(burst <= max(1, Int(rate / 20)))
  }

  @Test("A pause is not made up for by a burst")
  func noBurstAfterPause() {
    let limiter = RateLimiter(rate: 1 << 20, now: .zero)
    #expect(limiter.take(1 << 20, now: .seconds(3600)) == (1 << 20) / 20)
    #expect(limiter.take(1 << 20, now: .seconds(3600)) == 0)
  }

  @Test("It begins empty: the first second is no faster than the others")
  func beginsEmpty() {
    #expect(RateLimiter(rate: 1 << 20, now: .seconds(5)).take(1000, now: .seconds(5)) == 0)
  }

  @Test("After the wait that it names, some bytes may be taken, and not before", arguments: rates)
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

  @Test("A timetable changes the rate when the time of day comes, and reports that once")
  func timetable() {
    let minute = Mutex(7 * 60 + 59)
    let said = Mutex<[String]>([])
    let limit = RateLimit.timetable([
      .init(hour: 8, bytesPerSecond: 1 << 20), .init(hour: 19, bytesPerSecond: nil),
    ])
    let limiter = RateLimiter(limit, now: .zero, minute: { minute.withLock { $0 } }) { text in
      said.withLock { $0.append(text) }
    }
    #expect(limiter.take(1 << 30, now: .zero) == 1 << 30)
    #expect(limiter.wait(now: .zero) == .zero && limiter.rate(now: .zero) == nil)
    minute.withLock { $0 = 8 * 60 }
    // The clock is read once a second.
    #expect(limiter.take(1 << 30, now: .milliseconds(999)) == 1 << 30)
    #expect(limiter.take(1 << 30, now: .seconds(1)) == 0)
    #expect(limiter.rate(now: .seconds(1)) == 1 << 20)
    #expect(limiter.wait(now: .seconds(1)) > .zero)
    #expect(limiter.take(1 << 30, now: .seconds(2)) == (1 << 20) / 20)
    minute.withLock { $0 = 19 * 60 + 30 }
    #expect(limiter.wait(now: .seconds(3)) == .zero)
    #expect(limiter.take(1 << 30, now: .seconds(3)) == 1 << 30)
    #expect(said.withLock { $0 } == ["the limit is 1.0 MiB/s from now on", "there is no limit from now on"])
  }
}

@Suite struct RateLimitTests {
  private static let day = RateLimit.timetable([
    .init(hour: 19, bytesPerSecond: nil), .init(hour: 8, minute: 30, bytesPerSecond: 2000),
    .init(hour: 12, bytesPerSecond: 500),
  ])

  @Test(
    "A rate holds until the next one, and the last one of a day until the first of the next day",
    arguments: [(0, nil), (509, nil), (510, 2000), (719, 2000), (720, 500), (1139, 500), (1140, nil), (1439, nil)])
  func rates(_ minute: Int, _ rate: Int64?) {
    #expect(Self.day.rate(at: minute) == rate)
  }

  @Test(
    "The next change is the next time with another rate, perhaps on the next day",
    arguments: [(0, 510), (510, 720), (1140, 510)])
  func next(_ minute: Int, _ next: Int) {
    #expect(Self.day.next(after: minute)?.minute == next)
  }

  @Test("The lowest rate is known; one rate never changes")
  func least() {
    #expect(Self.day.least == 500 && !Self.day.isConstant)
    let same = RateLimit.bytesPerSecond(7)
    #expect(same.least == 7 && same.isConstant && same.next(after: 0) == nil && same.rate(at: 1439) == 7)
    let none = RateLimit.timetable([])
    #expect(none.least == nil && none.isConstant && none.rate(at: 600) == nil)
    #expect(RateLimit.timetable([.init(hour: 99, minute: 99, bytesPerSecond: -5)]).rate(at: 0) == 1)
  }
}
