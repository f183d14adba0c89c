import MultipartCore

/// A SIZE per second, or `off`.
enum RateValue: Sendable, Equatable {
  case off
  case bytesPerSecond(Int64)

  static let form = "A RATE is a SIZE a second, 500K, 2M or 2M/s, or off."

  static func parse(_ text: String) -> RateValue? {
    if text == "off" { return .off }
    let size = text.hasSuffix("/s") ? String(text.dropLast(2)) : text
    guard let bytes = SizeValue.parse(size), bytes > 0 else { return nil }
    return .bytesPerSecond(bytes)
  }
}

/// `250ms`, `90s`, `15m`, `36h`, `7d`.
enum DurationValue {
  static let form = "A DURATION is a whole number with its unit: 250ms, 90s, 15m, 36h or 7d."
  /// Ten years: nobody needs more, and sums of durations cannot overflow.
  private static let longest: Int64 = 10 * 366 * 86_400 * 1000

  /// Nil if it is not a duration, is zero, or exceeds ten years.
  static func parse(_ text: String) -> Duration? {
    let digits = text.prefix { ("0"..."9").contains($0) }
    guard let number = Int64(digits), number > 0, let unit = milliseconds(String(text.dropFirst(digits.count))) else {
      return nil
    }
    let (sum, over) = number.multipliedReportingOverflow(by: unit)
    return over || sum > longest ? nil : .milliseconds(sum)
  }

  private static func milliseconds(_ unit: String) -> Int64? {
    switch unit {
    case "ms": 1
    case "s": 1000
    case "m": 60_000
    case "h": 3_600_000
    case "d": 86_400_000
    default: nil
    }
  }
}

extension NamedValue {
  /// `K=V`: the name ends at the first `=`; the value may be empty and may contain more of them.
  init?(_ text: String) {
    guard let split = text.utf8.firstIndex(of: UInt8(ascii: "=")), split > text.startIndex else { return nil }
    self.init(String(text[..<split]), String(text[text.utf8.index(after: split)...]))
  }
}
