import MultipartBasics

/// The highest rate of acknowledged bytes during three seconds of a run. The average of a short run shows less than the
/// line carries: it includes the first round trips, and the end, when few parts are left.
struct BestRate: Sendable {
  private static let span: Duration = .seconds(3)

  private var samples: [(at: Duration, delivered: Int64)] = []
  /// Bytes per second; zero during the first three seconds.
  private(set) var rate = 0.0

  mutating func take(_ sample: LineSample) {
    if let last = samples.last, sample.at <= last.at { return }
    samples.append((sample.at, sample.delivered))
    while samples.count > 1, sample.at - samples[1].at >= Self.span { samples.removeFirst() }
    let passed = sample.at - samples[0].at
    guard passed >= Self.span else { return }
    rate = max(rate, Double(sample.delivered - samples[0].delivered) / passed.seconds)
  }
}
