/// How fast the line to a store was the last time, as far as the size of parts goes.
package enum LineClass: String, Sendable, CaseIterable {
  /// Less than 1 MiB a second: eight parts of 8 MiB take more than a minute.
  case slow
  case usual
  /// From 200 MiB a second on.
  case fast
  /// From 800 MiB a second on.
  case fastest

  package init(bytesPerSecond rate: Double) {
    switch rate / 1_048_576 {
    case ..<1: self = .slow
    case ..<200: self = .usual
    case ..<800: self = .fast
    default: self = .fastest
    }
  }

  /// Larger parts cost fewer requests. What is sent again after a break, eight of them, is at most an eighth of the file
  /// and less than a second of the line.
  func partSize(forFileOf size: Int64) -> Int64 {
    switch self {
    case .slow: UploadPlan.smallestPart
    case .fastest where size >= 4 << 30: 32 << 20
    case .fast where size >= 1 << 30, .fastest where size >= 1 << 30: 16 << 20
    default: UploadPlan.defaultPart
    }
  }
}
