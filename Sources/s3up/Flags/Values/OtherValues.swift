import MultipartBasics
import MultipartCore

/// A SIZE per second, or `off`; or several of them, each with the time of day from which it applies:
/// `08:00=2M,19:00=off`.
enum RateValue: Sendable, Equatable {
  case off
  case limit(RateLimit)

  static let form =
    "A RATE is a SIZE a second, 500K, 2M or 2M/s, or off; " + timetable + " All numbers are whole: 1536K, not 1.5M."
  private static let timetable = "with times of day it is 08:00=2M,19:00=off, each time once."

  /// What to write instead of this text.
  static func advice(_ text: String) -> String {
    if let entry = text.pieces(at: ",").first(where: { $0.holds("=") && time($0.upTo("=")) == nil }) {
      return "\(SafeText.oneLine(String(entry.upTo("=")), limit: 40)) is not a time of day; " + timetable
    }
    let digits = text.utf8.prefix(while: ASCII.isDigit)
    if !digits.isEmpty, digits.allSatisfy({ $0 == UInt8(ascii: "0") }) { return "Without a limit it is off. " + form }
    let unit = String(decoding: text.utf8.dropFirst(digits.count), as: UTF8.self).lowercased()
    // Bits are counted in thousands.
    let bits = ["kbps": 1000, "kbit/s": 1000, "mbps": 1_000_000, "mbit/s": 1_000_000, "gbps": 1_000_000_000]
    guard let factor = bits[unit], let number = Int64(digits, in: 1...1_000_000) else { return form }
    return "A RATE counts bytes: \(text) is about \(max(1, number * Int64(factor) / 8 / 1024))K."
  }

  static func parse(_ text: String) -> RateValue? {
    guard text.holds("=") else { return rate(text).map { $0.map { .limit(.bytesPerSecond($0)) } ?? .off } }
    var changes: [RateLimit.Change] = []
    for entry in text.pieces(at: ",") {
      let sides = entry.pieces(at: "=", maxSplits: 1)
      guard sides.count == 2, let (hour, minute) = time(sides[0]), let rate = rate(String(sides[1])) else { return nil }
      let change = RateLimit.Change(hour: hour, minute: minute, bytesPerSecond: rate)
      guard !changes.contains(where: { $0.minute == change.minute }) else { return nil }
      changes.append(change)
    }
    let limit = RateLimit.timetable(changes)
    return limit.least == nil ? .off : .limit(limit)
  }

  /// The rate; the outer optional is nil if the text is not a rate, the inner one if it is `off`.
  private static func rate(_ text: String) -> Int64?? {
    if text == "off" { return .some(nil) }
    let size = text.ends(with: "/s") ? String(text.dropLast(2)) : text
    guard let bytes = SizeValue.parse(size), bytes > 0 else { return nil }
    return bytes
  }

  /// A time of day: `8:00`, `08:00`, `23:59`.
  private static func time(_ text: Substring) -> (hour: Int, minute: Int)? {
    let sides = text.pieces(at: ":")
    guard sides.count == 2, (1...2).contains(sides[0].count), sides[1].count == 2,
      let hour = Int(sides[0], in: 0...23), let minute = Int(sides[1], in: 0...59)
    else { return nil }
    return (hour, minute)
  }
}

/// A date, which `Timestamp` parses.
enum DateValue {
  static let form = "A DATE is written 2031-01-31 or 2031-01-31T10:00:00Z."
}

/// A duration: `250ms`, `90s`, `15m`, `36h`, `7d`.
enum DurationValue {
  static let form = "A DURATION is a whole number with its unit: 250ms, 90s, 15m, 36h or 7d."

  /// What to write instead of this text.
  static func advice(_ text: String) -> String {
    let digits = text.utf8.prefix(while: ASCII.isDigit)
    if !digits.isEmpty, digits.allSatisfy({ $0 == UInt8(ascii: "0") }) { return "It must be more than 0. " + form }
    if !digits.isEmpty, milliseconds(String(Substring(text.utf8.dropFirst(digits.count)))) != nil {
      return "It must be at most ten years. " + form
    }
    guard !text.isEmpty, text.utf8.count < 10, text.utf8.allSatisfy(ASCII.isDigit) else { return form }
    return "A DURATION has a unit: \(text)s, \(text)m, \(text)h or \(text)d."
  }

  /// The duration; nil if the text is not one, is zero, or exceeds ten years.
  static func parse(_ text: String) -> Duration? {
    let digits = text.utf8.prefix(while: ASCII.isDigit)
    guard let unit = milliseconds(String(Substring(text.utf8.dropFirst(digits.count)))),
      let number = Int64(digits, in: 1...Duration.longest.milliseconds / unit)
    else { return nil }
    return .milliseconds(number * unit)
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
  /// Parses `K=V`: the name ends at the first `=`; the value may be empty and may contain more of them.
  init?(_ text: String) {
    guard let split = text.utf8.firstIndex(of: UInt8(ascii: "=")), split > text.startIndex else { return nil }
    self.init(String(text[..<split]), String(text[text.utf8.index(after: split)...]))
  }
}
