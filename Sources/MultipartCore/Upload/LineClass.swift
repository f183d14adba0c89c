/// How fast the line to a store was the last time, as far as the size of parts goes.
package enum LineClass: String, Sendable, CaseIterable {
  /// Less than 1 MiB a second: a part of 8 MiB takes about ten seconds, alone.
  case slow
  /// Less than 7 MiB a second: eight parts of 8 MiB at once take more than ten.
  case modest
  case usual
  /// From 200 MiB a second on.
  case fast
  /// From 800 MiB a second on.
  case fastest

  package init(bytesPerSecond rate: Double) {
    switch rate / 1_048_576 {
    case ..<1: self = .slow
    case ..<7: self = .modest
    case ..<200: self = .usual
    case ..<800: self = .fast
    default: self = .fastest
    }
  }

  /// A line that may not be used any further is no faster.
  package func bounded(by limit: Int64?) -> LineClass {
    guard let limit else { return self }
    let other = LineClass(bytesPerSecond: Double(limit))
    let order = Self.allCases
    return order.firstIndex(of: other) ?? 0 < order.firstIndex(of: self) ?? 0 ? other : self
  }

  /// How many parts begin before it has shown how fast it is today. On a line that was fast it is all of them: when it
  /// is not, those too many have sent little after a second.
  package var opening: Int {
    switch self {
    case .slow: 1
    case .modest: 2
    case .usual, .fast, .fastest: .max
    }
  }

  /// On a line that nobody knows.
  package static let unknownOpening = 2

  /// Larger parts cost fewer requests. What is sent again after a break, eight of them, is at most an eighth of the file
  /// and less than a second of the line.
  func partSize(forFileOf size: Int64) -> Int64 {
    switch self {
    case .slow: S3Limits.smallestPart
    case .fastest where size >= 4 << 30: 32 << 20
    case .fast where size >= 1 << 30, .fastest where size >= 1 << 30: 16 << 20
    default: UploadPlan.defaultPart
    }
  }
}
