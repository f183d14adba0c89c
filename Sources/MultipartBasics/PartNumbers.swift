/// Part numbers as messages show them.
public enum PartNumbers {
  private static let mostRanges = 4

  /// The numbers from 1 to the highest that are missing.
  public static func missing(in numbers: some Collection<Int>) -> [Int] {
    let there = Set(numbers)
    guard let last = there.max(), last > there.count else { return [] }
    return (1...last).filter { !there.contains($0) }
  }

  /// A count in words: `1 part`, `5 parts`.
  public static func count(_ parts: Int) -> String { parts == 1 ? "1 part" : "\(parts) parts" }

  /// Part numbers in words: `part 2`, `parts 2 and 5-9`, `parts 2, 5-9, 11, 13 and 31 more`; `numbers` must be sorted.
  public static func text(_ numbers: [Int]) -> String {
    var ranges: [ClosedRange<Int>] = []
    for number in numbers {
      if let last = ranges.last, last.upperBound == number - 1 {
        ranges[ranges.count - 1] = last.lowerBound...number
      } else {
        ranges.append(number...number)
      }
    }
    var words = ranges.prefix(mostRanges).map { range in
      range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
    }
    let more = ranges.dropFirst(mostRanges).reduce(0) { $0 + $1.count }
    if more > 0 { words.append("\(more) more") }
    let what = numbers.count == 1 ? "part " : "parts "
    guard words.count > 1 else { return what + words.joined() }
    return what + words.dropLast().joined(separator: ", ") + " and " + (words.last ?? "")
  }
}
