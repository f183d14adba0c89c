/// A bucket of bytes that fills at a rate and is shared by all connections, so that their sum keeps to it.
///
/// It holds at most a twentieth of a second: the line sees an even flow instead of a burst each second.
package final class RateLimiter: Sendable {
  private struct Bucket {
    var rate: Int64
    var tokens: Double
    var filled: Duration
  }

  private let bucket: Locked<Bucket>
  private static let smallest: Double = 4096

  /// `rate` in bytes per second, at least 1.
  package init(rate: Int64, now: Duration) {
    bucket = Locked(Bucket(rate: max(1, rate), tokens: 0, filled: now))
  }

  /// Takes up to `wanted` bytes out; 0 means that the caller waits.
  package func take(_ wanted: Int, now: Duration) -> Int {
    bucket.withLock { bucket in
      Self.fill(&bucket, now)
      let least = min(Double(wanted), min(Self.smallest, Self.capacity(bucket.rate)))
      guard bucket.tokens >= least else { return 0 }
      let taken = min(wanted, Int(bucket.tokens))
      bucket.tokens -= Double(taken)
      return taken
    }
  }

  /// When a transfer that was refused bytes may try again.
  package func wait(now: Duration) -> Duration {
    bucket.withLock { bucket in
      Self.fill(&bucket, now)
      let missing = min(Self.smallest, Self.capacity(bucket.rate)) - bucket.tokens
      return missing <= 0 ? .zero : .seconds(missing / Double(bucket.rate))
    }
  }

  private static func capacity(_ rate: Int64) -> Double { max(1, Double(rate) / 20) }

  private static func fill(_ bucket: inout Bucket, _ now: Duration) {
    let passed = (now - bucket.filled).seconds
    guard passed > 0 else { return }
    bucket.filled = now
    bucket.tokens = min(capacity(bucket.rate), bucket.tokens + passed * Double(bucket.rate))
  }
}
