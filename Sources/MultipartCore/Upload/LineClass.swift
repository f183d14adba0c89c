/// What the line to a store was like the last time; determines the size of parts, and how many are started.
enum LineClass: String, Sendable, CaseIterable {
  /// Something on the way accepts more than the line carries, so that acknowledged bytes say nothing.
  case buffered
  /// Less than 1 MiB per second: a single part of 8 MiB takes about ten seconds.
  case slow
  /// Less than 7 MiB per second: eight concurrent parts of 8 MiB take more than ten seconds.
  case modest
  /// Losses limited each connection.
  case lossy
  case usual
  /// At least 200 MiB per second.
  case fast
  /// At least 800 MiB per second.
  case fastest

  init(bytesPerSecond rate: Double) {
    switch rate / 1_048_576 {
    case ..<1: self = .slow
    case ..<7: self = .modest
    case ..<200: self = .usual
    case ..<800: self = .fast
    default: self = .fastest
    }
  }

  /// A rate limit makes the line slower.
  func bounded(by limit: RateLimit?) -> LineClass {
    guard let least = limit?.least else { return self }
    let other = LineClass(bytesPerSecond: Double(least))
    let order = Self.allCases
    return order.firstIndex(of: other) ?? 0 < order.firstIndex(of: self) ?? 0 ? other : self
  }

  var buffers: Buffers { self == .buffered ? .known : .possible }

  var isFast: Bool { self == .fast || self == .fastest }

  /// How many parts are started before the line has shown today's speed; all of them if it was not slow the last time.
  /// If it turns out to be slow, the excess parts are stopped after a second, when they have sent little.
  var opening: Int {
    switch self {
    case .buffered, .slow: 1
    case .modest: 2
    case .lossy, .usual, .fast, .fastest: .max
    }
  }

  /// The part size for a fast line, where larger parts need fewer requests. What is sent again after an interruption,
  /// at most eight parts, is at most an eighth of the file and less than a second of the line's time.
  func partSize(forFileOf size: Int64) -> Int64 {
    switch self {
    case .buffered, .slow, .lossy: S3Limits.smallestPart
    case .fastest where size >= 4 << 30: 32 << 20
    case .fast where size >= 1 << 30, .fastest where size >= 1 << 30: 16 << 20
    default: UploadPlan.defaultPart
    }
  }
}
