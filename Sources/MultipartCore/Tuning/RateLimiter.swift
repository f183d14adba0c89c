import MultipartBasics

/// A bucket of bytes that fills at a rate and is shared by all connections, so that their sum stays below it.
///
/// It holds at most a twentieth of a second: the line sees an even flow instead of a burst each second.
final class RateLimiter: Sendable {
  private struct Bucket {
    /// The rate; nil: no limit at this time of day.
    var rate: Int64?
    var tokens = 0.0
    var filled: Duration
    /// When the time of day was last checked.
    var looked: Duration
  }

  private let bucket: Locked<Bucket>
  private let limit: RateLimit
  private let minute: @Sendable () -> Int
  private let note: @Sendable (String) -> Void
  private static let smallest: Double = 4096
  private static let look: Duration = .seconds(1)

  /// `rate` in bytes per second, at least 1.
  convenience init(rate: Int64, now: Duration) {
    self.init(.bytesPerSecond(rate), now: now, minute: { 0 })
  }

  /// `minute` returns the current minute of the day; `note` is called when the rate changes.
  init(
    _ limit: RateLimit, now: Duration, minute: @escaping @Sendable () -> Int,
    note: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.limit = limit
    self.minute = minute
    self.note = note
    bucket = Locked(Bucket(rate: limit.rate(at: minute()), filled: now, looked: now))
  }

  /// Takes up to `wanted` bytes out; 0 means that the caller must wait.
  func take(_ wanted: Int, now: Duration) -> Int {
    withBucket(now) { bucket in
      guard let rate = bucket.rate else { return wanted }
      let least = min(Double(wanted), min(Self.smallest, Self.capacity(rate)))
      guard bucket.tokens >= least else { return 0 }
      let taken = min(wanted, Int(bucket.tokens))
      bucket.tokens -= Double(taken)
      return taken
    }
  }

  /// Subtracts bytes that have already been received; `wait` is then as long as it takes to make up for them.
  func spend(_ count: Int, now: Duration) {
    withBucket(now) { bucket in if bucket.rate != nil { bucket.tokens -= Double(count) } }
  }

  /// When a transfer that was refused bytes may try again.
  func wait(now: Duration) -> Duration {
    withBucket(now) { bucket in
      guard let rate = bucket.rate else { return .zero }
      let missing = min(Self.smallest, Self.capacity(rate)) - bucket.tokens
      return missing <= 0 ? .zero : .seconds(missing / Double(rate))
    }
  }

  /// Bytes per second; nil: no limit.
  func rate(now: Duration) -> Int64? { withBucket(now) { $0.rate } }

  private func withBucket<Value>(_ now: Duration, _ body: (inout Bucket) -> Value) -> Value {
    let (value, change) = bucket.withLock { bucket in
      let change = renew(&bucket, now)
      if let rate = bucket.rate { Self.fill(&bucket, rate, now) }
      return (body(&bucket), change)
    }
    if let change { note(change) }
    return value
  }

  /// Applies the current rate; returns a message if it has changed.
  private func renew(_ bucket: inout Bucket, _ now: Duration) -> String? {
    guard !limit.isConstant, now - bucket.looked >= Self.look else { return nil }
    bucket.looked = now
    let rate = limit.rate(at: minute())
    guard rate != bucket.rate else { return nil }
    bucket.rate = rate
    (bucket.tokens, bucket.filled) = (0, now)
    return Self.words(rate) + " from now on"
  }

  static func words(_ rate: Int64?) -> String {
    rate.map { "the limit is \(Human.rate(Double($0)))" } ?? "there is no limit"
  }

  private static func capacity(_ rate: Int64) -> Double { max(1, Double(rate) / 20) }

  private static func fill(_ bucket: inout Bucket, _ rate: Int64, _ now: Duration) {
    let passed = (now - bucket.filled).seconds
    guard passed > 0 else { return }
    bucket.filled = now
    bucket.tokens = min(capacity(rate), bucket.tokens + passed * Double(rate))
  }
}
