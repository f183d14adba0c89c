/// The rate at which bytes moved in the last seconds.
struct RateMeter: Sendable {
  private static let window = Duration.seconds(5)

  private var samples: [(at: Duration, bytes: Int64)] = []

  /// Adds the bytes so far, at an uptime.
  mutating func add(_ bytes: Int64, at now: Duration) {
    if let last = samples.last, now <= last.at { return }
    samples.append((now, bytes))
    while samples.count > 2, now - samples[1].at >= Self.window { samples.removeFirst() }
  }

  /// Bytes per second; nil during the first second.
  var rate: Double? {
    guard let first = samples.first, let last = samples.last, last.at - first.at >= .seconds(1) else { return nil }
    return max(0, Double(last.bytes - first.bytes)) / ((last.at - first.at) / .seconds(1))
  }

  /// The time left; nil while nothing moves, or if it would exceed a year.
  func eta(remaining: Int64) -> Duration? {
    guard let rate, rate > 0 else { return nil }
    let seconds = Double(max(0, remaining)) / rate
    return seconds < 365 * 86_400 ? .seconds(seconds.rounded(.up)) : nil
  }
}
