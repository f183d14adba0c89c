/// What there is to draw of one upload at one moment.
struct ProgressState: Sendable, Equatable {
  var name: String
  /// Nil: not known, as of a stream.
  var total: Int64?
  /// What the store has, and what is on its way.
  var done: Int64 = 0
  var partsDone = 0
  var parts: Int?
  var connections = 0
  /// Bytes a second; nil until it can be said.
  var rate: Double?
  var eta: Duration?

  init(name: String, total: Int64?, parts: Int? = nil) {
    self.name = name
    self.total = total
    self.parts = parts
  }

  /// 0...1; an empty file is done.
  var fraction: Double? {
    guard let total else { return nil }
    return total <= 0 ? 1 : min(1, max(0, Double(done) / Double(total)))
  }
}

/// How fast the bytes go: an average over the last seconds for the eye, and a slower one for the time that is left,
/// so that it does not jump.
struct RateMeter: Sendable {
  /// Seconds of the window, and after which a sample counts 1/e in the slow average.
  private static let window = Duration.seconds(5)
  private static let memory = 15.0

  private var samples: [(at: Duration, bytes: Int64)] = []
  private var slow: Double?

  /// The bytes done so far, at a moment of a clock that only goes forward.
  mutating func add(_ bytes: Int64, at now: Duration) {
    if let last = samples.last {
      let span = (now - last.at) / .seconds(1)
      guard span > 0 else { return }
      // A part that failed is sent anew: what it had sent does not count, and there is no negative speed.
      let speed = max(0, Double(bytes - last.bytes)) / span
      // The weight of the newest sample; at the beginning all samples weigh alike.
      let weight = 1 - 1 / (1 + span / Self.memory)
      slow = slow.map { $0 + (speed - $0) * weight } ?? speed
    }
    samples.append((now, bytes))
    while samples.count > 2, now - samples[1].at >= Self.window { samples.removeFirst() }
  }

  /// Nil until there is a second of it.
  var rate: Double? {
    guard let first = samples.first, let last = samples.last, last.at - first.at >= .seconds(1) else { return nil }
    return max(0, Double(last.bytes - first.bytes)) / ((last.at - first.at) / .seconds(1))
  }

  /// Nil while nothing moves, or when it would be over a year.
  func eta(remaining: Int64) -> Duration? {
    guard rate != nil, let slow, slow > 0 else { return nil }
    let seconds = Double(max(0, remaining)) / slow
    return seconds < 365 * 86_400 ? .seconds(seconds.rounded(.up)) : nil
  }
}
